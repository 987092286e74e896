//! The rules, as a table: one file for each, with its variant, an example of each side, where it applies and the check.
//!
//! A rule knows no language: it asks for what the queries of all languages capture. What it weighs stands in the domain, its
//! sentence in the application's `messages`.

mod assertion_removed;
mod assertion_trivial;
mod ci_weakened;
mod coverage_weakened;
mod differs_under_test;
mod exit_in_test;
mod file_deleted;
mod file_too_large;
mod merge_marker;
mod protected_path;
mod results_by_hand;
mod runner_weakened;
mod secret;
mod shadow_module;
mod skip_added;
mod skip_conditional;
mod snapshot_by_hand;
mod stub;
mod test_deleted;
mod test_emptied;
mod test_renamed_away;
mod test_replaced;
mod unknown_language;
mod unreadable;

use crate::{changed_file::Reading, language::Role};
use domain::integrity::{Author, Detail, IntegrityFinding, Rule};

/// Every rule, in the order in which they are asked.
pub static ALL: [&ReadingRule; 23] = [
    &protected_path::RULE,
    &secret::RULE,
    &merge_marker::RULE,
    &file_too_large::RULE,
    &file_deleted::RULE,
    &unreadable::RULE,
    &test_deleted::RULE,
    &test_replaced::RULE,
    &test_emptied::RULE,
    &test_renamed_away::RULE,
    &skip_added::RULE,
    &skip_conditional::RULE,
    &assertion_removed::RULE,
    &assertion_trivial::RULE,
    &runner_weakened::RULE,
    &coverage_weakened::RULE,
    &ci_weakened::RULE,
    &stub::RULE,
    &results_by_hand::RULE,
    &snapshot_by_hand::RULE,
    &shadow_module::RULE,
    &exit_in_test::RULE,
    &differs_under_test::RULE,
];

/// A rule that reading decides.
pub struct ReadingRule {
    /// Its variant.
    pub rule: Rule,
    /// The files that it is about, by what they are to tests.
    pub applies: &'static [Role],
    /// A change that it is there for.
    pub refuses: Example,
    /// A change that looks alike and is honest.
    pub accepts: Example,
    /// What it finds.
    pub(crate) check: fn(&Reading<'_>) -> Vec<Place>,
}

/// Files with their texts before and after; empty where there is none. `{deep}` stands for brackets that no person nests.
pub type Example = &'static [(&'static str, &'static str, &'static str)];

/// Where a rule is broken, and what is there.
pub(crate) struct Place {
    path: String,
    line: Option<u32>,
    what: Detail,
}

/// A place at a line.
pub(crate) fn at(path: &str, line: u32, what: Detail) -> Place {
    Place {
        path: path.to_owned(),
        line: Some(line),
        what,
    }
}

/// A place whose line is gone, or that is a whole file.
pub(crate) fn in_file(path: &str, what: Detail) -> Place {
    Place {
        path: path.to_owned(),
        line: None,
        what,
    }
}

/// All that a file may be to tests.
const ANYWHERE: &[Role] = &[Role::Test, Role::Support, Role::Settings, Role::Source, Role::Other];

impl ReadingRule {
    /// What it finds, where it applies. The lines count as the Player's until the caller knows better.
    pub(crate) fn findings(&self, reading: &Reading<'_>) -> Vec<IntegrityFinding> {
        let places = (self.check)(reading).into_iter();
        let here = places.filter(|place| self.applies.contains(&crate::language::role(&place.path)));
        here.map(|place| IntegrityFinding {
            rule: self.rule,
            path: place.path,
            line: place.line,
            what: place.what,
            by: Author::Player,
        })
        .collect()
    }
}

#[cfg(test)]
mod tests;
