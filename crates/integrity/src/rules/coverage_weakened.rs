//! Settings of the coverage tool exclude more or require less, or code is marked as excluded.

use crate::{
    changed_file::Reading,
    language::{capture::Fact, outline::Of, settings::Purpose},
    marks::new_marks,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_mark},
    settings,
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::CoverageWeakened,
    applies: ANYWHERE,
    refuses: &[(
        ".coveragerc",
        "[report]\nfail_under = 90\n",
        "[report]\nfail_under = 50\n",
    )],
    accepts: &[(
        ".coveragerc",
        "[report]\nfail_under = 90\n",
        "[report]\nfail_under = 95\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::Uncovered], &[Of::Product]);
    let mut found: Vec<Violation> = new.into_iter().map(at_mark).collect();
    found.extend(settings::find(reading, Purpose::Coverage));
    found.extend(settings::codecov(reading));
    found
}
