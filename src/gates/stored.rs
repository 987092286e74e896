//! Stored answers that the tests write themselves before they compare with them: where tests newly write files, they are run
//! with something else in the files that are stored for tests. A file that is written anew, and troubles nobody, compares
//! nothing.

use crate::gates::{
    compare, files,
    run::{
        context::{GateError, host},
        overlay::Overlay,
    },
    turn::Run,
};
use domain::{
    evidence::Evidence,
    integrity::{Author, IntegrityFinding, Rule},
};
use git::blocking;
use integrity::{
    FileChange, is_snapshot, language,
    language::{Role, role},
};
use std::collections::BTreeSet;

/// The most stored files that are looked at, and the largest of them.
const MOST_FILES: usize = 200;
const LARGEST: u64 = 256 * 1024;
/// What stands at the end of each of them.
const OTHER: &[u8] = b"\nhollow\n";
/// What a line says that writes a file.
const WRITES: [&str; 10] = [
    "write",
    "dump",
    "copy",
    "rename",
    "File::create",
    "\"w",
    "'w",
    "savetxt",
    "to_csv",
    "to_json",
];

/// The stored files that the tests write anew, and whose words no test needs.
pub(crate) async fn answers_written_anew(run: &Run<'_>, head: &Evidence) -> Result<Vec<IntegrityFinding>, GateError> {
    let (Some(place), Some(now)) = (newly_writing(run), compare::names(head)) else {
        return Ok(Vec::new());
    };
    let stored = stored(run).await?;
    if stored.is_empty() {
        return Ok(Vec::new());
    }
    let (_, written) = spoilt(run, stored).await?;
    if written.is_empty() {
        return Ok(Vec::new());
    }
    let paths: Vec<String> = written.iter().map(|(path, _, _)| path.clone()).collect();
    // What else was spoilt may have stopped the others.
    let (found, again) = spoilt(run, written).await?;
    let passes = |name: &String| compare::names(&found).is_some_and(|names| names.passed.contains(name));
    if again.is_empty() || !now.passed.iter().all(passes) {
        return Ok(Vec::new());
    }
    let found = paths.into_iter().map(|path| IntegrityFinding {
        rule: Rule::SnapshotByHand,
        path: place.0.clone(),
        line: Some(place.1),
        what: format!("the tests write `{path}` anew at every run, and hold whatever stood there before"),
        by: Author::Player,
    });
    Ok(found.take(1).collect())
}

/// Where the change's tests write a file that is not one for a moment, first of all.
fn newly_writing(run: &Run<'_>) -> Option<(String, u32)> {
    let of_tests = |file: &&FileChange| {
        matches!(role(&file.path), Role::Test | Role::Support) || !run.change.after.names_in(&file.path).is_empty()
    };
    let mut places = run.change.files.iter().filter(of_tests).filter_map(|file| {
        language::of(&file.path)?;
        let (before, after) = (text(file.before.bytes()), text(file.after.bytes()));
        let known: BTreeSet<&str> = before.lines().map(str::trim).collect();
        let writes = |line: &str| {
            let lasts = !line.to_lowercase().contains("tmp") && !line.to_lowercase().contains("temp");
            lasts && !known.contains(line.trim()) && WRITES.iter().any(|word| line.contains(word))
        };
        let at = after.lines().position(writes)?;
        Some((file.path.clone(), u32::try_from(at).ok()?.saturating_add(1)))
    });
    places.next()
}

fn text(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

/// A path, its bytes and its mode.
type Put = (String, Vec<u8>, u32);

/// The files that are stored for tests at the change's commit, each with other words at its end.
async fn stored(run: &Run<'_>) -> Result<Vec<Put>, GateError> {
    let is_stored = |path: &str| {
        let is_data = language::of(path).is_none() && role(path) == Role::Support;
        is_data || is_snapshot(path)
    };
    let files = run.files(is_stored, MOST_FILES, LARGEST).await?;
    let spoilt = |(path, bytes, mode): Put| (path, [bytes.as_slice(), OTHER].concat(), mode);
    Ok(files.into_iter().map(spoilt).collect())
}

/// What the tests say with these files in place, and which of them they write anew.
async fn spoilt(run: &Run<'_>, stored: Vec<Put>) -> Result<(Evidence, Vec<Put>), GateError> {
    let overlay = Overlay::of_bytes(stored.clone());
    let ready = run.prepared.with(run.subject.head, &overlay).await?;
    let found = ready.tests().await?;
    let root = ready.checkout.path().to_path_buf();
    let looking = blocking(move || {
        let is_another = |(path, bytes, _): &Put| files::read(&root, path, LARGEST * 4).is_ok_and(|now| now != *bytes);
        stored.into_iter().filter(is_another).collect()
    });
    let written = looking
        .await
        .map_err(|error| host("reading stored files")(error.into()))?;
    Ok((found, written))
}
