//! Settings of Codecov that ask for less.

use super::lines::{more, text};
use crate::{finding, reading::ReadFile};
use domain::integrity::{IntegrityFinding, Rule};

/// What a changed file of Codecov's asks for no longer.
pub(super) fn in_file(file: &ReadFile<'_>) -> Vec<IntegrityFinding> {
    let (before, after) = (text(&file.file.before), text(&file.file.after));
    let number = |text: &str, key: &str| -> Option<f64> {
        text.lines()
            .find_map(|line| line.trim().strip_prefix(key)?.trim().trim_end_matches('%').parse().ok())
    };
    let at = |line, what: &str| finding(Rule::CoverageWeakened, file.path, line, what);
    let mut findings = Vec::new();
    let lowered = number(&before, "target:").is_some_and(|old| number(&after, "target:").is_none_or(|new| new < old));
    let looser =
        number(&after, "threshold:").is_some_and(|new| number(&before, "threshold:").is_some_and(|old| new > old));
    if lowered || looser {
        findings.push(at(None, "asks for less coverage than before"));
    }
    let tolerant = more(&after, &before)
        .into_iter()
        .find(|(_, line)| line.contains("informational: true"));
    findings.extend(tolerant.map(|(number, _)| at(Some(number), "coverage is only information now")));
    findings
}
