//! Finds the installed git and checks its version. This happens before anything else runs git.

use crate::{error::GitError, process::GitCall, safe::git_on_path};
use std::{fmt, path::PathBuf, time::Duration};

/// The oldest git that has every feature we use. The newest one is `--attr-source` in repositories without a work tree.
const MINIMUM: (u64, u64) = (2, 43);

/// The releases of July 2025 that fixed CVE-2025-48384 and related issues, one for each release line maintained then.
const PATCHED: [Numbers; 8] =
    [(2, 43, 7), (2, 44, 4), (2, 45, 4), (2, 46, 4), (2, 47, 3), (2, 48, 2), (2, 49, 1), (2, 50, 1)];

/// The time limit of `git version`.
const DEADLINE: Duration = Duration::from_secs(20);

/// Major, minor and patch number of a version. Vendors may append more text to them.
type Numbers = (u64, u64, u64);

/// A git that is new enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledGit {
    pub program: PathBuf,
    /// The version as git prints it, such as `2.47.1.windows.1`.
    pub version: String,
    numbers: Numbers,
}

/// Why this machine's git cannot be used. Each message is one line that names the installed and the needed version.
#[derive(Debug, thiserror::Error)]
pub enum UnusableGit {
    /// Git is not on `PATH`.
    #[error("git is not on PATH, and git {} or newer is needed", minimum())]
    Missing,
    /// Git is older than the minimum.
    #[error("{program} is git {version}, and git {} or newer is needed", minimum(), program = .program.display())]
    TooOld {
        program: PathBuf,
        /// The version as git prints it.
        version: String,
    },
    /// Git does not report its version.
    #[error("{program} does not say its version ({why}), and git {} or newer is needed", minimum(), program = .program.display())]
    Unreadable { program: PathBuf, why: String },
}

fn minimum() -> String {
    let (major, minor) = MINIMUM;
    format!("{major}.{minor}")
}

impl InstalledGit {
    /// Checks the git that is first on `PATH`.
    pub async fn look() -> Result<Self, UnusableGit> {
        let program = git_on_path().ok_or(UnusableGit::Missing)?.to_path_buf();
        match GitCall::with_global(&[], "version").deadline(DEADLINE).ok().await {
            Ok(output) => Self::read(program, &output.text()),
            Err(error) => Err(UnusableGit::Unreadable { program, why: one_line(&error) }),
        }
    }

    /// Parses the output of `git version`.
    fn read(program: PathBuf, answer: &str) -> Result<Self, UnusableGit> {
        let first = answer.lines().next().unwrap_or_default();
        let version = first.strip_prefix("git version ").unwrap_or_default().trim().to_owned();
        let Some(numbers) = numbers(&version) else {
            let why = format!("it says {:?}", first.chars().take(80).collect::<String>());
            return Err(UnusableGit::Unreadable { program, why });
        };
        if (numbers.0, numbers.1) < MINIMUM {
            return Err(UnusableGit::TooOld { program, version });
        }
        Ok(Self { program, version, numbers })
    }

    /// Returns the version whose security fixes this git may lack. This is no error, because distributions add these
    /// fixes to older versions too.
    pub fn unpatched(&self) -> Option<String> {
        let own = self.numbers;
        let mut patched = PATCHED.into_iter();
        let (major, minor, patch) = patched.find(|(major, minor, _)| (*major, *minor) == (own.0, own.1))?;
        (own.2 < patch).then(|| format!("{major}.{minor}.{patch}"))
    }
}

impl fmt::Display for InstalledGit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "git {} ({})", self.version, self.program.display())
    }
}

/// Parses the numbers at the start of `version`; a missing third one is 0.
fn numbers(version: &str) -> Option<Numbers> {
    let mut parts = version.split(['.', '-', ' ', '+']);
    let major = parts.next()?.parse().ok()?;
    let minor = parts.next()?.parse().ok()?;
    let patch = parts.next().and_then(|patch| patch.parse().ok()).unwrap_or(0);
    Some((major, minor, patch))
}

/// Returns the error's text as one line without control characters, at most 200 characters long.
fn one_line(error: &GitError) -> String {
    let text = error.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: &str) -> Result<InstalledGit, UnusableGit> {
        InstalledGit::read(PathBuf::from("/usr/bin/git"), answer)
    }

    #[test]
    fn versions_are_read_with_what_vendors_write_behind_them() {
        let table = [
            ("git version 2.47.3", (2, 47, 3)),
            ("git version 2.47.1.windows.1", (2, 47, 1)),
            ("git version 2.50.1 (Apple Git-155)", (2, 50, 1)),
            ("git version 2.50.0.rc1", (2, 50, 0)),
            ("git version 2.51.0-rc2", (2, 51, 0)),
            ("git version 2.43.0.282.g1234abc", (2, 43, 0)),
            ("git version 2.53", (2, 53, 0)),
            ("git version 2.52.GIT", (2, 52, 0)),
            ("git version 3.0.0", (3, 0, 0)),
            ("git version 2.47.3\nbuild: x\n", (2, 47, 3)),
        ];
        for (answer, numbers) in table {
            assert_eq!(read(answer).unwrap().numbers, numbers, "{answer}");
        }
    }

    #[test]
    fn an_old_git_is_refused_with_what_is_there_and_what_is_needed() {
        for version in ["2.39.5 (Apple Git-154)", "2.42.4", "1.9.1", "2.9.0.windows.1", "2.42.0-rc0"] {
            let said = read(&format!("git version {version}")).unwrap_err().to_string();
            assert_eq!(said, format!("/usr/bin/git is git {version}, and git 2.43 or newer is needed"));
        }
    }

    #[test]
    fn a_program_that_is_no_git_is_refused() {
        for answer in ["", "hub version 2.14", "git version", "git version x.y", "git version 2", "\u{1b}[31m\n\n"] {
            let said = read(answer).unwrap_err().to_string();
            assert!(said.starts_with("/usr/bin/git does not say its version (it says \""), "{said}");
            assert!(!said.contains(char::is_control), "{said}");
        }
    }

    #[test]
    fn each_line_of_releases_is_warned_of_below_its_own_security_release() {
        let table = [
            ("2.43.6", Some("2.43.7")),
            ("2.43.7", None),
            ("2.44.3", Some("2.44.4")),
            ("2.45.4", None),
            ("2.46.0", Some("2.46.4")),
            ("2.47.2", Some("2.47.3")),
            ("2.47.3", None),
            ("2.48.1", Some("2.48.2")),
            ("2.49.0", Some("2.49.1")),
            ("2.50.0.rc1", Some("2.50.1")),
            ("2.50.1 (Apple Git-155)", None),
            ("2.51.0", None),
            ("3.0.0", None),
        ];
        for (version, fixed) in table {
            let unpatched = read(&format!("git version {version}")).unwrap().unpatched();
            assert_eq!(unpatched.as_deref(), fixed, "{version}");
        }
    }
}
