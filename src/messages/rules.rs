//! The sentences about the rules of integrity: the subject of each rule, and its findings.

use domain::{
    decision::Issue,
    evidence::GateReport,
    integrity::{Detail, Rule, SettingChange},
    test_outcome::TestOutcome,
};

/// Words each item that is about a rule, or about what became of a test.
pub fn word_findings(report: &mut GateReport) {
    let items = report.more.iter_mut().flat_map(|result| &mut result.items);
    for item in items {
        if let Some(sentence) = worded(item) {
            item.description = sentence;
        }
    }
}

fn worded(item: &Issue) -> Option<String> {
    if let (Some(outcome), Some(what)) = (item.outcome, &item.what) {
        let test = shown(what);
        return Some(format!("{outcome}: {test} {}", became(outcome)));
    }
    let (rule, what) = (item.rule?, item.what.as_ref()?);
    let said = if let Detail::Sentence(said) = what {
        said.clone()
    } else {
        sentence(rule).replace("{}", &shown(what))
    };
    Some(format!("{}: {said}", rule.name()))
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
        Rule::TestDeleted => "{} is gone, and neither the task nor a change of what it tests explains it",
        Rule::TestReplaced => {
            "{} was removed: the change also changes what it tests or brings new tests, or the task names the removal"
        }
        Rule::TestEmptied => "{} does nothing or asserts nothing any more",
        Rule::TestRenamedAway => "{} stands where the test runner does not find it, or in a form that it does not find",
        Rule::TestVanished => "{} ran before the change, and does not run any more",
        Rule::SkipAdded => "a test is skipped: {}",
        Rule::ConditionalTest => "a test runs, or reaches its checks, only on a condition: {}",
        Rule::AssertionRemoved => "less is asserted than before, or not always reached: {}",
        Rule::AssertionTrivial => "an assertion always holds, or is never reached: {}",
        Rule::PseudoTested => "nothing tests the change: no test fails when all its functions are emptied: {}",
        Rule::SwallowedFailure => "each assertion may fail, and the test still passes: {}",
        Rule::WeakAssertion => "any other return value of the same type would do: {}",
        Rule::RunnerWeakened => "tests are left out, or their failures pass: {}",
        Rule::CoverageWeakened => "code is left out of the coverage, or less of it is asked for: {}",
        Rule::CiWeakened => "CI checks less, or its failures pass: {}",
        Rule::Stub => "{} stands where the work should be",
        Rule::EqualsEverything => "{} always gives the same answer, so a test that compares with it checks nothing",
        Rule::ImportFallback => "if the import fails, nothing or a stand-in takes its place: {}",
        Rule::ReadsSource => "a test reads the product's source code as text: {}",
        Rule::WritesExpectation => "a test writes a file that it, or the service, compares with: {}",
        Rule::ResultsByHand => "only a run may write results of tests: {}",
        Rule::SnapshotByHand => {
            "the stored snapshot changed or is gone, and neither the code nor the test that it shows did"
        }
        Rule::ShadowModule => "a module or a tool of tests means something else now: {}",
        Rule::ExitInTest => "{} ends the process, and the tests with it",
        Rule::RewrittenBySetup => "set-up rewrites {}",
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
        Rule::TestDeleted => "A test is gone, or its file is.",
        Rule::TestReplaced => {
            "A test is gone, and new tests of its file may stand for it; or only a condition let it run."
        }
        Rule::TestEmptied => "A test has no body any more.",
        Rule::TestRenamedAway => "A test has a name or place that its runner does not look at.",
        Rule::TestVanished => "A test ran on the base and did not run here, and no changed line explains it.",
        Rule::SkipAdded => "A new mark skips or ignores a test.",
        Rule::ConditionalTest => "A test runs, or reaches its checks, only under a condition.",
        Rule::AssertionRemoved => "A test checks less than before.",
        Rule::AssertionTrivial => "An assertion always holds.",
        Rule::PseudoTested => "No test fails when every function of the change is emptied (extreme mutation).",
        Rule::SwallowedFailure => "A new test passes even if each of its assertions fails.",
        Rule::WeakAssertion => "New tests pass for any return value of the right type.",
        Rule::RunnerWeakened => "Settings of the test runner exclude tests, tolerate failures or shorten runs.",
        Rule::CoverageWeakened => "Settings of the coverage tool exclude code or ask for less.",
        Rule::CiWeakened => "The repository's CI checks less.",
        Rule::Stub => "A function only promises its work, or only returns the answers of its tests.",
        Rule::EqualsEverything => "A comparison always gives the same answer, such as an `__eq__` that returns `True`.",
        Rule::ImportFallback => "If an import fails, nothing or a stand-in takes its place.",
        Rule::ReadsSource => "A test reads the product's source code as text.",
        Rule::WritesExpectation => "Tests write the snapshot, golden file or results that they are compared with.",
        Rule::ResultsByHand => "Test results are written by hand.",
        Rule::SnapshotByHand => "A stored snapshot changed, but nothing that it shows did.",
        Rule::ShadowModule => "A new module takes the place of a real one.",
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
        Detail::Sentence(text) | Detail::Code(text) => text.clone(),
        Detail::Test(first) | Detail::Tests { first, more: 0 } => format!("the test `{first}`"),
        Detail::Tests { first, more } => format!("the test `{first}` and {more} more of this file"),
        Detail::InTest { test, code } => format!("{code} in `{test}`"),
        Detail::Instead { test, was, is } => format!("`{test}` asserted {was}, and now only {is}"),
        Detail::Function(name) => format!("the function `{name}`"),
        Detail::Path(path) => format!("`{path}`"),
        Detail::Size { is, most } => format!("{is} bytes, and {most} are the most"),
        Detail::Setting { name, change } => format!("`{name}` {}", of_setting(change)),
    }
}

/// Says how a settings file's value became weaker.
fn of_setting(change: &SettingChange) -> String {
    match change {
        SettingChange::Lowered { from, to: Some(to) } => format!("asked for {from} and asks for {to} now"),
        SettingChange::Lowered { from, to: None } => format!("asked for {from} and is gone"),
        SettingChange::LeavesOut(what) => format!("leaves {what} out"),
        SettingChange::NoLongerTakesIn(what) => format!("no longer takes in {what}"),
        SettingChange::SwitchedOn => "is switched on".to_owned(),
        SettingChange::SwitchedOff => "is switched off".to_owned(),
        SettingChange::Is(what) => format!("is {what} now"),
        SettingChange::Ran(what) => format!("was {what} and is gone"),
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
            worded(&finding.item(TaskType::Feature)).unwrap()
        };
        let gone = Detail::Tests {
            first: "test_adds".to_owned(),
            more: 2,
        };
        insta::assert_snapshot!(said(Rule::TestDeleted, gone), @"test deleted: the test `test_adds` and 2 more of this file is gone, and neither the task nor a change of what it tests explains it");
        let size = Detail::Size { is: 20, most: 10 };
        insta::assert_snapshot!(said(Rule::FileTooLarge, size), @"file too large: the file has 20 bytes, and 10 are the most");
        let sentence = Detail::Sentence("set-up rewrites `a`".to_owned());
        insta::assert_snapshot!(said(Rule::RewrittenBySetup, sentence), @"rewritten by set-up: set-up rewrites `a`");
    }
}
