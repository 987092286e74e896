//! The Gates' results for people: one row each with its weight, and below it the details of those that did not pass.

use crate::messages::{
    gate_details,
    measure::{Measure, folded, sections},
    untrusted,
    words::count,
};
use domain::{
    decision::Issue,
    evidence::{Counts, Evidence, Finding, Gate, GateReport, GateResult, Weight},
    isolation::Level,
    plan::TaskType,
};

/// Returns a fold titled with the number of Gates by result. It holds the table of all Gates, then names and outputs of
/// those that did not pass. Places among `told` are left out, since they are shown elsewhere.
pub(super) fn folded_table(kind: TaskType, gates: &GateReport, told: &[Issue], measure: &Measure) -> String {
    let rows = rows(kind, gates);
    let mut lines = vec![
        "| Gate | for approval | result | exit code | tests | what ran, or what it says |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(rows.iter().take(measure.rows).cloned());
    let left = rows.len().saturating_sub(measure.rows);
    if left > 0 {
        lines.push(format!("| and {left} more | | | | | |"));
    }
    let record = sections(vec![
        lines.join("\n"),
        isolation(gates),
        gate_details::excused(gates, measure),
        gate_details::details(gates, told, measure),
    ]);
    folded(&summary(gates), &record)
}

/// Says how far the commands were isolated from their machine.
fn isolation(gates: &GateReport) -> String {
    match gates.isolation {
        None => String::new(),
        Some(Level::L0) => "These programs ran without isolation (L0).".to_owned(),
        Some(level) => format!("The Gates ran isolated, at level {level}: {}.", level.means()),
    }
}

fn rows(kind: TaskType, gates: &GateReport) -> Vec<String> {
    let tests = match kind {
        TaskType::Feature | TaskType::Refactoring | TaskType::Testing => "required",
        TaskType::Scaffolding | TaskType::Documentation => "required if any exist",
    };
    let setup = gates.setup.as_ref();
    setup
        .map(|setup| row("set-up", "required", setup, Tests::None))
        .into_iter()
        .chain(std::iter::once(tests_row(tests, gates)))
        .chain(gates.more.iter().map(other_row))
        .collect()
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
        Weight::Demanded => "required",
        Weight::Shown => "informational",
    };
    let tests = match result.gate == Gate::BaseTests {
        true => Tests::Counted,
        false => Tests::Uncounted,
    };
    row(&result.gate.name(), weight, &result.evidence, tests)
}

/// Whether a Gate runs tests.
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
                (Counts::Known { .. }, _) | (Counts::Unknown, Tests::Counted) => finding.counts.sentence(),
            };
            format!(
                "| {name} | {weight} | {} | {code} | {counts} | {says} |",
                result(evidence)
            )
        }
        Evidence::Absent(reason) => format!(
            "| {name} | {weight} | without result | – | – | {} |",
            untrusted::cell(&reason.sentence(), 400)
        ),
    }
}

/// Returns the exit code and the command; for a Gate without a command, its sentence.
fn ran(finding: &Finding) -> (String, String) {
    if finding.command.is_empty() {
        return ("–".to_owned(), untrusted::cell(&finding.output, 400));
    }
    let code = finding.exit_code.map_or_else(
        || "none: ended by a signal or a deadline".to_owned(),
        |code| code.to_string(),
    );
    (code, untrusted::cell_code(&finding.command, 200))
}

/// The results of a Gate, in words.
const RESULTS: [&str; 3] = ["passed", "failed", "without result"];

/// Returns a Gate's result in words.
pub(super) fn result(evidence: &Evidence) -> &'static str {
    let [passed, failed, none] = RESULTS;
    match evidence {
        Evidence::Passed(_) => passed,
        Evidence::Failed(_) => failed,
        Evidence::Absent(_) => none,
    }
}

/// Counts the Gates by result.
fn summary(gates: &GateReport) -> String {
    let all: Vec<&Evidence> = every(gates).map(|(_, evidence)| evidence).collect();
    let ended = |word: &str| all.iter().filter(|evidence| result(evidence) == word).count();
    let counted: Vec<String> = RESULTS
        .iter()
        .map(|word| (ended(word), word))
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let excused = match gates.excused.len() {
        0 => String::new(),
        number => format!("; {} excused", count(number, "failing test")),
    };
    format!("{}: {}{excused}", count(all.len(), "Gate"), counted.join(", "))
}

/// Returns every Gate of a report with its name, in the order for people.
pub(super) fn every(gates: &GateReport) -> impl Iterator<Item = (String, &Evidence)> {
    let setup = gates.setup.iter().map(|setup| ("set-up".to_owned(), setup));
    let tests = std::iter::once(("tests".to_owned(), &gates.tests));
    let more = gates.more.iter().map(|result| (result.gate.name(), &result.evidence));
    setup.chain(tests).chain(more)
}

/// Returns the Gates' results in one line, for titles and lists.
pub(super) fn line(gates: &GateReport) -> String {
    let tests = match &gates.tests {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            format!("tests {} ({})", result(&gates.tests), finding.counts.sentence())
        }
        Evidence::Absent(_) => "tests without result".to_owned(),
    };
    let excused = match gates.excused.len() {
        0 => None,
        number => Some(format!("{} excused", count(number, "failure"))),
    };
    let named = |result: &&GateResult| !matches!(result.gate, Gate::Check(_) | Gate::Probe(_));
    let setup = gates.setup.iter().map(|setup| format!("set-up {}", result(setup)));
    let more = gates.more.iter().filter(named).map(|one| {
        let shown = match (one.weight, &one.evidence) {
            (Weight::Shown, Evidence::Failed(_)) => ", which is only shown",
            (Weight::Demanded | Weight::Shown, _) => "",
        };
        format!("{} {}{shown}", one.gate, result(&one.evidence))
    });
    let checks = RESULTS.into_iter().filter_map(|word| checks(gates, word));
    let all: Vec<String> = setup.chain([tests]).chain(excused).chain(more).chain(checks).collect();
    all.join(", ")
}

/// Returns the number of criteria's checks with this result, such as `3 checks passed`.
fn checks(gates: &GateReport, word: &str) -> Option<String> {
    let of_criteria = gates
        .more
        .iter()
        .filter(|one| matches!(one.gate, Gate::Check(_)) && result(&one.evidence) == word);
    match of_criteria.count() {
        0 => None,
        number => Some(format!("{} {word}", count(number, "check"))),
    }
}
