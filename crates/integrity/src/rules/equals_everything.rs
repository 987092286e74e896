//! A comparison always gives the same answer, such as an `__eq__` that returns `True`: a test that compares with it checks
//! nothing.

use crate::{
    changed_file::{ChangedFile, Reading},
    language,
    language::outline::Function,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at},
    words::is_one_of,
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::EqualsEverything,
    applies: ANYWHERE,
    refuses: &[
        (
            "power.rs",
            "",
            "impl PartialEq for Power {\n    fn eq(&self, _: &Self) -> bool { true }\n}\n",
        ),
        (
            "tests/test_fees.py",
            "",
            "class Any:\n    def __eq__(self, other):\n        return True\n",
        ),
        (
            "test/fees.test.js",
            "",
            "const any = { asymmetricMatch: () => true };\n",
        ),
    ],
    accepts: &[(
        "power.rs",
        "",
        "impl PartialEq for Power {\n    fn eq(&self, other: &Self) -> bool { self.watts == other.watts }\n}\n",
    )],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    reading.files.iter().flat_map(in_one).collect()
}

fn in_one(file: &ChangedFile<'_>) -> Vec<Violation> {
    let Some(language) = language::of(file.path) else {
        return Vec::new();
    };
    let comparison = &language.comparison;
    let always_holds = |function: &&Function| {
        let value = function.value.as_deref();
        is_one_of(comparison.methods, &function.name) && value.is_some_and(|value| is_one_of(comparison.truths, value))
    };
    let is_new = |new: &&Function| {
        let mut before = file.before.functions.iter();
        !before.any(|old| old.name == new.name && old.words == new.words)
    };
    let new = file.after.functions.iter().filter(always_holds).filter(is_new);
    new.map(|function| at(file.path, function.line, Detail::Function(function.name.clone())))
        .collect()
}
