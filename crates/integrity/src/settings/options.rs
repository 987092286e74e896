//! Compares options of test runners.

use crate::language::outline::quoted;
use domain::integrity::SettingChange;

/// Options that exclude tests, or hide their failures.
const LEAVE_OUT: [&str; 22] = [
    "-x",
    "-xq",
    "--exitfirst",
    "--maxfail",
    "-k",
    "-m",
    "--ignore",
    "--ignore-glob",
    "--deselect",
    "--collect-only",
    "--co",
    "--no-cov",
    "--lf",
    "--last-failed",
    "--sw",
    "--stepwise",
    "--reruns",
    "--continue-on-collection-errors",
    "--suppress-no-test-exit-code",
    "--setup-only",
    "--setup-plan",
    "--force-flaky",
];

/// `true` if an option excludes tests, or hides their failures.
fn leaves_out(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let plugin = word.starts_with("no:") && !matches!(word, "no:cacheprovider" | "no:warnings" | "no:randomly");
    plugin || LEAVE_OUT.contains(&name) || word.starts_with("-k") && word.len() > 2 && !word.starts_with("-ke")
}

/// Splits a value into words; a value that no shell could parse is one word.
pub(super) fn words(value: &str) -> Vec<String> {
    shell_words::split(value).unwrap_or_else(|_| vec![value.to_owned()])
}

/// Returns a new option that excludes tests, or a lowered coverage limit.
pub(super) fn weak_options(before: &[String], after: &[String]) -> Option<SettingChange> {
    let all = |values: &[String]| -> Vec<String> { values.iter().flat_map(|value| words(value)).collect() };
    let (old, new) = (all(before), all(after));
    let limit = |words: &[String]| {
        words
            .iter()
            .find_map(|word| word.strip_prefix("--cov-fail-under=")?.parse::<f64>().ok())
    };
    if let Some(old) = limit(&old).filter(|old| limit(&new).is_none_or(|new| new < *old)) {
        return Some(SettingChange::Lowered {
            from: old.to_string(),
            to: limit(&new).map(|new| new.to_string()),
        });
    }
    let harmful = new
        .iter()
        .enumerate()
        .filter(|(_, word)| leaves_out(word))
        .find(|(at, word)| {
            let value = new.get(at.saturating_add(1));
            let known = old.iter().enumerate().any(|(old_at, old_word)| {
                old_word == *word
                    && (!word.starts_with("-k") && !word.starts_with("-m")
                        || old.get(old_at.saturating_add(1)) == value)
            });
            !known
        });
    harmful.map(|(_, word)| SettingChange::Is(quoted(word)))
}
