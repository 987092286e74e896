//! Reads `dotnet test`.

use crate::results::{
    failures::{Layout, NO_END, failed, is_text},
    numbers::after,
    runner::{Naming, Runner},
    tally::{Outcome, Tally},
};

pub(super) static DOTNET: Runner = Runner {
    naming: Some(Naming {
        argument: "--logger:console;verbosity=normal",
        unless: &["--logger", "-l", "-v", "--verbosity"],
    }),
    read: Some(dotnet),
    failures: Some(Layout {
        test: |line| failed(result(line)),
        name: str::to_owned,
        mark: Some(|line| (line.trim() == "Error Message:").then_some("")),
        text: is_text,
        end: NO_END,
    }),
    ..Runner::only_called(&[&["dotnet", "test"]])
};

/// Reads `Passed! - Failed: 0, Passed: 3, Skipped: 0, Total: 3, Duration: 5 ms - a.dll (net8.0)`, one for each project.
/// Longer output has a line such as `  Passed a.B.Adds [5 ms]` for each test, then `Total tests: 3` and the lines below
/// it.
fn dotnet(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let mut has_summary = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if line.contains(" - Failed: ") && line.contains(", Total: ") {
            has_summary = true;
            let number = |word| after(line, word).unwrap_or(0);
            tally.sum(number("Passed"), number("Failed"), number("Skipped"));
        } else if trimmed.starts_with("Total tests: ") || line.starts_with("No test is available in ") {
            has_summary = true;
        } else if let Some((name, outcome)) = result(line) {
            tally.record_name(name, outcome);
        } else if let Some((word, number)) = trimmed.split_once(": ") {
            let number = number.trim().parse::<u32>().unwrap_or(0);
            match word {
                "Passed" => tally.count(Outcome::Passed, number),
                "Failed" => tally.count(Outcome::Failed, number),
                "Skipped" => tally.count(Outcome::Skipped, number),
                _ => {}
            }
        }
    }
    has_summary.then_some(tally)
}

/// Reads `  Passed a.B.Adds(one: 1) [< 1 ms]`. A test that took no measurable time has none in brackets.
fn result(line: &str) -> Option<(&str, Outcome)> {
    let rest = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?;
    let (word, name) = rest.split_once(' ')?;
    let outcome = match word {
        "Passed" => Outcome::Passed,
        "Failed" => Outcome::Failed,
        "Skipped" => Outcome::Skipped,
        _ => return None,
    };
    match name.strip_suffix(']').and_then(|name| name.rsplit_once(" [")) {
        Some((name, _)) => Some((name, outcome)),
        None => (outcome == Outcome::Skipped || !name.contains(' ')).then_some((name, outcome)),
    }
}
