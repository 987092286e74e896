//! A test writes data of the product that the change adds, such as a cache or a private field: the answers come from
//! the test.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::Role,
    rules::rule::{ReadingRule, Violation, at_line, names},
};
use domain::integrity::Rule;
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule =
    ReadingRule { rule: Rule::SetByTests, applies: &[Role::Test, Role::Support], check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let sources = || reading.files.iter().filter(|file| file.role == Role::Source);
    let new = sources().flat_map(|file| {
        let names = file.after.variables.iter();
        names.filter(|name| !file.before.variables.contains(name)).cloned()
    });
    let new: BTreeSet<String> = new.chain(sources().flat_map(private)).collect();
    reading.files.iter().filter_map(|file| in_one(file, &new)).collect()
}

/// Returns the names that are new in a file and marked as private, such as `_cache`.
fn private(file: &ChangedFile<'_>) -> BTreeSet<String> {
    let (before, after) = file.texts();
    let is_own = |word: &&str| word.starts_with('_') && !word.starts_with("__") && word.len() > 1;
    let old: BTreeSet<&str> = names(&before).filter(is_own).collect();
    let new = names(&after).filter(is_own).filter(|word| !old.contains(word));
    new.map(str::to_owned).collect()
}

fn in_one(file: &ChangedFile<'_>, variables: &BTreeSet<String>) -> Option<Violation> {
    let (_, after) = file.texts();
    let own = |name: &&String| !file.after.variables.contains(name);
    let lines = file.new_lines(&after).into_iter();
    let mut written = lines.filter(|(_, line)| variables.iter().filter(own).any(|name| writes(line, name)));
    written.next().map(|(number, line)| at_line(file.path, number, line))
}

/// `true` if a line is a statement that assigns to a variable or calls one of its methods, or names it in a string, as
/// a tool that replaces variables does.
fn writes(line: &str, name: &str) -> bool {
    let quoted = ['"', '\''].iter().any(|mark| {
        let replaces = [format!(", {mark}{name}{mark},"), format!(".{name}{mark},")];
        replaces.iter().any(|text| line.contains(text.as_str()))
    });
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':');
    let path: &str = line.trim().split(|c: char| !is_path(c)).next().unwrap_or_default();
    let mut parts = path.split(['.', ':']);
    let is_subject = parts.any(|part| part == name);
    let rest = line.trim().get(path.len()..).unwrap_or_default().trim_start();
    let is_assigned = rest.starts_with('=') && !rest.starts_with("==");
    let is_item = rest.starts_with('[') && rest.contains("] = ");
    let is_called = rest.starts_with('(') && !path.ends_with(name);
    quoted || is_subject && (is_assigned || is_item || is_called)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[
                ("rates.py", "", "_known = {}\n"),
                (
                    "tests/test_rates.py",
                    "",
                    "def test_rate():\n    rates._known.update({1: 2})\n    assert rate(1) == 2\n",
                ),
            ],
            &[
                ("rates.py", "", "KNOWN = {1: 2}\n"),
                ("tests/test_rates.py", "", "def test_rate():\n    assert rates.KNOWN.get(1) == 2\n"),
            ],
        );
    }
}
