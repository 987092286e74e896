//! What the change takes out of the product, and whether the task asked for that: such tests may go.

use crate::{
    language::{Role, file_name, outline::Outline},
    reading::ReadFile,
};
use domain::plan::PlannedTask;
use std::collections::BTreeSet;

/// What the product no longer has.
pub(super) struct Gone {
    /// Words that the task speaks of.
    words: BTreeSet<String>,
    /// Names that were defined and are not any more, in files that the task names.
    defined: BTreeSet<String>,
    /// Names that are still defined.
    kept: BTreeSet<String>,
}

impl Gone {
    /// Compares both versions of the product and reads the task.
    pub(super) fn new(files: &[ReadFile<'_>], task: &PlannedTask) -> Self {
        let said = said(task);
        let sources = || files.iter().filter(|file| file.role == Role::Source);
        let names = |outline: &Outline| -> Vec<String> {
            let functions = outline.functions.iter().map(|function| function.name.clone());
            let all = outline.defines.iter().cloned().chain(functions);
            all.filter(|name| name.len() > 2).collect()
        };
        let kept: BTreeSet<String> = sources().flat_map(|file| names(&file.after)).collect();
        let stem = |file: &ReadFile<'_>| file_name(file.path).split('.').next().map(str::to_owned);
        let is_deleted = |file: &ReadFile<'_>| file.file.after.size() == 0;
        let in_task = |file: &&ReadFile<'_>| {
            let is_named = is_deleted(file) && stem(file).is_some_and(|stem| is_spoken_of(&stem, &said));
            is_named || task.files.iter().any(|path| path == file.path)
        };
        let defined = sources().filter(in_task).flat_map(|file| {
            let module = stem(file).filter(|_| is_deleted(file));
            names(&file.before).into_iter().chain(module)
        });
        let (before, after) = (words(files, |file| &file.before), words(files, |file| &file.after));
        let words = before.difference(&after).filter(|word| word.len() > 2);
        Self {
            words: words
                .filter(|word| is_spoken_of(word, &said))
                .map(|word| (*word).to_owned())
                .collect(),
            defined: defined.filter(|name| !kept.contains(name)).collect(),
            kept,
        }
    }

    /// Whether a test, by its words and its name, was about something that is gone: as the task says, or because every
    /// function of the change's that it calls is gone.
    pub(super) fn explains(&self, words: &[String], name: &str) -> bool {
        let plain = |word: &String| word.trim_matches(['"', '\'']).to_owned();
        let in_words = words.iter().any(|word| self.words.contains(&plain(word)));
        let calls = |names: &BTreeSet<String>| words.iter().any(|word| names.contains(word));
        let name = name.to_lowercase();
        let in_name = |word: &String| word.len() > 3 && name.contains(&word.to_lowercase());
        in_words || self.words.iter().any(in_name) || calls(&self.defined) && !calls(&self.kept)
    }
}

fn words<'a>(files: &'a [ReadFile<'a>], side: fn(&'a ReadFile<'a>) -> &'a Outline) -> BTreeSet<&'a str> {
    let outlines = files.iter().filter(|file| file.role == Role::Source).map(side);
    let mut words = BTreeSet::new();
    for outline in outlines {
        words.extend(outline.defines.iter().map(String::as_str));
        let bodies = outline.functions.iter().flat_map(|function| function.words.iter());
        words.extend(bodies.map(|word| word.trim_matches(['"', '\''])));
    }
    words
}

/// Everything that the task says, in small letters.
fn said(task: &PlannedTask) -> String {
    let criteria = task.acceptance_criteria.iter().map(|criterion| criterion.text.as_str());
    let texts = [task.name.as_str(), task.description.as_str()]
        .into_iter()
        .chain(criteria)
        .chain(task.files.iter().map(String::as_str));
    texts.collect::<Vec<_>>().join("\n").to_lowercase()
}

/// Whether the task speaks of a name: as it is, or by all the words that it is made of.
fn is_spoken_of(name: &str, said: &str) -> bool {
    let mut parts = vec![String::new()];
    for c in name.chars() {
        if !c.is_alphanumeric()
            || c.is_uppercase() && parts.last().is_some_and(|part| part.chars().any(char::is_lowercase))
        {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c.is_alphanumeric()) {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| part.len() > 1);
    said.contains(&name.to_lowercase()) || !parts.is_empty() && parts.iter().all(|part| said.contains(part.as_str()))
}
