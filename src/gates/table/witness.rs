//! Red before green: looks for proof of the change: a test, or a criterion's check, that fails without the change and
//! passes with it.

use crate::gates::{
    change::{Change, is_of_tests},
    checks::{CheckResult, OnBase},
    compare, gate_result,
    run::{
        context::GateError,
        overlay::{Overlay, Revision},
    },
    table::rows::{Naming, TestRow, TestTable},
    turn::Run,
};
use domain::{
    evidence::{Absence, Evidence, Fact, Gate, GateResult, StartFailure, TouchedKinds, Weight},
    feature::Mode,
    plan::{Check, TaskType},
    problem::Problem,
    task::Origin,
    test_outcome::{MixedResult, TestResult, Witness},
    unrun::UnrunTests,
};
use git::RawChange;
use std::collections::BTreeSet;

const GATE: Gate = Gate::RedBeforeGreen;

/// Records the result on the base of each criterion's check.
pub(crate) async fn note_base(
    run: &Run<'_>,
    table: Option<&TestTable<'_>>,
    checks: &mut [CheckResult],
) -> Result<(), GateError> {
    for check in checks.iter_mut() {
        let base = on_base(run, table, check).await?;
        check.set_base(base);
    }
    Ok(())
}

async fn on_base(run: &Run<'_>, table: Option<&TestTable<'_>>, check: &CheckResult) -> Result<OnBase, GateError> {
    if !matches!(check.result.evidence, Evidence::Passed(_)) {
        return Ok(OnBase::Unknown);
    }
    Ok(match &check.check {
        Check::Human => OnBase::Unknown,
        Check::File(path) if run.change.base.contains(path.trim_start_matches("./")) => OnBase::Holds,
        Check::File(_) => OnBase::Fails,
        Check::Command(command) => command_on_base(run, command).await?,
        Check::Test(_) => table.map_or(OnBase::Unknown, |table| tests_on_base(table, &check.named)),
    })
}

async fn command_on_base(run: &Run<'_>, command: &str) -> Result<OnBase, GateError> {
    let of_tests = |raw: &&RawChange| raw.path.to_str().is_some_and(is_of_tests);
    let files: Vec<&RawChange> = run.change.raw.iter().filter(of_tests).collect();
    let overlay = Overlay::of(run.subject.mirror, &files, Revision::Head).await?;
    let found = run.prepared.command_with(run.subject.fork, &overlay, command).await?;
    // A program in the repository's folders is a part of the change.
    let is_own = |program: &String| program.contains('/') && !program.starts_with('/');
    Ok(match found {
        Evidence::Failed(finding) if !compare::is_stopped(&finding) => OnBase::Fails,
        Evidence::Absent(Absence::CouldNotStart { reason: StartFailure::NoPrograms(programs), .. })
            if programs.iter().all(is_own) =>
        {
            OnBase::Fails
        }
        Evidence::Passed(_) => OnBase::Holds,
        Evidence::Failed(_) | Evidence::Absent(_) => OnBase::Unknown,
    })
}

fn tests_on_base(table: &TestTable<'_>, names: &[String]) -> OnBase {
    let rows = table.by_head();
    let of = |name: &String| match rows.get(name.as_str()) {
        None => OnBase::Unknown,
        Some(row) => match (row.results.new_tests, row.results.before) {
            (MixedResult::Ran(TestResult::Failed | TestResult::NotComparable), _) => OnBase::Fails,
            (MixedResult::Ran(TestResult::Passed), _) | (MixedResult::NotNeeded, TestResult::Passed) => OnBase::Holds,
            (MixedResult::NotNeeded, TestResult::Failed) => OnBase::Fails,
            _ => OnBase::Unknown,
        },
    };
    let all: Vec<OnBase> = names.iter().map(of).collect();
    match all.contains(&OnBase::Fails) {
        true => OnBase::Fails,
        false if all.is_empty() || all.contains(&OnBase::Unknown) => OnBase::Unknown,
        false => OnBase::Holds,
    }
}

/// Returns the weight of a witness; `None` if none is required. A fix or sync is verified by the failure that caused
/// it, documentation by reading it, and a refactoring by the tests of the base.
pub(crate) fn weight(kind: TaskType, origin: &Origin, mode: Mode) -> Option<Weight> {
    match (origin, kind, mode) {
        (Origin::Fix { .. } | Origin::Sync { .. }, ..) | (_, TaskType::Documentation | TaskType::Refactoring, _) => {
            None
        }
        (Origin::Planned, _, Mode::Tdd) => Some(Weight::Required),
        (Origin::Review { .. }, ..) | (Origin::Planned, _, Mode::Standard) => Some(Weight::Informational),
    }
}

/// Returns the Gate's result; `None` if the task needs no witness. `noticed` are the tests that turn red when the
/// functions that they call are emptied, if that was tried. `unrun` are the new tests that did not run.
pub(crate) fn judge(
    run: &Run<'_>,
    weight: Weight,
    table: Option<&TestTable<'_>>,
    tests: &Evidence,
    noticed: Option<&BTreeSet<String>>,
    checks: &[CheckResult],
    unrun: Option<UnrunTests>,
) -> Option<GateResult> {
    // Tests of existing code prove themselves by noticing emptied functions.
    if run.kind() == TaskType::Testing && table.is_some_and(brings_tests) {
        return None;
    }
    let rows = table.map_or(&[][..], |table| table.rows.as_slice());
    let new = table.and_then(|table| table.new.as_ref());
    let shows = |row: &&TestRow| match row.witness(new) {
        Witness::Yes | Witness::OnceWanted => true,
        Witness::OnceNoticed => noticed.is_none_or(|noticed| noticed.contains(row.name())),
        Witness::No => false,
    };
    let witnesses: Vec<&TestRow> = rows.iter().filter(shows).collect();
    let with_unrun = |mut result: GateResult| {
        result.items.extend(unrun.clone().map(|unrun| gate_result::should_fix(Problem::Unrun(unrun), None)));
        result
    };
    if let Some(first) = witnesses.first() {
        let tests = match table.map(|table| table.naming) {
            Some(Naming::Unnamed) => None,
            Some(Naming::Named) | None => Some((witnesses.len(), first.name().to_owned())),
        };
        return Some(with_unrun(gate_result::passed(GATE, weight, Fact::Witnessed { tests })));
    }
    if let Some(number) = shown_by_check(run, checks) {
        let fact = Fact::CriterionWitnessed(number);
        return Some(with_unrun(gate_result::passed(GATE, weight, fact)));
    }
    let of_tests = match tests {
        Evidence::Absent(Absence::NoCommand) | Evidence::Passed(_) | Evidence::Failed(_) => None,
        Evidence::Absent(reason) => Some(reason),
    };
    if let Some(reason) = of_tests.or_else(|| table?.new.as_ref()?.absence()) {
        return Some(gate_result::result(GATE, weight, Evidence::Absent(reason.clone())));
    }
    Some(gate_result::failed(GATE, weight, no_witness(run.change, rows, unrun)))
}

fn brings_tests(table: &TestTable<'_>) -> bool {
    table.naming == Naming::Unnamed || !table.new_or_changed().is_empty()
}

/// Returns the first criterion whose check fails without the change and passes with it. A file's existence proves no
/// behaviour, so it does not count if a feature touches code or tests.
fn shown_by_check(run: &Run<'_>, checks: &[CheckResult]) -> Option<usize> {
    let needs_more = run.kind() == TaskType::Feature && run.change.touches_code_or_tests();
    let counts = |check: &&CheckResult| match check.check {
        Check::File(_) => !needs_more,
        Check::Test(_) | Check::Command(_) => true,
        Check::Human => false,
    };
    let mut shown = checks.iter().filter(counts).filter(|check| check.base == OnBase::Fails);
    shown.next().map(|check| check.number)
}

fn no_witness(change: &Change, rows: &[TestRow], unrun: Option<UnrunTests>) -> Fact {
    let tried = rows.iter().filter(|row| row.results.new_tests != MixedResult::NotNeeded);
    Fact::NoWitness {
        tried: tried.map(|row| row.name().to_owned()).collect(),
        unrun,
        touched: if change.touches_code_or_tests() { TouchedKinds::CodeOrTests } else { TouchedKinds::Neither },
    }
}

#[cfg(test)]
mod tests {
    use super::weight;
    use domain::{evidence::Weight, feature::Mode, plan::TaskType, task::Origin};

    #[test]
    fn a_witness_is_asked_of_what_was_planned() {
        let fix = || Origin::Fix { broke: None };
        let (required, informational) = (Some(Weight::Required), Some(Weight::Informational));
        let table = [
            (TaskType::Feature, Origin::Planned, Mode::Tdd, required),
            (TaskType::Scaffolding, Origin::Planned, Mode::Tdd, required),
            (TaskType::Testing, Origin::Planned, Mode::Tdd, required),
            (TaskType::Feature, Origin::Planned, Mode::Standard, informational),
            (TaskType::Documentation, Origin::Planned, Mode::Tdd, None),
            (TaskType::Refactoring, Origin::Planned, Mode::Standard, None),
            (TaskType::Feature, fix(), Mode::Tdd, None),
        ];
        for (kind, origin, mode, expected) in table {
            assert_eq!(weight(kind, &origin, mode), expected, "{kind:?} {origin:?} {mode:?}");
        }
    }
}
