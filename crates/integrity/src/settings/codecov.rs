//! Finds weakened settings of Codecov.

use super::lines::more;
use crate::{
    changed_file::{ChangedFile, Reading},
    language::{file_name, outline::quoted},
    rules::rule::{Violation, at, in_file},
};
use domain::integrity::{Detail, SettingChange};

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
        text.lines()
            .find_map(|line| line.trim().strip_prefix(key)?.trim().trim_end_matches('%').parse().ok())
    };
    let lowered = |key: &str, is_less: fn(f64, f64) -> bool| {
        let (old, new) = (number(&before, key)?, number(&after, key));
        new.is_none_or(|new| is_less(new, old)).then(|| {
            let change = SettingChange::Lowered {
                from: old.to_string(),
                to: new.map(|new| new.to_string()),
            };
            in_file(
                file.path,
                Detail::Setting {
                    name: key.trim_end_matches(':').to_owned(),
                    change,
                },
            )
        })
    };
    let mut found: Vec<Violation> = lowered("target:", |new, old| new < old).into_iter().collect();
    found.extend(lowered("threshold:", |new, old| new > old).filter(|_| number(&after, "threshold:").is_some()));
    let tolerant = more(&after, &before)
        .into_iter()
        .find(|(_, line)| line.contains("informational: true"));
    found.extend(tolerant.map(|(number, line)| at(file.path, number, Detail::Code(quoted(line)))));
    found
}
