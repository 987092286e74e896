//! Finds the lines that a diff shows, since the forge accepts inline comments only on these.

use crate::{error::GitError, mirror::Mirror, names::RepoPath, quote::unquoted};
use domain::ids::Sha;
use std::{collections::BTreeMap, mem, ops::RangeInclusive};

/// The number of bytes of the patch that are read. Files after it count as not shown.
const PATCH_CAP: usize = 32 << 20;

/// For each file, the lines of its new version that the diff shows: added lines and their context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleLines {
    files: BTreeMap<RepoPath, Vec<RangeInclusive<u32>>>,
}

impl VisibleLines {
    /// `true` if the diff shows `line` (from 1) of the new version of `path`.
    pub fn shows(&self, path: &str, line: u32) -> bool {
        let ranges = self.files.get(&RepoPath::from(path));
        ranges.is_some_and(|ranges| ranges.iter().any(|range| range.contains(&line)))
    }

    /// Parses a unified diff as git prints it.
    pub fn of_patch(patch: &[u8]) -> Self {
        let files = PatchReader::of(patch).files;
        Self { files }
    }
}

/// For each file, the lines that a diff adds: their number in the new version and their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddedLines {
    files: BTreeMap<RepoPath, BTreeMap<u32, String>>,
}

impl AddedLines {
    /// Returns every file with its added lines.
    pub fn files(&self) -> impl Iterator<Item = (&RepoPath, &BTreeMap<u32, String>)> {
        self.files.iter()
    }

    /// Parses a unified diff as git prints it.
    pub fn of_patch(patch: &[u8]) -> Self {
        let files = PatchReader::of(patch).added;
        Self { files }
    }
}

impl Mirror {
    /// Returns the lines that the diff from `base` to `head` adds. Files after the first 32 MiB of the patch are left
    /// out.
    pub async fn added_lines(&self, base: &Sha, head: &Sha) -> Result<AddedLines, GitError> {
        let (patch, _) = self.patch(base, head, PATCH_CAP).await?;
        Ok(AddedLines::of_patch(&patch))
    }

    /// Returns the lines that the diff from `base` to `head` shows on its right side. For a pull request, `base` is the
    /// merge base.
    pub async fn hunks(&self, base: &Sha, head: &Sha) -> Result<VisibleLines, GitError> {
        let (patch, _) = self.patch(base, head, PATCH_CAP).await?;
        Ok(VisibleLines::of_patch(&patch))
    }
}

/// The state of reading a patch. Inside a hunk, the counts in its header decide which lines are content, however they
/// look.
#[derive(Default)]
struct PatchReader {
    files: BTreeMap<RepoPath, Vec<RangeInclusive<u32>>>,
    added: BTreeMap<RepoPath, BTreeMap<u32, String>>,
    file: Option<RepoPath>,
    /// The lines that the current file adds, and the ranges that it shows.
    lines: BTreeMap<u32, String>,
    ranges: Vec<RangeInclusive<u32>>,
    /// The number of the next line of the new version.
    next: u32,
    old_left: u32,
    new_left: u32,
}

impl PatchReader {
    fn of(patch: &[u8]) -> Self {
        let mut reader = Self::default();
        patch.split(|byte| *byte == b'\n').for_each(|line| reader.line(line));
        reader.next_file(None);
        reader
    }

    fn line(&mut self, line: &[u8]) {
        if self.old_left > 0 || self.new_left > 0 {
            self.content(line);
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            self.next_file(new_name(name));
        } else if line.starts_with(b"diff --git ") {
            self.next_file(None);
        } else if line.starts_with(b"@@ ") {
            self.hunk(line);
        }
    }

    /// Ends the current file and begins another.
    fn next_file(&mut self, next: Option<RepoPath>) {
        let (lines, ranges) = (mem::take(&mut self.lines), mem::take(&mut self.ranges));
        let Some(file) = mem::replace(&mut self.file, next) else {
            return;
        };
        if !lines.is_empty() {
            self.added.entry(file.clone()).or_default().extend(lines);
        }
        if !ranges.is_empty() {
            self.files.entry(file).or_default().extend(ranges);
        }
    }

    fn content(&mut self, line: &[u8]) {
        match line.first() {
            Some(b'+') => {
                self.new_left = self.new_left.saturating_sub(1);
                let text = line.get(1..).unwrap_or_default();
                self.lines.insert(self.next, String::from_utf8_lossy(text).into_owned());
                self.next = self.next.saturating_add(1);
            }
            Some(b'-') => self.old_left = self.old_left.saturating_sub(1),
            Some(b'\\') => {}
            _ => {
                self.new_left = self.new_left.saturating_sub(1);
                self.old_left = self.old_left.saturating_sub(1);
                self.next = self.next.saturating_add(1);
            }
        }
    }

    fn hunk(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let mut parts = text.split(' ').skip(1);
        let old = parts.next().and_then(|part| span(part.strip_prefix('-')?));
        let new = parts.next().and_then(|part| span(part.strip_prefix('+')?));
        let (Some((_, old_count)), Some((start, count))) = (old, new) else {
            return;
        };
        (self.old_left, self.new_left, self.next) = (old_count, count, start);
        if count > 0 {
            let end = start.saturating_add(count).saturating_sub(1);
            self.ranges.push(start..=end);
        }
    }
}

/// Reads `12,5` or `12` as the first line and the number of lines.
fn span(text: &str) -> Option<(u32, u32)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Returns the file of a `+++` line; `None` if it was deleted. Git puts a tab after a name that contains spaces.
fn new_name(name: &[u8]) -> Option<RepoPath> {
    let name = name.strip_suffix(b"\t").unwrap_or(name);
    if name == b"/dev/null" {
        return None;
    }
    unquoted(name).strip_prefix(b"b/").map(RepoPath::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use effort::{Reader, Text, assert_linear};

    #[test]
    fn eight_times_the_patch_is_eight_times_the_work() {
        assert_linear(&[Reader {
            name: "patch",
            read: &|text| drop(AddedLines::of_patch(text.as_bytes())),
            own: &[
                Text("+++ b/", "a", "\n@@ -1 +{n} @@\n+x"),
                Text("+++ b/", "a", "\n@@ -1,9999999 +1,9999999 @@\n+x{n}\n+y"),
                Text("", "", "diff --git a/a{n} b/b\n+++ b/a{n}\n@@ -0,0 +1 @@\n+x\n"),
                Text("+++ \"b/", "", "\\303"),
            ],
        }]);
    }

    #[test]
    fn only_lines_inside_hunks_are_shown() {
        let patch = b"diff --git a/x y b/x y\nindex 1..2 100644\n--- a/x y\t\n+++ b/x y\t\n@@ -1,3 +1,4 @@ fn\n a\n+++ b/evil\n b\n c\n\
            @@ -20 +21 @@\n-old\n+new\n\\ No newline at end of file\n\
            diff --git a/gone b/gone\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let lines = VisibleLines::of_patch(patch);
        assert!(lines.shows("x y", 1) && lines.shows("x y", 4) && lines.shows("x y", 21));
        assert!(
            !lines.shows("x y", 5) && !lines.shows("x y", 20) && !lines.shows("gone", 1) && !lines.shows("evil", 1)
        );
        assert_eq!(lines.files.len(), 1);
        let added = AddedLines::of_patch(patch);
        let expected = [(2, "++ b/evil".to_owned()), (21, "new".to_owned())];
        assert_eq!(added.files.get(&RepoPath::from("x y")), Some(&BTreeMap::from(expected)));
        assert_eq!(added.files().count(), 1);
    }
}
