//! Files that experiments put in place: code of the product with bodies emptied, and files that are stored for tests.

use crate::gates::{change::Change, inline_tests, run::context::GateError, turn::Run};
use integrity::{
    FileChange, is_snapshot, language,
    language::{
        Role,
        bodies::{Body, hollowed},
        role,
    },
};
use std::collections::BTreeSet;

/// The most files of code that are looked through for what the tests name, and the largest of them.
const MOST_FILES: usize = 1_500;
const LARGEST: u64 = 512 * 1024;
/// The same of stored files.
const MOST_STORED: usize = 200;
const LARGEST_STORED: u64 = 256 * 1024;

/// A path, its bytes and its mode.
pub(crate) type Put = (String, Vec<u8>, u32);

/// A file at the change's commit.
pub(crate) struct Code {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) mode: u32,
}

impl Code {
    /// It with another text.
    pub(super) fn put(&self, text: &str) -> Put {
        (self.path.clone(), text.as_bytes().to_vec(), self.mode)
    }
}

/// The files of code of the change's commit.
pub(crate) async fn code(run: &Run<'_>) -> Result<Vec<Code>, GateError> {
    let is_code = |path: &str| role(path) == Role::Source && language::of(path).is_some();
    Ok(texts(run.files(is_code, MOST_FILES, LARGEST).await?))
}

/// The files that are stored for tests at the change's commit.
pub(super) async fn stored(run: &Run<'_>) -> Result<Vec<Code>, GateError> {
    let is_stored = |path: &str| language::of(path).is_none() && role(path) == Role::Support || is_snapshot(path);
    Ok(texts(run.files(is_stored, MOST_STORED, LARGEST_STORED).await?))
}

fn texts(files: Vec<Put>) -> Vec<Code> {
    let text = |(path, bytes, mode)| String::from_utf8(bytes).ok().map(|text| Code { path, text, mode });
    files.into_iter().filter_map(text).collect()
}

/// The file with the functions of these names emptied, once with each of two answers; none where it has none of them.
pub(super) fn emptied(path: &str, text: &str, names: &BTreeSet<String>) -> Option<[String; 2]> {
    let doing = language::doing(path, text)?;
    let is_named = |body: &&Body| names.contains(&body.name) && body.name != "main";
    let bodies: Vec<&Body> = doing.bodies.iter().filter(is_named).collect();
    match bodies.is_empty() {
        true => None,
        false => Some([hollowed(text, &bodies, 0)?, hollowed(text, &bodies, 1)?]),
    }
}

/// The words of changed files of tests, and of the tests inside changed files of code, before and now.
pub(super) fn words(change: &Change, paths: &BTreeSet<String>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let is_wanted = |file: &&FileChange| paths.contains(&file.path);
    for file in change.files.iter().filter(is_wanted) {
        for version in [&file.before, &file.after] {
            let text = version.bytes().map(String::from_utf8_lossy).unwrap_or_default();
            let texts = match role(&file.path) {
                Role::Source => inline_tests::modules(&file.path, &text),
                Role::Test | Role::Support | Role::Settings | Role::Other => vec![text.into_owned()],
            };
            let split = texts
                .iter()
                .flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
            words.extend(split.filter(|word| word.len() > 1).map(str::to_owned));
        }
    }
    words
}
