//! Examples in documentation that ran as tests and are only shown now.

use crate::{
    finding,
    language::outline::{Example, Use, quoted},
    reading::ReadFile,
    words::likeness,
};
use domain::integrity::{IntegrityFinding, Rule};

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
    let hidden = before
        .iter()
        .filter(|old| old.how == Use::Run && !is_kept(old))
        .filter_map(|old| {
            let runs = after.iter().filter(|new| new.how == Use::Run);
            let alike = runs.filter(|new| likeness(&words(new), &words(old)) > 0.5);
            alike.filter_map(|new| Some((new.line, cut_off(new, old)?))).next()
        });
    let hidden: Vec<IntegrityFinding> = hidden
        .map(|(line, hidden)| {
            let what = format!(
                "the hidden line {} keeps an example of the documentation from running",
                quoted(hidden)
            );
            // As in a test: what the condition does here is for running to show.
            let rule = if hidden.contains("cfg!(") || hidden.contains("env!(") {
                Rule::SkipConditional
            } else {
                Rule::SkipAdded
            };
            finding(rule, file.path, Some(line), what)
        })
        .collect();
    lost.filter_map(now)
        .map(|line| {
            let what = "an example of the documentation ran as a test, and is only shown now";
            finding(Rule::SkipAdded, file.path, Some(line), what)
        })
        .chain(hidden)
        .collect()
}

/// A new hidden line after which what follows is not run: the example leaves, or stands in something that nobody calls.
fn cut_off<'e>(new: &'e Example, old: &Example) -> Option<&'e str> {
    let hidden = new
        .text
        .lines()
        .filter(|line| !old.text.contains(line))
        .filter_map(|line| line.strip_prefix("# "));
    let cuts = |line: &&str| {
        let line = line.trim();
        let function = line.split_once("fn ").and_then(|(_, rest)| rest.split('(').next());
        let is_called = |name: &str| new.text.matches(&format!("{name}(")).count() > 1;
        let leaves = ["return", "if ", "#[cfg", "macro_rules!", "/*", "while ", "loop"]
            .iter()
            .any(|word| line.starts_with(word));
        leaves
            || line.contains("exit(")
            || function.is_some_and(|name| name.trim() != "main" && !is_called(name.trim()))
    };
    hidden.into_iter().find(cuts)
}

fn words(example: &Example) -> Vec<String> {
    let words = example.text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
