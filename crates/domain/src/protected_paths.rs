//! Paths that no Player may change.

use crate::links::{follow, split_at_folders};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use std::{collections::BTreeMap, path::Path};

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a path pattern")]
pub struct NotAPattern(String);

/// The patterns of a repository's protected paths, written as in a `.gitignore`, such as `.github/workflows/**` or
/// `CLAUDE.md`, and the places to which protected links lead.
#[derive(Clone, Debug)]
pub struct ProtectedPaths {
    patterns: Gitignore,
    /// The protected link and its target, by the path of the target in lower case.
    targets: BTreeMap<String, String>,
}

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
        let patterns = builder.build().map_err(|error| NotAPattern(error.to_string()))?;
        Ok(Self { patterns, targets: BTreeMap::new() })
    }

    /// Also protects what protected links of a commit lead to, with the links between: whoever changes `docs/guide.md`
    /// changes what agents read in `CLAUDE.md` if that is a link to it. `links` are all links of the commit and their
    /// targets.
    pub fn with_links(mut self, links: &BTreeMap<String, String>) -> Self {
        let protected = links.keys().filter(|link| self.of_pattern(Path::new(link)).is_some());
        let targets: Vec<(String, String)> = protected
            .flat_map(|link| {
                follow(links, link).into_iter().map(move |path| (path.to_lowercase(), format!("{link} -> {path}")))
            })
            .collect();
        self.targets.extend(targets);
        self
    }

    /// Returns the pattern, or the protected link, that protects a path, given relative to the repository's root.
    pub fn protecting(&self, path: &Path) -> Option<&str> {
        self.of_pattern(path).or_else(|| {
            let lower = path.to_str()?.to_lowercase();
            split_at_folders(&lower).find_map(|(path, _)| self.targets.get(path)).map(String::as_str)
        })
    }

    fn of_pattern(&self, path: &Path) -> Option<&str> {
        match self.patterns.matched_path_or_any_parents(path, false) {
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
        let links = [
            ("CLAUDE.md", "docs/guide.md"),
            (".claude", "./tools/ai/"),
            ("AGENTS.md", "mid.md"),
            ("mid.md", "linked/words.md"),
            ("linked", "real"),
            ("sub/CLAUDE.md", "../../outside.md"),
            ("web/CLAUDE.md", "/etc/passwd"),
            ("loop.md", "loop.md"),
            ("other.md", "free.md"),
        ];
        let links = links.map(|(link, target)| (link.to_owned(), target.to_owned())).into();
        let rules = ["CLAUDE.md", "AGENTS.md", ".claude", "loop.md"].map(str::to_owned);
        let paths = ProtectedPaths::new(&rules).unwrap().with_links(&links);
        for (path, by) in [
            ("docs/Guide.md", Some("CLAUDE.md -> docs/guide.md")),
            ("tools/ai/settings.json", Some(".claude -> tools/ai")),
            ("mid.md", Some("AGENTS.md -> mid.md")),
            ("real/words.md", Some("AGENTS.md -> real/words.md")),
            ("linked", Some("AGENTS.md -> linked")),
            ("linked/words.md", Some("AGENTS.md -> linked")),
            ("docs/guide.md.txt", None),
            ("tools/air.rs", None),
            ("outside.md", None),
            ("free.md", None),
        ] {
            assert_eq!(paths.protecting(Path::new(path)), by, "{path}");
        }
        for wrong in ["!x", "#x", " "] {
            assert!(ProtectedPaths::new(&[wrong.to_owned()]).is_err(), "{wrong:?}");
        }
    }
}
