//! Detects Cargo projects.

use crate::detect::repository::{Detection, Repository};

pub(super) const FILES: &[&str] = &["Cargo.toml", "Cargo.lock"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let manifest: toml::Table = repository.text("Cargo.toml")?.parse().unwrap_or_default();
    let is_workspace = manifest.contains_key("workspace");
    let setup = match repository.text("Cargo.lock") {
        Some(lock) if lock.contains("source = ") => "cargo fetch --locked",
        None if is_workspace || names_packages(&manifest) => "cargo fetch",
        Some(_) | None => "",
    };
    // If the workspace's root is a package, plain `cargo test` tests only that package.
    let test = if is_workspace && manifest.contains_key("package") { "cargo test --workspace" } else { "cargo test" };
    Some(Detection::new(setup, test, "Cargo.toml"))
}

/// `true` if a manifest depends on packages from outside the repository.
fn names_packages(table: &toml::Table) -> bool {
    let is_elsewhere = |package: &toml::Value| package.get("path").is_none();
    table.iter().any(|(key, value)| match value {
        toml::Value::Table(packages) if key.ends_with("dependencies") => packages.values().any(is_elsewhere),
        toml::Value::Table(inner) => names_packages(inner),
        _ => false,
    })
}
