//! Ignore rules, which keep new files out of the work. Files of the base are never ignored.

use crate::{checkout::TreeRecord, names::RepoPath};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
    path::Path,
};

/// The number of bytes of rules that are compiled for one walk, since an agent could write any amount.
const RULES_CAP: usize = 1 << 20;

/// The line of an ignore file that keeps a path out of the work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IgnoreRule {
    pub file: RepoPath,
    /// The line number, from 1.
    pub line: usize,
    pub pattern: String,
}

/// Files that are part of the work whatever the rules say.
#[derive(Clone, Debug, Default)]
pub(crate) struct AlwaysIncluded {
    files: HashSet<RepoPath>,
    folders: HashSet<RepoPath>,
}

impl AlwaysIncluded {
    pub(crate) fn new(files: impl IntoIterator<Item = RepoPath>) -> Self {
        let files: HashSet<RepoPath> = files.into_iter().collect();
        let folders = files.iter().flat_map(|path| path.folders().collect::<Vec<_>>());
        Self { folders: folders.collect(), files }
    }
}

/// How a walk treats `.gitignore` files.
pub(crate) enum IgnoreFiles<'a> {
    /// Rules are not read; every file counts.
    Everything,
    /// Every file counts; the rules are collected by folder.
    Collect(&'a mut HashMap<RepoPath, Vec<u8>>),
    /// A new file counts only if no rule ignores it.
    Obey(Ignores<'a>),
}

impl IgnoreFiles<'_> {
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

    /// Returns the rule that keeps a path out, and its match: the path itself, or the nearest folder above.
    pub(crate) fn rule(&self, path: &RepoPath, folder: bool) -> Option<(RepoPath, IgnoreRule)> {
        let Self::Obey(ignores) = self else { return None };
        if let Some(rule) = ignores.matched(path, folder) {
            return Some((path.clone(), rule));
        }
        let above: Vec<RepoPath> = path.folders().collect();
        let mut above = above.into_iter().rev();
        above.find_map(|folder| ignores.matched(&folder, true).map(|rule| (folder, rule)))
    }

    /// `true` if a rule matches this entry itself.
    pub(crate) fn ignores(&self, path: &RepoPath, folder: bool) -> bool {
        match self {
            Self::Everything | Self::Collect(_) => false,
            // A folder with files of the base is entered all the same, but new files in it stay ignored.
            Self::Obey(ignores) => {
                (folder || !ignores.base_has(path, folder)) && ignores.matched(path, folder).is_some()
            }
        }
    }

    /// `true` if the base has this file, or files in this folder, or if the plan or the report names one.
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
    named: &'a AlwaysIncluded,
    folders: Vec<FolderRules>,
    compiled: usize,
}

/// One folder's rules, compiled when the first file needs them.
struct FolderRules {
    text: Vec<u8>,
    folder: RepoPath,
    /// Length of the folder's path with its slash. This many bytes are cut off a path before it is matched.
    prefix: usize,
    matcher: OnceCell<Gitignore>,
}

impl<'a> Ignores<'a> {
    pub(crate) fn new(record: &'a TreeRecord, named: &'a AlwaysIncluded) -> Self {
        Self { record, named, folders: Vec::new(), compiled: 0 }
    }

    fn enter(&mut self, folder: &RepoPath, rules: Option<Vec<u8>>) {
        let mut text = rules.or_else(|| self.record.rules.get(folder).cloned()).unwrap_or_default();
        self.compiled = self.compiled.saturating_add(text.len());
        if self.compiled > RULES_CAP {
            text.clear();
        }
        let length = folder.as_bytes().len();
        let prefix = if length == 0 { 0 } else { length.saturating_add(1) };
        self.folders.push(FolderRules { text, folder: folder.clone(), prefix, matcher: OnceCell::new() });
    }

    fn base_has(&self, path: &RepoPath, folder: bool) -> bool {
        if folder {
            self.record.folders.contains(path) || self.named.folders.contains(path)
        } else {
            self.record.has_file(path) || self.named.files.contains(path)
        }
    }

    /// Returns the rule of the nearest folder with a matching rule, if it ignores the path.
    fn matched(&self, path: &RepoPath, folder: bool) -> Option<IgnoreRule> {
        for rules in self.folders.iter().rev().filter(|rules| !rules.text.is_empty()) {
            let relative = RepoPath::new(path.as_bytes().get(rules.prefix..).unwrap_or_default());
            let matcher = rules.matcher.get_or_init(|| compile(&rules.text));
            match matcher.matched(relative.as_path(), folder) {
                Match::None => {}
                Match::Whitelist(_) => return None,
                Match::Ignore(glob) => return Some(rules.rule(glob.original())),
            }
        }
        None
    }
}

impl FolderRules {
    /// Returns the last line with this pattern, which is the one that counts.
    fn rule(&self, pattern: &str) -> IgnoreRule {
        let text = String::from_utf8_lossy(&self.text);
        let same = |line: &str| line.trim_start_matches('\u{feff}').trim_end() == pattern.trim_end();
        let lines = text.lines().enumerate().filter(|(_, line)| same(line));
        IgnoreRule {
            file: self.folder.join(b".gitignore"),
            line: lines.last().map_or(1, |(at, _)| at.saturating_add(1)),
            pattern: pattern.to_owned(),
        }
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
