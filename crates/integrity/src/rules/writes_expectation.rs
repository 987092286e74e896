//! Tests write the file with which they or the service compare: a snapshot, a golden file, or results.

use crate::{
    change::Change,
    changed_file::{ChangedFile, Reading},
    language,
    language::{Role, file_name, role},
    rules::rule::{ReadingRule, Violation, at_line},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule =
    ReadingRule { rule: Rule::WritesExpectation, applies: &[Role::Test, Role::Support], check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let stored = stored_names(reading.change);
    reading.files.iter().filter_map(|file| in_one(file, &stored)).collect()
}

/// Returns the names of stored files that tests compare with, and of results.
fn stored_names<'c>(change: &'c Change<'_>) -> Vec<&'c str> {
    let is_stored = |path: &&String| role(path) == Role::Support && language::language_of(path).is_none();
    let stored = change.head.iter().filter(is_stored).chain(change.results);
    stored.map(|path| file_name(path)).collect()
}

fn in_one(file: &ChangedFile<'_>, stored: &[&str]) -> Option<Violation> {
    let language = language::language_of(file.path)?;
    let (_, after) = file.texts();
    let names_stored = stored.iter().any(|name| after.contains(name));
    // A test may write into a temporary folder of its own.
    let is_temporary = |line: &str| ["tmp", "temp"].iter().any(|word| line.to_lowercase().contains(word));
    let writes = |line: &str| language.words.writes.iter().any(|word| line.contains(word)) && !is_temporary(line);
    let new = file.new_lines(&after);
    let (number, line) = new.iter().find(|(_, line)| writes(line)).filter(|_| names_stored)?;
    Some(at_line(file.path, *number, line))
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
                ("tests/data/fees.txt", "", "10: 25\n"),
                (
                    "tests/test_fees.py",
                    "",
                    "KEPT = pathlib.Path(__file__).parent / \"data\" / \"fees.txt\"\n\n\
             def test_fees():\n    KEPT.write_text(listed())\n    assert listed() == KEPT.read_text()\n",
                ),
            ],
            &[
                ("tests/data/fees.txt", "", "10: 25\n"),
                (
                    "tests/test_fees.py",
                    "",
                    "def test_fees(tmp_path):\n    (tmp_path / \"fees.txt\").write_text(listed())\n",
                ),
            ],
        );
    }
}
