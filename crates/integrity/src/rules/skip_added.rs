//! A mark that skips or ignores a test was added.

use super::unknown_language;
use crate::{
    changed_file::Reading,
    language::{
        Role,
        capture::Fact,
        outline::{Mark, Of},
    },
    marks::new_marks,
    rules::rule::{ReadingRule, Violation, at},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::SkipAdded,
    applies: &[Role::Test, Role::Support, Role::Source],
    refuses: &[(
        "tests/sum.rs",
        "#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n",
        "#[test]\n#[ignore]\nfn adds() { assert_eq!(add(1, 2), 3); }\n",
    )],
    accepts: &[(
        "tests/sum.rs",
        "#[test]\n#[ignore]\nfn adds() { assert_eq!(add(1, 2), 3); }\n",
        "#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Skip], &[Of::Tests, Of::Product]);
    let unsaid = new
        .into_iter()
        .filter(|(_, mark)| !reading.explained.names(&mark.owner));
    let mut found: Vec<Violation> = unsaid.map(|(file, mark)| violation(file.path, mark)).collect();
    found.extend(unknown_language::skips(reading));
    found
}

/// Returns the violation of a mark that keeps a test from running.
pub(super) fn violation(path: &str, mark: &Mark) -> Violation {
    let what = match mark.owner.is_empty() {
        true => Detail::Code(mark.text.clone()),
        false => Detail::InTest {
            test: mark.owner.clone(),
            code: mark.text.clone(),
        },
    };
    at(path, mark.line, what)
}
