//! Finds issues that come up again turn after turn, the sign that a task is stuck. It compares facts
//! by value, and words without understanding them.

use crate::{
    ids::TurnNumber,
    problem::{ReviewItem, Severity},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The number of turns in a row with the same issues after which a task is stuck.
const SAME_ISSUES_TURNS: usize = 3;

/// An issue that came up in more than one turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recurring {
    /// The issue, as the last turn named it.
    pub issue: ReviewItem,
    /// The number of turns in which it came up.
    pub count: usize,
    /// The turns in which it came up.
    pub turns: Vec<TurnNumber>,
}

/// Groups equal issues over all turns and returns those of more than one turn, the most frequent first.
pub fn recurring(turns: &[(TurnNumber, &[ReviewItem])]) -> Vec<Recurring> {
    let mut groups: BTreeMap<Key, (&ReviewItem, BTreeSet<TurnNumber>)> = BTreeMap::new();
    for (turn, items) in turns {
        for issue in *items {
            let group = groups.entry(key(issue, Digits::Ignored)).or_insert_with(|| (issue, BTreeSet::new()));
            group.0 = issue;
            group.1.insert(*turn);
        }
    }
    let several = groups.into_values().filter(|(_, turns)| turns.len() > 1);
    let group = |(issue, turns): (&ReviewItem, BTreeSet<TurnNumber>)| Recurring {
        issue: issue.clone(),
        count: turns.len(),
        turns: turns.into_iter().collect(),
    };
    let mut recurring: Vec<Recurring> = several.map(group).collect();
    recurring.sort_by_key(|group| std::cmp::Reverse(group.count));
    recurring
}

/// `true` if the last three turns ended with the same set of `must_fix` issues.
///
/// Numbers are compared, except line numbers: "2 failed" after "3 failed" is progress.
pub fn same_issues_three_turns(turns: &[&[ReviewItem]]) -> bool {
    let last = turns.iter().rev().take(SAME_ISSUES_TURNS);
    let mut last = last.map(|items| must_fix_keys(items));
    let newest = last.next().unwrap_or_default();
    turns.len() >= SAME_ISSUES_TURNS && !newest.is_empty() && last.all(|keys| keys == newest)
}

fn must_fix_keys(items: &[ReviewItem]) -> BTreeSet<Key> {
    let must_fix = items.iter().filter(|issue| issue.severity == Severity::MustFix);
    must_fix.map(|issue| key(issue, Digits::Compared)).collect()
}

/// The category, the file, and the problem without the parts that differ between turns.
type Key = (String, Option<String>, String);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Digits {
    Ignored,
    Compared,
}

fn key(issue: &ReviewItem, digits: Digits) -> Key {
    let file = issue.file.as_deref();
    let file = file.map(|file| file.strip_prefix("./").unwrap_or(file));
    // A problem can always be serialized.
    let problem = serde_json::to_value(&issue.problem).unwrap_or_default();
    let category = issue.problem.category().trim().to_lowercase();
    (category, file.map(str::to_owned), plain(problem, digits).to_string())
}

/// Returns the value with its texts normalised, and without its numbers if they do not count.
fn plain(value: Value, digits: Digits) -> Value {
    match value {
        Value::String(text) => normalised(&text, digits).into(),
        Value::Number(_) if digits == Digits::Ignored => Value::Null,
        Value::Array(items) => items.into_iter().map(|item| plain(item, digits)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (name, plain(field, digits)));
            Value::Object(fields.collect())
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Removes the parts that differ between turns: case, spacing, closing punctuation and line numbers, or all numbers.
fn normalised(text: &str, digits: Digits) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.to_lowercase().split_whitespace() {
        let word = word.trim_end_matches(['.', ',', ';', '!', '?']);
        let after_line = words.last().is_some_and(|before| before == "line" || before == "lines");
        let plain = match digits {
            Digits::Ignored => without_digits(word),
            Digits::Compared if after_line => without_digits(word),
            Digits::Compared => without_line_number(word),
        };
        if !plain.is_empty() {
            words.push(plain);
        }
    }
    words.join(" ")
}

fn without_digits(word: &str) -> String {
    let mut plain = String::new();
    for c in word.chars() {
        match (c.is_numeric(), plain.ends_with('#')) {
            (true, true) => {}
            (true, false) => plain.push('#'),
            (false, _) => plain.push(c),
        }
    }
    plain
}

/// Removes line numbers from words such as `src/a.rs:12:5` and `l12`; returns other words unchanged.
fn without_line_number(word: &str) -> String {
    let is_place = |place: &str| !place.is_empty() && place.chars().all(|c| c.is_numeric() || c == ':' || c == '-');
    let is_number = |number: &str| !number.is_empty() && number.chars().all(char::is_numeric);
    match (word.split_once(':'), word.strip_prefix('l')) {
        (Some((path, place)), _) if is_place(place) => path.to_owned(),
        (_, Some(number)) if is_number(number) => "l#".to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn issue(description: &str) -> ReviewItem {
        ReviewItem::must_fix_remark("test", description)
    }

    fn turns(items: &[Vec<ReviewItem>]) -> Vec<(TurnNumber, &[ReviewItem])> {
        (1..).map(TurnNumber).zip(items.iter().map(Vec::as_slice)).collect()
    }

    #[test]
    fn equal_issues_are_grouped_over_turns_whatever_their_spelling() {
        let elsewhere = ReviewItem { file: Some("b.rs".to_owned()), ..issue("no test for the empty case") };
        let items = [
            vec![issue("No test for the empty case."), issue("typo"), elsewhere],
            vec![issue("no  test for\nthe empty case"), issue("no test for the empty case")],
            vec![issue("Panics at src/a.rs:12"), issue("took 31 s")],
            vec![issue("NO TEST for the empty case!"), issue("panics at src/a.rs:340"), issue("took 7 s")],
        ];
        let found: Vec<(String, usize, Vec<u32>)> = recurring(&turns(&items))
            .into_iter()
            .map(|group| {
                (
                    group.issue.problem.words().cloned().unwrap_or_default(),
                    group.count,
                    group.turns.into_iter().map(|turn| turn.0).collect(),
                )
            })
            .collect();
        let group = |words: &str, turns: &[u32]| (words.to_owned(), turns.len(), turns.to_vec());
        assert_eq!(
            found,
            [
                group("NO TEST for the empty case!", &[1, 2, 4]),
                group("panics at src/a.rs:340", &[3, 4]),
                group("took 7 s", &[3, 4]),
            ]
        );
    }

    #[test]
    fn three_turns_with_the_same_issues_are_stuck_and_progress_is_not() {
        let a = |line: u32| issue(&format!("no test, see src/a.rs:{line} on line {line}"));
        let table = [
            (vec![vec![a(1)], vec![a(2)], vec![a(3)]], true),
            (vec![vec![issue("x")], vec![a(1)], vec![a(2)], vec![a(3)]], true),
            (vec![vec![a(1), issue("x")], vec![issue("x"), a(1)], vec![a(9), issue("X")]], true),
            (vec![vec![a(1)], vec![a(2)]], false),
            (vec![vec![a(1), issue("x")], vec![a(1)], vec![a(1)]], false),
            (vec![vec![a(1)], vec![], vec![a(1)]], false),
            (vec![vec![], vec![], vec![]], false),
            (vec![vec![issue("3 failed")], vec![issue("2 failed")], vec![issue("1 failed")]], false),
            (vec![vec![ReviewItem { severity: Severity::ShouldFix, ..a(1) }]; 3], false),
        ];
        for (items, expected) in table {
            let told: Vec<&[ReviewItem]> = items.iter().map(Vec::as_slice).collect();
            assert_eq!(same_issues_three_turns(&told), expected, "{items:?}");
        }
    }

    proptest! {
        #[test]
        fn repeating_a_turn_three_times_is_stuck_and_recurs(words in proptest::collection::vec("[a-z0-9: ]{0,12}", 1..4)) {
            let items: Vec<ReviewItem> = words.iter().map(|text| issue(text)).collect();
            let history = vec![items.clone(), items.clone(), items];
            prop_assert!(same_issues_three_turns(&[&history[0], &history[1], &history[2]]));
            prop_assert!(recurring(&turns(&history)).iter().all(|group| group.count == 3));
        }
    }
}
