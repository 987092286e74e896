//! Detects a recipe for tests in a justfile.

use crate::detect::repository::{Detection, Repository};

pub(super) const FILES: &[&str] = &["justfile", "Justfile", ".justfile"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    let text = repository.text(file)?;
    // A recipe's head is not indented: its name, perhaps parameters, and a colon that is no assignment.
    let is_test = |line: &str| {
        let line = line.strip_prefix('@').unwrap_or(line);
        let head = line.strip_prefix("test").and_then(|rest| rest.split_once(':'));
        head.is_some_and(|(parameters, rest)| {
            (parameters.is_empty() || parameters.starts_with(' ')) && !rest.starts_with('=')
        })
    };
    text.lines().any(is_test).then(|| Detection::new("", "just test", format!("the recipe test in {file}")))
}
