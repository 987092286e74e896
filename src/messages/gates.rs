//! What the Gates found, as people read it.

use crate::domain::evidence::Evidence;
use crate::domain::evidence::Finding;
use crate::domain::evidence::GateReport;
use crate::messages::measure::Measure;
use crate::messages::measure::first;
use crate::messages::measure::sections;
use crate::messages::untrusted;

/// A table of all Gates, then names and outputs of what did not pass.
pub(super) fn table(gates: &GateReport, measure: &Measure) -> String {
    let mut rows = vec![
        "| Gate | result | exit code | tests | command |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    if let Some(setup) = &gates.setup {
        rows.push(row("set-up", setup, Tests::None));
    }
    rows.push(row("tests", &gates.tests, Tests::Counted));
    rows.push("| smoke and command checks | not run in this version | – | – | – |".to_owned());
    let mut parts = vec![rows.join("\n")];
    for (name, evidence) in [("set-up", gates.setup.as_ref()), ("tests", Some(&gates.tests))] {
        if let Some(evidence) = evidence {
            parts.push(details(name, evidence, measure));
        }
    }
    sections(parts)
}

/// The Gates in one line, for titles and lists.
pub(super) fn line(gates: &GateReport) -> String {
    let tests = match &gates.tests {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            format!("tests {} ({})", gates.tests.word(), finding.counts.sentence())
        }
        Evidence::Absent(_) => "tests absent".to_owned(),
    };
    match &gates.setup {
        Some(setup) => format!("set-up {}, {tests}", setup.word()),
        None => tests,
    }
}

#[derive(Clone, Copy)]
enum Tests {
    Counted,
    None,
}

fn row(name: &str, evidence: &Evidence, tests: Tests) -> String {
    match evidence {
        Evidence::Passed(finding) | Evidence::Failed(finding) => {
            let code = finding.exit_code.map_or_else(
                || "none: ended by a signal or a deadline".to_owned(),
                |code| code.to_string(),
            );
            let counts = match tests {
                Tests::Counted => finding.counts.sentence(),
                Tests::None => "–".to_owned(),
            };
            let command = untrusted::cell_code(&finding.command, 200);
            format!("| {name} | {} | {code} | {counts} | {command} |", evidence.word())
        }
        Evidence::Absent(reason) => format!(
            "| {name} | absent: {} | – | – | – |",
            untrusted::cell(&reason.sentence(), 300)
        ),
    }
}

fn details(name: &str, evidence: &Evidence, measure: &Measure) -> String {
    match evidence {
        Evidence::Passed(_) | Evidence::Absent(_) => String::new(),
        Evidence::Failed(finding) => sections(vec![failing(finding, measure), output(name, finding, measure)]),
    }
}

fn failing(finding: &Finding, measure: &Measure) -> String {
    if finding.failing.is_empty() {
        return String::new();
    }
    let names = first(
        &finding.failing,
        measure.rows.min(50),
        |name| untrusted::code(name, 200),
        |left| format!("and {left} more"),
    );
    format!("Failing tests: {}", names.join(", "))
}

fn output(name: &str, finding: &Finding, measure: &Measure) -> String {
    if finding.output.trim().is_empty() {
        return String::new();
    }
    let block = untrusted::fence(&finding.output, "text", measure.output);
    format!("<details>\n<summary>Output of {name}</summary>\n\n{block}\n\n</details>")
}
