//! Detects make files with a target for tests.

use crate::detect::repository::{Detection, Repository, mentions_tests};
use integrity::make::{FILES as MAKE_FILES, rules};

pub(super) const FILES: &[&str] = &MAKE_FILES;

/// The names of targets that are assumed to run tests.
const TARGETS: [&str; 3] = ["test", "tests", "check"];

/// Returns the calls of all targets that seem to run tests.
pub(super) fn test_targets(repository: &Repository<'_>) -> Vec<String> {
    let text = repository.first(FILES).and_then(|file| repository.text(file)).unwrap_or_default();
    let targets = rules(&text).flatten();
    let plain = targets.filter(|target| !target.contains(['$', '%', '/']) && mentions_tests(target));
    plain.map(|target| format!("make {target}")).collect()
}

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    let text = repository.text(file)?;
    let target = TARGETS.into_iter().find(|target| rules(&text).any(|rule| rule.contains(target)))?;
    let files = format!("the target {target} in {file}");
    Some(Detection::new("", format!("make {target}"), files))
}
