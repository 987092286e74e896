//! Combines the Gates of a task into one result.

use crate::{
    decision::Issue,
    evidence::{Absence, Counts, Evidence, Finding, Gate, GateReport, GateResult, Weight},
    plan::TaskType,
};
use serde::{Deserialize, Serialize};

/// The combined result of the Gates that a task type requires: the only thing that an approval may rest on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Every Gate of the profile passed.
    Passed,
    /// At least one failed. Holds a sentence for the Player for each.
    Failed(Vec<String>),
    /// At least one that the profile requires could not run. Holds a sentence for a person for each.
    Absent(Vec<String>),
}

/// Combines the Gates of a task type, by the table in section 6 of the product description.
pub fn profile(kind: TaskType, gates: &GateReport) -> Profile {
    let mut failed = Vec::new();
    let mut absent = Vec::new();
    for lack in lacks(kind, gates) {
        match lack {
            Lack::Failed { sentence, .. } => failed.push(sentence),
            Lack::Absent(sentence) => absent.push(sentence),
            Lack::NoTestCommand => absent.push(format!("tests: {}", Absence::NoCommand.sentence())),
        }
    }
    match (failed.is_empty(), absent.is_empty()) {
        (false, _) => Profile::Failed(failed),
        (true, false) => Profile::Absent(absent),
        (true, true) => Profile::Passed,
    }
}

/// The Player can fix this too: tests that a common runner finds need no setting.
const NO_TEST_COMMAND: &str = "there is no test command: none is set and none was found. Bring tests that pytest, npm, Cargo, \
                               Go or another common runner finds by itself; a person can also set `test` in \
                               `.github/autobuild.yml`";

/// Returns the issues that the Gates require the Player to fix, and those that they only show, by place if the places
/// are known. A missing test command comes first, because it makes the other Gates fail.
pub fn items(kind: TaskType, gates: &GateReport) -> Vec<Issue> {
    let lacks = lacks(kind, gates);
    let is_failed = lacks.iter().any(|lack| matches!(lack, Lack::Failed { .. }));
    let has_no_command = lacks.iter().any(|lack| matches!(lack, Lack::NoTestCommand));
    let mut items = Vec::new();
    if is_failed && has_no_command {
        items.push(Issue::must_fix("test", NO_TEST_COMMAND));
    }
    for lack in lacks {
        match lack {
            Lack::Failed { sentence, places: [] } => items.push(Issue::must_fix("test", &sentence)),
            Lack::Failed { places, .. } => items.extend_from_slice(places),
            Lack::NoTestCommand | Lack::Absent(_) => {}
        }
    }
    let is_shown = |result: &&GateResult| result.weight == Weight::Informational || result.evidence.failure().is_none();
    let shown = gates.more.iter().filter(is_shown);
    items.extend(shown.flat_map(|result| result.items.iter().cloned()));
    items
}

/// The reason why a Gate of the profile did not pass.
enum Lack<'a> {
    Failed { sentence: String, places: &'a [Issue] },
    Absent(String),
    NoTestCommand,
}

fn failed<'a>(sentence: String) -> Lack<'a> {
    Lack::Failed { sentence, places: &[] }
}

/// A Gate that keeps work from being approved.
pub(crate) struct OpenGate<'a> {
    /// The Gate; `None` for set-up and the tests.
    pub gate: Option<Gate>,
    /// The result of its command, if it ran and tests may be named in it.
    pub finding: Option<&'a Finding>,
    /// What keeps the work from being approved.
    pub sentence: String,
    /// The findings place by place.
    pub places: &'a [Issue],
}

/// Returns each Gate that keeps work from being approved.
pub(crate) fn open_gates(kind: TaskType, gates: &GateReport) -> Vec<OpenGate<'_>> {
    let open = |gate, finding, lack: Lack<'_>| {
        let sentence = match lack {
            Lack::Failed { sentence, .. } | Lack::Absent(sentence) => sentence,
            Lack::NoTestCommand => format!("tests: {}", Absence::NoCommand.sentence()),
        };
        (gate, finding, sentence)
    };
    let setup = gates
        .setup
        .as_ref()
        .and_then(setup_part)
        .map(|lack| open(None, None, lack));
    let tests = tests_part(kind, gates).map(|lack| open(None, gates.tests.finding(), lack));
    let demanded = gates.more.iter().filter(|result| result.weight == Weight::Required);
    let others = demanded.filter_map(|result| {
        let (gate, finding, sentence) = open(Some(result.gate), result.evidence.finding(), other_part(result)?);
        Some(OpenGate {
            gate,
            finding,
            sentence,
            places: &result.items,
        })
    });
    let first = setup
        .into_iter()
        .chain(tests)
        .map(|(gate, finding, sentence)| OpenGate {
            gate,
            finding,
            sentence,
            places: &[],
        });
    first.chain(others).collect()
}

fn lacks(kind: TaskType, gates: &GateReport) -> Vec<Lack<'_>> {
    let setup = gates.setup.as_ref().and_then(setup_part);
    let demanded = gates.more.iter().filter(|result| result.weight == Weight::Required);
    let first = setup.into_iter().chain(tests_part(kind, gates));
    first.chain(demanded.filter_map(other_part)).collect()
}

fn setup_part(setup: &Evidence) -> Option<Lack<'_>> {
    match setup {
        Evidence::Passed(_) | Evidence::Absent(Absence::NoCommand | Absence::NotInThisVersion) => None,
        Evidence::Failed(finding) => Some(failed(format!("set-up failed: {}", finding.sentence()))),
        Evidence::Absent(reason) => Some(Lack::Absent(format!("set-up: {}", reason.sentence()))),
    }
}

/// Some tasks demand that tests run and pass. Of the others, tests must pass if there are any.
fn tests_part(kind: TaskType, gates: &GateReport) -> Option<Lack<'_>> {
    let is_demanded = kind.demands_tests();
    match &gates.tests {
        Evidence::Passed(finding) | Evidence::Failed(finding) if !is_demanded && finding.collected_nothing() => None,
        Evidence::Passed(finding) | Evidence::Failed(finding) if is_demanded && finding.ran_nothing() => {
            Some(failed(format!("no tests ran: {}", finding.sentence_of_tests())))
        }
        Evidence::Passed(finding) if !finding.says_failed() => None,
        Evidence::Passed(finding) | Evidence::Failed(finding) if gates.all_excused(finding) => None,
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            let sentence = gates.held(finding).sentence_of_tests();
            Some(failed(format!("tests failed: {sentence}")))
        }
        Evidence::Absent(Absence::NoCommand) if is_demanded => Some(Lack::NoTestCommand),
        Evidence::Absent(Absence::NoCommand | Absence::CouldNotStart { .. } | Absence::NotInThisVersion)
            if !is_demanded =>
        {
            None
        }
        Evidence::Absent(reason) => Some(Lack::Absent(format!("tests: {}", reason.sentence()))),
    }
}

fn other_part(result: &GateResult) -> Option<Lack<'_>> {
    let name = result.gate.name();
    match &result.evidence {
        Evidence::Passed(_) => None,
        Evidence::Failed(finding) => Some(Lack::Failed {
            sentence: format!("{name}: {}", finding.sentence()),
            places: &result.items,
        }),
        Evidence::Absent(reason) => Some(Lack::Absent(format!("{name}: {}", reason.sentence()))),
    }
}

impl Finding {
    /// `true` if the runner reports that it found no test at all.
    pub(super) fn collected_nothing(&self) -> bool {
        self.ran_nothing() && matches!(self.counts, Counts::Known { skipped: 0, .. })
    }

    /// `true` if the runner reports that no test ran: it found none, or skipped all.
    pub(crate) fn ran_nothing(&self) -> bool {
        self.failing.is_empty()
            && matches!(
                self.counts,
                Counts::Known {
                    passed: 0,
                    failed: 0,
                    ..
                }
            )
    }

    /// `true` if the runner reports failing tests, whatever its exit code.
    fn says_failed(&self) -> bool {
        !self.failing.is_empty() || matches!(self.counts, Counts::Known { failed: 1.., .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn known(passed: u32, failed: u32, skipped: u32) -> Counts {
        Counts::Known {
            passed,
            failed,
            skipped,
        }
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
        let report = |more| GateReport {
            more,
            ..GateReport::new(None, Evidence::Absent(Absence::NoCommand))
        };
        let told = |kind, gates: &GateReport| -> Vec<String> {
            items(kind, gates).into_iter().map(|item| item.description).collect()
        };
        let feature = told(TaskType::Feature, &report(vec![red.clone()]));
        assert_eq!(feature.len(), 2, "{feature:?}");
        assert!(feature[0].contains("no test command"), "{feature:?}");
        assert!(feature[0].contains("`test` in `.github/autobuild.yml`"), "{feature:?}");
        let scaffolding = told(TaskType::Scaffolding, &report(vec![red]));
        assert_eq!(scaffolding.len(), 1, "tests are not asked for: {scaffolding:?}");
        assert!(
            told(TaskType::Feature, &report(Vec::new())).is_empty(),
            "a person is asked, not the Player"
        );
    }

    #[test]
    fn the_table_of_section_6_holds_for_every_kind_of_task() {
        let could_not_start = || Absence::CouldNotStart {
            command: "t".into(),
            reason: "not found".into(),
        };
        let timed_out = || Absence::TimedOut {
            command: "t".into(),
            seconds: 5,
            in_test: None,
            failed: vec![],
        };
        // evidence · result for feature and testing · result for scaffolding and documentation
        let table = [
            (Evidence::Passed(finding(0, known(3, 0, 1))), "passed", "passed"),
            (Evidence::Passed(finding(0, Counts::Unknown)), "passed", "passed"),
            (Evidence::Passed(finding(0, known(0, 0, 0))), "failed", "passed"),
            (Evidence::Failed(finding(5, known(0, 0, 0))), "failed", "passed"),
            (Evidence::Passed(finding(0, known(0, 0, 7))), "failed", "passed"),
            (Evidence::Failed(finding(1, known(0, 0, 7))), "failed", "failed"),
            (Evidence::Failed(finding(1, known(3, 1, 0))), "failed", "failed"),
            (Evidence::Failed(finding(101, Counts::Unknown)), "failed", "failed"),
            (Evidence::Passed(finding(0, known(3, 1, 0))), "failed", "failed"),
            (Evidence::Absent(Absence::NoCommand), "absent", "passed"),
            (Evidence::Absent(could_not_start()), "absent", "passed"),
            (Evidence::Absent(Absence::NotInThisVersion), "absent", "passed"),
            (Evidence::Absent(timed_out()), "absent", "absent"),
            (Evidence::Absent(Absence::NotReached), "absent", "absent"),
        ];
        for (tests, demanded, if_any) in table {
            for kind in [TaskType::Feature, TaskType::Refactoring, TaskType::Testing] {
                assert_eq!(word(kind, None, tests.clone()), demanded, "{kind:?} with {tests:?}");
            }
            for kind in [TaskType::Scaffolding, TaskType::Documentation] {
                assert_eq!(word(kind, None, tests.clone()), if_any, "{kind:?} with {tests:?}");
            }
        }
    }

    #[test]
    fn set_up_counts_for_every_kind_and_a_failure_beats_an_absence() {
        let passing = || Evidence::Passed(finding(0, known(1, 0, 0)));
        let not_reached = || Evidence::Absent(Absence::NotReached);
        let could_not_start = || {
            Evidence::Absent(Absence::CouldNotStart {
                command: "s".into(),
                reason: "?".into(),
            })
        };
        let table = [
            (None, passing(), "passed"),
            (Some(passing()), passing(), "passed"),
            (Some(Evidence::Absent(Absence::NoCommand)), passing(), "passed"),
            (
                Some(Evidence::Failed(finding(1, Counts::Unknown))),
                not_reached(),
                "failed",
            ),
            (Some(could_not_start()), not_reached(), "absent"),
            (Some(could_not_start()), passing(), "absent"),
            (
                Some(could_not_start()),
                Evidence::Failed(finding(1, known(0, 2, 0))),
                "failed",
            ),
        ];
        for (setup, tests, expected) in table {
            for kind in [
                TaskType::Feature,
                TaskType::Refactoring,
                TaskType::Testing,
                TaskType::Scaffolding,
                TaskType::Documentation,
            ] {
                assert_eq!(
                    word(kind, setup.clone(), tests.clone()),
                    expected,
                    "{kind:?}: {setup:?} then {tests:?}"
                );
            }
        }
    }

    #[test]
    fn a_failure_names_command_code_counts_and_tests() {
        let mut red = finding(101, known(3, 2, 0));
        red.failing = vec!["a::b".to_owned(), "a::c".to_owned()];
        let gates = GateReport {
            isolation: None,
            setup: None,
            tests: Evidence::Failed(red),
            excused: Vec::new(),
            questions: Vec::new(),
            intended: Vec::new(),
            more: Vec::new(),
        };
        let sentence = "tests failed: `t` exited with 101, 3 passed, 2 failed: a::b, a::c".to_owned();
        assert_eq!(profile(TaskType::Feature, &gates), Profile::Failed(vec![sentence]));
    }
}
