//! A comparison finds different values equal: an equality always holds or leaves out fields, or a test first gives both
//! sides the same shape, for example by sorting them.

use crate::{
    changed_file::{ChangedFile, Reading},
    language,
    language::outline::{Function, Strength, quoted},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_place, new_functions},
    words::is_one_of,
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::ComparesLess, applies: ANYWHERE, check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let equalities = reading.files.iter().flat_map(equalities);
    let of_tests = reading.new_tests().filter_map(|(file, test)| {
        let strongest = test.checks.iter().max_by_key(|check| check.strength)?;
        let what = Detail::InTest { test: test.name.clone(), code: quoted(&strongest.words.join(" ")) };
        (strongest.strength == Strength::Reshaped).then(|| at_place(file.path, strongest.line, what))
    });
    equalities.chain(of_tests).collect()
}

/// Finds new equalities that hold for different values.
fn equalities(file: &ChangedFile<'_>) -> Vec<Violation> {
    let Some(language) = language::language_of(file.path) else {
        return Vec::new();
    };
    let comparison = &language.words.comparison;
    let compares_less = |function: &&Function| {
        let classes = file.after.classes.iter().filter(|class| function.class.as_ref() == Some(&class.name));
        let fields: BTreeSet<&String> = classes.flat_map(|class| &class.fields).collect();
        let compared = fields.iter().filter(|field| function.words.contains(field)).count();
        let value = function.value.as_deref();
        let always_holds = value.is_some_and(|value| is_one_of(&comparison.truths, value));
        // An equality that names no field compares something that is computed from the fields.
        let leaves_out = compared > 0 && compared < fields.len();
        is_one_of(&comparison.methods, &function.name) && (always_holds || leaves_out)
    };
    let new = new_functions(file).filter(compares_less);
    new.map(|function| at_place(file.path, function.line, Detail::Function(function.name.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    #[test]
    fn finds_its_example_and_not_the_honest_one() {
        check_examples(
            &RULE,
            &[
                ("power.rs", "", "impl PartialEq for Power {\n    fn eq(&self, _: &Self) -> bool { true }\n}\n"),
                (
                    "way.rs",
                    "",
                    "struct Way { name: String, to: u8 }\nimpl PartialEq for Way { fn eq(&self, o: &Way) -> bool { self.to == o.to } }\n",
                ),
                (
                    "tests/test_order.py",
                    "",
                    "def test_order():\n    assert sorted(listed()) == sorted([\"b\", \"a\"])\n",
                ),
            ],
            &[
                (
                    "way.rs",
                    "",
                    "struct Way { to: u8 }\nimpl PartialEq for Way { fn eq(&self, o: &Way) -> bool { self.to == o.to } }\n",
                ),
                ("tests/test_order.py", "", "def test_order():\n    assert sorted(listed()) == [\"a\", \"b\"]\n"),
            ],
        );
    }
}
