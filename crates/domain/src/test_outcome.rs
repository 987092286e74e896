//! The table of the four runs: the outcome of one test, from its result in each run.
//!
//! The run _before_ has the tests and the code of the base, the run _after_ those of the head. The run of the _old tests_ has
//! the base's tests on the head's code, and that of the _new tests_ the head's tests on the base's code.

use crate::{integrity::Weight, plan::TaskType};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use text::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TestResult {
    Passed,
    /// It failed, for a reason of the product.
    Failed,
    /// It could not run, or failed on something that the test's side lacks.
    NotComparable,
    /// It is there and did not run: skipped, expected to fail, filtered, or only compiled.
    DidNotRun,
    /// It is not there.
    Missing,
}

/// The result of a mixed run, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MixedResult {
    /// The change leaves the test as it is, so its other runs show the same.
    NotNeeded,
    Ran(TestResult),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FourResults {
    /// The base's test on the base's code.
    pub before: TestResult,
    /// The base's test on the head's code.
    pub old_tests: MixedResult,
    /// The head's test on the head's code.
    pub after: TestResult,
    /// The head's test on the base's code.
    pub new_tests: MixedResult,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TestOutcome {
        /// It passed and passes.
        Kept = "kept",
        /// It asks for more than before.
        Sharpened = "sharpened",
        /// It passed, and fails on the head.
        Broken = "broken",
        /// Its new form passes on the old code too, its old form fails on the new code: it no longer notices.
        Weakened = "weakened",
        /// The behaviour changed, and the test shows it.
        ChangedOnPurpose = "changed on purpose",
        /// It changed, and nothing shows if the behaviour changed too.
        ChangedNotComparable = "changed, not comparable",
        /// Its old form does not run on the new code.
        Adapted = "adapted",
        /// It holds on every side, and its old form notices broken code that its new form does not.
        NoLongerNotices = "no longer notices",
        /// It holds on every side, and one of its assertions is gone or asks for less. Only reading tells it from a kept test.
        Loosened = "asserts less, still holds",
        /// It is gone or no longer runs, and fails on the new code.
        RemovedWithBehaviour = "removed with its behaviour",
        /// It is gone or no longer runs, and would still hold.
        RemovedStillHolds = "removed, still holds",
        /// It ran before and no run reports it, though its text is the same.
        Lost = "lost",
        /// It did not change and passes, but fails on the new code without the change's own tests.
        NeedsNewTests = "needs the new tests",
        /// It is new, fails without the change and passes with it.
        Witness = "witness",
        /// It is new, and does not compile or import without the change.
        WitnessByNeed = "witness by need",
        /// It is new and passes without the change too.
        NoWitness = "no witness",
        /// It is new and did not run.
        NeverRan = "written, did not run",
        /// It did not run before and does not run now.
        AsBefore = "as before",
        /// It failed and passes.
        Repaired = "repaired",
        /// It failed, and was changed until it passed on the old code too.
        WeakenedWhileRed = "weakened while red",
        /// It failed, and its new form needs the new code.
        RepairedAndChanged = "repaired and changed",
        /// It failed, and is gone.
        RemovedWhileRed = "removed while red",
        /// It failed and fails.
        RedBefore = "red before",
        /// A combination that the table does not name.
        Unnamed = "not in the table",
    }
}

/// A reason for which a change of a test is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The plan's `changes` names it, with a sentence of the issue.
    PlannedChange,
    /// The plan's `removes` names it.
    PlannedRemoval,
    /// The words of the task name it.
    NamedByTask,
    /// Everything that it calls is gone with it.
    CalleesGone,
    /// A witness in the same file calls the same function.
    Replaced,
    /// Its forms are equal after the renames that the product's difference shows.
    OnlyRenamed,
    /// The change touches the tests' side alone, so the old code is the new code.
    TestsAlone,
}

impl FourResults {
    pub fn outcome(self) -> TestOutcome {
        use TestResult::{DidNotRun, Failed, Missing, Passed};
        let Self { before, old_tests, after, new_tests } = self;
        match (before, after) {
            (Failed, Failed) => TestOutcome::RedBefore,
            (_, Failed) => TestOutcome::Broken,
            (Passed, Passed) => outcome_of_passing(old_tests, new_tests),
            (Passed, DidNotRun | Missing) => outcome_of_missing(old_tests),
            (Failed, Passed) => outcome_of_repaired(old_tests, new_tests),
            (Failed, DidNotRun | Missing) => TestOutcome::RemovedWhileRed,
            (Missing | DidNotRun, Passed) => outcome_of_new(new_tests),
            (Missing, DidNotRun) => TestOutcome::NeverRan,
            (DidNotRun, DidNotRun | Missing) => TestOutcome::AsBefore,
            _ => TestOutcome::Unnamed,
        }
    }
}

fn outcome_of_passing(old: MixedResult, new: MixedResult) -> TestOutcome {
    use MixedResult::{NotNeeded, Ran};
    use TestResult::{DidNotRun, Failed, NotComparable, Passed};
    match (old, new) {
        (NotNeeded | Ran(Passed), Ran(Failed)) => TestOutcome::Sharpened,
        (NotNeeded | Ran(Passed), NotNeeded | Ran(Passed | NotComparable)) => TestOutcome::Kept,
        (Ran(Failed), Ran(Passed)) => TestOutcome::Weakened,
        (Ran(Failed), Ran(Failed)) => TestOutcome::ChangedOnPurpose,
        (Ran(Failed), Ran(NotComparable | DidNotRun)) => TestOutcome::ChangedNotComparable,
        (Ran(NotComparable), _) => TestOutcome::Adapted,
        _ => TestOutcome::Unnamed,
    }
}

fn outcome_of_missing(old: MixedResult) -> TestOutcome {
    use MixedResult::{NotNeeded, Ran};
    use TestResult::{Failed, NotComparable, Passed};
    match old {
        NotNeeded => TestOutcome::Lost,
        Ran(Passed) => TestOutcome::RemovedStillHolds,
        Ran(Failed | NotComparable) => TestOutcome::RemovedWithBehaviour,
        Ran(TestResult::DidNotRun | TestResult::Missing) => TestOutcome::Unnamed,
    }
}

fn outcome_of_new(new: MixedResult) -> TestOutcome {
    use MixedResult::{NotNeeded, Ran};
    use TestResult::{DidNotRun, Failed, Missing, NotComparable, Passed};
    match new {
        Ran(Failed) => TestOutcome::Witness,
        Ran(NotComparable) => TestOutcome::WitnessByNeed,
        NotNeeded | Ran(Passed) => TestOutcome::NoWitness,
        Ran(DidNotRun | Missing) => TestOutcome::Unnamed,
    }
}

fn outcome_of_repaired(old: MixedResult, new: MixedResult) -> TestOutcome {
    use MixedResult::{NotNeeded, Ran};
    use TestResult::{Failed, Passed};
    match (old, new) {
        (NotNeeded | Ran(Passed), _) => TestOutcome::Repaired,
        (Ran(Failed), Ran(Passed)) => TestOutcome::WeakenedWhileRed,
        (Ran(Failed), Ran(Failed)) => TestOutcome::RepairedAndChanged,
        _ => TestOutcome::Unnamed,
    }
}

impl TestOutcome {
    /// Returns the consequence of the outcome in a task of this type, if these reasons are known.
    pub fn weight(self, kind: TaskType, reasons: &BTreeSet<Reason>) -> Weight {
        let has = |wanted: &[Reason]| wanted.iter().any(|reason| reasons.contains(reason));
        let unless = |wanted: &[Reason], weight, otherwise| if has(wanted) { weight } else { otherwise };
        let keeps_behaviour = kind == TaskType::Refactoring;
        match self {
            Self::Broken | Self::Lost => Weight::Required,
            Self::WeakenedWhileRed => unless(&[Reason::TestsAlone], Weight::Asked, Weight::Required),
            Self::Weakened | Self::ChangedOnPurpose if keeps_behaviour => Weight::Required,
            Self::Weakened => unless(&[Reason::PlannedChange], Weight::Asked, Weight::Required),
            Self::ChangedOnPurpose => unless(&[Reason::PlannedChange], Weight::Informational, Weight::Asked),
            Self::Adapted => unless(&[Reason::OnlyRenamed], Weight::Informational, Weight::Asked),
            Self::RemovedWithBehaviour => {
                use Reason::{CalleesGone, NamedByTask, PlannedRemoval, Replaced};
                let wanted = [PlannedRemoval, NamedByTask, CalleesGone, Replaced];
                unless(&wanted, Weight::Asked, Weight::Required)
            }
            Self::RemovedStillHolds => unless(&[Reason::PlannedRemoval], Weight::Informational, Weight::Asked),
            Self::NoLongerNotices
            | Self::Loosened
            | Self::ChangedNotComparable
            | Self::NeedsNewTests
            | Self::NeverRan
            | Self::RepairedAndChanged
            | Self::RemovedWhileRed
            | Self::Unnamed => Weight::Asked,
            Self::Kept
            | Self::Sharpened
            | Self::Witness
            | Self::WitnessByNeed
            | Self::NoWitness
            | Self::AsBefore
            | Self::Repaired
            | Self::RedBefore => Weight::Informational,
        }
    }

    /// `true` if a test of the base checks less than before.
    pub fn changes_behaviour(self) -> bool {
        match self {
            Self::Weakened
            | Self::NoLongerNotices
            | Self::Loosened
            | Self::ChangedOnPurpose
            | Self::ChangedNotComparable
            | Self::RemovedWithBehaviour
            | Self::RemovedStillHolds
            | Self::NeedsNewTests
            | Self::WeakenedWhileRed
            | Self::RepairedAndChanged
            | Self::RemovedWhileRed => true,
            Self::Kept
            | Self::Sharpened
            | Self::Broken
            | Self::Adapted
            | Self::Lost
            | Self::Witness
            | Self::WitnessByNeed
            | Self::NoWitness
            | Self::NeverRan
            | Self::AsBefore
            | Self::Repaired
            | Self::RedBefore
            | Self::Unnamed => false,
        }
    }

    /// Returns the worth of the test as proof of the change.
    pub fn witness(self) -> Witness {
        match self {
            Self::Witness | Self::Sharpened | Self::Repaired => Witness::Yes,
            Self::WitnessByNeed => Witness::OnceNoticed,
            Self::ChangedOnPurpose | Self::RepairedAndChanged => Witness::OnceWanted,
            Self::Kept
            | Self::Broken
            | Self::Weakened
            | Self::ChangedNotComparable
            | Self::Adapted
            | Self::NoLongerNotices
            | Self::Loosened
            | Self::RemovedWithBehaviour
            | Self::RemovedStillHolds
            | Self::Lost
            | Self::NeedsNewTests
            | Self::NoWitness
            | Self::NeverRan
            | Self::AsBefore
            | Self::WeakenedWhileRed
            | Self::RemovedWhileRed
            | Self::RedBefore
            | Self::Unnamed => Witness::No,
        }
    }
}

/// A change of a test that the plan names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntendedChange {
    /// The name in the plan's `changes` or `removes`, as it is written there.
    pub intent: String,
    pub test: String,
    pub outcome: TestOutcome,
}

/// The worth of a test as proof of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// The test is a witness.
    Yes,
    /// It is one if it turns red when the functions that it calls are emptied.
    OnceNoticed,
    /// It is one if somebody wants the changed behaviour.
    OnceWanted,
    /// It is none.
    No,
}

#[cfg(test)]
mod tests {
    use super::{
        FourResults,
        MixedResult::{self, NotNeeded, Ran},
        Reason, TestOutcome,
        TestResult::{self, DidNotRun, Failed, Missing, NotComparable, Passed},
    };
    use crate::{integrity::Weight, plan::TaskType};
    use std::collections::BTreeSet;

    const RESULTS: [TestResult; 5] = [Passed, Failed, NotComparable, DidNotRun, Missing];

    fn outcome(before: TestResult, old: MixedResult, after: TestResult, new: MixedResult) -> TestOutcome {
        FourResults { before, old_tests: old, after, new_tests: new }.outcome()
    }

    fn mixed() -> impl Iterator<Item = MixedResult> {
        [NotNeeded].into_iter().chain(RESULTS.map(Ran))
    }

    #[test]
    fn each_row_of_the_table_has_its_outcome() {
        use TestOutcome::*;
        let table = [
            (Passed, NotNeeded, Passed, NotNeeded, Kept),
            (Passed, Ran(Passed), Passed, Ran(Passed), Kept),
            (Passed, Ran(Passed), Passed, Ran(NotComparable), Kept),
            (Passed, Ran(Passed), Passed, Ran(Failed), Sharpened),
            (Passed, Ran(Passed), Failed, NotNeeded, Broken),
            (Missing, NotNeeded, Failed, Ran(Failed), Broken),
            (Passed, Ran(Failed), Passed, Ran(Passed), Weakened),
            (Passed, Ran(Failed), Passed, Ran(Failed), ChangedOnPurpose),
            (Passed, Ran(Failed), Passed, Ran(NotComparable), ChangedNotComparable),
            (Passed, Ran(Failed), Passed, Ran(DidNotRun), ChangedNotComparable),
            (Passed, Ran(NotComparable), Passed, Ran(Passed), Adapted),
            (Passed, Ran(NotComparable), Passed, NotNeeded, Adapted),
            (Passed, Ran(Failed), Missing, NotNeeded, RemovedWithBehaviour),
            (Passed, Ran(NotComparable), DidNotRun, NotNeeded, RemovedWithBehaviour),
            (Passed, Ran(Passed), Missing, NotNeeded, RemovedStillHolds),
            (Passed, Ran(Passed), DidNotRun, NotNeeded, RemovedStillHolds),
            (Passed, NotNeeded, Missing, NotNeeded, Lost),
            (Passed, NotNeeded, DidNotRun, NotNeeded, Lost),
            (Missing, NotNeeded, Passed, Ran(Failed), Witness),
            (DidNotRun, Ran(DidNotRun), Passed, Ran(Failed), Witness),
            (Missing, NotNeeded, Passed, Ran(NotComparable), WitnessByNeed),
            (Missing, NotNeeded, Passed, Ran(Passed), NoWitness),
            (Missing, NotNeeded, Passed, NotNeeded, NoWitness),
            (Missing, NotNeeded, DidNotRun, NotNeeded, NeverRan),
            (DidNotRun, Ran(Passed), DidNotRun, NotNeeded, AsBefore),
            (DidNotRun, NotNeeded, Missing, NotNeeded, AsBefore),
            (Failed, NotNeeded, Passed, NotNeeded, Repaired),
            (Failed, Ran(Passed), Passed, Ran(Failed), Repaired),
            (Failed, Ran(Failed), Passed, Ran(Passed), WeakenedWhileRed),
            (Failed, Ran(Failed), Passed, Ran(Failed), RepairedAndChanged),
            (Failed, NotNeeded, Missing, NotNeeded, RemovedWhileRed),
            (Failed, Ran(Passed), DidNotRun, NotNeeded, RemovedWhileRed),
            (Failed, NotNeeded, Failed, NotNeeded, RedBefore),
        ];
        for (before, old, after, new, expected) in table {
            assert_eq!(outcome(before, old, after, new), expected, "{before:?} {old:?} {after:?} {new:?}");
        }
        let named: BTreeSet<TestOutcome> = table.iter().map(|row| row.4).collect();
        let is_of_runs =
            |outcome: &&TestOutcome| !matches!(outcome, Unnamed | NoLongerNotices | Loosened | NeedsNewTests);
        assert!(TestOutcome::ALL.iter().filter(is_of_runs).eq(named.iter()), "a row is missing");
    }

    #[test]
    fn a_test_that_fails_on_the_head_is_never_called_more_than_red_before() {
        for before in RESULTS {
            for (old, new) in mixed().flat_map(|old| mixed().map(move |new| (old, new))) {
                let found = outcome(before, old, Failed, new);
                let expected = match before {
                    Failed => TestOutcome::RedBefore,
                    Passed | NotComparable | DidNotRun | Missing => TestOutcome::Broken,
                };
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn what_the_table_does_not_name_is_asked() {
        let none = BTreeSet::new();
        for kind in TaskType::ALL {
            assert_eq!(TestOutcome::Unnamed.weight(kind, &none), Weight::Asked);
        }
        assert_eq!(outcome(Passed, Ran(Missing), Passed, NotNeeded), TestOutcome::Unnamed);
        assert_eq!(outcome(NotComparable, NotNeeded, Passed, NotNeeded), TestOutcome::Unnamed);
    }

    #[test]
    fn a_known_reason_lowers_what_follows_and_a_refactoring_keeps_behaviour() {
        use Reason::{CalleesGone, NamedByTask, OnlyRenamed, PlannedChange, PlannedRemoval, Replaced, TestsAlone};
        use TaskType::{Feature, Refactoring, Testing};
        use TestOutcome::{
            Adapted, ChangedOnPurpose, Lost, RemovedStillHolds, RemovedWithBehaviour, Weakened, WeakenedWhileRed,
        };
        use Weight::{Asked, Informational, Required};
        let table: [(TestOutcome, TaskType, &[Reason], Weight); 18] = [
            (WeakenedWhileRed, Testing, &[], Required),
            (WeakenedWhileRed, Testing, &[TestsAlone], Asked),
            (Weakened, Feature, &[], Required),
            (Weakened, Feature, &[PlannedChange], Asked),
            (Weakened, Refactoring, &[PlannedChange], Required),
            (ChangedOnPurpose, Feature, &[], Asked),
            (ChangedOnPurpose, Feature, &[PlannedChange], Informational),
            (ChangedOnPurpose, Refactoring, &[PlannedChange], Required),
            (Adapted, Refactoring, &[], Asked),
            (Adapted, Feature, &[OnlyRenamed], Informational),
            (RemovedWithBehaviour, Feature, &[], Required),
            (RemovedWithBehaviour, Feature, &[PlannedChange], Required),
            (RemovedWithBehaviour, Feature, &[PlannedRemoval], Asked),
            (RemovedWithBehaviour, Feature, &[NamedByTask], Asked),
            (RemovedWithBehaviour, Refactoring, &[CalleesGone], Asked),
            (RemovedStillHolds, Feature, &[Replaced], Asked),
            (RemovedStillHolds, Feature, &[PlannedRemoval], Informational),
            (Lost, Feature, &[PlannedRemoval, PlannedChange], Required),
        ];
        for (outcome, kind, reasons, expected) in table {
            let reasons: BTreeSet<Reason> = reasons.iter().copied().collect();
            assert_eq!(outcome.weight(kind, &reasons), expected, "{outcome} in {kind}, {reasons:?}");
        }
    }
}
