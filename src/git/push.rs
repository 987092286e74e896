//! Pushing one ref with a lease, and reading what the remote answered.

use crate::domain::ids::Sha;
use crate::git::error::GitError;
use crate::git::mirror::Mirror;
use crate::git::names::BranchName;
use crate::git::process::GitCall;
use crate::git::process::GitOutput;
use crate::git::remote::Remote;

/// What the remote's branch must be for a push to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lease {
    /// The branch must not exist yet.
    Absent,
    /// The branch must stand at this commit.
    At(Sha),
}

/// How a push that left the branch as wanted ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The branch was moved, made or deleted.
    Done,
    /// It stood there already.
    AlreadyThere,
}

/// Why a push changed nothing, or may have.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The branch stands elsewhere than the lease says.
    #[error("the branch moved: it is at {}", .actual.as_ref().map_or("no commit", Sha::short))]
    LeaseLost {
        /// Where it stands now; `None` if it does not exist.
        actual: Option<Sha>,
    },
    /// The remote refused this push by a rule or a hook of its own.
    #[error("the remote refused the push: {reason}")]
    Rejected {
        /// The remote's words.
        reason: String,
    },
    /// Everything else, typed for all calls. After [`GitError::Transient`] and [`GitError::TimedOut`] the push may have
    /// happened all the same: look before trying again.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Mirror {
    /// Moves `branch` on the remote to `sha`, forwards or not, if it stands where `lease` says.
    pub async fn push(
        &self,
        remote: &Remote,
        branch: &BranchName,
        sha: &Sha,
        lease: &Lease,
    ) -> Result<Pushed, PushError> {
        self.push_refspec(remote, branch, &format!("{sha}:{}", branch.full()), lease)
            .await
    }

    /// Deletes `branch` on the remote if it stands at `at`. A branch that is gone already is fine.
    pub async fn delete_branch(&self, remote: &Remote, branch: &BranchName, at: &Sha) -> Result<Pushed, PushError> {
        let refspec = format!(":{}", branch.full());
        match self
            .push_refspec(remote, branch, &refspec, &Lease::At(at.clone()))
            .await
        {
            Err(PushError::LeaseLost { actual: None }) => Ok(Pushed::AlreadyThere),
            other => other,
        }
    }

    async fn push_refspec(
        &self,
        remote: &Remote,
        branch: &BranchName,
        refspec: &str,
        lease: &Lease,
    ) -> Result<Pushed, PushError> {
        self.ready()?;
        let expected = match lease {
            Lease::Absent => "",
            Lease::At(sha) => sha.as_str(),
        };
        let call = GitCall::new(&self.dir, "push").talking_to(remote);
        let call = call.args([
            "--porcelain",
            "--no-progress",
            "--no-verify",
            "--atomic",
            "--no-follow-tags",
        ]);
        let call = call.arg(format!("--force-with-lease={}:{expected}", branch.full()));
        let output = call.arg("--").arg(remote.url()).arg(refspec).run().await?;
        match answer(&String::from_utf8_lossy(&output.stdout), &branch.full()) {
            Some(Answer::Done) if output.code == 0 => Ok(Pushed::Done),
            Some(Answer::UpToDate) if output.code == 0 => Ok(Pushed::AlreadyThere),
            Some(Answer::Moved) => {
                let actual = self.remote_tip(remote, branch).await?;
                Err(PushError::LeaseLost { actual })
            }
            Some(Answer::Refused(reason)) => {
                // git sends a push again when its answer was lost, and reports the refusal of the second one: the branch
                // itself tells whether the first one was taken.
                let actual = self.remote_tip(remote, branch).await?;
                if actual.as_ref().map_or("", Sha::as_str) == expected {
                    let reason = with_remote_lines(&reason, &output);
                    Err(PushError::Rejected { reason })
                } else {
                    Err(PushError::LeaseLost { actual })
                }
            }
            Some(Answer::Done | Answer::UpToDate) | None => Err(remote_failure("push", &output).into()),
        }
    }
}

/// What the line of `--porcelain` about one ref says.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Done,
    UpToDate,
    Moved,
    Refused(String),
}

/// Reads `<flag> TAB <from>:<to> TAB <summary>`.
fn answer(porcelain: &str, full_ref: &str) -> Option<Answer> {
    let about = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let (flag, refs, summary) = (parts.next()?, parts.next()?, parts.next()?);
        let to = refs.rsplit_once(':')?.1;
        (to == full_ref).then(|| (flag.to_owned(), summary.to_owned()))
    };
    let (flag, summary) = porcelain.lines().find_map(about)?;
    Some(match flag.as_str() {
        "=" => Answer::UpToDate,
        "!" if says_moved(&summary) => Answer::Moved,
        "!" => Answer::Refused(summary),
        _ => Answer::Done,
    })
}

/// The remote's branch was not where we thought: found by git here, or by the remote while it took the push.
fn says_moved(summary: &str) -> bool {
    let signs = [
        "stale info",
        "fetch first",
        "non-fast-forward",
        "cannot lock ref",
        "reference already exists",
        "incorrect old value",
        "remote ref does not exist",
    ];
    signs.iter().any(|sign| summary.contains(sign))
}

/// The refusal with what the remote's hooks or rules printed, which names the rule.
fn with_remote_lines(summary: &str, output: &GitOutput) -> String {
    let said = output.stderr.lines().filter_map(|line| line.strip_prefix("remote: "));
    let lines: Vec<&str> = std::iter::once(summary)
        .chain(said)
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n").chars().take(4_000).collect()
}

/// Words by which a passing failure, a refusal and a missing repository are told apart, in this order.
const OVERLOADED: [&str; 6] = [
    "error: 429",
    "error: 500",
    "error: 502",
    "error: 503",
    "error: 504",
    "rate limit",
];
const DENIED: [&str; 6] = [
    "authentication failed",
    "could not read username",
    "error: 401",
    "error: 403",
    "permission to",
    "archived",
];
const GONE: [&str; 4] = [
    "not found",
    "error: 404",
    "error: 410",
    "does not appear to be a git repository",
];
const NETWORK: [&str; 14] = [
    "could not resolve host",
    "failed to connect",
    "couldn't connect",
    "connection",
    "timed out",
    "timeout",
    "hung up unexpectedly",
    "early eof",
    "rpc failed",
    "unexpected disconnect",
    "operation too slow",
    "empty reply",
    "ssl",
    "cannot lock ref",
];

/// Sorts a failed call to a remote by what the caller does next.
pub(crate) fn remote_failure(command: &str, output: &GitOutput) -> GitError {
    let text = output.stderr.clone();
    let lower = text.to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
    if let Some(branch) = text.split("couldn't find remote ref ").nth(1) {
        let branch = branch.lines().next().unwrap_or(branch);
        return GitError::Missing(branch.trim_start_matches("refs/heads/").to_owned());
    }
    if says(&OVERLOADED) {
        GitError::Transient(text)
    } else if says(&DENIED) {
        GitError::Denied(text)
    } else if says(&GONE) {
        GitError::Gone(text)
    } else if says(&NETWORK) {
        GitError::Transient(text)
    } else {
        GitError::Failed {
            command: command.to_owned(),
            code: output.code,
            stderr: text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REF: &str = "refs/heads/autobuild/7/task-001-x";

    #[test]
    fn porcelain_lines_are_read_by_flag_and_reason() {
        let line = |flag: &str, summary: &str| {
            answer(
                &format!("To https://x/y.git\n{flag}\tabc:{REF}\t{summary}\nDone\n"),
                REF,
            )
        };
        assert_eq!(line("*", "[new branch]"), Some(Answer::Done));
        assert_eq!(line(" ", "1..2"), Some(Answer::Done));
        assert_eq!(line("+", "1...2 (forced update)"), Some(Answer::Done));
        assert_eq!(line("-", "[deleted]"), Some(Answer::Done));
        assert_eq!(line("=", "[up to date]"), Some(Answer::UpToDate));
        assert_eq!(line("!", "[rejected] (stale info)"), Some(Answer::Moved));
        assert_eq!(
            line("!", "[remote rejected] (cannot lock ref 'x': is at 1 but expected 2)"),
            Some(Answer::Moved)
        );
        let refused = "[remote rejected] (protected branch hook declined)";
        assert_eq!(line("!", refused), Some(Answer::Refused(refused.to_owned())));
        assert_eq!(answer("To x\nDone\n", REF), None);
    }

    #[test]
    fn remote_failures_are_sorted_by_what_to_do_next() {
        let sorted = |stderr: &str| {
            let output = GitOutput {
                code: 128,
                stdout: Vec::new(),
                truncated: false,
                stderr: stderr.to_owned(),
            };
            remote_failure("fetch", &output)
        };
        assert!(matches!(
            sorted("fatal: unable to access: The requested URL returned error: 503"),
            GitError::Transient(_)
        ));
        assert!(matches!(
            sorted("fatal: unable to access: The requested URL returned error: 403"),
            GitError::Denied(_)
        ));
        assert!(matches!(
            sorted("fatal: could not read Username for 'https://x'"),
            GitError::Denied(_)
        ));
        assert!(matches!(
            sorted("fatal: repository 'https://x/' not found"),
            GitError::Gone(_)
        ));
        assert!(matches!(
            sorted("fatal: unable to access: Failed to connect to x port 1"),
            GitError::Transient(_)
        ));
        assert!(matches!(sorted("fatal: bad object"), GitError::Failed { .. }));
        match sorted("fatal: couldn't find remote ref refs/heads/nope") {
            GitError::Missing(name) => assert_eq!(name, "nope"),
            other => panic!("{other:?}"),
        }
    }
}
