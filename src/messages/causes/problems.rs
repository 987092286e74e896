//! The sentences about the problems of a turn: items of its verdict, contracts that it broke, criteria and questions
//! that are open, and false claims of the Player.

use crate::messages::causes::{evidence, facts, rules};
use domain::{
    problem::{Breach, Doubt, Forbidden, OpenCriterion, Problem, ReviewItem, Uncommitted},
    question::{OpenReason, QuoteSource, Topic, Unsettled},
    report::{Discrepancy, InsteadOfCreating, LeftOut, TestClaim},
    test_outcome::TestOutcome,
};
use std::borrow::Cow;
use text::{mistake::quoted, shorten};

/// The most characters of a criterion, of an answer or of the Coach's text in one sentence.
const MOST_WORDS: usize = 600;

pub fn problem(item: &ReviewItem) -> Cow<'_, str> {
    match item.problem.words() {
        Some(text) => text.into(),
        None => worded(item).into(),
    }
}

const NO_TEST_COMMAND: &str = "there is no test command: none is set and none was found. Bring tests that pytest, npm, Cargo, \
                               Go or another common runner finds by itself; a person can also set `test` in \
                               `.github/autobuild.yml`";

fn worded(item: &ReviewItem) -> String {
    match &item.problem {
        Problem::Remark { text, .. } => text.clone(),
        Problem::MoreRemarks(more) => format!("{more} more comments of this review stand on the pull request"),
        Problem::NothingNamed => "changes are requested, without a word of which".to_owned(),
        Problem::NoReason => "the Coach gave no reason".to_owned(),
        Problem::MoreIssues { named, kept } => format!("The Coach named {named} issues; the first {kept} are kept."),
        Problem::Rule { rule, what } => {
            format!("{}: {}", rule.name(), rules::sentence(*rule).replace("{}", &facts::detail(what)))
        }
        Problem::Outcome { outcome, test } => format!("{outcome}: the test `{test}` {}", became(*outcome)),
        Problem::Unmet(unmet) => evidence::unmet(unmet),
        Problem::NoTestCommand => NO_TEST_COMMAND.to_owned(),
        Problem::Criterion(open) => criterion_to_meet(open),
        Problem::CheckFailed { number, text, finding } => {
            format!("criterion {number} ({text}) does not hold: {}", evidence::finding(finding))
        }
        Problem::Question(unsettled) => question_to_settle(unsettled),
        Problem::Ci { check, output } if output.is_empty() => {
            format!("CI check `{check}` failed and says nothing more")
        }
        Problem::Ci { check, output } => format!("CI check `{check}` failed:\n{output}"),
        Problem::Uncovered(ranges) => format!("no test runs {}", facts::lines(ranges)),
        Problem::InstallScript(script) => {
            format!("this runs when packages are installed, before the tests: `{script}`")
        }
        Problem::Restored(path) => {
            format!("set-up rewrites `{path}`; it was put back as the commit has it before the tests ran")
        }
        Problem::Unrun(unrun) => facts::unrun_tests(unrun),
        Problem::NoChange => "no change: the turn ended without a change to any file".to_owned(),
        Problem::LeftOut(left) => left_out(left),
        Problem::Forbidden(why) => {
            let why = forbidden(why, item.file.as_deref().unwrap_or_default(), item.line);
            format!("The commit was not pushed: {why}. Take this out of your change.")
        }
        Problem::Uncommitted(why) => uncommitted(why, item.file.as_deref().unwrap_or_default()),
        Problem::ConflictMarkers => "The conflict markers are still in the file: resolve the merge.".to_owned(),
        Problem::Review(breach) => format!(
            "The review does not count: {}. That is no finding about the work. Look once more whether every criterion is \
             met and easy to verify, add the test that would show it best, and name in the report what shows each.",
            self::breach(breach)
        ),
    }
}

/// Returns an item with its place before its words: `src/a.rs:12: it panics`.
pub fn placed(item: &ReviewItem) -> String {
    let words = problem(item);
    match (&item.file, item.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: {words}"),
        (Some(file), None) => format!("{file}: {words}"),
        (None, _) => words.into_owned(),
    }
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
        | TestOutcome::NeedsNewTests
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

fn forbidden(why: &Forbidden, path: &str, line: Option<u32>) -> String {
    match why {
        Forbidden::Protected(pattern) => format!("{path} is protected by the pattern {pattern}"),
        Forbidden::EscapingLink => format!("the link {path} leaves the repository"),
        Forbidden::Submodule => format!("{path} adds or changes a submodule"),
        Forbidden::Filtered { filter, rule } => format!(
            "{path} is not stored as it is: {rule} sends it through the filter {filter}, which does not run here"
        ),
        Forbidden::Secret(kind) => match line {
            Some(line) => format!("{path}:{line} holds {kind}"),
            None => format!("{path} holds {kind}"),
        },
        Forbidden::SecretName { masked, kind } => format!("the name of the file {masked} holds {kind}"),
    }
}

fn uncommitted(why: &Uncommitted, path: &str) -> String {
    let why = match why {
        Uncommitted::NotEncoded { encoding, rule } => {
            return format!(
                "The work was not taken: {path} is not valid {encoding}, the working-tree-encoding that {rule} names. Write \
                 the file in this encoding."
            );
        }
        Uncommitted::Unreadable(path) => format!("{path} cannot be read"),
        Uncommitted::RefusedName(path) => format!("{path} has a name that some systems read as .git"),
        Uncommitted::TooDeep(path) => format!("{path} is nested too deeply"),
        Uncommitted::FileTooLarge { path, size, limit } => format!("{path} has {size} bytes, more than {limit}"),
        Uncommitted::TotalTooLarge { size, limit } => {
            format!("the changed files have {size} bytes, more than {limit}")
        }
        Uncommitted::TooManyFiles(limit) => format!("more than {limit} files changed"),
        Uncommitted::CheckoutGone => "the checkout's folder was removed or replaced".to_owned(),
    };
    format!("The work was not taken: {why}.")
}

/// Describes how a decision or a change broke a contract; this text follows the contract's name.
pub fn breach(breach: &Breach) -> String {
    let why = match breach {
        Breach::Gate(unmet) => evidence::unmet(unmet),
        Breach::NoSuchCriterion(number) => format!("criterion {number} does not exist"),
        Breach::Criterion(open) => criterion_of_decision(open),
        Breach::Question(unsettled) => question_of_decision(unsettled),
        Breach::MustFixLeft(left) => format!("{left} must_fix left"),
        Breach::CheckoutChanged(paths) => format!("the Coach's checkout changed: {}", paths.join(", ")),
        Breach::NotDecided => "the Coach asked for commands to be run instead of deciding".to_owned(),
        Breach::ForbiddenPaths(paths) => paths.join(", "),
    };
    format!("{}: {why}", breach.contract())
}

fn name_criterion(open: &OpenCriterion) -> String {
    format!("criterion {} ({})", open.number, shorten::middle(&open.text, MOST_WORDS))
}

/// Explains why a criterion is open, for readers of a decision.
pub fn criterion_of_decision(open: &OpenCriterion) -> String {
    let name = name_criterion(open);
    match &open.doubt {
        Doubt::NotMet { .. } => format!("{name} is not met"),
        Doubt::CheckFailed(finding) => {
            let finding = evidence::finding(finding);
            format!("{name} is said to be met, and its check failed: {finding}")
        }
        Doubt::NotReached => format!("{name} has a check that did not run"),
        Doubt::NotLookedAt => format!("{name} was not looked at"),
        Doubt::WithoutEvidence => format!("{name} is said to be met without evidence"),
        Doubt::NothingReal => format!(
            "{name} is said to be met, and its evidence names no file, test or command that exists on this commit"
        ),
    }
}

/// Explains to the Player why a criterion is open. If only the review is at fault, the Coach has already been asked
/// again, so the Player is asked for a proof that the next review cannot miss.
fn criterion_to_meet(open: &OpenCriterion) -> String {
    if open.doubt.is_of_review() {
        return format!(
            "{} was not shown to hold: the Coach named nothing on this commit that proves it. Prove it with a test, or make \
             the proof that is there easy to find, and name it in the report.",
            name_criterion(open)
        );
    }
    let sentence = criterion_of_decision(open);
    if let Doubt::NotMet { words } = &open.doubt
        && !words.is_empty()
    {
        return format!("{sentence}: {}", shorten::middle(words, MOST_WORDS));
    }
    sentence
}

/// Explains why a question is open, for readers of a decision.
pub fn question_of_decision(unsettled: &Unsettled) -> String {
    let name = format!("question {} ({})", unsettled.open.number, unsettled.question.title());
    match &unsettled.open.why {
        OpenReason::NotFine { because } => format!("{name} is answered: {}", short(because)),
        OpenReason::Unanswered => format!("{name} has no answer"),
        OpenReason::WithoutReason => format!("{name} is answered without a reason"),
        OpenReason::WithoutQuote => format!("{name} is answered without a quote"),
        OpenReason::NoSuchQuote { quote } => {
            let places = match unsettled.question.topic.quote_source() {
                QuoteSource::Words => "in the issue, the task or a comment of a person who may decide",
                QuoteSource::WordsOrPlace => {
                    "in the issue, the task or a comment of a person who may decide, and is no line of the change"
                }
            };
            format!("{name} is answered with the quote “{}”, which does not stand {places}", short(quote))
        }
    }
}

/// Explains to the Player why a question is open.
fn question_to_settle(unsettled: &Unsettled) -> String {
    let title = unsettled.question.title();
    match (&unsettled.open.why, unsettled.question.topic.quote_source()) {
        (OpenReason::NotFine { because }, _) => format!("{title}: {}", short(because)),
        (_, QuoteSource::Words) => format!(
            "{title}: nobody showed words of the issue, the task or a person that want this. Undo it, or quote such words \
             in `answers` of the report."
        ),
        (_, QuoteSource::WordsOrPlace) => format!(
            "{title}.{} Nobody showed that this is right. Mend it, or name in `answers` of the report the words or the \
             line that show it.",
            suspicion(unsettled.question.topic)
        ),
    }
}

/// Returns what a rule suspects, for whoever has to mend it.
fn suspicion(topic: Topic) -> String {
    match topic {
        Topic::Rule(rule) => format!(" {}", rule.about()),
        Topic::Outcome(_) | Topic::Unnoticed | Topic::IgnoredAssertions => String::new(),
    }
}

/// Returns an answer's text, shortened to fit into a sentence.
fn short(text: &str) -> String {
    shorten::middle(text.trim(), MOST_WORDS)
}

/// Describes a claim that is false.
pub fn claim(found: &Discrepancy) -> String {
    match found {
        Discrepancy::NotModified(path) => format!("files_modified names {}", quoted(path)),
        Discrepancy::NotCreated { path, .. } => format!("files_created names {}", quoted(path)),
        Discrepancy::NoSuchTest(name) => format!("tests_written names {}", quoted(name)),
        Discrepancy::Tests { claim, .. } => match claim {
            TestClaim::Passed => "tests_passed is true".to_owned(),
            TestClaim::Ran => "tests_run is true".to_owned(),
        },
        Discrepancy::CheckFailed { number, text, .. } => {
            format!("requirements_addressed names criterion {number}, {}", quoted(text))
        }
        Discrepancy::NotReady { .. } => "ready_for_validation is true".to_owned(),
        Discrepancy::LeftOut(_) => "the work is complete".to_owned(),
    }
}

/// Describes the fact that contradicts a claim.
pub fn contradiction(found: &Discrepancy) -> String {
    match found {
        Discrepancy::NotModified(_) => "this turn did not change it".to_owned(),
        Discrepancy::NotCreated { instead, .. } => match instead {
            InsteadOfCreating::Deleted => "this turn deleted it".to_owned(),
            InsteadOfCreating::Changed => "it was there before, and this turn changed it".to_owned(),
            InsteadOfCreating::Nothing => "this turn did not create it".to_owned(),
        },
        Discrepancy::NoSuchTest(_) => "this commit has no such test and no such file".to_owned(),
        Discrepancy::Tests { finding, .. } if finding.ran_nothing() => {
            format!("no test ran: {}", evidence::finding_of_tests(finding))
        }
        Discrepancy::Tests { finding, .. } => evidence::finding_of_tests(finding),
        Discrepancy::CheckFailed { finding, .. } => format!("its check failed: {}", evidence::finding(finding)),
        Discrepancy::NotReady { first, more } => {
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("requirements_remaining of the same report names {}{more}", quoted(first))
        }
        Discrepancy::LeftOut(left) => left_out(left),
    }
}

fn left_out(left: &LeftOut) -> String {
    let files: Vec<String> = left.files.iter().map(|file| quoted(file)).collect();
    let more = match left.count.saturating_sub(files.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let were = if left.count == 1 { "was" } else { "were" };
    let (files, rule, pattern) = (files.join(", "), &left.rule, quoted(&left.pattern));
    format!(
        "{files}{more} {were} left out of the commit because of {rule}: {pattern}; a file that files_created or the plan \
         names is taken all the same"
    )
}

#[cfg(test)]
mod tests {
    use super::{claim, contradiction, problem};
    use domain::{
        claims::left_out_items,
        integrity::{Author, Detail, IntegrityFinding, Rule},
        plan::TaskType,
        report::{Discrepancy, LeftOut},
    };

    #[test]
    fn a_finding_is_worded_from_its_rule_and_what_is_there() {
        let said = |rule: Rule, what: Detail| {
            let finding =
                IntegrityFinding { rule, path: "tests/a.py".to_owned(), line: Some(3), what, by: Author::Player };
            problem(&finding.item(TaskType::Feature)).into_owned()
        };
        let ignored = Detail::Tests { first: "test_adds".to_owned(), more: 2 };
        insta::assert_snapshot!(said(Rule::SwallowedFailure, ignored), @"swallowed failure: each assertion may fail, and the test still passes: the test `test_adds` and 2 more of this file");
        let size = Detail::Size { is: 20, most: 10 };
        insta::assert_snapshot!(said(Rule::FileTooLarge, size), @"file too large: the file has 20 bytes, and 10 are the most");
        insta::assert_snapshot!(said(Rule::RewrittenBySetup, Detail::Restored("a".to_owned())), @"rewritten by set-up: set-up rewrites `a`, which decides what the tests say; it was put back before they ran");
    }

    #[test]
    fn files_that_were_left_out_contradict_that_the_work_is_complete() {
        let left = LeftOut {
            rule: "data/.gitignore:3".to_owned(),
            pattern: "*.json".to_owned(),
            files: vec!["data/a.json".to_owned(), "data/b.json".to_owned()],
            count: 9,
        };
        let fact = "`data/a.json`, `data/b.json` and 7 more were left out of the commit because of data/.gitignore:3: \
                    `*.json`; a file that files_created or the plan names is taken all the same";
        let items: Vec<String> =
            left_out_items(std::slice::from_ref(&left)).map(|item| problem(&item).into_owned()).collect();
        assert_eq!(items, [fact]);
        let found = Discrepancy::LeftOut(left);
        assert_eq!(claim(&found), "the work is complete");
        assert_eq!(contradiction(&found), fact);
    }
}
