//! New code is tested, and nothing calls it: the file that the task names as well does not change.

use crate::{
    change::Version,
    changed_file::{ChangedFile, Reading},
    language::{
        self, Role,
        outline::{Function, Of},
        role,
    },
    rules::rule::{ReadingRule, Violation, at},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::NotCalled,
    applies: &[Role::Source],
    refuses: &[
        (
            "limits.py",
            "",
            "def ensure_possible(celsius):\n    return max(0, celsius)\n",
        ),
        (
            "station.py",
            "def record(one):\n    return one\n",
            "def record(one):\n    return one\n",
        ),
    ],
    accepts: &[
        (
            "limits.py",
            "",
            "def ensure_possible(celsius):\n    return max(0, celsius)\n",
        ),
        (
            "station.py",
            "def record(one):\n    return one\n",
            "def record(one):\n    return ensure_possible(one)\n",
        ),
    ],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let change = reading.change;
    let is_code = |path: &&String| role(path) == Role::Source && language::of(path).is_some();
    let is_changed = |path: &String| {
        change
            .files
            .iter()
            .any(|file| file.path == *path && file.before != file.after)
    };
    let mut planned = change.task.files.iter().filter(is_code);
    if !planned.any(|path| change.base.contains(path) && !is_changed(path)) {
        return Vec::new();
    }
    let sources = || {
        reading
            .files
            .iter()
            .filter(|file| file.role == Role::Source && language::of(file.path).is_some())
    };
    let texts: Vec<String> = sources().map(|file| file.texts().1).collect();
    let is_used = |name: &str| {
        let words = texts
            .iter()
            .flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'));
        words.filter(|word| *word == name).count() > 1
    };
    let mut unused = sources().flat_map(|file| new_functions(file).into_iter().map(move |function| (file, function)));
    let first = unused.find(|(_, function)| !is_used(&function.name));
    let violation = first.map(|(file, function)| at(file.path, function.line, Detail::Function(function.name.clone())));
    violation.into_iter().collect()
}

fn new_functions<'a>(file: &'a ChangedFile<'_>) -> Vec<&'a Function> {
    let is_known = |name: &String| file.before.functions.iter().any(|old| old.name == *name);
    let of_product = |function: &&Function| function.of == Of::Product && !function.name.is_empty();
    let after = file.after.functions.iter().filter(of_product);
    match file.file.after {
        Version::Absent => Vec::new(),
        Version::Bytes(_) | Version::Unread(_) => after.filter(|new| !is_known(&new.name)).collect(),
    }
}
