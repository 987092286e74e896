//! The repository's CI, or the settings of its coverage service, change. A reader must judge if they are weaker now.

use crate::{
    change::FileContent,
    changed_file::Reading,
    language::file_name,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_first_change},
};
use domain::{ci_definitions::definition, integrity::Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::CiWeakened, applies: ANYWHERE, check };

const FOLDERS: [&str; 2] = [".github/workflows/", ".github/actions/"];
/// The beginnings of the names of a coverage service's files at the root.
const COVERAGE: [&str; 2] = ["codecov.y", ".codecov.y"];

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let files = reading.change.files.iter();
    let existing = files.filter(|file| is_ci(&file.path) && file.before != FileContent::Absent);
    existing.map(at_first_change).collect()
}

fn is_ci(path: &str) -> bool {
    let name = file_name(path).to_lowercase();
    definition(path).is_some()
        || FOLDERS.iter().any(|folder| path.starts_with(folder))
        || !path.contains('/') && COVERAGE.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[(
                ".gitlab-ci.yml",
                "test:\n  script:\n    - cargo test\n",
                "test:\n  allow_failure: true\n  script:\n    - cargo test\n",
            )],
            &[(".gitlab-ci.yml", "", "test:\n  script:\n    - cargo test\n")],
        );
    }
}
