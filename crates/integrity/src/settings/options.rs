//! Compares options of test runners.

use crate::{language::outline::quoted, words::is_one_of};
use domain::integrity::SettingChange;

/// Options that exclude tests, or hide their failures.
const LEAVE_OUT: &str = "
    -x -xq --exitfirst --maxfail -k -m --ignore --ignore-glob --deselect --collect-only --co --no-cov --lf
    --last-failed --sw --stepwise --reruns --continue-on-collection-errors --suppress-no-test-exit-code
    --setup-only --setup-plan --force-flaky
";

/// `true` if an option excludes tests, or hides their failures.
fn leaves_out(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let plugin = word.starts_with("no:") && !matches!(word, "no:cacheprovider" | "no:warnings" | "no:randomly");
    plugin || is_one_of(LEAVE_OUT, name) || word.starts_with("-k") && word.len() > 2 && !word.starts_with("-ke")
}

/// Splits a value into words; a value that no shell could parse is one word.
pub(super) fn words(value: &str) -> Vec<String> {
    shell_words::split(value).unwrap_or_else(|_| vec![value.to_owned()])
}

/// Returns a new option that excludes tests, or a lowered coverage limit.
pub(super) fn weak_options(before: &[String], after: &[String]) -> Option<SettingChange> {
    let all = |values: &[String]| -> Vec<String> { values.iter().flat_map(|value| words(value)).collect() };
    let (old, new) = (all(before), all(after));
    let limit = |words: &[String]| -> Option<f64> {
        let mut limits = words.iter().filter_map(|word| word.strip_prefix("--cov-fail-under="));
        limits.find_map(|limit| limit.parse().ok())
    };
    if let Some(old) = limit(&old).filter(|old| limit(&new).is_none_or(|new| new < *old)) {
        return Some(lowered(old, limit(&new)));
    }
    let is_new = |(at, word): &(usize, &String)| {
        let selects = word.starts_with("-k") || word.starts_with("-m");
        let value = new.get(at.saturating_add(1));
        let mut same = old.iter().enumerate().filter(|(_, old)| old == word);
        !same.any(|(at, _)| !selects || old.get(at.saturating_add(1)) == value)
    };
    let mut harmful = new.iter().enumerate().filter(|(_, word)| leaves_out(word));
    harmful.find(is_new).map(|(_, word)| SettingChange::Is(quoted(word)))
}

/// Describes a lowered or removed number.
pub(super) fn lowered(old: f64, new: Option<f64>) -> SettingChange {
    SettingChange::Lowered {
        from: old.to_string(),
        to: new.map(|new| new.to_string()),
    }
}
