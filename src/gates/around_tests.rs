//! What stands around the tests of a file: imports, values that tests compare with, helpers.

use crate::gates::{
    change::{Change, diff},
    inline_tests,
    only_renames::is_more,
    test_index::TestIndex,
};
use integrity::{
    Version,
    language::{Role, role},
};

/// The lines around its tests that a file lost and got, for a sentence; none if only names and imports are others. A test
/// that is another is no line around tests.
pub(crate) fn around_tests(change: &Change, path: &str) -> Option<String> {
    let file = change.files.iter().find(|file| file.path == path)?;
    let was = lines(path, &file.before, (&change.before, &change.after));
    let is = lines(path, &file.after, (&change.after, &change.before));
    is_more(&was, &is).then(|| diff(&was, &is))
}

fn lines(path: &str, version: &Version, (tests, others): (&TestIndex, &TestIndex)) -> Vec<String> {
    let text = version.bytes().map(String::from_utf8_lossy).unwrap_or_default();
    let text = match role(path) {
        Role::Source => inline_tests::only_modules(path, &text),
        Role::Test | Role::Support | Role::Settings | Role::Other => text.into_owned(),
    };
    let same: Vec<&[String]> = others.words_in(path).collect();
    let lines = tests.lines_without(path, &text, |words| !same.contains(&words));
    lines.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::around_tests;
    use crate::gates::{change::Change, test_index::TestIndex};
    use integrity::{FileChange, Version};
    use std::collections::BTreeSet;

    fn around(path: &str, before: &str, after: &str) -> Option<String> {
        let version = |text: &str| Version::Bytes(text.as_bytes().to_vec());
        let (was, is) = (version(before), version(after));
        let index = |version: &Version| TestIndex::of([(path, version)].into_iter());
        let change = Change {
            before: index(&was),
            after: index(&is),
            files: vec![FileChange {
                path: path.to_owned(),
                before: was,
                after: is,
            }],
            raw: Vec::new(),
            base: BTreeSet::new(),
            head: BTreeSet::new(),
        };
        around_tests(&change, path)
    }

    #[test]
    fn around_tests_only_names_and_imports_may_change_unseen() {
        let path = "tests/test_a.py";
        let test = "\n\ndef test_one():\n    assert f() == EXPECTED\n";
        let base = format!("from lib import f\n\nEXPECTED = 4{test}");
        let table = [
            (format!("from lib.new import f\n\nEXPECTED = 4{test}"), None),
            (format!("from lib import (\n    g as f,\n)\n\nEXPECTED = 4{test}"), None),
            (
                format!("from lib import g as f\n\nEXPECTED = 5{test}"),
                Some("- from lib import f; - EXPECTED = 4; + from lib import g as f; + EXPECTED = 5"),
            ),
            (format!("from lib import g as f{test}\n\nEXPECTED = 4\n"), None),
            (format!("{base}\n\ndef test_two():\n    assert f() + 1 == 5\n"), None),
        ];
        for (after, expected) in table {
            assert_eq!(around(path, &base, &after).as_deref(), expected, "{after}");
        }
        let script = |import: &str, limit: &str| {
            format!(
                "const {{ f }} = require({import:?});\nimport {{\n  g,\n}} from {import:?};\nconst LIMIT = {limit};\ntest(\"one\", () => assert(f() < LIMIT));\n"
            )
        };
        for (limit, is_seen) in [("true", false), ("false", true)] {
            let found = around("test/a.test.js", &script("../old", "true"), &script("../new", limit));
            assert_eq!(found.is_some(), is_seen, "{found:?}");
        }
        let inline = |code: &str, number: u32| {
            format!(
                "{code}\n#[cfg(test)]\nmod tests {{\n    use super::*;\n    const N: u32 = {number};\n\n    #[test]\n    fn one() {{\n        \
                 assert_eq!(f(), N);\n    }}\n}}\n"
            )
        };
        let (old, new) = ("fn f() -> u32 { 4 }", "fn f() -> u32 { 2 + 2 }");
        assert_eq!(around("src/a.rs", &inline(old, 4), &inline(new, 4)), None);
        assert_eq!(
            around("src/a.rs", &inline(old, 4), &inline(new, 5)).as_deref(),
            Some("- const N: u32 = 4;; + const N: u32 = 5;")
        );
    }
}
