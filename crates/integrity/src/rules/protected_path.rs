//! The change touches a path that no Player may change.

use crate::{
    changed_file::Reading,
    rules::rule::{ANYWHERE, ReadingRule, Violation, in_file},
};
use domain::integrity::{Detail, Rule};
use std::path::Path;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::ProtectedPath, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let files = reading.change.files.iter();
    let found = files.filter_map(|file| {
        let path = Path::new(file.path.trim_start_matches('/'));
        let pattern = reading.change.protected.protecting(path)?;
        Some(in_file(&file.path, Detail::Code(format!("`{pattern}`"))))
    });
    found.collect()
}
