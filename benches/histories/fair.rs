//! Plans and answers questions as a fair planner and a fair Coach would who only know the commit's message.

use crate::{Outcome, clone::ProjectClone};
use domain::{
    plan::Intent,
    question::{AnswerVerdict, Question, QuestionAnswer},
};
use integrity::{FileContent, language};
use std::collections::BTreeSet;

/// Beginnings of words with which a message mentions a removal.
const REMOVAL: [&str; 4] = ["remov", "drop", "delet", "deprecat"];

/// Returns the tests that the commit removes, if its message mentions a removal: a planner that reads the repository
/// names the tests of the removed code.
pub fn removals(clone: &ProjectClone, commit: &str, (subject, body): (&str, &str)) -> Outcome<Vec<Intent>> {
    let message = format!("{subject}\n{body}").to_lowercase();
    if !REMOVAL.iter().any(|word| message.contains(word)) {
        return Ok(Vec::new());
    }
    let mut removed = Vec::new();
    for file in clone.changed_files(commit)? {
        let versions = clone.versions(&file)?;
        let names = |version: &FileContent| -> BTreeSet<String> {
            let text = String::from_utf8_lossy(version.bytes().unwrap_or_default());
            let outline = language::read(&file.path, &text).unwrap_or_default();
            outline.tests.into_iter().map(|test| test.name).collect()
        };
        let (before, after) = (names(&versions.before), names(&versions.after));
        let gone = before.difference(&after).map(|name| format!("{}::{name}", file.path));
        removed.extend(gone.map(|name| Intent::to_remove(&name)));
    }
    Ok(removed)
}

/// The shortest word that counts as a mention of something.
const SHORTEST: usize = 4;

/// Answers each question: if the message mentions the subject of the question, its first line is the quote; otherwise
/// the change is not fine.
pub fn answers(questions: &[Question], (subject, body): (&str, &str)) -> Vec<QuestionAnswer> {
    let message = format!("{subject}\n{body}").to_lowercase();
    let answer = |(number, question): (usize, &Question)| {
        let speaks = speaks_of(&message, question);
        QuestionAnswer {
            question: number,
            verdict: if speaks { AnswerVerdict::Fine } else { AnswerVerdict::NotFine },
            because: "the message speaks of it, or does not".to_owned(),
            quote: if speaks { subject.to_owned() } else { String::new() },
        }
    };
    (1..).zip(questions).map(answer).collect()
}

/// Returns `true` if a word of a test's, function's or file's name is in the message.
fn speaks_of(message: &str, question: &Question) -> bool {
    let place = question.place.iter().map(|(path, _)| path.as_str());
    let names = question.about.iter().map(String::as_str).chain(place);
    let words = names.flat_map(|name| name.split(|c: char| !c.is_alphanumeric()));
    let words = words.map(str::to_lowercase).filter(|word| word.len() >= SHORTEST && !is_common(word));
    words.into_iter().any(|word| message.contains(&word))
}

/// Words of paths and names that say nothing about behaviour.
fn is_common(word: &str) -> bool {
    ["test", "tests", "spec", "main", "index", "should", "with", "that", "when", "from", "unit"].contains(&word)
}
