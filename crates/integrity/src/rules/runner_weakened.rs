//! The runner's settings, or the scripts that start it, change. Runs only show which tests fail today. Settings that
//! let later failures pass, or that retry them, can only be found by reading.

use crate::{
    change::FileContent,
    changed_file::{ChangedFile, Reading},
    language,
    language::{Role, capture::Fact, outline::Purpose},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_first_change, at_marks},
    settings::flatten,
    side::{Repository, Side, is_data_of_tests},
};
use domain::integrity::Rule;
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::RunnerWeakened, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let repository = Repository { base: reading.change.base, head: reading.change.head, test_command: "" };
    let mut found = at_marks(reading, Fact::Runner, Purpose::Tests);
    found.extend(reading.files.iter().filter_map(|file| in_one(&repository, file)));
    found
}

/// Returns the first changed line of a file whose part for tests differs in more than dependencies.
fn in_one(repository: &Repository<'_>, file: &ChangedFile<'_>) -> Option<Violation> {
    let is_code = language::language_of(file.path).is_some() && file.role != Role::Settings;
    let is_other = is_code || is_data_of_tests(file.path) || matches!(file.role, Role::Test | Role::Support);
    if is_other || file.file.after == FileContent::Absent {
        return None;
    }
    let (before, after) = file.texts();
    let existed = (file.file.before != FileContent::Absent).then_some(before.as_str());
    let is_of_runner = match (repository.changed_side(file.path, existed, Some(&after))?, existed) {
        (Side::Tests, _) | (Side::Both, Some(_)) => true,
        (Side::Both, None) => {
            let part = repository.changed_side(file.path, Some(""), Some(&after));
            part != Some(Side::Product) && has_tests_below(repository.base, file.path)
        }
        (Side::Product, _) => false,
    };
    let with_new_tests = repository.mixed(file.path, Some(&before), Some(&after)).unwrap_or_default();
    let is_more = is_of_runner && changes_more(file.path, &before, &with_new_tests);
    is_more.then(|| at_first_change(file.file))
}

/// `true` if there are tests that a new file of settings at this path may concern.
fn has_tests_below(base: &BTreeSet<String>, path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_below =
        |path: &&String| path.strip_prefix(folder).is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
    base.iter().filter(is_below).any(|path| language::role(path) == Role::Test)
}

/// `true` unless only dependencies differ.
fn changes_more(path: &str, before: &str, after: &str) -> bool {
    let settings = |text: &str| -> BTreeSet<(String, Vec<String>)> {
        let all = flatten(path, text).into_iter();
        all.map(|setting| (setting.name, setting.values)).collect()
    };
    let (old, new) = (settings(before), settings(after));
    let mut differing = old.symmetric_difference(&new).peekable();
    differing.peek().is_none() || differing.any(|(name, _)| !name.contains("ependenc") && !name.ends_with("deps"))
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
                (
                    "package.json",
                    "{\n  \"scripts\": { \"test\": \"jest\" }\n}\n",
                    "{\n  \"scripts\": { \"test\": \"jest || true\" }\n}\n",
                ),
                ("Makefile", "test:\n\tpytest\n", "test:\n\t-pytest\n"),
                ("pytest.ini", "", "[pytest]\naddopts = --reruns 3\n"),
            ],
            &[(
                "package.json",
                "{\n  \"version\": \"1\",\n  \"devDependencies\": {}\n}\n",
                "{\n  \"version\": \"2\",\n  \"devDependencies\": { \"jest\": \"30\" }\n}\n",
            )],
        );
    }
}
