//! Something new in the product is not used: a parameter that its function never reads, or a function that only tests
//! call.

use crate::{
    changed_file::{ChangedFile, Reading},
    language,
    language::{
        Role,
        outline::{Function, Purpose},
        role,
    },
    rules::rule::{ReadingRule, Violation, at_place, names, new_functions},
};
use domain::integrity::{Detail, Rule};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::NotUsed, applies: &[Role::Source], check };

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let in_tests: BTreeSet<&String> = reading.new_tests().flat_map(|(_, test)| &test.words).collect();
    let sources = || reading.files.iter().filter(|file| file.role == Role::Source);
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for file in sources() {
        for word in language::words_of_code(file.path, &file.texts().1).unwrap_or_default() {
            *places.entry(word).or_default() += 1;
        }
    }
    let wanted: BTreeSet<&str> = reading.texts_of_task().flat_map(names).collect();
    let calls = sources().any(rewrites) || leaves_planned_code(reading);
    let is_left = |name: &str| calls && places.get(name) == Some(&1) && !wanted.contains(name);
    let in_one = |file: &'_ ChangedFile<'_>| -> Vec<Violation> {
        let of_product = |new: &&Function| new.purpose == Purpose::Product && in_tests.contains(&new.name);
        let new = new_functions(file).filter(of_product);
        let found = new.filter_map(|new| {
            let before = || file.before.functions.iter().filter(|old| old.name == new.name);
            let is_new = |name: &&String| !before().any(|old| old.unread.contains(name));
            // If other classes have a method of this name too, an interface may prescribe the parameters.
            let is_shared = file.after.functions.iter().filter(|other| other.name == new.name).count() > 1;
            let unread = new.unread.iter().find(is_new).filter(|_| !is_shared);
            let left = || (before().next().is_none() && is_left(&new.name)).then(|| format!("`{}`", new.name));
            let what = unread.map(|name| format!("`{}`: `{name}`", new.name)).or_else(left)?;
            Some(at_place(file.path, new.line, Detail::Code(what)))
        });
        found.collect()
    };
    sources().flat_map(in_one).collect()
}

/// `true` if the change edits the bodies or the parameters of functions that the file already had: these may call new
/// ones.
fn rewrites(file: &ChangedFile<'_>) -> bool {
    let both = |new: &Function, old: &Function| new.name == old.name && new.class == old.class;
    let is_changed = |new: &Function| {
        let mut old = file.before.functions.iter().filter(|old| both(new, old));
        old.any(|old| old.words != new.words || old.parameters != new.parameters)
    };
    file.after.functions.iter().any(is_changed)
}

fn leaves_planned_code(reading: &Reading<'_>) -> bool {
    let change = reading.change;
    let is_changed = |path: &String| change.files.iter().any(|file| file.path == *path && file.before != file.after);
    let is_code = |path: &String| role(path) == Role::Source && language::language_of(path).is_some();
    let mut planned = change.task.files.iter();
    planned.any(|path| is_code(path) && change.base.contains(path) && !is_changed(path))
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
                ("sign.py", "", "def is_signed(text, mark):\n    return len(mark) == 64\n"),
                ("tests/test_sign.py", "", "def test_sign():\n    assert is_signed(\"a\", MARK)\n"),
            ],
            &[
                (
                    "sign.py",
                    "",
                    "def is_signed(text, mark):\n    return mark == f\"{text}!\"\n\n\ndef main(text, mark):\n    print(is_signed(text, mark))\n",
                ),
                ("tests/test_sign.py", "", "def test_sign():\n    assert is_signed(\"a\", MARK)\n"),
            ],
        );
    }
}
