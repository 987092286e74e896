//! Reads single values of a plan, each with its limit: names, texts, commands, paths and factors.

use crate::plan::{Factors, Intent, Risk, TestEffort, path};
use text::{
    fields::{Field, Fields},
    mistake::quoted,
    shell_command::{NotACommand, ShellCommand},
};

const LONGEST_NAME: usize = 200;
const LONGEST_TEXT: usize = 20_000;
const LONGEST_LINE: usize = 1_000;
const MOST_FILES: usize = 300;

/// Reads a name: one line that is not blank, and no path out of the repository.
pub fn name(field: &Field<'_>) -> Option<String> {
    let text = one_line(field, LONGEST_NAME)?;
    let path_like = !text.contains(char::is_whitespace) && (text.contains('/') || text.contains('\\'));
    if path_like {
        within_repository(field, &text)?;
    }
    Some(text)
}

/// Reads text of any form up to a limit.
pub fn free_text(field: &Field<'_>) -> Option<String> {
    let text = field.text()?;
    if text.chars().count() > LONGEST_TEXT {
        field.refuse(&format!("is longer than {LONGEST_TEXT} characters"));
    } else if text.contains('\0') {
        field.refuse("has a NUL character");
    } else {
        return Some(text);
    }
    None
}

/// Reads a command: one line for a shell.
pub fn command(field: &Field<'_>) -> Option<String> {
    let wrong = ShellCommand::of_one_line(&field.text()?).err();
    let text = match wrong {
        Some(NotACommand::SeveralLines) => None,
        Some(_) | None => Some(line(field)?),
    };
    if let Some(wrong) = wrong {
        field.refuse(&format!("cannot be run: {wrong}"));
        return None;
    }
    text
}

/// Reads a name that may be empty; an empty one is the same as none.
pub fn title(field: &Field<'_>) -> Option<String> {
    if field.text()?.trim().is_empty() { None } else { name(field) }
}

/// Reads one line that is not blank.
pub fn line(field: &Field<'_>) -> Option<String> {
    one_line(field, LONGEST_LINE)
}

fn one_line(field: &Field<'_>, longest: usize) -> Option<String> {
    let text = field.text()?.trim().to_owned();
    if text.is_empty() {
        field.refuse("is empty");
    } else if text.chars().count() > longest {
        field.refuse(&format!("is longer than {longest} characters"));
    } else if text.chars().any(char::is_control) {
        field.refuse("has control characters or more than one line");
    } else {
        return Some(text);
    }
    None
}

/// Reads a path within the repository, and returns its shortest spelling.
pub fn repository_path(field: &Field<'_>) -> Option<String> {
    within_repository(field, &field.text()?)
}

fn within_repository(field: &Field<'_>, text: &str) -> Option<String> {
    let refuse = |why| field.refuse(&format!("is {}, which {why}", quoted(text)));
    path::within_repository(text).map_err(refuse).ok()
}

/// Reads a list of paths and removes repeated ones.
pub fn files(field: &Field<'_>) -> Vec<String> {
    each_once(field, "files", repository_path)
}

/// The need of an intent to quote the words of the issue that ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteNeed {
    /// The intent has to quote them.
    Required,
    /// The name alone is enough.
    Optional,
}

/// Reads a list of tests and paths that a task means to change or to remove, and removes repeated entries.
pub fn intents(field: &Field<'_>, because: QuoteNeed) -> Vec<Intent> {
    each_once(field, "tests and files", |item| intent(item, because))
}

fn intent(item: &Field<'_>, because: QuoteNeed) -> Option<Intent> {
    let intent = if because == QuoteNeed::Optional && item.node.text().is_some() {
        Intent::to_remove(&line(item)?)
    } else {
        let mut fields = item.map()?;
        let name = fields.required("name").and_then(|field| line(&field));
        let sentence = match because {
            QuoteNeed::Required => fields.required("because"),
            QuoteNeed::Optional => fields.optional("because"),
        };
        let sentence = sentence.and_then(|field| sentence_of(&field));
        fields.end();
        Intent { name: name?, because: sentence }
    };
    if intent.is_unbounded() {
        let rule = "a pattern without its file; write `path::name*`";
        item.refuse(&format!("is {}, {rule}", quoted(&intent.name)));
        return None;
    }
    Some(intent)
}

/// Reads a sentence of the issue as one line; it may be broken into several.
fn sentence_of(field: &Field<'_>) -> Option<String> {
    let text = field.text()?;
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let sentence = words.join(" ");
    if sentence.is_empty() {
        field.refuse("is empty");
    } else if sentence.chars().count() > LONGEST_LINE {
        field.refuse(&format!("is longer than {LONGEST_LINE} characters"));
    } else {
        return Some(sentence);
    }
    None
}

fn each_once<T: PartialEq>(field: &Field<'_>, of_what: &str, read: impl Fn(&Field<'_>) -> Option<T>) -> Vec<T> {
    let items = field.list();
    if items.len() > MOST_FILES {
        field.refuse(&format!("names more than {MOST_FILES} {of_what}"));
        return Vec::new();
    }
    let mut found: Vec<T> = Vec::new();
    for one in items.iter().filter_map(read) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

/// Reads the factors. Missing ones count as one integration point and integration tests.
pub fn factors(fields: &mut Fields<'_>) -> Factors {
    let mut factors = Factors { integration_points: 1, tests: TestEffort::Integration, risks: Vec::new() };
    let Some(mut given) = fields.optional("factors").and_then(|field| field.map()) else {
        return factors;
    };
    if let Some(points) = given.optional("integration_points").and_then(|field| field.within(0, 3)) {
        factors.integration_points = points;
    }
    if let Some(effort) = given.optional("tests").and_then(|field| field.word(&TestEffort::ALL)) {
        factors.tests = effort;
    }
    let risks = given.optional("risks").map(|field| field.list()).unwrap_or_default();
    for risk in risks.iter().filter_map(|item| item.word(&Risk::ALL)) {
        if !factors.risks.contains(&risk) {
            factors.risks.push(risk);
        }
    }
    given.end();
    factors
}
