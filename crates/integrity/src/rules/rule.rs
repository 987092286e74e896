//! The definition of a rule and of its results.

use crate::{
    changed_file::Reading,
    language::{Role, role},
};
use domain::integrity::{Author, Detail, IntegrityFinding, Rule};

/// A rule that is decided by reading the change.
pub struct ReadingRule {
    /// The rule's variant.
    pub rule: Rule,
    /// The roles of the files that it covers.
    pub applies: &'static [Role],
    /// A change that breaks the rule.
    pub refuses: Example,
    /// A similar change that is honest.
    pub accepts: Example,
    /// Finds the places that break the rule.
    pub(crate) check: fn(&Reading<'_>) -> Vec<Place>,
}

/// Files with their texts before and after; empty if the file does not exist. `{deep}` stands for brackets nested
/// deeper than in any real code.
pub type Example = &'static [(&'static str, &'static str, &'static str)];

/// A place that breaks a rule, and what is there.
pub(crate) struct Place {
    path: String,
    line: Option<u32>,
    what: Detail,
}

/// Creates a place at a line.
pub(crate) fn at(path: &str, line: u32, what: Detail) -> Place {
    Place {
        path: path.to_owned(),
        line: Some(line),
        what,
    }
}

/// Creates a place without a line: the line is gone, or the place is a whole file.
pub(crate) fn in_file(path: &str, what: Detail) -> Place {
    Place {
        path: path.to_owned(),
        line: None,
        what,
    }
}

/// All roles.
pub(super) const ANYWHERE: &[Role] = &[Role::Test, Role::Support, Role::Settings, Role::Source, Role::Other];

impl ReadingRule {
    /// Returns its findings in the files that it covers. The Player counts as their author until the caller knows
    /// better.
    pub(crate) fn findings(&self, reading: &Reading<'_>) -> Vec<IntegrityFinding> {
        let places = (self.check)(reading).into_iter();
        let here = places.filter(|place| self.applies.contains(&role(&place.path)));
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
