//! Finds weakened settings of Codecov.

use super::{lines::more, options::lowered};
use crate::{
    changed_file::{ChangedFile, Reading},
    language::file_name,
    rules::rule::{Violation, at_line, in_file},
};
use domain::integrity::Detail;

/// Returns the weakened values of Codecov's files.
pub(crate) fn codecov(reading: &Reading<'_>) -> Vec<Violation> {
    let is_codecov = |file: &&ChangedFile<'_>| {
        let name = file_name(file.path).trim_start_matches('.');
        matches!(name, "codecov.yml" | "codecov.yaml")
    };
    reading.files.iter().filter(is_codecov).flat_map(in_one).collect()
}

fn in_one(file: &ChangedFile<'_>) -> Vec<Violation> {
    let (before, after) = file.texts();
    let number = |text: &str, key: &str| -> Option<f64> {
        let mut values = text.lines().filter_map(|line| line.trim().strip_prefix(key));
        values.find_map(|value| value.trim_matches([' ', '\t', '%']).parse().ok())
    };
    let changed = |key: &str, is_weaker: fn(f64, Option<f64>) -> bool| {
        let (old, new) = (number(&before, key)?, number(&after, key));
        let name = key.trim_end_matches(':').to_owned();
        let change = lowered(old, new);
        is_weaker(old, new).then(|| in_file(file.path, Detail::Setting { name, change }))
    };
    let mut found = Vec::new();
    found.extend(changed("target:", |old, new| new.is_none_or(|new| new < old)));
    found.extend(changed("threshold:", |old, new| new.is_some_and(|new| new > old)));
    let mut new = more(&after, &before).into_iter();
    let tolerant = new.find(|(_, line)| line.contains("informational: true"));
    found.extend(tolerant.map(|(number, line)| at_line(file.path, number, line)));
    found
}
