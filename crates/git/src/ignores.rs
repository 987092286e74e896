//! Ignore rules: which new files of a tree are not part of the work. Files that the base has are never ignored.

use crate::{checkout::TreeRecord, names::RepoPath};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::{cell::OnceCell, collections::HashMap, path::Path};

/// How much text of rules is compiled for one walk; an agent could write any amount.
const RULES_CAP: usize = 1 << 20;

/// What a walk does about `.gitignore` files.
pub(crate) enum Attention<'a> {
    /// Nothing: every file counts.
    Everything,
    /// Every file counts; the rules are collected, by folder.
    Collect(&'a mut HashMap<RepoPath, Vec<u8>>),
    /// Files that the record does not have count only if no rule ignores them.
    Obey(Ignores<'a>),
}

impl Attention<'_> {
    pub(crate) fn reads_rules(&self) -> bool {
        match self {
            Self::Everything => false,
            Self::Collect(_) | Self::Obey(_) => true,
        }
    }

    /// Begins a folder whose own `.gitignore` holds `rules`.
    pub(crate) fn enter(&mut self, folder: &RepoPath, rules: Option<Vec<u8>>) {
        match (self, rules) {
            (Self::Collect(all), Some(rules)) => drop(all.insert(folder.clone(), rules)),
            (Self::Obey(ignores), rules) => ignores.enter(folder, rules),
            (Self::Everything | Self::Collect(_), _) => {}
        }
    }

    /// Ends the folder begun last.
    pub(crate) fn leave(&mut self) {
        if let Self::Obey(ignores) = self {
            ignores.folders.pop();
        }
    }

    /// Whether a rule matches this entry itself.
    pub(crate) fn ignores(&self, path: &RepoPath, folder: bool) -> bool {
        match self {
            Self::Everything | Self::Collect(_) => false,
            // A folder with files of the base is entered all the same, but what is new in it stays ignored.
            Self::Obey(ignores) => (folder || !ignores.base_has(path, folder)) && ignores.matches(path, folder),
        }
    }

    /// Whether the base has this file, or files in this folder.
    pub(crate) fn base_has(&self, path: &RepoPath, folder: bool) -> bool {
        match self {
            Self::Everything | Self::Collect(_) => true,
            Self::Obey(ignores) => ignores.base_has(path, folder),
        }
    }
}

/// The rules in force on the way down to the folder being walked.
///
/// A folder's rules are those of its `.gitignore` as it is now; where that was deleted, those of the base, so that the
/// loss of a `.gitignore` does not turn a build folder into work.
pub(crate) struct Ignores<'a> {
    record: &'a TreeRecord,
    folders: Vec<Rules>,
    compiled: usize,
}

/// One folder's rules, compiled when the first unknown file asks for them.
struct Rules {
    text: Vec<u8>,
    /// Length of the folder's path with its slash: what is cut off before matching.
    prefix: usize,
    matcher: OnceCell<Gitignore>,
}

impl<'a> Ignores<'a> {
    pub(crate) fn new(record: &'a TreeRecord) -> Self {
        Self {
            record,
            folders: Vec::new(),
            compiled: 0,
        }
    }

    fn enter(&mut self, folder: &RepoPath, rules: Option<Vec<u8>>) {
        let mut text = rules
            .or_else(|| self.record.rules_of(folder).cloned())
            .unwrap_or_default();
        self.compiled = self.compiled.saturating_add(text.len());
        if self.compiled > RULES_CAP {
            text.clear();
        }
        let length = folder.as_bytes().len();
        let prefix = if length == 0 { 0 } else { length.saturating_add(1) };
        self.folders.push(Rules {
            text,
            prefix,
            matcher: OnceCell::new(),
        });
    }

    fn base_has(&self, path: &RepoPath, folder: bool) -> bool {
        if folder {
            self.record.has_folder(path)
        } else {
            self.record.has_file(path)
        }
    }

    /// The nearest folder with a matching rule decides.
    fn matches(&self, path: &RepoPath, folder: bool) -> bool {
        for rules in self.folders.iter().rev().filter(|rules| !rules.text.is_empty()) {
            let relative = RepoPath::new(path.as_bytes().get(rules.prefix..).unwrap_or_default());
            let matched = rules
                .matcher
                .get_or_init(|| compile(&rules.text))
                .matched(relative.as_path(), folder);
            if !matched.is_none() {
                return matched.is_ignore();
            }
        }
        false
    }
}

/// Compiles the lines of a `.gitignore`; a line that is no pattern is left out, as git does.
fn compile(text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(Path::new(""));
    let text = String::from_utf8_lossy(text);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
