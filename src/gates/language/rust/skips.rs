//! What keeps a Rust test from running or from failing.

use super::attribute;
use crate::domain::integrity::Rule;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::quoted;
use crate::gates::language::syntax::At;

/// Conditions on the whole file.
pub(super) fn file_skips(root: At<'_>) -> Vec<Mark> {
    root.children()
        .filter(|at| at.is(&["inner_attribute_item"]))
        .filter_map(condition_mark)
        .collect()
}

/// A condition under which tests are compiled, other than that they are tests.
pub(super) fn condition_mark(at: At<'_>) -> Option<Mark> {
    let text = attribute(at);
    let condition = text.strip_prefix("cfg ")?;
    let harmless = ["test", "unix", "not miri", "not loom", "debug_assertions"].contains(&condition);
    let what = format!("{} keeps the test out of the build", quoted(at.text()));
    (!harmless).then(|| Mark::at(Rule::SkipAdded, at, what))
}

pub(super) fn ignore_mark(at: At<'_>) -> Option<Mark> {
    let text = attribute(at);
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.as_slice() {
        ["ignore", ..] => Some(Mark {
            key: "ignore".to_owned(),
            ..Mark::at(Rule::SkipAdded, at, format!("{} skips the test", quoted(at.text())))
        }),
        ["cfg_attr", rest @ ..] if rest.contains(&"ignore") => Some(Mark::at(
            Rule::SkipAdded,
            at,
            format!("{} skips the test", quoted(at.text())),
        )),
        ["should_panic", ..] => Some(Mark {
            key: "should_panic".to_owned(),
            ..Mark::at(
                Rule::AssertionRemoved,
                at,
                format!("with {} a failing assertion passes", quoted(at.text())),
            )
        }),
        _ => None,
    }
}
