//! Tests and paths that a task means to change or to remove, with the sentence of the issue that asks for it.

use serde::{Deserialize, Serialize};

/// A test that a task means to change, or a test or path that it means to remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// A test's name, a pattern within one file such as `tests/cart.py::test_total*`, or a path.
    pub name: String,
    /// The sentence of the issue that asks for it. Only a removal may do without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// The separator between a file and the tests in it.
const IN_FILE: &str = "::";

/// The separators between the parts of a test's name, in various runners.
const SEPARATORS: [&str; 4] = [IN_FILE, " > ", " › ", "#"];

impl Intent {
    /// Returns the intent to remove `name`, without a sentence.
    pub fn to_remove(name: &str) -> Self {
        Self { name: name.to_owned(), because: None }
    }

    /// `true` if it names this test of the file `path`: by its name or the last parts of it, by a pattern in that file,
    /// or by the path of the file. A test that runs once for each row of a table is named with all its rows.
    pub fn names_test(&self, path: &str, test: &str) -> bool {
        let wanted = self.name.trim_start_matches("./");
        let in_file =
            wanted.strip_prefix(path).filter(|_| !path.is_empty()).and_then(|rest| rest.strip_prefix(IN_FILE));
        let wanted = match in_file {
            Some(rest) => rest,
            None if wanted == path => return true,
            None if wanted.contains('*') => return false,
            None => wanted,
        };
        let own = test.strip_prefix(path).unwrap_or(test);
        let rows = own.find(['[', '(', '/']).filter(|at| *at > 0);
        let whole = rows.and_then(|at| own.get(..at)).unwrap_or(own);
        [test, own, whole].iter().any(|name| ends_like(name, wanted))
    }

    /// `true` if it names this path or a folder above it.
    pub fn names_path(&self, path: &str) -> bool {
        let named = self.name.trim_start_matches("./").trim_end_matches('/');
        let below = path.strip_prefix(named).filter(|_| !named.is_empty());
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// `true` if it is a pattern that could match in more than one file.
    pub fn is_unbounded(&self) -> bool {
        let (path, _) = self.name.split_once(IN_FILE).unwrap_or_default();
        self.name.contains('*') && (path.is_empty() || path.contains('*'))
    }
}

/// `true` if the last parts of `name` are those of `wanted`, part by part.
fn ends_like(name: &str, wanted: &str) -> bool {
    let (name, wanted) = (parts(name), parts(wanted));
    let start = name.len().checked_sub(wanted.len()).filter(|_| !wanted.is_empty());
    let ending = start.and_then(|start| name.get(start..)).unwrap_or_default();
    let is_like = |(part, wanted): (&&str, &&str)| matches(part, wanted);
    !ending.is_empty() && ending.iter().zip(&wanted).all(is_like)
}

/// Returns the parts of a test's name. Dots separate only in a name without blanks; a sentence ends with one.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = vec![name];
    for separator in SEPARATORS {
        parts = parts.iter().flat_map(|part| part.split(separator)).collect();
    }
    if !name.contains(char::is_whitespace) {
        parts = parts.iter().flat_map(|part| part.split(['.', '/', ':'])).collect();
    }
    let parts = parts.into_iter().map(str::trim);
    parts.filter(|part| !part.is_empty()).collect()
}

/// `true` if `pattern` matches the whole text; `*` means any characters.
fn matches(text: &str, pattern: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::Intent;

    #[test]
    fn an_intent_names_a_test_by_its_name_its_last_parts_or_a_pattern_in_its_file() {
        let path = "tests/cart.py";
        let yes = [
            ("test_total", "tests/cart.py::test_total"),
            ("test_total", "tests/cart.py::TestCart::test_total"),
            ("TestCart::test_total", "tests/cart.py::TestCart::test_total"),
            ("test_total", "tests/cart.py::test_total[empty]"),
            ("test_total[empty]", "tests/cart.py::test_total[empty]"),
            ("tests/cart.py::test_total", "tests/cart.py::test_total"),
            ("./tests/cart.py::test_total", "tests/cart.py::test_total"),
            ("tests/cart.py::test_total*", "tests/cart.py::test_total_of_nothing"),
            ("tests/cart.py::*", "tests/cart.py::TestCart::test_total"),
            ("tests/cart.py::TestCart::*", "tests/cart.py::TestCart::test_total"),
            ("tests/cart.py::*_total_*e*", "tests/cart.py::test_total_of_one"),
            ("tests/cart.py", "tests/cart.py::test_total"),
            ("TestTotal", "TestTotal/of_nothing"),
            ("CartTest.total", "com.acme.CartTest.total"),
            ("CartTest#total", "com.acme.CartTest.total"),
            ("sums 1.5 and 2", "cart > sums 1.5 and 2"),
            ("tests/cart.py::sums *", "cart > sums 1.5 and 2"),
        ];
        for (name, test) in yes {
            assert!(Intent::to_remove(name).names_test(path, test), "{name} {test}");
        }
        let no = [
            ("test_total", "tests/cart.py::test_total_of_nothing"),
            ("total", "tests/cart.py::test_total"),
            ("tests/other.py::test_total", "tests/cart.py::test_total"),
            ("tests/other.py::test_*", "tests/cart.py::test_total"),
            ("test_*", "tests/cart.py::test_total"),
            ("tests/cart.py::test_*", "tests/cart.py::check_total"),
            ("tests/cart.py::test_*_two", "tests/cart.py::test_two"),
            ("tests", "tests/cart.py::test_total"),
            ("", "tests/cart.py::test_total"),
            ("::", "tests/cart.py::test_total"),
        ];
        for (name, test) in no {
            assert!(!Intent::to_remove(name).names_test(path, test), "{name} {test}");
        }
    }

    #[test]
    fn a_pattern_matches_within_one_file() {
        for name in ["test_*", "*::test_a", "tests/*.py::test_a", "*", "::a*"] {
            assert!(Intent::to_remove(name).is_unbounded(), "{name}");
        }
        for name in ["test_a", "tests/a.py::test_*", "tests/old"] {
            assert!(!Intent::to_remove(name).is_unbounded(), "{name}");
        }
    }

    #[test]
    fn an_intent_names_a_path_and_all_below_it() {
        for (name, path) in [("old", "old/a.py"), ("./old/", "old/a.py"), ("old/a.py", "old/a.py")] {
            assert!(Intent::to_remove(name).names_path(path), "{name}");
        }
        for (name, path) in [("old", "older/a.py"), ("", "a.py"), ("/", "a.py"), ("a", "b/a")] {
            assert!(!Intent::to_remove(name).names_path(path), "{name}");
        }
    }
}
