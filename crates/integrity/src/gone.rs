//! What the change takes out of the product, and whether the task asked for that: such tests may go.

use crate::{
    language::{Role, outline::Outline},
    reading::ReadFile,
};
use domain::plan::PlannedTask;
use std::collections::BTreeSet;

/// Words that the product no longer has and that the task speaks of.
pub(super) struct Gone {
    words: BTreeSet<String>,
    /// The sentences of the task that speak of removing something, in small letters.
    sentences: Vec<String>,
}

const REMOVALS: [&str; 16] = [
    "remov",
    "delet",
    "drop",
    "retire",
    "deprecat",
    "replac",
    "no longer",
    "gone",
    "eliminat",
    "obsolete",
    "get rid",
    "sunset",
    "unused",
    "dead code",
    "strip",
    "discontinu",
];

impl Gone {
    /// Compares both versions of the product and reads the task.
    pub(super) fn new(files: &[ReadFile<'_>], task: &PlannedTask) -> Self {
        let said = said(task);
        if !REMOVALS.iter().any(|word| said.contains(word)) {
            return Self {
                words: BTreeSet::new(),
                sentences: Vec::new(),
            };
        }
        let before = words(files, |file| &file.before);
        let after = words(files, |file| &file.after);
        let mut gone: BTreeSet<String> = before.difference(&after).map(|word| (*word).to_owned()).collect();
        let deleted = files
            .iter()
            .filter(|file| file.role == Role::Source && file.file.after.size() == 0);
        let stem = |file: &ReadFile<'_>| Some(file.path.rsplit('/').next()?.split('.').next()?.to_owned());
        let named = deleted.filter(|file| stem(file).is_some_and(|stem| is_spoken_of(&stem, &said)));
        let of_files: Vec<String> = named
            .flat_map(|file| file.before.defines.iter().cloned().chain(stem(file)))
            .collect();
        gone.retain(|word| word.len() > 2 && is_spoken_of(word, &said));
        let defined: BTreeSet<&str> = files
            .iter()
            .flat_map(|file| file.after.defines.iter().map(String::as_str))
            .collect();
        gone.extend(
            of_files
                .into_iter()
                .filter(|word| word.len() > 2 && !defined.contains(word.as_str())),
        );
        let spoken = format!("{}\n{}", task.name, task.description).to_lowercase();
        let sentences = spoken.split(['\n', ';']).flat_map(|line| line.split(". "));
        let of_removal = |sentence: &&str| REMOVALS.iter().any(|word| sentence.contains(word));
        Self {
            words: gone,
            sentences: sentences.filter(of_removal).map(str::to_owned).collect(),
        }
    }

    /// Whether a test, by its words and its name, was about something that is gone as the task says.
    pub(super) fn explains(&self, words: &[String], name: &str) -> bool {
        let in_words = words
            .iter()
            .any(|word| self.words.contains(word.trim_matches(['"', '\''])));
        let name = name.to_lowercase();
        let by_name = name.len() > 5 && self.sentences.iter().any(|sentence| has_whole(sentence, &name));
        in_words
            || by_name
            || self
                .words
                .iter()
                .any(|word| word.len() > 3 && name.contains(&word.to_lowercase()))
    }
}

/// Whether a text holds a name, and not only as a part of a longer one.
fn has_whole(text: &str, name: &str) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|start| start.chars().next_back());
        let after = text
            .get(at.saturating_add(name.len())..)
            .and_then(|end| end.chars().next());
        !joins(before) && !joins(after)
    })
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
