//! Detects Cargo projects.

use crate::gates::detect::{Found, Repository};

pub(super) const FILES: &[&str] = &["Cargo.toml", "Cargo.lock"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Found> {
    let manifest = repository
        .text("Cargo.toml")?
        .parse::<toml::Table>()
        .unwrap_or_default();
    let setup = match repository.text("Cargo.lock") {
        Some(lock) if lock.contains("source = ") => "cargo fetch --locked",
        None if manifest.contains_key("workspace") || names_packages(&manifest) => "cargo fetch",
        Some(_) | None => "",
    };
    // If the workspace's root is a package, plain `cargo test` tests only that package.
    let test = match manifest.contains_key("workspace") && manifest.contains_key("package") {
        true => "cargo test --workspace",
        false => "cargo test",
    };
    Some(Found {
        setup: setup.to_owned(),
        test: test.to_owned(),
        evidence: "Cargo.toml".to_owned(),
    })
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
