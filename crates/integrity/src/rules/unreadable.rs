//! A file cannot be parsed, so only the rules that need no syntax were applied.

use crate::{
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, in_file},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::Unreadable, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let unreadable = reading.files.iter().filter(|file| file.is_unreadable);
    unreadable.map(|file| in_file(file.path, Detail::Nothing)).collect()
}
