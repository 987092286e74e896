//! The Gates' results for people: one row each with its weight, and below it the details of those that did not pass.

use crate::messages::{
    causes::{evidence, isolation},
    form::{
        measure::{Measure, codes, folded, introduced, render_first, sections, table, titled},
        untrusted, words,
        words::count,
    },
    pull::items,
};
use domain::{
    evidence::{Counts, Evidence, Excuse, Finding, Gate, GateReport, GateResult, Weight},
    isolation::Level,
    plan::TaskType,
    problem::ReviewItem,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns a fold titled with the number of Gates by result. It holds the table of all Gates, then names and outputs of
/// those that did not pass. Findings in `shown` are left out, since they are shown elsewhere.
pub(crate) fn folded_table(kind: TaskType, gates: &GateReport, shown: &[ReviewItem], measure: &Measure) -> String {
    let titles = "| Gate | for approval | result | exit code | tests | what ran, or what it says |";
    let record = sections(vec![
        table(titles, &rows(kind, gates), measure.rows, Clone::clone),
        isolated(gates),
        excused(gates, measure),
        details(gates, shown, measure),
    ]);
    folded(&summary(gates), &record)
}

/// Describes how well the commands were isolated from their machine.
fn isolated(gates: &GateReport) -> String {
    match gates.isolation {
        None => String::new(),
        Some(Level::L0) => "These programs ran without isolation (L0).".to_owned(),
        Some(level) => format!("The Gates ran isolated, at level {level}: {}.", isolation::level(level)),
    }
}

fn rows(kind: TaskType, gates: &GateReport) -> Vec<String> {
    let tests = match kind {
        TaskType::Feature | TaskType::Refactoring | TaskType::Testing => "required",
        TaskType::Scaffolding | TaskType::Documentation => "required if any exist",
    };
    let setup = gates.setup.iter();
    let setup = setup.map(|setup| row("set-up", "required", setup, Tests::None));
    let more = gates.more.iter().map(other_row);
    setup.chain([tests_row(tests, gates)]).chain(more).collect()
}

fn tests_row(weight: &str, gates: &GateReport) -> String {
    let plain = row("tests", weight, &gates.tests, Tests::Counted);
    match &gates.tests {
        Evidence::Failed(finding) if gates.all_excused(finding) => {
            plain.replacen("| failed |", "| failed, but only what is excused below |", 1)
        }
        Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_) => plain,
    }
}

fn other_row(result: &GateResult) -> String {
    let weight = match result.weight {
        Weight::Required => "required",
        Weight::Asked => "asked",
        Weight::Informational => "informational",
    };
    let tests = if result.gate == Gate::BaseTests { Tests::Counted } else { Tests::Uncounted };
    row(&result.gate.name(), weight, &result.evidence, tests)
}

#[derive(Clone, Copy)]
enum Tests {
    /// The Gate runs tests, so an unknown number of them is mentioned.
    Counted,
    /// The Gate may run tests.
    Uncounted,
    /// The Gate runs no tests.
    None,
}

fn row(name: &str, weight: &str, evidence: &Evidence, tests: Tests) -> String {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            let (code, says) = ran(finding);
            let counts = match (finding.counts, tests) {
                (_, Tests::None) | (Counts::Unknown, Tests::Uncounted) => "–".to_owned(),
                (Counts::Known { .. }, _) | (Counts::Unknown, Tests::Counted) => evidence::counts(finding.counts),
            };
            format!("| {name} | {weight} | {} | {code} | {counts} | {says} |", result(evidence))
        }
        Evidence::Absent(reason) => format!(
            "| {name} | {weight} | without result | – | – | {} |",
            untrusted::cell(&evidence::absence(reason), 400)
        ),
    }
}

/// Returns the exit code and the command; for a Gate without a command, its sentence.
fn ran(finding: &Finding) -> (String, String) {
    if finding.command.is_empty() {
        return ("–".to_owned(), untrusted::cell(&evidence::output(finding), 400));
    }
    let code =
        finding.exit_code.map_or_else(|| "none: ended by a signal or a deadline".to_owned(), |code| code.to_string());
    (code, untrusted::cell_code(&finding.command, 200))
}

/// The results of a Gate, in words.
const RESULTS: [&str; 3] = ["passed", "failed", "without result"];

pub(crate) fn result(evidence: &Evidence) -> &'static str {
    let [passed, failed, none] = RESULTS;
    match evidence {
        Evidence::Passed(_) => passed,
        Evidence::Failed(_) => failed,
        Evidence::Absent(_) => none,
    }
}

fn summary(gates: &GateReport) -> String {
    let all: Vec<&str> = every(gates).map(|(_, evidence)| result(evidence)).collect();
    let counted = words::tally(&RESULTS, &all);
    let excused = match gates.excused.len() {
        0 => String::new(),
        number => format!("; {} excused", count(number, "failing test")),
    };
    format!("{}: {counted}{excused}", count(all.len(), "Gate"))
}

/// Returns every Gate of a report with its name, in the order for people.
pub fn every(gates: &GateReport) -> impl Iterator<Item = (String, &Evidence)> {
    let setup = gates.setup.iter().map(|setup| ("set-up".to_owned(), setup));
    let tests = std::iter::once(("tests".to_owned(), &gates.tests));
    let more = gates.more.iter().map(|result| (result.gate.name(), &result.evidence));
    setup.chain(tests).chain(more)
}

/// Returns the Gates' results in one line, for titles and lists.
pub(crate) fn line(gates: &GateReport) -> String {
    let tests = match &gates.tests {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            format!("tests {} ({})", result(&gates.tests), evidence::counts(finding.counts))
        }
        Evidence::Absent(_) => "tests without result".to_owned(),
    };
    let excused = match gates.excused.len() {
        0 => None,
        number => Some(format!("{} excused", count(number, "failure"))),
    };
    let questions = match gates.questions.len() {
        0 => None,
        number => Some(count(number, "question")),
    };
    let named = |result: &&GateResult| !matches!(result.gate, Gate::Check(_) | Gate::Probe(_));
    let setup = gates.setup.iter().map(|setup| format!("set-up {}", result(setup)));
    let more = gates.more.iter().filter(named).map(|one| {
        let shown = match (one.weight, &one.evidence) {
            (Weight::Asked | Weight::Informational, Evidence::Failed(_)) => ", which is only shown",
            (Weight::Required | Weight::Asked | Weight::Informational, _) => "",
        };
        format!("{} {}{shown}", one.gate, result(&one.evidence))
    });
    let checks = RESULTS.into_iter().filter_map(|word| checks(gates, word));
    let all: Vec<String> = setup.chain([tests]).chain(excused).chain(more).chain(checks).chain(questions).collect();
    all.join(", ")
}

/// Returns the number of criteria's checks with this result, such as `3 checks passed`.
fn checks(gates: &GateReport, word: &str) -> Option<String> {
    let is_one = |one: &&GateResult| matches!(one.gate, Gate::Check(_)) && result(&one.evidence) == word;
    match gates.more.iter().filter(is_one).count() {
        0 => None,
        number => Some(format!("{} {word}", count(number, "check"))),
    }
}

/// The most outputs of one report that are shown.
const OUTPUTS: usize = 12;

/// Returns the failing tests that are not counted against the work, by reason.
fn excused(gates: &GateReport, measure: &Measure) -> String {
    let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for excused in &gates.excused {
        by_reason.entry(reason(&excused.why)).or_default().push(&excused.test);
    }
    let shown = by_reason.iter().take(measure.rows.min(20));
    let lines: Vec<String> = shown.map(|(why, tests)| format!("- {why}: {}", names(tests, measure))).collect();
    titled("Failing tests that do not count against this change:", &lines.join("\n"))
}

/// Describes the reason. The name of a person who waived a test is not a mention that notifies them, since it appears
/// in every later report.
fn reason(why: &Excuse) -> String {
    match why {
        Excuse::Baseline => "already failed on the base commit".to_owned(),
        Excuse::Flaky => "passed when it was run once more on this commit, and the change does not touch it".to_owned(),
        Excuse::Waived { by } => format!("waived by {}", untrusted::code(&by.login, 60)),
    }
}

/// Returns names, places and outputs of every Gate that did not pass, and the outputs of probes.
fn details(gates: &GateReport, shown: &[ReviewItem], measure: &Measure) -> String {
    let mut parts = Vec::new();
    let mut outputs = Vec::new();
    let excused: BTreeSet<&str> = gates.excused.iter().map(|excused| excused.test.as_str()).collect();
    let setup = gates.setup.iter().map(|setup| ("set-up", setup));
    for (name, evidence) in setup.chain([("tests", &gates.tests)]) {
        parts.push(failing(name, evidence, &excused, measure));
        parts.push(skipped(name, evidence, measure));
        outputs.extend(output(name, evidence, measure));
    }
    for result in &gates.more {
        let name = result.gate.name();
        parts.push(failing(&name, &result.evidence, &excused, measure));
        let unshown = result.items.iter().filter(|item| !shown.contains(item));
        parts.push(titled(&format!("Found by {name}:"), &items::by_severity(unshown, measure)));
        outputs.extend(match (result.gate, &result.evidence) {
            (Gate::Probe(_), Evidence::Passed(finding)) => block(&name, finding, measure),
            _ => output(&name, &result.evidence, measure),
        });
    }
    parts.extend(render_first(&outputs, OUTPUTS, Clone::clone, |left| {
        format!("The outputs of {left} more are left out.")
    }));
    sections(parts)
}

fn failing(name: &str, evidence: &Evidence, excused: &BTreeSet<&str>, measure: &Measure) -> String {
    let Evidence::Failed(finding) = evidence else {
        return String::new();
    };
    let all = finding.names.as_ref().map_or(&finding.failing, |names| &names.failed);
    let all = all.iter().map(String::as_str);
    let held: Vec<&str> = all.filter(|name| !excused.contains(name)).collect();
    introduced(&format!("Failing in {name}: "), &names(&held, measure))
}

/// Names skipped tests, since a skipped test has not passed.
fn skipped(name: &str, evidence: &Evidence, measure: &Measure) -> String {
    let (Evidence::Passed(finding) | Evidence::Failed(finding)) = evidence else {
        return String::new();
    };
    let skipped = finding.names.as_ref().map(|all| names(&all.skipped, measure));
    introduced(&format!("Skipped in {name}: "), &skipped.unwrap_or_default())
}

fn names(tests: &[impl AsRef<str>], measure: &Measure) -> String {
    codes(tests, measure.rows.min(50), 200)
}

fn output(name: &str, evidence: &Evidence, measure: &Measure) -> Option<String> {
    match evidence {
        Evidence::Passed(_) | Evidence::Absent(_) => None,
        Evidence::Failed(finding) => block(name, finding, measure),
    }
}

/// Returns the output in a fold; the table already shows it for a Gate without a command.
fn block(name: &str, finding: &Finding, measure: &Measure) -> Option<String> {
    let says = !finding.command.is_empty() && !evidence::output(finding).trim().is_empty();
    says.then(|| {
        let text = untrusted::fence(&evidence::output(finding), "text", measure.output);
        folded(&format!("Output of {name}"), &text)
    })
}
