//! A changed file as a language looks at it when it asks what stands in for what.

use std::collections::BTreeSet;

/// Both versions of one changed file, and what is around it.
#[derive(Clone, Copy)]
pub struct Glance<'a> {
    /// Its path, relative to the root.
    pub path: &'a str,
    /// Its text before; `None` where there was none or none could be read.
    pub before: Option<&'a str>,
    /// Its text now.
    pub after: &'a str,
    /// All paths of the head.
    pub head: &'a BTreeSet<String>,
}

/// Something that stands in for something real.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The line, from 1.
    pub line: u32,
    /// What stands in for what, in one sentence.
    pub what: String,
}

impl Glance<'_> {
    /// The first line that holds `words`, from 1; the first of all where none does.
    #[must_use]
    pub fn line_of(&self, words: &str) -> u32 {
        let at = self.after.lines().position(|line| line.contains(words));
        at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0).saturating_add(1)
    }

    /// Whether the file is new.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.before.is_none()
    }

    /// Whether `path`, as written in this file, leads to a place for tests and for things that only look real.
    #[must_use]
    pub fn leads_to_a_fake(&self, path: &str) -> bool {
        const FAKES: [&str; 9] = [
            "test",
            "tests",
            "__tests__",
            "spec",
            "mock",
            "mocks",
            "__mocks__",
            "stub",
            "stubs",
        ];
        let parts = || path.split(['/', '\\']);
        parts().any(|part| FAKES.contains(&part)) || parts().any(|part| part.starts_with("fake"))
    }

    /// Whether the head has a file or folder there.
    #[must_use]
    pub fn exists(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.head.contains(path)
            || self
                .head
                .range(folder.clone()..)
                .next()
                .is_some_and(|next| next.starts_with(&folder))
    }
}
