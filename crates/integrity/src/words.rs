//! Compares words of code: how similar two pieces are, and whether one checks the same as another.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the share of words that two pieces have in common, from 0 to 1.
pub(crate) fn likeness(one: &[String], other: &[String]) -> f64 {
    let (one, other) = (counts(one), counts(other));
    let words: BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
    let (mut shared, mut all) = (0_u32, 0_u32);
    for word in words {
        let [left, right] = [&one, &other].map(|counts| counts.get(word).copied().unwrap_or(0));
        shared = shared.saturating_add(left.min(right));
        all = all.saturating_add(left.max(right));
    }
    f64::from(shared) / f64::from(all.max(1))
}

fn counts(words: &[String]) -> BTreeMap<&str, u32> {
    let mut counts = BTreeMap::new();
    for word in words {
        let count: &mut u32 = counts.entry(word.as_str()).or_default();
        *count = count.saturating_add(1);
    }
    counts
}

/// Returns the values among the words, in order: numbers, texts, booleans.
pub(crate) fn values(words: &[String]) -> Vec<&str> {
    let mut values = Vec::new();
    let mut in_text = false;
    for word in words {
        let word = word.as_str();
        if word == "\"" {
            in_text = !in_text;
        } else if in_text || is_value(word) {
            values.push(word.trim_matches(['"', '\'']));
        }
    }
    values
}

fn is_value(word: &str) -> bool {
    is_one_of("true false True False None null undefined", word)
        || word.starts_with(|c: char| c.is_ascii_digit())
        || word.len() > 1 && word.starts_with(['"', '\''])
}

/// Returns the names among the words that may say what is tested.
pub(crate) fn names(words: &[String]) -> BTreeSet<&str> {
    let named = |word: &&str| {
        word.len() > 1
            && word.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !is_value(word)
            && !is_one_of(COMMON, word)
    };
    words.iter().map(String::as_str).filter(named).collect()
}

/// Words that say nothing about what is tested.
const COMMON: &str = "
    assert assert_eq assert_ne expect toBe toEqual toStrictEqual equal strictEqual deepEqual self assertEqual
    assertTrue let const var mut def fn return await async new in is not and or if else for unwrap Ok Err Some
    vec string len
";

/// `true` if a list, with blanks between its words, contains a word.
pub(crate) fn is_one_of(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Counts how often these values occur next to each other, in any order: as a table's row, a tuple, or a check written
/// differently.
pub(crate) fn occurrences(wanted: &[&str], there: &[&str]) -> usize {
    let mut sorted = wanted.to_vec();
    sorted.sort_unstable();
    let windows = there.windows(wanted.len().max(1)).filter(|window| {
        let is_begun = window.first().is_some_and(|first| wanted.contains(first));
        let mut window = window.to_vec();
        window.sort_unstable();
        is_begun && window == sorted
    });
    windows.count()
}

/// Returns the words of `after` that `before` contains less often.
pub(crate) fn added(before: &[String], after: &[String]) -> Vec<String> {
    let mut left = counts(before);
    let is_new = |word: &&String| match left.get_mut(word.as_str()) {
        Some(count) if *count > 0 => {
            *count = count.saturating_sub(1);
            false
        }
        _ => true,
    };
    after.iter().filter(is_new).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_check_is_found_again_in_a_table() {
        let check = ["2", "3", "5"];
        let table = |rows: &str| words(&format!("for a b c in [ {rows} ] assert add a b == c"));
        assert_eq!(occurrences(&check, &values(&table("[ 1 1 2 ] [ 2 3 5 ]"))), 1);
        assert_eq!(occurrences(&check, &values(&table("[ 2 1 3 ] [ 5 0 5 ]"))), 0);
    }

    #[test]
    fn likeness_counts_what_is_shared() {
        assert!((likeness(&words("a b c d"), &words("a b c e")) - 0.6).abs() < 1e-9);
        assert!(likeness(&[], &[]).abs() < 1e-9);
    }
}
