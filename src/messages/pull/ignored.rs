//! Lists the unknown keys in agents' answers, which AutoBuild ignores, in one line.

use crate::messages::form::{
    measure::{Measure, codes},
    words,
};
use domain::task::Turn;

/// The most keys of one answer that are named, and the most characters of each.
const MOST: usize = 8;
const LONGEST: usize = 60;

/// Returns the line for the answers of a turn; empty if there are no such keys.
pub(crate) fn of_turn(turn: &Turn, measure: &Measure) -> String {
    let report = turn.report.as_ref().map(|report| report.ignored.as_slice());
    let decision = turn.verdict.as_ref().and_then(|verdict| verdict.decision.as_ref());
    let decision = decision.map(|decision| decision.ignored.as_slice());
    line(
        &[("the Player's report", report.unwrap_or_default()), ("the Coach's decision", decision.unwrap_or_default())],
        measure,
    )
}

/// Returns the line for these answers, each with its name; empty if there are no such keys.
pub(crate) fn line(answers: &[(&str, &[String])], measure: &Measure) -> String {
    let ignored = answers.iter().filter(|(_, keys)| !keys.is_empty());
    let ignored = ignored.map(|(answer, keys)| {
        let (shown, left) = keys.split_at(MOST.min(measure.rows).min(keys.len()));
        format!("{answer}: {}", words::and_more(codes(shown, MOST, LONGEST), left.len()))
    });
    let ignored: Vec<String> = ignored.collect();
    if ignored.is_empty() { String::new() } else { format!("Unknown keys, ignored: in {}.", ignored.join("; in ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::form::measure::MEASURES;

    #[test]
    fn unknown_keys_are_named_in_one_line_that_does_nothing() {
        let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
        let (none, hostile) = (keys(&[]), keys(&["mood", "a`b\n# @octo <!-- x"]));
        let shown = |answers: &[(&str, &[String])]| line(answers, &MEASURES[0]);
        assert_eq!(shown(&[("the Player's report", &none)]), "");
        let said = shown(&[("the Player's report", &none), ("the Coach's decision", &hostile)]);
        assert!(said.starts_with("Unknown keys, ignored: in the Coach's decision: `mood`, "), "{said}");
        assert!(!said.contains('\n'), "{said}");
        let many = keys(&["a"; 11]);
        let said = shown(&[("the Player's report", &many)]);
        assert!(said.ends_with("`a`, `a` and 3 more."), "{said}");
        let long = vec!["k".repeat(5_000)];
        assert!(shown(&[("it", &long)]).len() < 200);
    }
}
