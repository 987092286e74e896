//! Reads single values of a plan: names, texts, commands, paths and factors, each with its limit.

use crate::{
    fields::{Field, Fields},
    mistake::{Mistakes, Place, quoted},
    plan::{Factors, Risk, TestEffort, path, read::keep_unknown},
    shell_command::{NotACommand, ShellCommand},
};

const LONGEST_NAME: usize = 200;
const LONGEST_TEXT: usize = 20_000;
const LONGEST_LINE: usize = 1_000;
const MOST_FILES: usize = 300;

/// A name: one line that is not blank, and no path out of the repository.
pub fn name(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<String> {
    let text = field.text(mistakes)?.trim().to_owned();
    let path_like = !text.contains(char::is_whitespace) && (text.contains('/') || text.contains('\\'));
    if text.is_empty() {
        field.refuse("is empty", mistakes);
    } else if text.chars().count() > LONGEST_NAME {
        field.refuse(&format!("is longer than {LONGEST_NAME} characters"), mistakes);
    } else if text.chars().any(char::is_control) {
        field.refuse("has control characters or more than one line", mistakes);
    } else if let (true, Err(why)) = (path_like, path::within_repository(&text)) {
        field.refuse(&format!("is {}, which {why}", quoted(&text)), mistakes);
    } else {
        return Some(text);
    }
    None
}

/// Words of any form, but no more than a person would write.
pub fn free_text(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<String> {
    let text = field.text(mistakes)?;
    if text.chars().count() > LONGEST_TEXT {
        field.refuse(&format!("is longer than {LONGEST_TEXT} characters"), mistakes);
        return None;
    }
    if text.contains('\0') {
        field.refuse("has a NUL character", mistakes);
        return None;
    }
    Some(text)
}

/// A command: one line for a shell.
pub fn command(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<String> {
    let text = field.text(mistakes)?;
    match ShellCommand::of_one_line(&text) {
        Err(wrong @ NotACommand::SeveralLines) => field.refuse(&format!("cannot be run: {wrong}"), mistakes),
        parsed => {
            let text = line(field, mistakes)?;
            match parsed {
                Ok(_) => return Some(text),
                Err(wrong) => field.refuse(&format!("cannot be run: {wrong}"), mistakes),
            }
        }
    }
    None
}

/// One line that is not blank.
pub fn line(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<String> {
    let text = field.text(mistakes)?.trim().to_owned();
    if text.is_empty() {
        field.refuse("is empty", mistakes);
    } else if text.chars().count() > LONGEST_LINE {
        field.refuse(&format!("is longer than {LONGEST_LINE} characters"), mistakes);
    } else if text.chars().any(char::is_control) {
        field.refuse("has control characters or more than one line", mistakes);
    } else {
        return Some(text);
    }
    None
}

/// A path that stays in the repository, in its shortest spelling.
pub fn repository_path(field: &Field<'_>, mistakes: &mut Mistakes) -> Option<String> {
    let text = field.text(mistakes)?;
    match path::within_repository(&text) {
        Ok(path) => Some(path),
        Err(why) => {
            field.refuse(&format!("is {}, which {why}", quoted(&text)), mistakes);
            None
        }
    }
}

/// Paths, each once.
pub fn files(field: &Field<'_>, mistakes: &mut Mistakes) -> Vec<String> {
    let items = field.list(mistakes);
    if items.len() > MOST_FILES {
        field.refuse(&format!("names more than {MOST_FILES} files"), mistakes);
        return Vec::new();
    }
    let mut files: Vec<String> = Vec::new();
    for item in items {
        if let Some(path) = repository_path(&item, mistakes)
            && !files.contains(&path)
        {
            files.push(path);
        }
    }
    files
}

/// Names of tests and paths that are meant to go, each once.
pub fn removed(field: &Field<'_>, mistakes: &mut Mistakes) -> Vec<String> {
    let items = field.list(mistakes);
    if items.len() > MOST_FILES {
        field.refuse(&format!("names more than {MOST_FILES} tests and files"), mistakes);
        return Vec::new();
    }
    let mut removed: Vec<String> = Vec::new();
    for item in items {
        if let Some(name) = line(&item, mistakes)
            && !removed.contains(&name)
        {
            removed.push(name);
        }
    }
    removed
}

/// Missing factors count as one integration point and integration tests.
pub fn factors(
    fields: &mut Fields<'_>,
    unknown: &mut Vec<(String, Option<Place>)>,
    mistakes: &mut Mistakes,
) -> Factors {
    let mut factors = Factors {
        integration_points: 1,
        tests: TestEffort::Integration,
        risks: Vec::new(),
    };
    let Some(mut given) = fields.optional("factors").and_then(|field| field.map(mistakes)) else {
        return factors;
    };
    if let Some(field) = given.optional("integration_points")
        && let Some(number) = field.whole(mistakes)
    {
        match u8::try_from(number) {
            Ok(points @ 0..=3) => factors.integration_points = points,
            Ok(_) | Err(_) => field.wrong("a whole number from 0 to 3", mistakes),
        }
    }
    if let Some(effort) = given.optional("tests").and_then(|field| field.word(&EFFORTS, mistakes)) {
        factors.tests = effort;
    }
    if let Some(field) = given.optional("risks") {
        for risk in field
            .list(mistakes)
            .iter()
            .filter_map(|item| item.word(&RISKS, mistakes))
        {
            if !factors.risks.contains(&risk) {
                factors.risks.push(risk);
            }
        }
    }
    keep_unknown(&given, unknown);
    factors
}

const EFFORTS: [(&str, TestEffort); 4] = [
    ("none", TestEffort::None),
    ("unit", TestEffort::Unit),
    ("integration", TestEffort::Integration),
    ("end-to-end", TestEffort::EndToEnd),
];

const RISKS: [(&str, Risk); 5] = [
    ("security", Risk::Security),
    ("data_migration", Risk::DataMigration),
    ("concurrency", Risk::Concurrency),
    ("public_api", Risk::PublicApi),
    ("external_service", Risk::ExternalService),
];
