//! Detects make files with a target for tests.

use crate::gates::detect::repository::{Found, Repository};
use integrity::make::{FILES as MAKE_FILES, rules};

pub(super) const FILES: &[&str] = &MAKE_FILES;

/// The names of targets that are assumed to run tests.
const TARGETS: [&str; 3] = ["test", "tests", "check"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Found> {
    let file = repository.first(FILES)?;
    let text = repository.text(file)?;
    let target = TARGETS
        .into_iter()
        .find(|target| rules(&text).any(|rule| rule.targets.contains(target)))?;
    let evidence = format!("the target {target} in {file}");
    Some(Found::new("", format!("make {target}"), evidence))
}
