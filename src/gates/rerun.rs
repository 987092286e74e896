//! Failing tests are run once more on the same commit before they are held against anyone.

use crate::gates::{
    change::Change,
    compare,
    run::{context::GateError, prepared::Prepared},
};
use domain::evidence::{Excuse, Excused};

/// Of the failing tests those that pass when they are run once more, in a fresh checkout that starts from no cache.
///
/// A test that the change touches has to hold every time: it is not among them.
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

/// Whether the change touches the test's file, or that cannot be told.
fn is_touched(change: Option<&Change>, name: &str) -> bool {
    change.is_some_and(|change| {
        change.has_unreadable_tests() || !change.after.find(name).is_empty() || !change.before.find(name).is_empty()
    })
}
