//! The files of code that rewritten tests are about, in the forms in which they are run: as they are, with the tests inside
//! them as they were, and doing nothing.

use crate::gates::{change::Change, run::context::GateError, turn::Run};
use integrity::{
    language,
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

/// A file of code at the change's commit.
pub(crate) struct Code {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) mode: u32,
}

/// A file of code in the forms that are run.
pub(crate) struct Forms {
    pub(crate) code: Code,
    /// With the tests inside it as they were, where they differ.
    pub(crate) old: Option<String>,
    /// The functions that the rewritten tests name do nothing: in two ways, and with both forms of the tests.
    pub(crate) hollow: Option<[String; 2]>,
    pub(crate) old_hollow: Option<[String; 2]>,
}

impl Forms {
    /// It with another text.
    pub(crate) fn put(&self, text: &str) -> Option<(String, Vec<u8>, u32)> {
        Some((self.code.path.clone(), text.as_bytes().to_vec(), self.code.mode))
    }
}

/// The files of code of the change's commit.
pub(crate) async fn code(run: &Run<'_>) -> Result<Vec<Code>, GateError> {
    let is_code = |path: &str| role(path) == Role::Source && language::of(path).is_some();
    let text = |(path, bytes, mode)| String::from_utf8(bytes).ok().map(|text| Code { path, mode, text });
    let files = run.files(is_code, MOST_FILES, LARGEST).await?;
    Ok(files.into_iter().filter_map(text).collect())
}

/// The words of the rewritten tests in both forms.
pub(crate) fn words(change: &Change, paths: &BTreeSet<String>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let split = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| word.len() > 1).map(str::to_owned).collect()
    };
    for file in change.files.iter().filter(|file| paths.contains(&file.path)) {
        for version in [&file.before, &file.after] {
            let text = version.bytes().map(String::from_utf8_lossy).unwrap_or_default();
            match role(&file.path) {
                Role::Source => {
                    let modules = modules(&file.path, &text).into_iter();
                    words.extend(modules.flat_map(|(_, module)| split(&module)));
                }
                _ => words.extend(split(&text)),
            }
        }
    }
    words
}

/// The modules for tests in a file of code, by name.
fn modules(path: &str, text: &str) -> Vec<(String, String)> {
    let modules = language::doing(path, text)
        .map(|doing| doing.modules)
        .unwrap_or_default();
    let of = |module: language::bodies::TestModule| Some((module.name, text.get(module.range)?.to_owned()));
    modules.into_iter().filter_map(of).collect()
}

/// The file in all its forms; `None` where nothing in it has to do with the tests.
pub(crate) fn forms(change: &Change, code: Code, words: &BTreeSet<String>) -> Option<Forms> {
    let changed = change.files.iter().find(|file| file.path == code.path);
    let before = changed.and_then(|file| std::str::from_utf8(file.before.bytes()?).ok());
    let old = before.and_then(|before| with_old_modules(&code, before));
    let hollow = hollow(&code.path, &code.text, words);
    let old_hollow = old.as_deref().and_then(|old| self::hollow(&code.path, old, words));
    let concerns = old.is_some() || hollow.is_some();
    concerns.then_some(Forms {
        code,
        old,
        hollow,
        old_hollow,
    })
}

/// The new code with the tests inside it as they were; `None` where they are as they were.
fn with_old_modules(code: &Code, before: &str) -> Option<String> {
    let old = modules(&code.path, before);
    let mut text = code.text.clone();
    let mut new = language::doing(&code.path, &code.text)?.modules;
    new.sort_by_key(|module| std::cmp::Reverse(module.range.start));
    for module in new {
        let (_, was) = old.iter().find(|(name, _)| *name == module.name)?;
        text = format!(
            "{}{was}{}",
            text.get(..module.range.start)?,
            text.get(module.range.end..)?
        );
    }
    (text != code.text).then_some(text)
}

fn hollow(path: &str, text: &str, words: &BTreeSet<String>) -> Option<[String; 2]> {
    let doing = language::doing(path, text)?;
    let bodies: Vec<&Body> = doing.bodies.iter().filter(|body| is_named(body, words)).collect();
    match bodies.is_empty() {
        true => None,
        false => Some([hollowed(text, &bodies, 0)?, hollowed(text, &bodies, 1)?]),
    }
}

pub(crate) fn is_named(body: &Body, words: &BTreeSet<String>) -> bool {
    words.contains(&body.name) && body.name != "main"
}
