//! Paths that no Player may change.

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use std::path::Path;

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a path pattern")]
pub struct NotAPattern(String);

/// The patterns of a repository's protected paths, written as in a `.gitignore`, such as `.github/workflows/**` or
/// `CLAUDE.md`.
#[derive(Clone, Debug)]
pub struct ProtectedPaths(Gitignore);

impl ProtectedPaths {
    /// Reads the patterns. Case counts for nothing: on some file systems, `claude.md` is read as `CLAUDE.md`.
    ///
    /// # Errors
    ///
    /// The first pattern that is none, or that would take protection away.
    pub fn new(patterns: &[String]) -> Result<Self, NotAPattern> {
        let mut builder = GitignoreBuilder::new(Path::new(""));
        let case = builder.case_insensitive(true);
        case.map_err(|error| NotAPattern(error.to_string()))?;
        for pattern in patterns {
            let refused = || NotAPattern(pattern.chars().take(200).collect());
            if pattern.trim().is_empty() || pattern.starts_with(['!', '#']) {
                return Err(refused());
            }
            builder.add_line(None, pattern).map_err(|_| refused())?;
        }
        let protected = builder.build().map_err(|error| NotAPattern(error.to_string()))?;
        Ok(Self(protected))
    }

    /// Returns the pattern that protects a path, given relative to the repository's root.
    pub fn protecting(&self, path: &Path) -> Option<&str> {
        match self.0.matched_path_or_any_parents(path, false) {
            Match::Ignore(glob) => Some(glob.original()),
            Match::None | Match::Whitelist(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_read_like_ignore_rules() {
        let rules = [".github/workflows/**", "CLAUDE.md", ".claude/**", ".autobuild/"].map(str::to_owned);
        let paths = ProtectedPaths::new(&rules).unwrap();
        let protected = |path: &str| paths.protecting(Path::new(path)).is_some();
        assert!(protected(".github/workflows/ci.yml") && protected("sub/CLAUDE.md") && protected(".autobuild/x/y"));
        assert!(protected("src/claude.md") && protected(".GitHub/workflows/ci.yml"));
        assert!(!protected(".github/other.yml") && !protected("src/claude.rs") && !protected("docs/autobuild"));
        for wrong in ["!x", "#x", " "] {
            assert!(ProtectedPaths::new(&[wrong.to_owned()]).is_err(), "{wrong:?}");
        }
    }
}
