//! An equality compares only some of the fields of its type: two values that differ in the others are equal for tests.

use crate::{
    changed_file::{ChangedFile, Reading},
    language,
    language::{Role, outline::Function},
    rules::rule::{ReadingRule, Violation, at},
    words::is_one_of,
};
use domain::integrity::{Detail, Rule};
use std::collections::BTreeSet;

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::PartialEquality,
    applies: &[Role::Source],
    refuses: &[(
        "way.rs",
        "",
        "struct Way { name: String, to: u8 }\nimpl PartialEq for Way { fn eq(&self, o: &Way) -> bool { self.to == o.to } }\n",
    )],
    accepts: &[(
        "way.rs",
        "",
        "struct Way { to: u8 }\nimpl PartialEq for Way { fn eq(&self, o: &Way) -> bool { self.to == o.to } }\n",
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
    let compares_some = |function: &&Function| {
        let classes = file
            .after
            .classes
            .iter()
            .filter(|class| function.class.as_ref() == Some(&class.name));
        let fields: BTreeSet<&String> = classes.flat_map(|class| &class.fields).collect();
        let compared = fields.iter().filter(|field| function.words.contains(field)).count();
        let is_comparison = is_one_of(language.comparison.methods, &function.name);
        // One that names no field compares something that is made of them.
        is_comparison && compared > 0 && compared < fields.len()
    };
    let is_new = |new: &&Function| {
        let mut before = file.before.functions.iter();
        !before.any(|old| old.name == new.name && old.class == new.class && old.words == new.words)
    };
    let new = file.after.functions.iter().filter(compares_some).filter(is_new);
    new.map(|function| at(file.path, function.line, Detail::Function(function.name.clone())))
        .collect()
}
