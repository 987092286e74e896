//! The difference between two commits: both versions of every changed file, and the tests in them.

use crate::gates::{
    commands::paths,
    run::context::{GateError, host},
};
use domain::ids::Sha;
use git::{Blob, Mirror, RawChange, blocking};
use integrity::{
    FileChange, FileContent, language,
    language::{Role, file_name, role},
};
use runners::test_index::TestIndex;
use std::{borrow::Cow, collections::BTreeSet};

/// The largest version of a file that is read, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The most changed files whose content is read. Of the others only the names are known.
const MAX_FILES: usize = 5_000;

/// The mode of a submodule, which is not a file.
const SUBMODULE: u32 = 0o160_000;

/// The mode of a symbolic link.
const LINK: u32 = 0o120_000;

/// All files that differ between two commits.
pub(crate) struct Change {
    /// The files in git's order; a rename is a deletion and an addition.
    pub(crate) files: Vec<FileChange>,
    /// The same files as git lists them, with modes and object ids.
    pub(crate) raw: Vec<RawChange>,
    pub(crate) base: BTreeSet<String>,
    pub(crate) head: BTreeSet<String>,
    pub(crate) before: TestIndex,
    pub(crate) after: TestIndex,
}

impl Change {
    /// `true` if the change left the body of every test that a runner may call `name` as it was, or no such test
    /// existed.
    pub(crate) fn keeps(&self, name: &str) -> bool {
        let (before, after) = (self.before.find_written(name), self.after.find_written(name));
        let is_kept = |words: &[String]| before.iter().any(|old| old.words == words);
        before.is_empty() || after.iter().all(|new| is_kept(&new.words))
    }

    pub(crate) async fn read(mirror: &Mirror, base: &Sha, head: &Sha) -> Result<Self, GateError> {
        let raw = mirror.diff_raw(base, head).await?;
        let files = versions(mirror, &raw).await?;
        let base = paths(mirror, base).await?.into_iter().collect();
        let head = paths(mirror, head).await?.into_iter().collect();
        let reading = blocking(move || {
            let before = TestIndex::of(files.iter().map(|file| (file.path.as_str(), &file.before)));
            let after = TestIndex::of(files.iter().map(|file| (file.path.as_str(), &file.after)));
            (files, before, after)
        });
        let read = reading.await.map_err(|error| host("reading a change")(error.into()));
        let (files, before, after) = read?;
        Ok(Self { files, raw, base, head, before, after })
    }

    /// Returns the names of files and folders that only the base has, and those that only the head has, without endings.
    /// Many languages call a module by the name of its file.
    pub(crate) fn names_of_paths(&self) -> [BTreeSet<&str>; 2] {
        let [before, after] = [&self.base, &self.head]
            .map(|paths| paths.iter().flat_map(|path| path_names(path)).collect::<BTreeSet<&str>>());
        [before.difference(&after).copied().collect(), after.difference(&before).copied().collect()]
    }

    /// Returns the names that only the base's paths and source files have, and those that only the head's have.
    pub(crate) fn renamed_words(&self) -> [BTreeSet<String>; 2] {
        let is_name = |word: &String| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let words = |version: fn(&FileChange) -> &FileContent| -> BTreeSet<String> {
            let of = |file: &FileChange| language::words_of_code(&file.path, text(version(file))?);
            self.of_role(Role::Source).filter_map(of).flatten().filter(is_name).collect()
        };
        let (before, after) = (words(|file| &file.before), words(|file| &file.after));
        let [lost, gained] = self.names_of_paths().map(|names| names.into_iter().map(str::to_owned));
        [
            lost.chain(before.difference(&after).cloned()).collect(),
            gained.chain(after.difference(&before).cloned()).collect(),
        ]
    }

    pub(crate) fn file(&self, path: &str) -> Option<&FileChange> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(crate) fn text_after(&self, path: &str) -> Option<&str> {
        text(&self.file(path)?.after)
    }

    /// Returns the mode of a changed file after the change; `None` if the change deleted it.
    pub(crate) fn mode(&self, path: &str) -> Option<u32> {
        self.raw_of(path).map(|raw| raw.new_mode).filter(|mode| *mode != 0)
    }

    /// Returns the mode of a changed file before the change; `None` if the change created it.
    pub(crate) fn old_mode(&self, path: &str) -> Option<u32> {
        self.raw_of(path).map(|raw| raw.old_mode).filter(|mode| *mode != 0)
    }

    fn raw_of(&self, path: &str) -> Option<&RawChange> {
        self.raw.iter().find(|raw| raw.path.to_str() == Some(path))
    }

    /// `true` if the change touches source code or tests.
    pub(crate) fn touches_code_or_tests(&self) -> bool {
        self.files.iter().any(|file| is_code_or_test(&file.path))
    }

    /// `true` if the change alters more of source code or tests than comments and docstrings.
    pub(crate) fn alters_code_or_tests(&self) -> bool {
        let words = |file: &FileChange, version: &FileContent| language::words_of_code(&file.path, text(version)?);
        let is_same = |file: &&FileChange| {
            let both = words(file, &file.before).zip(words(file, &file.after));
            both.is_some_and(|(before, after)| before == after)
        };
        let mut code = self.files.iter().filter(|file| is_code_or_test(&file.path));
        code.any(|file| !is_same(&file))
    }

    pub(crate) fn of_role(&self, wanted: Role) -> impl Iterator<Item = &FileChange> {
        self.files.iter().filter(move |file| role(&file.path) == wanted)
    }

    /// `true` if a changed file of tests could not be parsed, so that the names of its tests are unknown.
    pub(crate) fn has_unreadable_tests(&self) -> bool {
        let is_new = |file: &FileChange| file.after != FileContent::Absent && !self.after.has_read(&file.path);
        self.has_unreadable_old_tests() || self.of_role(Role::Test).any(is_new)
    }

    /// The same for files that existed before the change: a new file changes no test of the base.
    pub(crate) fn has_unreadable_old_tests(&self) -> bool {
        let is_old = |file: &FileChange| file.before != FileContent::Absent && !self.before.has_read(&file.path);
        self.of_role(Role::Test).any(is_old)
    }
}

fn path_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').map(|part| part.split('.').next().unwrap_or(part))
}

/// Returns a version's text; `None` if there is none, or it is not UTF-8.
pub(crate) fn text(version: &FileContent) -> Option<&str> {
    std::str::from_utf8(version.bytes()?).ok()
}

/// Returns a version's text with other bytes replaced; empty if there is none.
pub(crate) fn lossy(version: &FileContent) -> Cow<'_, str> {
    version.bytes().map(String::from_utf8_lossy).unwrap_or_default()
}

/// `true` if the file contains tests or their support.
pub(crate) fn is_of_tests(path: &str) -> bool {
    matches!(role(path), Role::Test | Role::Support)
}

/// `true` if the file is source code, a test or support of tests, and not a document.
pub(crate) fn is_code_or_test(path: &str) -> bool {
    (role(path) == Role::Source || is_of_tests(path)) && !is_document(path)
}

/// `true` if the file is for people only, such as a README or an image.
pub(crate) fn is_document(path: &str) -> bool {
    let name = file_name(path);
    let ends = [".md", ".rst", ".adoc", ".png", ".svg", ".gitignore"];
    ends.iter().any(|end| name.ends_with(end)) || ["LICENSE", "CODEOWNERS", "AUTHORS"].contains(&name)
}

async fn versions(mirror: &Mirror, raw: &[RawChange]) -> Result<Vec<FileChange>, GateError> {
    let is_file = |mode: u32| mode != 0 && mode != SUBMODULE && mode != LINK;
    let read = raw.iter().take(MAX_FILES);
    let sides = read.flat_map(|change| [(change.old_mode, &change.old_oid), (change.new_mode, &change.new_oid)]);
    let there = sides.filter(|(mode, _)| is_file(*mode));
    let oids: Vec<&str> = there.map(|(_, oid)| oid.as_str()).collect();
    let mut blobs = mirror.blobs(&oids, MAX_FILE).await?.into_iter();
    let mut version = |mode: u32, is_read: bool| match mode {
        0 => FileContent::Absent,
        mode if !is_file(mode) || !is_read => FileContent::Unread(0),
        _ => match blobs.next() {
            Some(Blob::Bytes(bytes)) => FileContent::Bytes(bytes),
            Some(Blob::Large(size)) => FileContent::Unread(size),
            Some(Blob::None) | None => FileContent::Unread(0),
        },
    };
    let file = |(at, change): (usize, &RawChange)| FileChange {
        path: change.path.to_string(),
        before: version(change.old_mode, at < MAX_FILES),
        after: version(change.new_mode, at < MAX_FILES),
    };
    Ok(raw.iter().enumerate().map(file).collect())
}
