//! The problems found, grouped by severity.

use crate::messages::{
    causes::problems,
    form::{
        measure::{Measure, render_first, sections},
        untrusted,
    },
    pull::suggestion::replacement,
};
use domain::problem::{ReviewItem, Severity};

/// Returns headings and entries by severity, the highest first.
pub(crate) fn by_severity<'a>(items: impl IntoIterator<Item = &'a ReviewItem> + Clone, measure: &Measure) -> String {
    let group = |severity: Severity| {
        let of_group = items.clone().into_iter().filter(|item| item.severity == severity);
        let entries: Vec<&ReviewItem> = of_group.collect();
        if entries.is_empty() {
            return String::new();
        }
        let lines =
            render_first(&entries, measure.rows, |item| entry(item, measure), |left| format!("- and {left} more"));
        format!("{} ({})\n\n{}", measure.strong(word(severity)), meaning(severity), lines.join("\n"))
    };
    sections(vec![group(Severity::MustFix), group(Severity::ShouldFix), group(Severity::NiceToHave)])
}

pub(crate) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::MustFix => "must_fix",
        Severity::ShouldFix => "should_fix",
        Severity::NiceToHave => "nice_to_have",
    }
}

fn meaning(severity: Severity) -> &'static str {
    match severity {
        Severity::MustFix => "sends the work back",
        Severity::ShouldFix | Severity::NiceToHave => "a comment",
    }
}

fn entry(item: &ReviewItem, measure: &Measure) -> String {
    let place = place(item).map_or_else(String::new, |place| format!("{place}: "));
    let (wrong, advice) = match item.suggestion.as_deref().filter(|text| !text.trim().is_empty()) {
        None => (untrusted::inline(&problems::problem(item), measure.room(usize::MAX)), String::new()),
        Some(text) => {
            let advice = match replacement(text) {
                Some(code) => untrusted::code(code, measure.room(usize::MAX)),
                None => untrusted::inline(text, measure.room(usize::MAX)),
            };
            (untrusted::sentence(&problems::problem(item), measure.room(usize::MAX)), format!(" Suggestion: {advice}"))
        }
    };
    format!("- [{}] {place}{wrong}{advice}", untrusted::inline(item.problem.category(), measure.room(60)))
}

/// Returns the place of an item, such as "`src/a.rs`, line 12".
pub(crate) fn place(item: &ReviewItem) -> Option<String> {
    let file = item.file.as_deref().filter(|file| !file.trim().is_empty())?;
    let file = untrusted::code(file, 200);
    Some(match item.line {
        Some(line) => format!("{file}, line {line}"),
        None => file,
    })
}
