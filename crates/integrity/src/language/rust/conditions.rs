//! Conditions under which Rust is compiled, as far as they are known of the system on which the Gates run.

use crate::language::syntax::At;

/// What `#[cfg(…)]` says between its brackets; nothing for other attributes.
pub(super) fn of_attribute(at: At<'_>) -> Option<&str> {
    let text = at.text().trim_start_matches(['#', '!', '[', ' ']);
    let rest = text.strip_prefix("cfg")?.trim_start().strip_prefix('(')?;
    rest.trim_end_matches([']', ' ']).strip_suffix(')')
}

/// Whether `cfg(condition)` holds where tests are compiled here; `None` where settings decide it, as with a feature.
pub(super) fn holds(condition: &str) -> Option<bool> {
    let mut reader = Reader {
        words: words(condition),
        at: 0,
        depth: 0,
    };
    reader.condition()
}

/// Names, texts and signs.
fn words(condition: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = condition.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let end = match first {
            '"' => rest
                .char_indices()
                .skip(1)
                .find(|(_, c)| *c == '"')
                .map(|(at, _)| at.saturating_add(1)),
            c if is_name(c) => rest.find(|c| !is_name(c)),
            c => Some(c.len_utf8()),
        };
        let (word, behind) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

struct Reader<'w> {
    words: Vec<&'w str>,
    at: usize,
    depth: usize,
}

/// Nobody nests conditions deeper.
const DEEPEST: usize = 32;

/// What stands in the brackets of `any` or `all`.
const NESTED: [&str; 3] = ["any", "all", "not"];

impl<'w> Reader<'w> {
    fn take(&mut self) -> Option<&'w str> {
        let word = self.words.get(self.at).copied();
        self.at = self.at.saturating_add(1);
        word
    }

    fn peek(&self) -> Option<&'w str> {
        self.words.get(self.at).copied()
    }

    fn condition(&mut self) -> Option<bool> {
        if self.depth > DEEPEST {
            return None;
        }
        self.depth = self.depth.saturating_add(1);
        let holds = self.one();
        self.depth = self.depth.saturating_sub(1);
        holds
    }

    fn one(&mut self) -> Option<bool> {
        match self.take()? {
            name if NESTED.contains(&name) => self.nested(name),
            "(" => {
                let inner = self.condition();
                self.skip(")");
                inner
            }
            name if self.peek() == Some("=") => {
                self.take();
                let value = self.take().unwrap_or_default().trim_matches('"');
                named(name, Some(value))
            }
            name => named(name, None),
        }
    }

    fn skip(&mut self, word: &str) {
        if self.peek() == Some(word) {
            self.take();
        }
    }

    fn nested(&mut self, name: &str) -> Option<bool> {
        let mut parts = Vec::new();
        if self.peek() == Some("(") {
            self.take();
            while let Some(word) = self.peek().filter(|word| *word != ")") {
                match word {
                    "," => self.skip(","),
                    _ => parts.push(self.condition()),
                }
            }
            self.skip(")");
        }
        let has = |value: Option<bool>| parts.contains(&value);
        match name {
            "not" => parts.first().copied().flatten().map(|inner| !inner),
            "any" if has(Some(true)) => Some(true),
            "any" if has(None) => None,
            "any" => Some(false),
            _ if has(Some(false)) => Some(false),
            _ if has(None) => None,
            _ => Some(true),
        }
    }
}

/// What only other systems and other tools set.
const NOT_HERE: [&str; 12] = [
    "windows",
    "miri",
    "loom",
    "kani",
    "doc",
    "docsrs",
    "doctest",
    "false",
    "fuzzing",
    "tarpaulin",
    "shuttle",
    "madsim",
];

/// A name, perhaps with a value, on the Linux that the Gates run on.
fn named(name: &str, value: Option<&str>) -> Option<bool> {
    match (name, value) {
        ("test" | "unix" | "debug_assertions" | "overflow_checks" | "true", None) => Some(true),
        ("target_os", Some(system)) => Some(system == "linux"),
        ("target_family", Some(family)) => Some(family == "unix"),
        ("panic", Some(how)) => Some(how == "unwind"),
        ("feature" | "target_arch" | "target_env" | "target_pointer_width" | "target_endian" | "target_vendor", _) => {
            None
        }
        (name, None) if NOT_HERE.contains(&name) => Some(false),
        // A build script or a flag may set it.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn a_condition_is_known_as_far_as_the_system_decides_it() {
        let table = [
            ("test", Some(true)),
            ("not(test)", Some(false)),
            ("any()", Some(false)),
            ("all()", Some(true)),
            ("all(test, not(miri))", Some(true)),
            ("any(windows, target_os = \"macos\")", Some(false)),
            ("not(any(windows, miri))", Some(true)),
            ("feature = \"slow\"", None),
            ("all(windows, feature = \"slow\")", Some(false)),
            ("tests", None),
            ("not(miri)", Some(true)),
            ("((((", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(holds(text), expected, "{text}");
        }
    }
}
