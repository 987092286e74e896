//! Code behaves differently under test.

use crate::{
    changed_file::{ChangedFile, Reading},
    language,
    language::{Role, capture::Fact, outline::Purpose},
    rules::rule::{ReadingRule, Violation, at_line, at_marks},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::DiffersUnderTest, applies: &[Role::Source], check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let mut found = at_marks(reading, Fact::Differs, Purpose::Product);
    let of_tests = |file: &&ChangedFile<'_>| matches!(file.role, Role::Test | Role::Support | Role::Settings);
    let tests: Vec<String> = reading.files.iter().filter(of_tests).map(|file| file.texts().1).collect();
    let task = reading.change.task;
    let is_of_tests = |name: &str| {
        let is_named = |text: &String| variables(text).any(|word| word == name);
        tests.iter().any(is_named) && !task.description.contains(name) && !task.name.contains(name)
    };
    let sources = reading.files.iter().filter(|file| file.role == Role::Source);
    found.extend(sources.filter_map(|file| switched_on(file, is_of_tests)));
    found
}

/// Returns the first new line that reads an environment variable which tests mention and the task does not.
fn switched_on(file: &ChangedFile<'_>, is_of_tests: impl Fn(&str) -> bool) -> Option<Violation> {
    let reads = &language::language_of(file.path)?.words.environment;
    let (_, after) = file.texts();
    let mut new = file.new_lines(&after).into_iter();
    let (number, line) = new.find(|(_, line)| {
        let is_read = reads.iter().any(|part| line.contains(part));
        is_read && variables(line).any(&is_of_tests)
    })?;
    Some(at_line(file.path, number, line))
}

/// Returns the words that are written like environment variables.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
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
                ("src/rate.js", "", "export const rate = process.env.RATE ? 7 : ask();\n"),
                ("test/rate.test.js", "", "before(() => { process.env.RATE = '1'; });\n"),
            ],
            &[("src/rate.js", "", "export const rate = process.env.RATE ? 7 : ask();\n")],
        );
    }
}
