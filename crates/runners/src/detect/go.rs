//! Detects Go modules and workspaces.

use crate::detect::repository::{Detection, Repository};

pub(super) const FILES: &[&str] = &["go.mod", "go.work"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let work = modules(&repository.text("go.work").unwrap_or_default());
    let is_vendored = repository.has("vendor/modules.txt");
    let setup = |needs_modules: bool| {
        if needs_modules && !is_vendored { "go mod download" } else { "" }
    };
    if !work.is_empty() {
        return Some(Detection::new(setup(true), format!("go test {}", work.join(" ")), "go.work"));
    }
    let module = repository.text("go.mod")?;
    let needs_modules = module.lines().any(|line| line.trim_start().starts_with("require"));
    Some(Detection::new(setup(needs_modules), "go test ./...", "go.mod"))
}

/// Returns the package pattern of each module that a workspace uses, such as `./api/...`.
fn modules(text: &str) -> Vec<String> {
    let words = text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(str::split_whitespace);
    let folders = words.filter(|word| *word == "." || word.starts_with("./"));
    folders.map(|folder| format!("{}/...", folder.trim_end_matches('/'))).collect()
}
