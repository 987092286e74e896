//! Compares the code around a file's tests: imports, helpers, and the values that tests compare with.

use crate::gates::change::{Change, text};
use integrity::{FileContent, language};
use std::collections::BTreeSet;

/// Returns the names of helpers and shared values (which tests start from or compare with) that the change altered or
/// removed, and of the code that uses them.
pub(crate) fn names_around(change: &Change, path: &str) -> BTreeSet<String> {
    let Some(file) = change.file(path) else {
        return BTreeSet::new();
    };
    let (was, is) = (named_parts(path, &file.before), named_parts(path, &file.after));
    let others = was.difference(&is).map(|(name, _)| name.clone()).collect();
    let was: Vec<_> = was.iter().map(|(name, words)| (name, named_words(words).collect())).collect();
    with_users(others, &was)
}

/// Adds the names of all code that uses one of these names, directly or through others. `code` is each name with the
/// words of its code.
pub(crate) fn with_users(mut names: BTreeSet<String>, code: &[(&String, Vec<&String>)]) -> BTreeSet<String> {
    let uses = |words: &[&String], names: &BTreeSet<String>| words.iter().any(|word| names.contains(*word));
    loop {
        let others = code.iter().filter(|(name, _)| !names.contains(*name));
        let users: Vec<String> =
            others.filter(|(_, words)| uses(words, &names)).map(|(name, _)| (*name).clone()).collect();
        if users.is_empty() {
            return names;
        }
        names.extend(users);
    }
}

/// Returns the words that may be names: all but those directly between quotation marks.
pub(crate) fn named_words(words: &[String]) -> impl Iterator<Item = &String> {
    let is_mark = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        word.is_some_and(|word| word.ends_with(['"', '\'', '`']))
    };
    let is_quoted = move |at: usize| is_mark(at.checked_sub(1)) && is_mark(at.checked_add(1));
    let unquoted = words.iter().enumerate().filter(move |(at, _)| !is_quoted(*at));
    unquoted.map(|(_, word)| word)
}

/// Returns the functions and named values of a file, each with its words.
fn named_parts(path: &str, version: &FileContent) -> BTreeSet<(String, Vec<String>)> {
    let code = text(version).and_then(|text| language::executable_code(path, text));
    let code = code.unwrap_or_default();
    let functions = code.bodies.into_iter().map(|body| (body.name, body.words));
    let values = code.values.into_iter();
    let values = values.filter_map(|value| Some((value.name?, value.words)));
    functions.chain(values).filter(|(name, _)| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::names_around;
    use crate::gates::change::Change;
    use integrity::{FileChange, FileContent};
    use runners::test_index::TestIndex;
    use std::collections::BTreeSet;

    fn change(path: &str, before: &str, after: &str) -> Change {
        let version = |text: &str| FileContent::Bytes(text.as_bytes().to_vec());
        let (was, is) = (version(before), version(after));
        let index = |version: &FileContent| TestIndex::of([(path, version)].into_iter());
        Change {
            before: index(&was),
            after: index(&is),
            files: vec![FileChange { path: path.to_owned(), before: was, after: is }],
            raw: Vec::new(),
            base: BTreeSet::new(),
            head: BTreeSet::new(),
        }
    }

    #[test]
    fn what_names_something_else_around_a_test_is_another_too() {
        let path = "tests/test_a.py";
        let text = |known: &str, page: &str| {
            format!(
                "from lib import f\n\n\nclass TestAll:\n    known = {known}\n\n    def all_known(self):\n        return sorted(self.known)\n\n    \
                 def page(self):\n        return {page}\n\n    def test_one(self):\n        assert f() == self.all_known()\n"
            )
        };
        let table: [(String, &[&str]); 3] = [
            (text("{1}", "2"), &[]),
            (text("{1, 2}", "2"), &["all_known", "known", "test_one"]),
            (text("{1}", "3"), &["page"]),
        ];
        for (after, expected) in table {
            let names = names_around(&change(path, &text("{1}", "2"), &after), path);
            assert_eq!(names.into_iter().collect::<Vec<_>>(), expected, "{after}");
        }
    }
}
