//! The sentences about the results of Gates, and about missing results.

use crate::messages::causes::facts;
use domain::{
    ci::{CheckState, OpenCheck, PullCheck},
    evidence::{Absence, Cause, Counts, Evidence, Finding, Part, StartFailure, Unmet},
};
use std::borrow::Cow;
use text::shorten;

/// The most hosts, checks and failing tests in one sentence.
const NAMED: usize = 10;

/// The longest name of a test in a sentence, in characters.
const LONGEST: usize = 200;

/// Returns the result in one line: command, exit code, counts if there are any, and the first failing tests.
pub fn finding(finding: &Finding) -> String {
    described(finding, Some(finding.counts).filter(|counts| *counts != Counts::Unknown))
}

/// Returns the same for a command that should run tests: the line also says if their number is unknown.
pub fn finding_of_tests(finding: &Finding) -> String {
    described(finding, Some(finding.counts))
}

fn described(finding: &Finding, counts: Option<Counts>) -> String {
    if finding.command.is_empty() {
        return output(finding).into_owned();
    }
    let ended = exit(&finding.command, finding.exit_code);
    let counted = counts.map_or_else(|| ended.clone(), |counts| format!("{ended}, {}", self::counts(counts)));
    let first = finding.failing.iter().take(NAMED);
    let first: Vec<String> = first.map(|name| shorten::middle(name, LONGEST)).collect();
    if first.is_empty() {
        return counted;
    }
    match finding.failed().saturating_sub(NAMED) {
        0 => format!("{counted}: {}", first.join(", ")),
        more => format!("{counted}: {} and {more} more", first.join(", ")),
    }
}

fn exit(command: &str, exit_code: Option<i32>) -> String {
    match exit_code {
        Some(code) => format!("`{command}` exited with {code}"),
        None => format!("`{command}` was ended by a signal or a deadline"),
    }
}

/// Explains, within a sentence, why a command could not start.
pub(crate) fn start_failure(reason: &StartFailure) -> String {
    match reason {
        StartFailure::NoPrograms(names) => format!("program not found: {}", names.join(", ")),
        StartFailure::NoShell => "there is no shell: neither bash nor sh was found".to_owned(),
        StartFailure::NeedsBash => "there is no bash here, and without it a failure before a pipe is lost: write \
                                    `a > out.txt && b < out.txt` for `a | b`"
            .to_owned(),
        StartFailure::Message(message) => message.clone(),
    }
}

/// Returns a command's output, and below it the facts about its run. For a Gate without a command, the facts are its
/// result.
pub fn output(finding: &Finding) -> Cow<'_, str> {
    if finding.facts.is_empty() {
        return finding.output.as_str().into();
    }
    let sentences: Vec<String> = finding.facts.iter().map(facts::fact).collect();
    match finding.output.trim_end() {
        "" => sentences.join("; ").into(),
        output => format!("{output}\n{}", sentences.join("\n")).into(),
    }
}

/// Returns the result of a command, or why there is none, in one line.
pub fn evidence(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Passed(result) | Evidence::Failed(result) => finding(result),
        Evidence::Absent(reason) => absence(reason),
    }
}

/// Returns the same for a command that should run tests.
pub(crate) fn evidence_of_tests(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Passed(result) | Evidence::Failed(result) => finding_of_tests(result),
        Evidence::Absent(reason) => absence(reason),
    }
}

pub(crate) fn counts(counts: Counts) -> String {
    match counts {
        Counts::Unknown => "count unknown".to_owned(),
        Counts::Known { passed, failed, skipped } => {
            let skipped = match skipped {
                0 => String::new(),
                _ => format!(", {skipped} skipped"),
            };
            format!("{passed} passed, {failed} failed{skipped}")
        }
    }
}

/// Returns the requirement that a commit does not meet, and why, in one line.
pub fn unmet(unmet: &Unmet) -> String {
    match (unmet.part, &unmet.cause) {
        (Part::SetUp, Cause::Failed(result) | Cause::NothingRan(result)) => {
            format!("set-up failed: {}", finding(result))
        }
        (Part::SetUp, Cause::Absent(reason)) => format!("set-up: {}", absence(reason)),
        (Part::Tests, Cause::Failed(result)) => format!("tests failed: {}", finding_of_tests(result)),
        (Part::Tests, Cause::NothingRan(result)) => format!("no tests ran: {}", finding_of_tests(result)),
        (Part::Tests, Cause::Absent(reason)) => format!("tests: {}", absence(reason)),
        (Part::Gate(gate), Cause::Failed(result) | Cause::NothingRan(result)) => {
            format!("{}: {}", gate.name(), finding(result))
        }
        (Part::Gate(gate), Cause::Absent(reason)) => format!("{}: {}", gate.name(), absence(reason)),
    }
}

/// Returns why there is no evidence.
pub fn absence(absence: &Absence) -> String {
    match absence {
        Absence::NoCommand => "no command is set and none could be detected".to_owned(),
        Absence::CouldNotStart { command, reason } => {
            format!("`{command}` could not start: {}", start_failure(reason))
        }
        Absence::TimedOut { command, seconds, in_test, .. } => {
            let place = in_test.as_ref().map(|test| format!(", in `{test}`")).unwrap_or_default();
            format!("AutoBuild stopped `{command}` after {seconds} seconds{place}")
        }
        Absence::HostRefused { command, hosts, .. } => {
            let hosts = hosts.iter().take(NAMED).map(|refused| format!("`{}`", refused.host));
            format!("`{command}` did not reach {}", hosts.collect::<Vec<_>>().join(", "))
        }
        Absence::NotReached => "not reached, because an earlier Gate did not pass".to_owned(),
        Absence::CiHeld => "CI is held until a person lets it run".to_owned(),
        Absence::Unreadable { path, reason, after } => {
            let after = after.as_ref().map(|after| format!(" ({})", exit(&after.command, after.exit_code)));
            format!("`{path}` cannot be used: {reason}{}", after.unwrap_or_default())
        }
        Absence::Unnamed => {
            "the tests were red before this change and their runner names none, so new failures cannot be told"
                .to_owned()
        }
        Absence::NoResultByName { test } => {
            format!("the runner does not name all its tests, so no one can say whether `{test}` passed")
        }
        Absence::NoCi => "no CI ran".to_owned(),
        Absence::CiUnreadable { reason } => format!("its checks could not be read: {reason}"),
        Absence::Unfinished { checks } | Absence::JudgesPull { checks } => {
            facts::list(&checks.iter().map(open_check).collect::<Vec<_>>())
        }
    }
}

fn open_check(check: &OpenCheck) -> String {
    let name = &check.name;
    match &check.state {
        CheckState::Running(word) => format!("`{name}` was still {word} when its time was over"),
        CheckState::FailedOnPull(why) => format!("`{name}` failed. {}", pull_check(*why)),
        CheckState::NoAnswer(word) => format!("`{name}` ended as {word}"),
    }
}

/// Explains why a Player cannot repair a check.
fn pull_check(why: PullCheck) -> &'static str {
    match why {
        PullCheck::WithoutCode => {
            "Its workflow does not check out the code, so it judges the pull request (its title, labels, size or \
             approvals), which a person can change"
        }
        PullCheck::StartsWithoutPush => {
            "Its workflow also starts when only the pull request changes, and its job runs no command on the code, so it \
             judges the pull request (its title, labels, size or approvals), which a person can change"
        }
        PullCheck::OnlyOnPulls => {
            "It names no file of the change and reports on no commit outside a pull request, so it judges the pull request \
             (its title, labels, size, approvals or authors), which a person can change"
        }
        PullCheck::SameBefore => {
            "It names no file of the change, and it failed in the same words on the commit that the change stands on, so \
             the change did not cause it"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{finding, unmet};
    use domain::evidence::{Cause, Counts, Evidence, Excuse, Excused, Finding, GateReport, Part, TestNames, Unmet};

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("t{n}")).collect()
    }

    #[test]
    fn the_failures_of_a_sentence_are_all_that_were_counted() {
        let mut red = Finding {
            command: "pytest".to_owned(),
            exit_code: Some(1),
            counts: Counts::Known { passed: 1, failed: 150, skipped: 0 },
            failing: names(50),
            ..Finding::default()
        };
        let end = "t9 and 140 more";
        assert!(finding(&red).ends_with(end), "{}", finding(&red));
        red.names = Some(TestNames { failed: names(150), ..TestNames::default() });
        assert!(finding(&red).ends_with(end), "{}", finding(&red));
        let mut report = GateReport::new(None, Evidence::Failed(red.clone()));
        report.excused.push(Excused { test: "t149".to_owned(), why: Excuse::Flaky });
        let held = finding(&report.without_excused(&red));
        assert!(held.ends_with("t9 and 139 more"), "{held}");
    }

    #[test]
    fn a_failure_names_command_code_counts_and_tests() {
        let red = Finding {
            command: "t".to_owned(),
            exit_code: Some(101),
            counts: Counts::Known { passed: 3, failed: 2, skipped: 0 },
            failing: vec!["a::b".to_owned(), "a::c".to_owned()],
            ..Finding::default()
        };
        let failed = Unmet { part: Part::Tests, cause: Cause::Failed(red) };
        let sentence = "tests failed: `t` exited with 101, 3 passed, 2 failed: a::b, a::c";
        assert_eq!(unmet(&failed), sentence);
    }
}
