//! Reports the tests with the failures that are excused. Failing tests run again on the same commit before they count
//! against the change.

use crate::gates::{
    change::Change,
    compare, gate_result,
    run::{
        context::{GateContext, GateError},
        prepared::Prepared,
        result_cache::Tested,
    },
};
use domain::evidence::{Baseline, Excuse, Excused, GateReport};

/// Reports set-up and tests. `excused` are the failures that do not count, as far as this one run shows.
pub(crate) async fn report(
    context: &GateContext,
    prepared: &Prepared<'_>,
    baseline: &Baseline,
    tested: &Tested,
    mut excused: Vec<Excused>,
    change: Option<&Change>,
) -> Result<GateReport, GateError> {
    let tests = compare::against(tested.tests.clone(), baseline);
    let held = compare::unexcused_failures(&tests, &excused);
    excused.extend(flaky(prepared, &held, change).await?);
    Ok(GateReport {
        excused,
        isolation: Some(context.sandbox.level()),
        ..GateReport::new(tested.setup.clone(), gate_result::with_origin(tests, tested.origin))
    })
}

/// Returns those of the failing tests that pass in a second run, in a fresh checkout without caches.
///
/// A test that the change touches must pass every time, so it is never excused.
async fn flaky(prepared: &Prepared<'_>, held: &[String], change: Option<&Change>) -> Result<Vec<Excused>, GateError> {
    let untouched: Vec<&String> = held.iter().filter(|name| !is_touched(change, name)).collect();
    if untouched.is_empty() {
        return Ok(Vec::new());
    }
    let again = prepared.anew().await?.tests().await?;
    let passed = compare::passed(&again);
    let flaky = untouched.into_iter().filter(|name| passed.contains(name));
    let excused = flaky.map(|name| Excused { test: name.clone(), why: Excuse::Flaky });
    Ok(excused.collect())
}

/// `true` if the change touches the test, or may touch it.
fn is_touched(change: Option<&Change>, name: &str) -> bool {
    change.is_some_and(|change| {
        change.has_unreadable_tests() || !change.after.find(name).is_empty() || !change.before.find(name).is_empty()
    })
}
