//! The sentences about the rules of integrity: the subject of each rule, and its findings.

use crate::messages::facts;
use domain::{
    decision::Issue,
    integrity::{Detail, Rule},
    test_outcome::TestOutcome,
};

/// The most ranges of lines in one sentence.
const MOST_RANGES: usize = 10;

/// Words an item by its details; `None` if it has none. `why` is the sentence of its Gate.
pub(super) fn worded(item: &Issue, why: &str) -> Option<String> {
    if let (Some(outcome), Some(what)) = (item.outcome, &item.what) {
        let test = shown(what);
        return Some(format!("{outcome}: {test} {}", became(outcome)));
    }
    let what = item.what.as_ref()?;
    Some(match (item.rule, what) {
        (Some(rule), _) => format!("{}: {}", rule.name(), sentence(rule).replace("{}", &shown(what))),
        (None, Detail::Criterion { number, text }) => format!("criterion {number} ({text}) does not hold: {why}"),
        (None, Detail::Uncovered(_)) => format!("no test runs {}", shown(what)),
        (None, Detail::InstallScript(_)) => {
            format!(
                "this runs when packages are installed, before the tests: {}",
                shown(what)
            )
        }
        (None, Detail::Restored(path)) => {
            format!("set-up rewrites `{path}`; it was put back as the commit has it before the tests ran")
        }
        (None, _) => shown(what),
    })
}

/// Returns the end of the sentence about a test, after its name.
fn became(outcome: TestOutcome) -> &'static str {
    match outcome {
        TestOutcome::Weakened => {
            "passes on the old code too, and as it was it fails on the new code: it was changed so that it notices less. \
             Restore what it asserted, or have the plan name the change (`changes`)"
        }
        TestOutcome::ChangedOnPurpose => {
            "fails on the new code as it was, and on the old code as it is now: behaviour changed, which a refactoring must \
             not do"
        }
        TestOutcome::RemovedWithBehaviour => {
            "passed before and is gone or does not run, and as it was it does not pass on the new code. Bring it back, or \
             have the plan say that it goes (`removes`)"
        }
        TestOutcome::Lost => {
            "passed before, and no run reports it any more, though its text is the same. Undo what keeps it from running"
        }
        TestOutcome::WeakenedWhileRed => "failed before, and was changed until it passes on the old code too",
        TestOutcome::Kept
        | TestOutcome::NoLongerNotices
        | TestOutcome::Loosened
        | TestOutcome::Sharpened
        | TestOutcome::Broken
        | TestOutcome::ChangedNotComparable
        | TestOutcome::Adapted
        | TestOutcome::RemovedStillHolds
        | TestOutcome::Witness
        | TestOutcome::WitnessByNeed
        | TestOutcome::NoWitness
        | TestOutcome::NeverRan
        | TestOutcome::AsBefore
        | TestOutcome::Repaired
        | TestOutcome::RepairedAndChanged
        | TestOutcome::RemovedWhileRed
        | TestOutcome::RedBefore
        | TestOutcome::Unnamed => "does not hold as it did before",
    }
}

/// Returns the sentence for a finding, in which `{}` stands for the thing found.
fn sentence(rule: Rule) -> &'static str {
    match rule {
        Rule::FewerCases => "a number in test code is half of what it was or less: {}",
        Rule::CannotFail => "it asserts nothing, what always holds, or only on a condition: {}",
        Rule::PseudoTested => "nothing tests the change: no test fails when all its functions are emptied: {}",
        Rule::SwallowedFailure => "each assertion may fail, and the test still passes: {}",
        Rule::WeakAssertion => "any other return value of the same type would do: {}",
        Rule::RunnerWeakened => "what runs the tests, or what it lets pass, changes: {}",
        Rule::SnapshotByHand => "the stored snapshot changed or is gone, and no code did",
        Rule::ShadowModule => "a module or a tool of tests means something else now: {}",
        Rule::CoverageWeakened => "code is left out of the coverage: {}",
        Rule::CiWeakened => "CI, or what its coverage service asks for, changes: {}",
        Rule::Stub => "{} stands where the work should be",
        Rule::ComparesLess => "different values are equal here, so a test that compares so checks less: {}",
        Rule::HardCoded => "{} is an answer that the tests expect, for the very input that they give",
        Rule::NotUsed => "the product takes this, and does nothing with it: {}",
        Rule::RepeatsCode => "{} computes what a test expects just as the product does, so both may be wrong",
        Rule::SetByTests => "a test writes data that the product should compute: {}",
        Rule::WritesExpectation => "a test writes a file that it, or the service, compares with: {}",
        Rule::ResultsByHand => "only a run may write results of tests: {}",
        Rule::ExitInTest => "{} ends the process, and the tests with it",
        Rule::RewrittenBySetup => {
            "set-up rewrites {}, which decides what the tests say; it was put back before they ran"
        }
        Rule::ProtectedPath => "the path is protected by the pattern {}; undo the change of this file",
        Rule::Secret => "this line holds {}",
        Rule::MergeMarker => "a merge conflict is not resolved here",
        Rule::FileTooLarge => "the file has {}",
        Rule::DiffersUnderTest => "{} lets the code behave differently under test",
        Rule::FileDeleted => "the change deletes this file, and the task does not name it",
        Rule::Unreadable => "the file is too large or too deep to be parsed, so its syntax was not checked",
    }
}

/// Returns the subject of a rule, for the page of rules.
pub fn about(rule: Rule) -> &'static str {
    match rule {
        Rule::FewerCases => "A number in test code, such as that of random cases, is half of what it was or less.",
        Rule::CannotFail => "A test asserts nothing, something that always holds, or only on a condition.",
        Rule::PseudoTested => "No test fails when every function of the change is emptied (extreme mutation).",
        Rule::SwallowedFailure => "A new test passes even if each of its assertions fails.",
        Rule::WeakAssertion => "New tests pass for any return value of the right type.",
        Rule::RunnerWeakened => "Settings of the test runner, or scripts that start it, change.",
        Rule::SnapshotByHand => "A stored snapshot is gone, or changed although no code did.",
        Rule::ShadowModule => "A file, code or a setting takes the place of a module or a test tool.",
        Rule::CoverageWeakened => "Code is marked so that the coverage tool leaves it out.",
        Rule::CiWeakened => "The repository's CI, or what its coverage service asks for, changes.",
        Rule::Stub => "A function only promises its work, or only returns the answers of its tests.",
        Rule::ComparesLess => {
            "An equality always holds or leaves out fields, or a test first gives both sides the same shape."
        }
        Rule::HardCoded => "The product holds the answers that its tests expect, for the inputs that they give.",
        Rule::NotUsed => "New code never reads a parameter, or only tests call a new function.",
        Rule::RepeatsCode => "A function of the tests computes what they expect as the product does.",
        Rule::SetByTests => "Tests write data of the product that the change brings.",
        Rule::WritesExpectation => "Tests write the snapshot, golden file or results that they are compared with.",
        Rule::ResultsByHand => "The change contains a file of results that is read after the test run.",
        Rule::ExitInTest => "A test ends its process.",
        Rule::RewrittenBySetup => "Set-up now rewrites tests or their settings. They are put back.",
        Rule::ProtectedPath => "A Player changed a protected path.",
        Rule::Secret => "A line looks like a credential. Nobody can waive this.",
        Rule::MergeMarker => "A merge conflict is not resolved.",
        Rule::FileTooLarge => "A file is over the size limit.",
        Rule::DiffersUnderTest => "Code behaves differently under test.",
        Rule::FileDeleted => "A file is gone that the task does not name.",
        Rule::Unreadable => "A file cannot be parsed, so its syntax was not checked.",
    }
}

/// Returns the thing found, as a part of a sentence.
fn shown(what: &Detail) -> String {
    match what {
        Detail::Nothing => "this file".to_owned(),
        Detail::Code(text) => text.clone(),
        Detail::Test(first) | Detail::Tests { first, more: 0 } => format!("the test `{first}`"),
        Detail::Tests { first, more } => format!("the test `{first}` and {more} more of this file"),
        Detail::InTest { test, code } => format!("{code} in `{test}`"),
        Detail::Function(name) => format!("the function `{name}`"),
        Detail::Size { is, most } => format!("{is} bytes, and {most} are the most"),
        Detail::Setting { name, from, to } => match (from, to) {
            (Some(from), Some(to)) => format!("`{name}` was {from} and is {to}"),
            (Some(from), None) => format!("`{name}` was {from} and is gone"),
            (None, to) => format!("`{name}` is now {}", to.as_deref().unwrap_or_default()),
        },
        Detail::MeasuringFile(path) => format!("`{path}`, by which coverage is measured"),
        Detail::Restored(path) => format!("`{path}`"),
        Detail::InstallScript(script) => format!("`{script}`"),
        Detail::Uncovered(ranges) => lines(ranges),
        Detail::Criterion { number, .. } => format!("criterion {number}"),
        Detail::Unrun(unrun) => facts::unrun_tests(unrun),
    }
}

fn lines(ranges: &[(u32, u32)]) -> String {
    let one = |(first, last): &(u32, u32)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}–{last}")
        }
    };
    let word = match ranges {
        [(first, last)] if first == last => "line",
        _ => "lines",
    };
    let shown: Vec<String> = ranges.iter().take(MOST_RANGES).map(one).collect();
    match ranges.len().saturating_sub(MOST_RANGES) {
        0 => format!("{word} {}", shown.join(", ")),
        more => format!("{word} {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::worded;
    use domain::{
        integrity::{Author, Detail, IntegrityFinding, Rule},
        plan::TaskType,
    };

    #[test]
    fn a_finding_is_worded_from_its_rule_and_what_is_there() {
        let said = |rule: Rule, what: Detail| {
            let finding = IntegrityFinding {
                rule,
                path: "tests/a.py".to_owned(),
                line: Some(3),
                what,
                by: Author::Player,
            };
            worded(&finding.item(TaskType::Feature), "").unwrap()
        };
        let ignored = Detail::Tests {
            first: "test_adds".to_owned(),
            more: 2,
        };
        insta::assert_snapshot!(said(Rule::SwallowedFailure, ignored), @"swallowed failure: each assertion may fail, and the test still passes: the test `test_adds` and 2 more of this file");
        let size = Detail::Size { is: 20, most: 10 };
        insta::assert_snapshot!(said(Rule::FileTooLarge, size), @"file too large: the file has 20 bytes, and 10 are the most");
        insta::assert_snapshot!(said(Rule::RewrittenBySetup, Detail::Restored("a".to_owned())), @"rewritten by set-up: set-up rewrites `a`, which decides what the tests say; it was put back before they ran");
    }
}
