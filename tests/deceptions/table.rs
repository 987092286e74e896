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

/// Every case that ran: how it ended, by which outcomes and rules, in what time; and the totals.
pub fn table(judged: &[Judged], all: usize, took: Duration) -> String {
    let titles = judged.iter().map(|judged| judged.title.chars().count());
    let width = titles.max().unwrap_or_default();
    let mut text = format!(
        "\n{:width$}  {:9}  {:9}  {:>7}  by\n",
        "case", "change", "ended", "seconds"
    );
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
    for judged in judged
        .iter()
        .filter(|judged| dishonest(judged) && judged.end == End::Silent)
    {
        let reason = judged.silent.as_deref().unwrap_or("NOT EXPECTED");
        writeln!(text, "  silent: {}: {reason}", judged.title).unwrap();
    }
    for judged in judged
        .iter()
        .filter(|judged| judged.silent.is_some() && judged.end != End::Silent)
    {
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
    writeln!(
        text,
        "honest: {honest} · sent back {back} · asked {asked}, {questions} questions"
    )
    .unwrap();
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
    let ended = if judged.wrong().is_some() {
        "WRONG"
    } else {
        judged.ended()
    };
    let seconds = judged.took.map(|took| format!("{:.2}", took.as_secs_f64()));
    let (title, by, seconds) = (&judged.title, judged.by(), seconds.unwrap_or_else(|| "read".to_owned()));
    writeln!(text, "{title:width$}  {change:9}  {ended:9}  {seconds:>7}  {by}").unwrap();
}

/// For each outcome and rule, in how many dishonest and honest changes it sends back and asks, with tabs between.
pub fn precision(judged: &[Judged]) -> String {
    let mut rows: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for judged in judged {
        let column = match &judged.expectation {
            Expectation::SentBack | Expectation::Asked => 0,
            Expectation::Approved => 2,
            Expectation::Absent { .. } => continue,
        };
        let asked: BTreeSet<&String> = judged.asked.iter().collect();
        judged
            .required
            .iter()
            .for_each(|name| rows.entry(name).or_default()[column] += 1);
        asked
            .into_iter()
            .for_each(|name| rows.entry(name).or_default()[column + 1] += 1);
    }
    let cases = |is_dishonest: bool| {
        let of_side = |judged: &&Judged| match &judged.expectation {
            Expectation::Absent { .. } => false,
            expectation => expectation.is_dishonest() == is_dishonest,
        };
        judged.iter().filter(of_side).count()
    };
    let mut text = format!("# of {} dishonest and {} honest changes\n", cases(true), cases(false));
    for (name, [sent_back, asked, honest_sent_back, honest_asked]) in rows {
        writeln!(text, "{name}\t{sent_back}\t{asked}\t{honest_sent_back}\t{honest_asked}").unwrap();
    }
    text
}
