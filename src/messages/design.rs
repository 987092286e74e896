//! A task's design in its pull request: the Designer's advice, marked as advice.

use crate::messages::{
    ignored,
    measure::{Measure, bullets, sections, titled},
    untrusted,
};
use domain::design::Design;

/// Returns the section; empty if there is no design.
pub(super) fn section(design: Option<&Design>, measure: &Measure) -> String {
    let Some(design) = design else { return String::new() };
    let findings = bullets(&design.findings, measure.rows.min(30), |finding| {
        untrusted::inline(finding, measure.text.min(600))
    });
    let numbers = [
        design.score.map(|score| format!("architecture review: {score} of 100")),
        design
            .complexity
            .map(|complexity| format!("complexity as the designer sees it: {complexity} of 10")),
    ];
    let numbers: Vec<String> = numbers.into_iter().flatten().collect();
    let body = sections(vec![
        "Made before the first turn. It is advice to the Player; no verdict rests on it.".to_owned(),
        untrusted::quote(&design.plan, measure.text),
        titled("Pattern:", &untrusted::quote(&design.pattern, measure.text)),
        match numbers.is_empty() {
            true => String::new(),
            false => format!("{}.", capital(&numbers.join("; "))),
        },
        titled("What its review found:", &findings),
        ignored::line(&[("the designer's answer", &design.ignored)], measure),
    ]);
    titled("### Design", &body)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
