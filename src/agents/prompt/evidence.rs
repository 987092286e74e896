//! Shows the Gates' results to the Coach: as facts, with the output of tools in fences.

use crate::{
    agents::{
        fence::fenced,
        prompt::{
            MAX_LIST, Prompt,
            parts::{item_lines, list, one_line},
        },
    },
    messages,
};
use domain::{
    decision::Probing,
    evidence::{Absence, Counts, Evidence, Excuse, Excused, Finding, Gate, GateReport, GateResult, Weight},
    plan::Criterion,
    problem::ReviewItem,
};
use std::fmt::Write;

const MAX_OUTPUT: usize = 8_000;
/// The limit for a Gate that is shown beside many others.
const MAX_SHORT_OUTPUT: usize = 2_000;
/// The limit for the base's tests that the change touches, with their diff.
const MAX_TESTS_TOUCHED: usize = 30_000;

/// Adds the sections about set-up, tests, the other Gates and the criteria's checks.
pub(super) fn gates(prompt: &mut Prompt, report: &GateReport, criteria: &[Criterion]) {
    let mut body = "Run by the service in a clean copy of this very commit. This is fact, not claim:\n".to_owned();
    if let Some(setup) = &report.setup {
        body.push_str(&evidence("Set-up", setup, MAX_OUTPUT));
    }
    body.push_str(&evidence_of_tests("Tests", &report.tests, MAX_OUTPUT));
    body.push_str(&excused(&report.excused));
    prompt.section("The test run", &body);
    let is_other = |result: &&GateResult| !matches!(result.gate, Gate::Check(_) | Gate::Probe(_));
    let others = report.more.iter().filter(is_other);
    let others: String = others.map(other).collect();
    if !others.is_empty() {
        let body = "Found by code on this commit. What is only shown sends nothing back by itself: weigh it.\n";
        prompt.section("What else the Gates found", &format!("{body}{others}"));
    }
    checks(prompt, report, criteria);
}

/// Adds the results of the commands that the Coach asked for, or says that it may ask for some.
pub(super) fn probes(prompt: &mut Prompt, report: &GateReport, probing: Probing) {
    match probing {
        Probing::Allowed => prompt.section(
            "Commands",
            "Where reading cannot tell and a command could, you may answer once with `decision: probe` and 1 to 3 \
             `commands`. Each is one line as in a CI file, run by `bash -eo pipefail -c` at the repository's root, \
             after set-up in a throw-away copy. You are asked again with what they printed, and then you decide.",
        ),
        Probing::Over => {
            let is_probe = |result: &&GateResult| matches!(result.gate, Gate::Probe(_));
            let asked = report.more.iter().filter(is_probe);
            let shown: String =
                asked.map(|result| evidence(&capital(&result.gate.name()), &result.evidence, MAX_OUTPUT)).collect();
            let body = "You asked for these commands, and this is what they did. A command that could not run says \
                        nothing about the work. Decide now: `approve` or `feedback`.\n";
            prompt.section("The commands that you asked for", &format!("{body}{shown}"));
        }
    }
}

fn checks(prompt: &mut Prompt, report: &GateReport, criteria: &[Criterion]) {
    let mut body = String::new();
    for number in 1..=criteria.len() {
        if let Some(result) = report.result(Gate::Check(number)) {
            let name = format!("Check of criterion {number}");
            body.push_str(&evidence(&name, &result.evidence, MAX_SHORT_OUTPUT));
        }
    }
    if !body.is_empty() {
        let intro = "Each criterion's own check, run on this commit. A criterion whose check failed is not met.\n";
        prompt.section("The criteria's checks", &format!("{intro}{body}"));
    }
}

fn other(result: &GateResult) -> String {
    let weight = match result.weight {
        Weight::Required => "",
        Weight::Asked | Weight::Informational => " (only shown)",
    };
    let name = format!("{}{weight}", capital(&result.gate.name()));
    let max = if [Gate::BaseTests, Gate::Integrity].contains(&result.gate) { MAX_TESTS_TOUCHED } else { MAX_OUTPUT };
    let shown = if result.gate == Gate::BaseTests {
        evidence_of_tests(&name, &result.evidence, max)
    } else {
        evidence(&name, &result.evidence, max)
    };
    format!("{shown}{}", places(&result.items))
}

fn places(items: &[ReviewItem]) -> String {
    if items.is_empty() {
        return String::new();
    }
    format!("\n{}\n", fenced("places", &item_lines(items), MAX_TESTS_TOUCHED))
}

fn excused(excused: &[Excused]) -> String {
    if excused.is_empty() {
        return String::new();
    }
    let lines: Vec<String> = excused
        .iter()
        .map(|excused| {
            let why = match &excused.why {
                Excuse::Baseline => "failed before this change already".to_owned(),
                Excuse::Flaky => "not touched by the change, and passed when it was run once more".to_owned(),
                Excuse::Waived { by } => format!("waived by {}", by.login),
            };
            format!("{}: {why}", excused.test)
        })
        .collect();
    let list = fenced("excused tests", &list(&lines, MAX_LIST), MAX_OUTPUT);
    format!("\nFailing tests that are not counted against this work:\n\n{list}\n")
}

fn capital(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn evidence(what: &str, evidence: &Evidence, max: usize) -> String {
    render_evidence(what, "", evidence, max)
}

/// Shows a test run, and says so if the number of tests is unknown.
fn evidence_of_tests(what: &str, evidence: &Evidence, max: usize) -> String {
    render_evidence(what, ", count unknown", evidence, max)
}

fn render_evidence(what: &str, uncounted: &str, evidence: &Evidence, max: usize) -> String {
    match evidence {
        Evidence::Passed(finding) => ran(what, "passed", uncounted, finding, max),
        Evidence::Failed(finding) => ran(what, "FAILED", uncounted, finding, max),
        Evidence::Absent(absence) => match absence {
            Absence::CouldNotStart { .. }
            | Absence::HostRefused { .. }
            | Absence::Unreadable { .. }
            | Absence::CiUnreadable { .. }
            | Absence::Unfinished { .. }
            | Absence::JudgesPull { .. } => {
                format!("\n{what}: absent.\n\n{}\n", fenced("reason", &messages::absence(absence), max))
            }
            Absence::NoCommand
            | Absence::NoCi
            | Absence::TimedOut { .. }
            | Absence::NotReached
            | Absence::CiHeld
            | Absence::Unnamed
            | Absence::NoResultByName { .. } => {
                format!("\n{what}: absent, {}.\n", one_line(&messages::absence(absence)))
            }
        },
    }
}

fn ran(what: &str, word: &str, uncounted: &str, finding: &Finding, max: usize) -> String {
    let output = messages::output(finding);
    let output = output.trim();
    if finding.command.is_empty() {
        let said = if output.is_empty() { String::new() } else { format!("\n{}\n", fenced("finding", output, max)) };
        return format!("\n{what} {word}.\n{said}");
    }
    let exit = match finding.exit_code {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let counts = match finding.counts {
        Counts::Unknown => uncounted.to_owned(),
        Counts::Known { passed, failed, skipped } => format!(", {passed} passed, {failed} failed, {skipped} skipped"),
    };
    let command = one_line(&finding.command);
    let mut text = format!("\n{what} {word}: `{command}`, {exit}{counts}.\n");
    // Writing to a String cannot fail.
    if !finding.failing.is_empty() {
        let failing = fenced("failing tests", &list(&finding.failing, MAX_LIST), max);
        let _ = write!(text, "\n{failing}\n");
    }
    if !output.is_empty() {
        let _ = write!(text, "\n{}\n", fenced("output", output, max));
    }
    text
}
