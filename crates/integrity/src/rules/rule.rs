//! What a rule is, and what it finds.

use crate::{
    changed_file::Reading,
    language::{Role, role},
};
use domain::integrity::{Author, Detail, IntegrityFinding, Rule};

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
pub(super) const ANYWHERE: &[Role] = &[Role::Test, Role::Support, Role::Settings, Role::Source, Role::Other];

impl ReadingRule {
    /// What it finds, where it applies. The lines count as the Player's until the caller knows better.
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
