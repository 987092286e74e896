//! Detects Go modules and workspaces.

use crate::gates::detect::{Found, Repository};

pub(super) const FILES: &[&str] = &["go.mod", "go.work"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Found> {
    let work = repository
        .text("go.work")
        .map(|text| modules(&text))
        .unwrap_or_default();
    let module = repository.text("go.mod");
    let needs_modules = |text: &str| text.lines().any(|line| line.trim_start().starts_with("require"));
    let is_vendored = repository.has("vendor/modules.txt");
    let setup = match !is_vendored && (!work.is_empty() || module.as_deref().is_some_and(needs_modules)) {
        true => "go mod download",
        false => "",
    };
    let (test, evidence) = match (work.is_empty(), module) {
        (false, _) => (format!("go test {}", work.join(" ")), "go.work"),
        (true, Some(_)) => ("go test ./...".to_owned(), "go.mod"),
        (true, None) => return None,
    };
    Some(Found {
        setup: setup.to_owned(),
        test,
        evidence: evidence.to_owned(),
    })
}

/// Returns the package pattern of each module that a workspace uses, such as `./api/...`.
fn modules(text: &str) -> Vec<String> {
    let words = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(str::split_whitespace);
    let folders = words.filter(|word| *word == "." || word.starts_with("./"));
    folders
        .map(|folder| format!("{}/...", folder.trim_end_matches('/')))
        .collect()
}
