//! Prepares the files that experiments put in place: source files with emptied bodies, and golden files.

use crate::gates::{
    change::{Change, lossy},
    run::context::GateError,
    turn::Run,
};
use git::Blob;
use integrity::{
    FileChange, is_snapshot, language,
    language::{
        Role,
        bodies::{Body, with_empty_bodies},
        role,
    },
    side,
};
use std::collections::BTreeSet;

/// The most source files that are searched for names from the tests, and the largest one in bytes.
const MOST_FILES: usize = 1_500;
const LARGEST: u64 = 512 * 1024;
/// The same limits for golden files.
const MOST_STORED: usize = 200;
const LARGEST_STORED: u64 = 256 * 1024;

/// A file to write: its path, bytes and mode.
pub(crate) type Put = (String, Vec<u8>, u32);

/// A file at the change's commit.
pub(crate) struct Code {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) mode: u32,
}

impl Code {
    /// Returns the file with another text.
    pub(super) fn put(&self, text: &str) -> Put {
        (self.path.clone(), text.as_bytes().to_vec(), self.mode)
    }
}

/// Returns the source files at the change's commit.
pub(crate) async fn code(run: &Run<'_>) -> Result<Vec<Code>, GateError> {
    let is_code = |path: &str| role(path) == Role::Source && language::of(path).is_some();
    texts(run, is_code, (MOST_FILES, LARGEST)).await
}

/// Returns the golden files at the change's commit, such as snapshots.
pub(super) async fn stored(run: &Run<'_>) -> Result<Vec<Code>, GateError> {
    let is_stored = |path: &str| language::of(path).is_none() && role(path) == Role::Support || is_snapshot(path);
    texts(run, is_stored, (MOST_STORED, LARGEST_STORED)).await
}

/// Returns the texts with at most `largest` bytes; nothing if more than `most` files are wanted.
async fn texts(
    run: &Run<'_>,
    is_wanted: impl Fn(&str) -> bool,
    (most, largest): (usize, u64),
) -> Result<Vec<Code>, GateError> {
    let mut files = run.list(is_wanted).await?;
    if files.len() > most {
        files.clear();
    }
    let blobs = run.blobs(&files, largest).await?;
    let read = |((path, mode), blob)| match blob {
        Blob::Bytes(bytes) => String::from_utf8(bytes).ok().map(|text| Code { path, text, mode }),
        Blob::Large(_) | Blob::None => None,
    };
    Ok(files.into_iter().zip(blobs).filter_map(read).collect())
}

/// Returns the file twice, with the functions of these names emptied to return one of two values; `None` if it has none
/// of these functions.
pub(super) fn emptied(path: &str, text: &str, names: &BTreeSet<String>) -> Option<[String; 2]> {
    let code = language::executable_code(path, text)?;
    let is_named = |body: &&Body| names.contains(&body.name) && body.name != "main";
    let bodies: Vec<&Body> = code.bodies.iter().filter(is_named).collect();
    if bodies.is_empty() {
        return None;
    }
    Some([
        with_empty_bodies(text, &bodies, 0)?,
        with_empty_bodies(text, &bodies, 1)?,
    ])
}

/// Returns the words of both versions of these changed files. Of source files, only the inline tests count.
pub(super) fn words(change: &Change, paths: &BTreeSet<String>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let is_wanted = |file: &&FileChange| paths.contains(&file.path);
    for file in change.files.iter().filter(is_wanted) {
        for version in [&file.before, &file.after] {
            let texts = match role(&file.path) {
                Role::Source => side::test_items(&file.path, &lossy(version)),
                Role::Test | Role::Support | Role::Settings | Role::Other => vec![lossy(version).into_owned()],
            };
            let no_word = |c: char| !c.is_alphanumeric() && c != '_';
            let split = texts.iter().flat_map(|text| text.split(no_word));
            words.extend(split.filter(|word| word.len() > 1).map(str::to_owned));
        }
    }
    words
}
