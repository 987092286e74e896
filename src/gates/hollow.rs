//! Tests that cannot fail: the change's new tests are run against its code with every function that it brings doing nothing.
//!
//! Red before green asks whether tests need the change to be there; here is asked whether they need it to do anything. The
//! field calls this extreme mutation (Niedermayr, Jürgens, Wagner, "Will my tests tell me if I break this code?", 2016).

use crate::gates::{
    change::Change,
    compare, red,
    run::{
        context::{GateError, host},
        overlay::Overlay,
        result_cache::Expected,
    },
    test_line::Selection,
    turn::Run,
};
use domain::{
    evidence::{Evidence, Gate, GateReport},
    integrity::{Author, IntegrityFinding, Rule},
    plan::TaskType,
};
use git::blocking;
use integrity::{
    FileChange, Version, language,
    language::{
        Role,
        bodies::{Body, Doing, hollowed},
        role,
    },
};
use std::{collections::BTreeSet, sync::Arc};

/// The most tests that are told.
const MOST: usize = 20;

/// The new tests that pass although nothing that the change brings does anything; none where that is not so, or cannot be
/// said.
pub(crate) async fn tests_of_nothing(
    run: &Run<'_>,
    (head, report): (&Evidence, &GateReport),
) -> Result<Vec<IntegrityFinding>, GateError> {
    let is_wanted = matches!(run.subject.task.kind, TaskType::Feature | TaskType::Testing);
    let Some((mut new, others)) = red::brought(run, head).filter(|_| is_wanted) else {
        return Ok(Vec::new());
    };
    let change = Arc::clone(run.change);
    let looking = blocking(move || Hollow::of(&change)).await;
    let Some(hollow) = looking.map_err(|error| host("reading a change")(error.into()))? else {
        return Ok(Vec::new());
    };
    match red_before_green(report) {
        Some(Evidence::Passed(_)) => {}
        // None of them is about the change, and that is said already.
        Some(Evidence::Failed(_)) => new.clear(),
        // They ran on nothing older: only those that speak of what the change brings are sure to be about it.
        Some(Evidence::Absent(_)) | None => new.retain(|name| hollow.is_named_in(run.change, name)),
    }
    if new.is_empty() {
        return Ok(Vec::new());
    }
    for files in &hollow.versions {
        let found = with(run, files).await?;
        let passes = |name: &String| compare::names(&found).is_some_and(|names| names.passed.contains(name));
        if !new.iter().chain(&others).all(passes) {
            return Ok(Vec::new());
        }
    }
    Ok(new
        .iter()
        .take(MOST)
        .map(|name| hollow.finding(run.change, name))
        .collect())
}

fn red_before_green(report: &GateReport) -> Option<&Evidence> {
    let gate = report.more.iter().find(|result| result.gate == Gate::RedBeforeGreen);
    gate.map(|result| &result.evidence)
}

/// The tests on the change's commit with these files in place of its own.
async fn with(run: &Run<'_>, files: &[Put]) -> Result<Evidence, GateError> {
    let overlay = Overlay::of_bytes(files.to_vec());
    run.prepared
        .tests_with(run.subject.head, &overlay, Expected::Red, &Selection::All)
        .await
}

/// A path, its bytes and its mode.
type Put = (String, Vec<u8>, u32);

/// A change whose functions do nothing.
struct Hollow {
    /// The changed files with functions that do nothing, once with each of two answers; one version where both are the same.
    versions: Vec<Vec<Put>>,
    /// The names of these functions.
    names: BTreeSet<String>,
    /// Where the first of them is, and its name.
    first: (String, u32, String),
}

impl Hollow {
    /// Makes what the change brings do nothing; `None` where that cannot be done with all of it.
    fn of(change: &Change) -> Option<Self> {
        let sources: Vec<&FileChange> = change.of_role(Role::Source).collect();
        if change
            .of_role(Role::Other)
            .any(|file| !is_only_read_by_people(&file.path))
        {
            return None;
        }
        let before = sources.iter().map(|file| doing(&file.path, &file.before));
        let before: Vec<Doing> = before.collect::<Option<_>>()?;
        let after = sources.iter().map(|file| doing(&file.path, &file.after));
        let after: Vec<Doing> = after.collect::<Option<_>>()?;
        if !says_only_to_itself(change, (&before, &after)) {
            return None;
        }
        let known: BTreeSet<&[String]> = before
            .iter()
            .flat_map(|doing| &doing.bodies)
            .map(|body| body.words.as_slice())
            .collect();
        let brought: Vec<(&FileChange, Vec<&Body>)> = sources
            .into_iter()
            .zip(&after)
            .map(|(file, doing)| {
                let is_new = |body: &&Body| !known.contains(body.words.as_slice());
                (file, doing.bodies.iter().filter(is_new).collect())
            })
            .filter(|(_, bodies): &(_, Vec<&Body>)| !bodies.is_empty())
            .collect();
        let (path, body) = brought
            .first()
            .and_then(|(file, bodies)| Some((file.path.clone(), *bodies.first()?)))?;
        let mut versions = vec![version(change, &brought, 0)?, version(change, &brought, 1)?];
        versions.dedup();
        Some(Self {
            versions,
            names: brought
                .iter()
                .flat_map(|(_, bodies)| bodies.iter().map(|body| body.name.clone()))
                .filter(|name| !name.is_empty())
                .collect(),
            first: (path, body.line, body.name.clone()),
        })
    }

    /// Whether a test's own words name a function that the change brings.
    fn is_named_in(&self, change: &Change, test: &str) -> bool {
        let sites = change.after.find(test);
        sites
            .iter()
            .any(|site| site.words.iter().any(|word| self.names.contains(word)))
    }

    fn finding(&self, change: &Change, test: &str) -> IntegrityFinding {
        let (path, line, name) = &self.first;
        let what = match self.names.len() {
            1 => {
                format!("`{test}` passes even where `{name}` ({path}:{line}) does nothing, so it checks nothing of it")
            }
            _ => format!(
                "`{test}` passes even where nothing that this change brings does anything, such as `{name}` \
                 ({path}:{line}), so it checks nothing of it"
            ),
        };
        let (path, line) = change.after.place(test).unwrap_or_else(|| (path.clone(), *line));
        IntegrityFinding {
            rule: Rule::AssertionTrivial,
            path,
            line: Some(line),
            what,
            by: Author::Player,
        }
    }
}

/// What a version of a file does; a file that is not there does nothing.
fn doing(path: &str, version: &Version) -> Option<Doing> {
    match version {
        Version::Absent => Some(Doing::default()),
        Version::Bytes(bytes) => language::doing(path, std::str::from_utf8(bytes).ok()?),
        Version::Unread(_) => None,
    }
}

/// Files that no code reads.
fn is_only_read_by_people(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = [
        ".md",
        ".rst",
        ".adoc",
        ".lock",
        ".png",
        ".svg",
        "ignore",
        "-lock.json",
        "-lock.yaml",
    ];
    ends.iter().any(|end| name.ends_with(end)) || ["LICENSE", "CODEOWNERS", "AUTHORS"].contains(&name)
}

/// Whether what the change says outside of functions is used by nothing but its functions: it is new, it has a name, and no
/// file of tests has that name.
fn says_only_to_itself(change: &Change, (before, after): (&[Doing], &[Doing])) -> bool {
    let old: Vec<_> = before.iter().flat_map(|doing| &doing.values).collect();
    let mut new = after.iter().flat_map(|doing| &doing.values);
    new.all(|value| {
        let is_old = old.iter().any(|old| old.words == value.words);
        is_old
            || value.name.as_ref().is_some_and(|name| {
                let was_there = old.iter().any(|old| old.name.as_ref() == Some(name));
                !was_there && !is_in_tests(change, name)
            })
    })
}

fn is_in_tests(change: &Change, name: &str) -> bool {
    let is_of_tests = |file: &&FileChange| matches!(role(&file.path), Role::Test | Role::Support);
    let mut texts = change
        .files
        .iter()
        .filter(is_of_tests)
        .filter_map(|file| file.after.bytes());
    let in_files = texts.any(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == name)
    });
    in_files
        || change
            .after
            .bodies()
            .iter()
            .any(|(_, words)| words.iter().any(|word| word == name))
}

/// The files with functions that give one of the two answers.
fn version(change: &Change, brought: &[(&FileChange, Vec<&Body>)], which: usize) -> Option<Vec<Put>> {
    let put = |(file, bodies): &(&FileChange, Vec<&Body>)| {
        let text = std::str::from_utf8(file.after.bytes()?).ok()?;
        let raw = change
            .raw
            .iter()
            .find(|raw| raw.path.to_str() == Some(file.path.as_str()))?;
        let hollow = hollowed(text, bodies, which)?;
        Some((file.path.clone(), hollow.into_bytes(), raw.new_mode))
    };
    brought.iter().map(put).collect()
}
