//! Combines the Gates of a task into one result.

use crate::{
    evidence::{Absence, Counts, Evidence, Finding, Gate, GateReport, GateResult, TestNames, Weight},
    plan::TaskType,
    problem::{Problem, ReviewItem},
};
use serde::{Deserialize, Serialize};

/// The combined result of the Gates that a task type requires: the only thing that an approval may rest on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Every Gate of the profile passed.
    Passed,
    /// At least one failed: the Player must mend these.
    Failed(Vec<Unmet>),
    /// None failed, and at least one that the profile requires could not run: a person must see to these.
    Absent(Vec<Unmet>),
}

/// A part of the profile that a commit does not meet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmet {
    pub part: Part,
    pub cause: Cause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    SetUp,
    /// The commit's own tests.
    Tests,
    /// Another Gate that is required.
    Gate(Gate),
}

/// The reason why a part of the profile is not met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    Failed(Finding),
    /// The command ended, and ran no test.
    NothingRan(Finding),
    /// It could not run.
    Absent(Absence),
}

impl Unmet {
    /// `true` if a check of somebody else waits for a person, since it judges the pull request and not the code.
    pub fn judges_pull(&self) -> bool {
        matches!(self.cause, Cause::Absent(Absence::JudgesPull { .. }))
    }

    fn is_absent(&self) -> bool {
        matches!(self.cause, Cause::Absent(_))
    }

    /// `true` if tests are required, and no command for them is known.
    fn lacks_test_command(&self) -> bool {
        self.part == Part::Tests && self.cause == Cause::Absent(Absence::NoCommand)
    }
}

/// Combines the Gates of a task type, by the table in section 6 of the product description.
pub fn profile(kind: TaskType, gates: &GateReport) -> Profile {
    let unmet = open_gates(kind, gates).into_iter().map(|open| open.unmet);
    let (absent, failed): (Vec<Unmet>, Vec<Unmet>) = unmet.partition(Unmet::is_absent);
    match (failed.is_empty(), absent.is_empty()) {
        (false, _) => Profile::Failed(failed),
        (true, false) => Profile::Absent(absent),
        (true, true) => Profile::Passed,
    }
}

/// Returns the issues that the Gates require the Player to fix, and those that they only show, by place if the places
/// are known. A missing test command comes first, because it makes the other Gates fail.
pub fn items(kind: TaskType, gates: &GateReport) -> Vec<ReviewItem> {
    let (absent, failed): (Vec<_>, Vec<_>) =
        open_gates(kind, gates).into_iter().partition(|open| open.unmet.is_absent());
    let mut items = Vec::new();
    if !failed.is_empty() && absent.iter().any(|open| open.unmet.lacks_test_command()) {
        // The Player can fix this too: tests that a common runner finds need no setting.
        items.push(ReviewItem::must_fix(Problem::NoTestCommand));
    }
    for open in failed {
        match open.places {
            [] => items.push(ReviewItem::must_fix(Problem::Unmet(open.unmet))),
            places => items.extend_from_slice(places),
        }
    }
    let is_shown = |result: &&GateResult| result.weight == Weight::Informational || result.evidence.failure().is_none();
    let shown = gates.more.iter().filter(is_shown);
    items.extend(shown.flat_map(|result| result.items.iter().cloned()));
    items
}

/// A Gate that keeps work from being approved.
pub(crate) struct OpenGate<'a> {
    pub unmet: Unmet,
    /// The result of its command, if it ran and tests may be named in it.
    pub finding: Option<&'a Finding>,
    /// The findings place by place.
    pub places: &'a [ReviewItem],
}

/// Returns each Gate that keeps work from being approved.
pub(crate) fn open_gates(kind: TaskType, gates: &GateReport) -> Vec<OpenGate<'_>> {
    let open = |part, finding, cause| OpenGate { unmet: Unmet { part, cause }, finding, places: &[] };
    let setup = gates.setup.as_ref().and_then(setup_cause);
    let setup = setup.map(|cause| open(Part::SetUp, None, cause));
    let tests = tests_cause(kind, gates).map(|cause| open(Part::Tests, gates.tests.finding(), cause));
    let required = gates.more.iter().filter(|result| result.weight == Weight::Required);
    let others = required.filter_map(|result| {
        let cause = match &result.evidence {
            Evidence::Passed(_) => return None,
            Evidence::Failed(finding) => Cause::failed(finding),
            Evidence::Absent(reason) => Cause::Absent(reason.clone()),
        };
        Some(OpenGate { places: &result.items, ..open(Part::Gate(result.gate), result.evidence.finding(), cause) })
    });
    setup.into_iter().chain(tests).chain(others).collect()
}

impl Cause {
    fn failed(finding: &Finding) -> Self {
        Self::Failed(finding.without_output())
    }
}

fn setup_cause(setup: &Evidence) -> Option<Cause> {
    match setup {
        Evidence::Passed(_) | Evidence::Absent(Absence::NoCommand) => None,
        Evidence::Failed(finding) => Some(Cause::failed(finding)),
        Evidence::Absent(reason) => Some(Cause::Absent(reason.clone())),
    }
}

/// Some tasks require that tests run and pass. Of the others, tests must pass if there are any.
fn tests_cause(kind: TaskType, gates: &GateReport) -> Option<Cause> {
    let is_required = kind.requires_tests();
    match &gates.tests {
        Evidence::Passed(finding) | Evidence::Failed(finding) if !is_required && finding.collected_nothing() => None,
        Evidence::Passed(finding) | Evidence::Failed(finding) if is_required && finding.ran_nothing() => {
            Some(Cause::NothingRan(finding.without_output()))
        }
        Evidence::Passed(finding) if !finding.is_failure() => None,
        Evidence::Passed(finding) | Evidence::Failed(finding) if gates.all_excused(finding) => None,
        Evidence::Passed(finding) | Evidence::Failed(finding) => Some(Cause::failed(&gates.without_excused(finding))),
        Evidence::Absent(Absence::NoCommand | Absence::CouldNotStart { .. }) if !is_required => None,
        Evidence::Absent(reason) => Some(Cause::Absent(reason.clone())),
    }
}

impl Finding {
    /// Returns the result without the parts that only the report needs: the output and the names of other tests. The
    /// facts of a Gate without a command are its result.
    pub fn without_output(&self) -> Self {
        let facts = if self.command.is_empty() { self.facts.clone() } else { Vec::new() };
        let failed = self.names.as_ref().map(|names| names.failed.clone());
        Self {
            names: failed.map(|failed| TestNames { failed, ..TestNames::default() }),
            command: self.command.clone(),
            exit_code: self.exit_code,
            counts: self.counts,
            failing: self.failing.clone(),
            facts,
            ..Self::default()
        }
    }

    /// `true` if the runner reports that it found no test at all.
    pub(super) fn collected_nothing(&self) -> bool {
        self.ran_nothing() && matches!(self.counts, Counts::Known { skipped: 0, .. })
    }

    /// `true` if the runner reports that no test ran: it found none, or skipped all.
    pub fn ran_nothing(&self) -> bool {
        self.failing.is_empty() && matches!(self.counts, Counts::Known { passed: 0, failed: 0, .. })
    }

    /// `true` if the runner reports failing tests, with any exit code.
    fn is_failure(&self) -> bool {
        !self.failing.is_empty() || matches!(self.counts, Counts::Known { failed: 1.., .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::StartFailure;

    fn finding(exit_code: i32, counts: Counts) -> Finding {
        Finding {
            command: "t".to_owned(),
            exit_code: Some(exit_code),
            counts,
            failing: Vec::new(),
            output: String::new(),
            ..Finding::default()
        }
    }

    fn counts(passed: u32, failed: u32, skipped: u32) -> Counts {
        Counts::Known { passed, failed, skipped }
    }

    fn word(kind: TaskType, setup: Option<Evidence>, tests: Evidence) -> &'static str {
        match profile(
            kind,
            &GateReport {
                isolation: None,
                setup,
                tests,
                excused: Vec::new(),
                questions: Vec::new(),
                intended: Vec::new(),
                more: Vec::new(),
            },
        ) {
            Profile::Passed => "passed",
            Profile::Failed(_) => "failed",
            Profile::Absent(_) => "absent",
        }
    }

    #[test]
    fn that_there_is_no_test_command_is_said_before_what_follows_from_it() {
        let red = GateResult {
            gate: Gate::RedBeforeGreen,
            weight: Weight::Required,
            evidence: Evidence::Failed(finding(1, Counts::Unknown)),
            items: Vec::new(),
        };
        let report = |more| GateReport { more, ..GateReport::new(None, Evidence::Absent(Absence::NoCommand)) };
        let failed = Problem::Unmet(Unmet {
            part: Part::Gate(Gate::RedBeforeGreen),
            cause: Cause::failed(&finding(1, Counts::Unknown)),
        });
        let told = |kind, gates: &GateReport| -> Vec<Problem> {
            items(kind, gates).into_iter().map(|item| item.problem).collect()
        };
        let feature = told(TaskType::Feature, &report(vec![red.clone()]));
        assert_eq!(feature, [Problem::NoTestCommand, failed.clone()]);
        let scaffolding = told(TaskType::Scaffolding, &report(vec![red]));
        assert_eq!(scaffolding, [failed], "tests are not asked for");
        let alone = told(TaskType::Feature, &report(Vec::new()));
        assert_eq!(alone, [], "a person is asked, not the Player");
    }

    #[test]
    fn the_table_of_section_6_holds_for_every_kind_of_task() {
        let could_not_start = || Absence::CouldNotStart { command: "t".into(), reason: StartFailure::NoShell };
        let timed_out = || Absence::TimedOut { command: "t".into(), seconds: 5, in_test: None, failed: vec![] };
        // evidence · result for feature and testing · result for scaffolding and documentation
        let table = [
            (Evidence::Passed(finding(0, counts(3, 0, 1))), "passed", "passed"),
            (Evidence::Passed(finding(0, Counts::Unknown)), "passed", "passed"),
            (Evidence::Passed(finding(0, counts(0, 0, 0))), "failed", "passed"),
            (Evidence::Failed(finding(5, counts(0, 0, 0))), "failed", "passed"),
            (Evidence::Passed(finding(0, counts(0, 0, 7))), "failed", "passed"),
            (Evidence::Failed(finding(1, counts(0, 0, 7))), "failed", "failed"),
            (Evidence::Failed(finding(1, counts(3, 1, 0))), "failed", "failed"),
            (Evidence::Failed(finding(101, Counts::Unknown)), "failed", "failed"),
            (Evidence::Passed(finding(0, counts(3, 1, 0))), "failed", "failed"),
            (Evidence::Absent(Absence::NoCommand), "absent", "passed"),
            (Evidence::Absent(could_not_start()), "absent", "passed"),
            (Evidence::Absent(timed_out()), "absent", "absent"),
            (Evidence::Absent(Absence::NotReached), "absent", "absent"),
        ];
        for (tests, required, if_any) in table {
            for kind in [TaskType::Feature, TaskType::Refactoring, TaskType::Testing] {
                assert_eq!(word(kind, None, tests.clone()), required, "{kind:?} with {tests:?}");
            }
            for kind in [TaskType::Scaffolding, TaskType::Documentation] {
                assert_eq!(word(kind, None, tests.clone()), if_any, "{kind:?} with {tests:?}");
            }
        }
    }

    #[test]
    fn set_up_counts_for_every_kind_and_a_failure_beats_an_absence() {
        let passing = || Evidence::Passed(finding(0, counts(1, 0, 0)));
        let not_reached = || Evidence::Absent(Absence::NotReached);
        let could_not_start =
            || Evidence::Absent(Absence::CouldNotStart { command: "s".into(), reason: StartFailure::NoShell });
        let table = [
            (None, passing(), "passed"),
            (Some(passing()), passing(), "passed"),
            (Some(Evidence::Absent(Absence::NoCommand)), passing(), "passed"),
            (Some(Evidence::Failed(finding(1, Counts::Unknown))), not_reached(), "failed"),
            (Some(could_not_start()), not_reached(), "absent"),
            (Some(could_not_start()), passing(), "absent"),
            (Some(could_not_start()), Evidence::Failed(finding(1, counts(0, 2, 0))), "failed"),
        ];
        for (setup, tests, expected) in table {
            for kind in [
                TaskType::Feature,
                TaskType::Refactoring,
                TaskType::Testing,
                TaskType::Scaffolding,
                TaskType::Documentation,
            ] {
                assert_eq!(word(kind, setup.clone(), tests.clone()), expected, "{kind:?}: {setup:?} then {tests:?}");
            }
        }
    }
}
