//! A test is empty, or lost all its assertions although no existing product code changed.

use crate::{
    changed_file::{LocatedTest, Reading},
    language::{Role, outline::Work},
    rules::rule::{ReadingRule, Violation, at},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::TestEmptied,
    applies: &[Role::Test, Role::Support, Role::Source],
    refuses: &[(
        "test/sum.test.js",
        "it('adds', () => { assert.equal(add(1, 2), 3); });\n",
        "it('adds', () => { /* assert.equal(add(1, 2), 3); */ });\n",
    )],
    accepts: &[
        (
            "test/sum.test.js",
            "it('adds', () => { assert.equal(add(1, 2), 3); });\n",
            "it('adds', () => { assert.equal(add(2, 2), 4); });\n",
        ),
        (
            "test/sum.test.js",
            "jest.spyOn(process, 'on').mockImplementation(() => {});\n",
            "test.mock.method(process, 'on', () => {});\n",
        ),
    ],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let both = reading.pairs.both.iter();
    let changed = both.filter(|(one, other)| is_emptied(reading, *one, *other));
    let new = reading.pairs.new.iter().filter(|other| other.test.work == Work::None);
    let empty = changed.map(|(_, other)| other).chain(new);
    let violations = empty.map(|other| at(other.path, other.test.line, Detail::Test(other.title())));
    violations.collect()
}

fn is_emptied(reading: &Reading<'_>, one: LocatedTest<'_>, other: LocatedTest<'_>) -> bool {
    let does_nothing = one.test.work == Work::Some && other.test.work == Work::None;
    let asserted = one.test.strong() > 0;
    let calls_helper = reading.helpers().any(|(_, helper)| {
        !helper.checks.is_empty() && other.test.words.contains(&helper.name) && !one.test.words.contains(&helper.name)
    });
    let asserts_nothing = asserted && other.test.checks.is_empty() && !calls_helper;
    let is_kept = || one.test.checks.iter().all(|check| reading.still_says(&check.words));
    does_nothing || asserts_nothing && !reading.explained.changes_product() && !is_kept()
}
