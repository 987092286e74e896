//! A test is gone and something explains it: new tests of its file, a change of existing product code, or the task. The
//! finding shows people that it is gone.

use super::test_deleted::{by_file, is_explained, vanished};
use crate::{
    changed_file::Reading,
    language::Role,
    rules::rule::{ReadingRule, Violation},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::TestReplaced,
    applies: &[Role::Test, Role::Support, Role::Source],
    refuses: &[
        ("tests/test_sum.py", "def test_adds():\n    assert add(1, 2) == 3\n", ""),
        (
            "sum.py",
            "def add(a, b):\n    return a + b\n",
            "def add(a, b):\n    return b + a\n",
        ),
    ],
    accepts: &[(
        "tests/test_sum.py",
        "def test_adds():\n    assert add(1, 2) == 3\n",
        "def test_adds_two():\n    assert add(1, 2) == 3\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let explained = vanished(reading).into_iter().filter(|one| is_explained(reading, *one));
    by_file(explained.collect())
}
