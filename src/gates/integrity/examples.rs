//! Examples in documentation that ran as tests and are only shown now.

use crate::domain::integrity::IntegrityFinding;
use crate::domain::integrity::Rule;
use crate::gates::integrity::finding;
use crate::gates::integrity::reading::ReadFile;
use crate::gates::integrity::words::likeness;
use crate::gates::language::outline::Example;
use crate::gates::language::outline::Use;

/// Every example that is still there and not run any more.
pub(super) fn find(files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    files.iter().flat_map(in_file).collect()
}

fn in_file(file: &ReadFile<'_>) -> Vec<IntegrityFinding> {
    let (before, after) = (&file.before.examples, &file.after.examples);
    let is_kept = |old: &Example| after.iter().any(|new| new.how == Use::Run && new.text == old.text);
    let lost = before.iter().filter(|old| old.how == Use::Run && !is_kept(old));
    let was_shown = |new: &Example| before.iter().any(|old| old.how == Use::Shown && old.text == new.text);
    let now = |old: &Example| {
        let shown = after.iter().filter(|new| new.how == Use::Shown && !was_shown(new));
        shown
            .filter(|new| likeness(&words(new), &words(old)) > 0.6)
            .map(|new| new.line)
            .next()
    };
    lost.filter_map(now)
        .map(|line| {
            let what = "an example of the documentation ran as a test, and is only shown now";
            finding(Rule::SkipAdded, file.path, Some(line), what)
        })
        .collect()
}

fn words(example: &Example) -> Vec<String> {
    let words = example.text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
