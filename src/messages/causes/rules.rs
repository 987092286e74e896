//! The sentences about the findings of the rules of integrity.

use domain::integrity::Rule;

/// Returns the sentence for a finding, in which `{}` is replaced by the thing found.
pub(crate) fn sentence(rule: Rule) -> &'static str {
    match rule {
        Rule::FewerCases => "a number in test code is half of what it was or less: {}",
        Rule::CannotFail => "it asserts nothing, what always holds, or only on a condition: {}",
        Rule::PseudoTested => "nothing tests the change: no test fails when all its functions are emptied: {}",
        Rule::SwallowedFailure => "each assertion may fail, and the test still passes: {}",
        Rule::WeakAssertion => "any other return value of the same type would do: {}",
        Rule::RunnerWeakened => "the test command, its settings, or what a check runs, changes: {}",
        Rule::SnapshotByHand => "the stored snapshot changed or is gone, and no code did",
        Rule::ShadowModule => "a module or a tool of tests means something else now: {}",
        Rule::CoverageWeakened => "code is left out of the coverage: {}",
        Rule::CiWeakened => "CI, what it runs, or what its coverage service asks for, changes: {}",
        Rule::Stub => "{} is a placeholder",
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
        Rule::HiddenText => "a person who reads the change is not shown all of it: {}",
        Rule::PackageSource => {
            "packages come from elsewhere, have another content, or run other code when they are installed: {}"
        }
        Rule::BeyondDocuments => "a task for documentation changes more than documents: {}",
        Rule::FileTooLarge => "the file has {}",
        Rule::DiffersUnderTest => "{} lets the code behave differently under test",
        Rule::FileDeleted => "the change deletes this file, and the task does not name it",
        Rule::Unreadable => "the file is too large or too deep to be parsed, so its syntax was not checked",
    }
}
