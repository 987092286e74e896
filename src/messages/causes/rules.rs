//! The sentences about the rules of integrity: the subject of each rule, and its findings.

use domain::integrity::Rule;

/// Returns the sentence for a finding, in which `{}` is replaced by the thing found.
pub(crate) fn sentence(rule: Rule) -> &'static str {
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
