//! Ignore rules: they decide which new files are not part of the work. Files that the base has are never ignored.

use crate::{checkout::TreeRecord, names::RepoPath};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::{cell::OnceCell, collections::HashMap, path::Path};

/// The number of bytes of rules that are compiled for one walk, since an agent could write any amount.
const RULES_CAP: usize = 1 << 20;

/// How a walk treats `.gitignore` files.
pub(crate) enum Attention<'a> {
    /// Rules are not read; every file counts.
    Everything,
    /// Every file counts; the rules are collected by folder.
    Collect(&'a mut HashMap<RepoPath, Vec<u8>>),
    /// A file that the record does not have counts only if no rule ignores it.
    Obey(Ignores<'a>),
}

impl Attention<'_> {
    pub(crate) fn reads_rules(&self) -> bool {
        match self {
            Self::Everything => false,
            Self::Collect(_) | Self::Obey(_) => true,
        }
    }

    /// Enters a folder whose own `.gitignore` contains `rules`.
    pub(crate) fn enter(&mut self, folder: &RepoPath, rules: Option<Vec<u8>>) {
        match (self, rules) {
            (Self::Collect(all), Some(rules)) => drop(all.insert(folder.clone(), rules)),
            (Self::Obey(ignores), rules) => ignores.enter(folder, rules),
            (Self::Everything | Self::Collect(_), _) => {}
        }
    }

    /// Leaves the folder entered last.
    pub(crate) fn leave(&mut self) {
        if let Self::Obey(ignores) = self {
            ignores.folders.pop();
        }
    }

    /// `true` if a rule matches this entry itself.
    pub(crate) fn ignores(&self, path: &RepoPath, folder: bool) -> bool {
        match self {
            Self::Everything | Self::Collect(_) => false,
            // A folder with files of the base is entered all the same, but new files in it stay ignored.
            Self::Obey(ignores) => (folder || !ignores.base_has(path, folder)) && ignores.matches(path, folder),
        }
    }

    /// `true` if the base has this file, or files in this folder.
    pub(crate) fn base_has(&self, path: &RepoPath, folder: bool) -> bool {
        match self {
            Self::Everything | Self::Collect(_) => true,
            Self::Obey(ignores) => ignores.base_has(path, folder),
        }
    }
}

/// The rules of the folders from the root down to the one being walked.
///
/// A folder's rules are those of its current `.gitignore`. If that was deleted, the rules of the base apply, so that
/// deleting a `.gitignore` does not turn a build folder into work.
pub(crate) struct Ignores<'a> {
    record: &'a TreeRecord,
    folders: Vec<Rules>,
    compiled: usize,
}

/// One folder's rules, compiled when the first file needs them.
struct Rules {
    text: Vec<u8>,
    /// Length of the folder's path with its slash. This many bytes are cut off a path before it is matched.
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

    /// `true` if the nearest folder with a matching rule ignores the path.
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

/// Compiles the lines of a `.gitignore`. Like git, leaves out a line that is no pattern.
fn compile(text: &[u8]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(Path::new(""));
    let text = String::from_utf8_lossy(text);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
