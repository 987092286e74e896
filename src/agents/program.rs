//! The program of a back-end: checks that it is installed and new enough, and says how to install it.

use crate::agents::outcome;
use domain::blocked::{AgentFault, Failure};
use sandbox::{Exit, Sandbox, Spec, StartError, environment};
use std::{fmt, path::Path, sync::Arc, time::Duration};
use text::secret::Secrets;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// The longest time that a program may take to print its version.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u64, pub(crate) u64, pub(crate) u64);

impl Version {
    /// Returns the first version in a text.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        words.filter_map(Self::read).next()
    }

    fn read(word: &str) -> Option<Self> {
        let mut numbers = word.split('.').map(str::parse::<u64>);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => Some(Self(major, minor, patch)),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Its name on `PATH`.
    pub(crate) name: &'static str,
    /// The oldest version that is known to work.
    pub(crate) least: Version,
    /// Its version, asked for once.
    known: Arc<OnceCell<Version>>,
}

impl Program {
    pub(crate) fn new(name: &'static str, least: Version) -> Self {
        Self { name, least, known: Arc::default() }
    }

    /// Asks the program for its version. An answer is remembered; after a failure it is asked again.
    /// Refuses one that is not installed, does not print its version, or is too old.
    pub(crate) async fn check(&self, sandbox: &Sandbox, runs: &Path) -> Result<Version, Failure> {
        let version = self.known.get_or_try_init(|| self.ask(sandbox, runs)).await?;
        if *version >= self.least {
            Ok(*version)
        } else {
            Err(Failure::TooOld {
                program: self.name.to_owned(),
                found: version.to_string(),
                least: self.least.to_string(),
            })
        }
    }

    async fn ask(&self, sandbox: &Sandbox, runs: &Path) -> Result<Version, Failure> {
        let failed = |how: String| Failure::AgentFailed { message: how };
        let folder = std::fs::create_dir_all(runs)
            .and_then(|()| tempfile::Builder::new().prefix("version-").tempdir_in(runs))
            .map_err(|error| failed(error.to_string()))?;
        let mut order = Spec::new(self.name, folder.path()).args(["--version"]);
        order.env = environment(folder.path(), &[]).map_err(|error| failed(error.to_string()))?;
        order.deadline = ANSWERS_WITHIN;
        order.confine.write = vec![folder.path().to_owned()];
        let said = match sandbox.run(&order, &CancellationToken::new()).await {
            Ok(finished) if finished.exit == Exit::Exited(0) => finished.stdout.text(),
            Ok(finished) => {
                let complaint = crate::agents::journal::plain(&Secrets::default(), &finished.stderr.text(), 500);
                let how = outcome::describe_exit(finished.exit).unwrap_or_else(|fault| fault.to_string());
                let colon = if complaint.is_empty() { "" } else { ": " };
                return Err(outcome::fault(AgentFault::NoVersion {
                    program: self.name.to_owned(),
                    how: format!("{how}{colon}{complaint}"),
                }));
            }
            Err(StartError::NotFound(_) | StartError::NotExecutable(_)) => return Err(self.missing()),
            Err(error) => return Err(failed(error.to_string())),
        };
        Version::find(&said).ok_or_else(|| failed(format!("`{} --version` names no version", self.name)))
    }

    /// Returns the failure for a program that is not installed.
    pub(crate) fn missing(&self) -> Failure {
        Failure::NoAgentProgram { program: self.name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_found_where_programs_print_them() {
        let table = [
            ("2.1.329 (Claude Code)\n", Some(Version(2, 1, 329))),
            ("codex-cli 0.169.0\n", Some(Version(0, 169, 0))),
            ("v22.3.1", Some(Version(22, 3, 1))),
            ("codex-cli 0.170.0-alpha.2", Some(Version(0, 170, 0))),
            ("warning 1: none\n3.4.5", Some(Version(3, 4, 5))),
            ("no version", None),
            ("1.2", None),
            ("99999999999999999999999.1.1", None),
        ];
        for (text, expected) in table {
            assert_eq!(Version::find(text), expected, "{text}");
        }
        assert!(Version(2, 1, 197) < Version(2, 1, 329) && Version(2, 9, 0) < Version(2, 10, 0));
    }
}
