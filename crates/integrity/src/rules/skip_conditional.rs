//! A test now runs only under a condition. Whether it ran here is for the run to show.

use super::skip_added::violation;
use crate::{
    changed_file::Reading,
    language::{Role, capture::Fact, outline::Of},
    marks::new_marks,
    rules::rule::{ReadingRule, Violation},
};
use domain::integrity::Rule;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::SkipConditional,
    applies: &[Role::Test, Role::Support, Role::Source],
    refuses: &[(
        "tests/test_sum.py",
        "def test_adds():\n    assert add(1, 2) == 3\n",
        "@pytest.mark.skipif(WIN, reason=\"no sums\")\ndef test_adds():\n    assert add(1, 2) == 3\n",
    )],
    accepts: &[(
        "tests/test_sum.py",
        "def test_adds():\n    assert add(1, 2) == 3\n",
        "@pytest.mark.slow\ndef test_adds():\n    assert add(1, 2) == 3\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let new = new_marks(reading, &[Fact::ConditionalSkip], &[Of::Tests, Of::Product]);
    new.into_iter().map(|(file, mark)| violation(file.path, mark)).collect()
}
