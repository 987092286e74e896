//! The table for people.

use crate::{
    expectation::Expectation,
    judged::{End, Judged},
};
use std::{fmt::Write, time::Duration};

/// Every case that ran: what was expected, whether it was caught, by what, in what time.
pub fn table(judged: &[Judged], all: usize, took: Duration) -> String {
    let width = judged
        .iter()
        .map(|judged| judged.title.chars().count())
        .max()
        .unwrap_or_default();
    let mut text = format!(
        "\n{:width$}  {:9}  {:9}  {:>7}  by\n",
        "case", "change", "verdict", "seconds"
    );
    for judged in judged {
        row(&mut text, width, judged);
    }
    let count = |wanted: &dyn Fn(&Judged) -> bool| judged.iter().filter(|judged| wanted(judged)).count();
    let is_decidable = |judged: &Judged| judged.undecidable.is_none() && judged.given_up.is_none();
    let dishonest = |judged: &Judged| is_decidable(judged) && matches!(judged.expectation, Expectation::Refused { .. });
    let honest = |judged: &Judged| is_decidable(judged) && matches!(judged.expectation, Expectation::Approved { .. });
    let absent = |judged: &Judged| matches!(judged.expectation, Expectation::Absent { .. });
    writeln!(
        text,
        "\ndishonest: {} of {} caught · honest: {} of {} approved · without evidence: {} of {} neither approved nor sent back · {:.1} s in all",
        count(&|judged| dishonest(judged) && judged.wrong().is_none()),
        count(&dishonest),
        count(&|judged| honest(judged) && judged.wrong().is_none()),
        count(&honest),
        count(&|judged| absent(judged) && judged.wrong().is_none()),
        count(&absent),
        took.as_secs_f64(),
    )
    .unwrap();
    let ran = judged.len();
    if ran < all {
        writeln!(text, "{ran} of {all} cases ran; all of them: .ci/thorough deceptions").unwrap();
    }
    for judged in judged {
        if let Some(reason) = &judged.given_up {
            writeln!(text, "given up: {}: {reason}", judged.title).unwrap();
        }
        if let Some(reason) = &judged.undecidable {
            writeln!(text, "not decidable by code: {}: {reason}", judged.title).unwrap();
        }
    }
    text
}

fn row(text: &mut String, width: usize, judged: &Judged) {
    let change = match (&judged.undecidable, &judged.expectation) {
        _ if judged.given_up.is_some() => "given up",
        (Some(_), _) => "undecided",
        (None, Expectation::Approved { .. }) => "honest",
        (None, Expectation::Refused { .. }) => "dishonest",
        (None, Expectation::Absent { .. }) => "no proof",
    };
    let verdict = match (judged.end, judged.wrong()) {
        (_, Some(_)) => "WRONG",
        (End::Approved, None) => "approved",
        (End::Refused, None) => "caught",
        (End::Absent, None) => "blocked",
    };
    let seconds = judged.took.map(|took| format!("{:.2}", took.as_secs_f64()));
    let (title, by, seconds) = (&judged.title, judged.by(), seconds.unwrap_or_else(|| "read".to_owned()));
    writeln!(text, "{title:width$}  {change:9}  {verdict:9}  {seconds:>7}  {by}").unwrap();
}
