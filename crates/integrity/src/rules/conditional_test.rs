//! A test runs, or reaches its checks, only under a condition.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::{
        Role,
        capture::Fact,
        outline::{Of, Test, quoted},
    },
    marks::new_marks,
    rules::rule::{ReadingRule, Violation, at, at_mark},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ConditionalTest,
    applies: &[Role::Test, Role::Support, Role::Source],
    refuses: &[
        (
            "tests/test_sum.py",
            "def test_adds():\n    assert add(1, 2) == 3\n",
            "@pytest.mark.skipif(WIN, reason=\"no sums\")\ndef test_adds():\n    assert add(1, 2) == 3\n",
        ),
        (
            "tests/test_fee.py",
            "",
            "def test_fee():\n    if not READY:\n        return\n    assert fee(1) == 25\n",
        ),
    ],
    accepts: &[(
        "tests/test_sum.py",
        "def test_adds():\n    assert add(1, 2) == 3\n",
        "@pytest.mark.slow\ndef test_adds():\n    assert add(1, 2) == 3\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::ConditionalSkip], &[Of::Tests, Of::Product]);
    let mut found: Vec<Violation> = new.into_iter().map(at_mark).collect();
    found.extend(reading.files.iter().flat_map(leaving_early));
    found
}

/// Finds tests that may return before their first check, and did not before.
fn leaving_early(file: &ChangedFile<'_>) -> Vec<Violation> {
    let is_old = |test: &Test| {
        let mut before = file.before.tests.iter();
        before.any(|old| old.name == test.name && old.returns_early == test.returns_early)
    };
    let new = file.after.tests.iter().filter(|test| !is_old(test));
    let early = new.filter_map(|test| {
        let what = Detail::InTest {
            test: test.name.clone(),
            code: quoted(test.returns_early.as_deref()?),
        };
        Some(at(file.path, test.line, what))
    });
    early.collect()
}
