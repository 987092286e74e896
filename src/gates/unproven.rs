//! What follows where no test shows a change.

use crate::gates::{change::Change, checks, compare, grown, red, run::context::GateError, said, turn::Run};
use domain::{
    evidence::{Absence, Evidence, Gate, GateResult, Weight},
    plan::TaskType,
};
use integrity::{
    FileChange, language,
    language::{Role, role},
};
use std::collections::BTreeSet;

const GATE: Gate = Gate::RedBeforeGreen;

/// Whether the runner told the tests apart by name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// It did.
    Yes,
    /// All that is known is that files with tests are new or changed.
    No,
}

/// A test that is as it was, and fails on the old code because of what the change stores for it: a golden file, a snapshot.
pub(crate) async fn by_stored_answers(
    run: &Run<'_>,
    head: &Evidence,
    (weight, known): (Weight, &BTreeSet<&str>),
) -> Result<Option<GateResult>, GateError> {
    let mut stored = run.change.of_role(Role::Support);
    let is_data = |file: &FileChange| file.after.bytes().is_some() && language::of(&file.path).is_none();
    let (Some(names), true) = (compare::names(head), stored.any(is_data) && touches_source(run.change)) else {
        return Ok(None);
    };
    let found = red::on_old_code(run).await?;
    let fails = |name: &&String| {
        let failed = compare::names(&found).is_some_and(|names| names.failed.contains(name));
        failed && known.contains(name.as_str())
    };
    let red = names.passed.iter().find(fails);
    Ok(red.map(|name| {
        let sentence = format!("{name} fails without the change, by what the change stores for it");
        said::passed(GATE, weight, sentence)
    }))
}

fn touches_source(change: &Change) -> bool {
    change.of_role(Role::Source).next().is_some()
}

/// What is said where the change brings no test that could be red.
pub(crate) fn without_tests(run: &Run<'_>, demanded: Weight, named: Named, known: &BTreeSet<&str>) -> GateResult {
    let weight = weight(run, demanded, known);
    if run.change.touches_tests() {
        let what = "the change renames, reformats, moves or deletes tests and brings no new one";
        return said::failed(GATE, weight, what);
    }
    if !touches_source(run.change) {
        return said::passed(GATE, Weight::Shown, "the change touches neither code nor tests");
    }
    if checks::is_bound_to_known_test(&run.subject.task.acceptance_criteria, known) {
        let sentence = "no test came with this change; a criterion is bound to a test that was there before";
        return said::failed(GATE, Weight::Shown, sentence);
    }
    match named {
        Named::No if run.change.files.iter().any(|file| may_hold_tests(&file.path)) => {
            said::absent(GATE, Absence::Inline)
        }
        Named::Yes | Named::No => said::failed(GATE, weight, "no test came with this change"),
    }
}

/// What it weighs that no test shows the change: nothing is asked where the product only loses lines, where a criterion is
/// bound to a test that was there before, and of a task for tests that touches no code.
pub(crate) fn weight(run: &Run<'_>, demanded: Weight, known: &BTreeSet<&str>) -> Weight {
    let is_bound = checks::is_bound_to_known_test(&run.subject.task.acceptance_criteria, known);
    let for_tests = run.subject.task.kind == TaskType::Testing && run.change.touches_tests();
    match is_bound || for_tests || !grown::grows(run.change) {
        true => Weight::Shown,
        false => demanded,
    }
}

/// Whether tests may stand in a file of this path that nothing tells apart from code.
fn may_hold_tests(path: &str) -> bool {
    role(path) == Role::Support
}
