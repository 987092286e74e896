//! Reads `deno test`.

use crate::results::{
    failures::{Layout, NO_END, is_text},
    numbers::before,
    runner::Runner,
    tally::{Outcome, Tally, joined},
};

/// Deno names every test by default.
pub(super) static DENO: Runner = Runner {
    read: Some(deno),
    failures: Some(Layout {
        test: |line| {
            let name = line.split_once(" => ").filter(|_| result(line).is_none());
            name.map(|_| (line.trim(), ""))
        },
        name: named_at,
        mark: Some(|line| line.strip_prefix("error: ")),
        text: is_text,
        end: NO_END,
    }),
    ..Runner::only_called(&[&["deno", "test"]])
};

/// Reads `ok | 2 passed (1 step) | 0 failed | 1 ignored (5ms)`, and before it one line for each test, such as `adds ...
/// ok (5ms)`, below `running 2 tests from ./a_test.ts`. Steps are parts of tests and are not counted.
fn deno(text: &str) -> Option<Tally> {
    let is_summary = |line: &&str| {
        let start = line.split_once(" | ").map_or("", |(start, _)| start.trim());
        ["ok", "FAILED"].contains(&start) && line.contains(" passed") && line.contains(" failed")
    };
    let mut tally = Tally::default();
    let mut has_summary = false;
    let mut file = "";
    for line in text.lines() {
        if is_summary(&line) {
            has_summary = true;
            let number = |word| before(line, word).unwrap_or(0);
            // The number of steps comes between that of the tests and the next part.
            let passed = line.split(" | ").find(|part| part.contains(" passed")).unwrap_or_default();
            tally.sum(before(passed, "passed").unwrap_or(0), number("failed"), number("ignored"));
        } else if let Some((_, path)) = line.strip_prefix("running ").and_then(|rest| rest.split_once(" from ")) {
            file = own_path(path);
        } else if let Some(path) = line.strip_prefix("Uncaught error from ") {
            tally.record_mentioned(own_path(path.trim_end_matches("FAILED")));
        } else if let Some((name, outcome)) = result(line) {
            // With `--parallel`, each line names its file itself.
            let own = name.split_once(" => ").filter(|_| file.is_empty());
            let (file, name) = own.map_or((file, name), |(path, name)| (own_path(path), name));
            tally.record_name(&joined([file].into_iter(), " > ", name), outcome);
        }
    }
    has_summary.then_some(tally)
}

/// Returns the name of a test from `adds => ./a_test.ts:1:6`.
fn named_at(printed: &str) -> String {
    let (name, place) = printed.rsplit_once(" => ").unwrap_or((printed, ""));
    let file = place.rsplitn(3, ':').last().unwrap_or(place);
    joined([own_path(file)].into_iter(), " > ", name)
}

fn own_path(path: &str) -> &str {
    path.trim().trim_start_matches("./")
}

fn result(line: &str) -> Option<(&str, Outcome)> {
    let (name, said) = line.rsplit_once(" ... ").filter(|_| !line.starts_with(' '))?;
    let outcome = match said.split(" (").next()? {
        "ok" => Outcome::Passed,
        "FAILED" | "cancelled" => Outcome::Failed,
        "ignored" => Outcome::Skipped,
        _ => return None,
    };
    Some((name, outcome))
}
