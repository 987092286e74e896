//! Checked names that may be passed to git and the forge: branches, and paths inside a repository.

use std::{ffi::OsStr, fmt, os::unix::ffi::OsStrExt, path::Path, str::FromStr};

/// A text that is not a valid branch name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} may not name a branch")]
pub struct NotABranchName(String);

/// A branch name that `git check-ref-format --branch` accepts, without `refs/heads/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(String);

impl BranchName {
    /// Returns the name without `refs/heads/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name with `refs/heads/`.
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for BranchName {
    type Err = NotABranchName;

    fn from_str(text: &str) -> Result<Self, NotABranchName> {
        if is_branch_name(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotABranchName(text.chars().take(200).collect()))
        }
    }
}

/// `true` if the name obeys `git check-ref-format --branch` and has at most 240 bytes (file systems allow 255 in a
/// name).
fn is_branch_name(text: &str) -> bool {
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let part_fine = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    !text.is_empty()
        && text.len() <= 240
        && !text.starts_with('-')
        && !text.ends_with('.')
        && text != "@"
        && text != "HEAD"
        && !text.contains("..")
        && !text.contains("@{")
        && !text.chars().any(forbidden)
        && text.split('/').all(part_fine)
}

/// Returns the refspec that copies a branch, or all branches below a folder (`autobuild/*`), under the same name.
pub(crate) fn mirror_refspec(pattern: &str) -> Result<String, NotABranchName> {
    let checked = pattern.strip_suffix("/*").unwrap_or(pattern);
    checked.parse::<BranchName>()?;
    Ok(format!("+refs/heads/{pattern}:refs/heads/{pattern}"))
}

/// A path inside a repository, in git's form: bytes, with `/` between the parts, relative to the root. It need not be
/// UTF-8.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Makes a path from git's or the file system's bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path as text if it is UTF-8.
    pub fn to_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns the same path as the operating system writes it.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Returns the path of the entry `name` in this folder. The empty path is the root.
    pub(crate) fn join(&self, name: &[u8]) -> Self {
        if self.0.is_empty() {
            return Self(name.to_vec());
        }
        let mut bytes = Vec::with_capacity(self.0.len().saturating_add(name.len()).saturating_add(1));
        bytes.extend_from_slice(&self.0);
        bytes.push(b'/');
        bytes.extend_from_slice(name);
        Self(bytes)
    }

    /// Returns the folders above the path, outermost first, without the root.
    pub(crate) fn folders(&self) -> impl Iterator<Item = Self> + '_ {
        let slashes = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        slashes.map(|(at, _)| Self(self.0.get(..at).unwrap_or_default().to_vec()))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        String::from_utf8_lossy(&self.0).fmt(f)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), f)
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// `true` if some file system treats this name as `.git` although it is spelled differently: other letter case, NTFS
/// short or decorated names, characters that HFS+ ignores. `false` for the exact `.git`, which is skipped rather than
/// refused.
pub(crate) fn disguises_dot_git(name: &[u8]) -> bool {
    if name == b".git" {
        return false;
    }
    let shown: String =
        String::from_utf8_lossy(name).chars().filter(|c| !hfs_ignores(*c)).collect::<String>().to_lowercase();
    shown.split('\\').any(is_ntfs_dot_git)
}

fn is_ntfs_dot_git(part: &str) -> bool {
    let before_stream = part.split(':').next().unwrap_or(part);
    let bare = before_stream.trim_end_matches(['.', ' ']);
    bare == ".git" || bare == "git~1"
}

fn hfs_ignores(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_branch_names_are_refused() {
        let hostile = [
            "",
            "-x",
            "--upload-pack=touch x",
            "a..b",
            "refs/../x",
            "a//b",
            "/a",
            "a/",
            ".a",
            "a/.b",
            "a.lock",
            "a/b.lock/c",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a@{1}",
            "@",
            "HEAD",
            "a.",
            "a\nb",
            "a\u{7f}",
        ];
        for name in hostile {
            assert!(name.parse::<BranchName>().is_err(), "{name:?} was accepted");
        }
        for name in ["main", "autobuild/7/task-001-add-login", "ünï/cødé", "a@b", "a-b"] {
            assert!(name.parse::<BranchName>().is_ok(), "{name:?} was refused");
        }
    }

    #[test]
    fn a_pattern_covers_a_whole_folder_and_nothing_else() {
        assert_eq!(mirror_refspec("autobuild/*").unwrap(), "+refs/heads/autobuild/*:refs/heads/autobuild/*");
        assert!(mirror_refspec("*").is_err());
        assert!(mirror_refspec("a*/b").is_err());
    }

    #[test]
    fn disguised_spellings_of_dot_git_are_seen() {
        for name in
            [".GIT", ".Git", "git~1", "GIT~1", ".git.", ".git ", ".git::$INDEX_ALLOCATION", ".g\u{200c}it", "a\\.git"]
        {
            assert!(disguises_dot_git(name.as_bytes()), "{name:?} passed");
        }
        for name in [".git", ".gitignore", "git", ".github", "git~2", "a.git"] {
            assert!(!disguises_dot_git(name.as_bytes()), "{name:?} was refused");
        }
    }
}
