//! Runs failing tests again on the same commit before they count against the change.

use crate::gates::{
    change::Change,
    compare,
    run::{context::GateError, prepared::Prepared},
};
use domain::evidence::{Excuse, Excused};

/// Returns those of the failing tests that pass in a second run, in a fresh checkout without caches.
///
/// A test that the change touches must pass every time, so it is never excused.
pub(crate) async fn flaky(
    prepared: &Prepared<'_>,
    held: &[String],
    change: Option<&Change>,
) -> Result<Vec<Excused>, GateError> {
    let untouched: Vec<&String> = held.iter().filter(|name| !is_touched(change, name)).collect();
    if untouched.is_empty() {
        return Ok(Vec::new());
    }
    let again = prepared.anew().await?.tests().await?;
    let passed = compare::names(&again).map_or(&[][..], |names| names.passed.as_slice());
    let flaky = untouched.into_iter().filter(|name| passed.contains(name));
    Ok(flaky
        .map(|name| Excused {
            test: name.clone(),
            why: Excuse::Flaky,
        })
        .collect())
}

/// `true` if the change touches the test, or may touch it.
fn is_touched(change: Option<&Change>, name: &str) -> bool {
    change.is_some_and(|change| {
        change.has_unreadable_tests() || !change.after.find(name).is_empty() || !change.before.find(name).is_empty()
    })
}
