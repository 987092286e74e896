//! The table for people, and the precision of each outcome and rule.

use crate::{
    expectation::Expectation,
    judged::{End, Judged, Unanswered},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    time::Duration,
};

/// Returns a table of all cases that ran, with their ends, the outcomes and rules, and the times; and the totals.
pub fn table(judged: &[Judged], all: usize, took: Duration) -> String {
    let titles = judged.iter().map(|judged| judged.title.chars().count());
    let width = titles.max().unwrap_or_default();
    let mut text = format!("\n{:width$}  {:9}  {:9}  {:>7}  by\n", "case", "change", "ended", "seconds");
    for judged in judged {
        row(&mut text, width, judged);
    }
    totals(&mut text, judged);
    writeln!(text, "{:.1} s in all", took.as_secs_f64()).unwrap();
    let ran = judged.len();
    if ran < all {
        writeln!(text, "{ran} of {all} cases ran; all of them: .ci/thorough deceptions").unwrap();
    }
    text
}

fn totals(text: &mut String, judged: &[Judged]) {
    let count = |wanted: &dyn Fn(&&Judged) -> bool| judged.iter().filter(wanted).count();
    let dishonest = |judged: &&Judged| judged.expectation.is_dishonest();
    let honest = |judged: &&Judged| judged.expectation == Expectation::Approved;
    let ends = |end: End| count(&|judged| dishonest(judged) && judged.end == end);
    writeln!(
        text,
        "\ndishonest: {} · sent back {} · asked {} · silent {} · blocked {}",
        count(&dishonest),
        ends(End::SentBack),
        ends(End::Asked),
        ends(End::Silent),
        ends(End::Absent),
    )
    .unwrap();
    for judged in judged.iter().filter(|judged| dishonest(judged) && judged.end == End::Silent) {
        let reason = judged.silent.as_deref().unwrap_or("NOT EXPECTED");
        writeln!(text, "  silent: {}: {reason}", judged.title).unwrap();
    }
    for judged in judged.iter().filter(|judged| judged.silent.is_some() && judged.end != End::Silent) {
        writeln!(text, "  no longer silent: {}", judged.title).unwrap();
    }
    writeln!(
        text,
        "a Coach that approves and answers nothing approves {} dishonest changes",
        count(&|judged| dishonest(judged) && judged.unanswered == Unanswered::Holds && judged.end != End::SentBack)
    )
    .unwrap();
    let asked = count(&|judged| honest(judged) && !judged.asked.is_empty());
    let questions: usize = judged.iter().filter(honest).map(|judged| judged.asked.len()).sum();
    let back = count(&|judged| honest(judged) && judged.end == End::SentBack);
    let honest = count(&honest);
    writeln!(text, "honest: {honest} · sent back {back} · asked {asked}, {questions} questions").unwrap();
    let absent = |judged: &&Judged| matches!(judged.expectation, Expectation::Absent { .. });
    writeln!(
        text,
        "without evidence: {} of {} neither approved nor sent back",
        count(&|judged| absent(judged) && judged.end == End::Absent),
        count(&absent),
    )
    .unwrap();
}

fn row(text: &mut String, width: usize, judged: &Judged) {
    let change = match &judged.expectation {
        Expectation::Approved => "honest",
        Expectation::SentBack | Expectation::Asked => "dishonest",
        Expectation::Absent { .. } => "no proof",
    };
    let ended = if judged.wrong().is_some() { "WRONG" } else { judged.ended() };
    let seconds = judged.took.map(|took| format!("{:.2}", took.as_secs_f64()));
    let (title, by, seconds) = (&judged.title, judged.by(), seconds.unwrap_or_else(|| "read".to_owned()));
    writeln!(text, "{title:width$}  {change:9}  {ended:9}  {seconds:>7}  {by}").unwrap();
}

/// Returns five numbers for each outcome and rule, separated by tabs: first the dishonest changes that it sends back,
/// that it asks about, and that nothing else finds. Then the honest changes that it sends back, and that it asks about.
pub fn precision(judged: &[Judged]) -> String {
    let mut rows: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for judged in judged {
        let is_dishonest = judged.expectation.is_dishonest();
        if matches!(judged.expectation, Expectation::Absent { .. }) {
            continue;
        }
        let [sent_back, asks] = if is_dishonest { [0, 1] } else { [3, 4] };
        let asked: BTreeSet<&String> = judged.asked.iter().collect();
        for name in &judged.required {
            rows.entry(name).or_default()[sent_back] += 1;
        }
        for name in &asked {
            rows.entry(name).or_default()[asks] += 1;
        }
        let all: BTreeSet<&String> = judged.required.iter().chain(asked).collect();
        if let (true, Some(only), 1) = (is_dishonest, all.first(), all.len()) {
            rows.entry(only).or_default()[2] += 1;
        }
    }
    let cases = |is_dishonest: bool| {
        let of_side = |judged: &&Judged| match &judged.expectation {
            Expectation::Absent { .. } => false,
            expectation => expectation.is_dishonest() == is_dishonest,
        };
        judged.iter().filter(of_side).count()
    };
    let mut text = format!("all changes\t{}\t\t\t{}\t\n", cases(true), cases(false));
    for (name, figures) in rows {
        let figures = figures.map(|figure| figure.to_string()).join("\t");
        writeln!(text, "{}\t{figures}", name.replace('_', " ")).unwrap();
    }
    text
}
