//! Pushes one ref with a lease, and reads the remote's answer.

use crate::{
    error::GitError,
    failure::remote_failure,
    mirror::Mirror,
    names::BranchName,
    process::{GitCall, GitOutput},
    remote::Remote,
};
use domain::ids::Sha;
use std::path::Path;

/// The state that the remote's branch must have for a push to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lease {
    /// The branch must not exist yet.
    Absent,
    /// The branch must be at this commit.
    At(Sha),
}

/// The result of a push that left the branch as wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch was moved, made or deleted.
    Done,
    /// The branch was in the wanted state already.
    AlreadyThere,
}

/// Why a push failed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The branch is not where the lease expects it.
    #[error("the branch moved: it is at {}", .actual.as_ref().map_or("no commit", Sha::short))]
    LeaseLost {
        /// The branch's current commit; `None` if the branch does not exist.
        actual: Option<Sha>,
    },
    /// The remote refused this push because of a rule or a hook.
    #[error("the remote refused the push: {reason}")]
    Rejected {
        /// The remote's message.
        reason: String,
    },
    /// Any other error. After [`GitError::Transient`] and [`GitError::TimedOut`] the push may have succeeded, so check
    /// before another try.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl Mirror {
    /// Moves `branch` on the remote to `sha`, by fast-forward or by force, if the branch is where `lease` says.
    pub async fn push(
        &self,
        remote: &Remote,
        branch: &BranchName,
        sha: &Sha,
        lease: &Lease,
    ) -> Result<PushOutcome, PushError> {
        self.push_refspec(remote, branch, &format!("{sha}:{}", branch.full()), lease).await
    }

    /// Deletes `branch` on the remote if it is at `at`. If the branch does not exist, the result is `AlreadyThere`.
    pub async fn delete_branch(
        &self,
        remote: &Remote,
        branch: &BranchName,
        at: &Sha,
    ) -> Result<PushOutcome, PushError> {
        let refspec = format!(":{}", branch.full());
        let deleted = self.push_refspec(remote, branch, &refspec, &Lease::At(at.clone())).await;
        match deleted {
            Err(PushError::LeaseLost { actual: None }) => Ok(PushOutcome::AlreadyThere),
            other => other,
        }
    }

    async fn push_refspec(
        &self,
        remote: &Remote,
        branch: &BranchName,
        refspec: &str,
        lease: &Lease,
    ) -> Result<PushOutcome, PushError> {
        self.ready()?;
        let expected = match lease {
            Lease::Absent => "",
            Lease::At(sha) => sha.as_str(),
        };
        let call = pushing(&self.dir, remote).arg(format!("--force-with-lease={}:{expected}", branch.full()));
        let output = call.arg("--").arg(remote.url()).arg(refspec).run().await?;
        match answer(&String::from_utf8_lossy(&output.stdout), &branch.full()) {
            Some(Answer::Done) if output.code == 0 => Ok(PushOutcome::Done),
            Some(Answer::UpToDate) if output.code == 0 => Ok(PushOutcome::AlreadyThere),
            Some(Answer::Done | Answer::UpToDate) | None => Err(remote_failure("push", &output, remote.url()).into()),
            // If the answer is lost, git sends the push again and reports the refusal of the second one. The branch
            // itself shows if the first one succeeded.
            Some(Answer::No(summary)) => {
                let actual = self.remote_tip(remote, branch).await?;
                if actual.as_ref().map_or("", Sha::as_str) == expected {
                    Err(of_refusal(&summary, &output, branch))
                } else {
                    Err(PushError::LeaseLost { actual })
                }
            }
        }
    }
}

/// Starts a `push` call; the caller adds the remote's URL and the refspecs.
pub(crate) fn pushing(dir: &Path, remote: &Remote) -> GitCall {
    GitCall::new(dir, "push").talking_to(remote).args([
        "--porcelain",
        "--no-progress",
        "--no-verify",
        "--atomic",
        "--no-follow-tags",
    ])
}

/// Returns the error if the remote refused to move `full_ref`.
pub(crate) fn refused(output: &GitOutput, full_ref: &str, branch: &BranchName) -> Option<PushError> {
    match answer(&String::from_utf8_lossy(&output.stdout), full_ref) {
        Some(Answer::No(summary)) => Some(of_refusal(&summary, output, branch)),
        Some(Answer::Done | Answer::UpToDate) | None => None,
    }
}

/// The `--porcelain` line about one ref.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Done,
    UpToDate,
    /// The ref was not moved. The text is a message of our git or of the remote.
    No(String),
}

/// Reads the line `<flag> TAB <from>:<to> TAB <summary>` about `full_ref`.
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
        "!" => Answer::No(summary),
        _ => Answer::Done,
    })
}

/// Signs of a deliberate refusal in the remote's message: a rule, a hook, a missing right, an impossible name, or an
/// object that it does not accept. Another try does not help.
const REFUSES: [&str; 12] = [
    "hook declined",
    "push declined",
    "rule violations",
    "refusing to",
    "protected branch",
    "prohibited",
    "directory file conflict",
    "exists; cannot create",
    "not allowed",
    "shallow update",
    "fsck error",
    "funny refname",
];

/// Signs of a temporary failure in the remote's message.
const HICCUPS: [&str; 5] = ["internal server error", "timed out", "timeout", "no space left", "temporarily"];

/// Classifies a refused push whose branch is where the lease expects it. Only a deliberate refusal is
/// [`PushError::Rejected`]. Everything else may pass: a full disk, locks, `failed to update ref`, `unpacker error`, a
/// missing report, unknown messages. The branch's name is ignored, since it may contain such words.
fn of_refusal(summary: &str, output: &GitOutput, branch: &BranchName) -> PushError {
    let said = with_remote_lines(summary, output);
    let lower = said.replace(branch.as_str(), "").to_lowercase();
    let says = |signs: &[&str]| signs.iter().any(|sign| lower.contains(sign));
    let names_rule = numbered(&said) || (says(&REFUSES) && !says(&HICCUPS));
    if names_rule { PushError::Rejected { reason: said } } else { GitError::Transient(said).into() }
}

/// `true` if the message names a GitHub rule by its number, such as `GH013`.
fn numbered(said: &str) -> bool {
    let digits = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() == 3;
    said.match_indices("GH").any(|(at, sign)| said.get(at + sign.len()..).is_some_and(digits))
}

/// Returns the summary with the lines that the remote's hooks or rules printed, which name the rule.
fn with_remote_lines(summary: &str, output: &GitOutput) -> String {
    let said = output.stderr.lines().filter_map(|line| line.strip_prefix("remote:"));
    let lines: Vec<&str> =
        std::iter::once(summary).chain(said).map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n").chars().take(4_000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REF: &str = "refs/heads/autobuild/7/task-001-x";

    #[test]
    fn porcelain_lines_are_read_by_flag_and_reason() {
        let line = |flag: &str, summary: &str| {
            answer(&format!("To https://x/y.git\n{flag}\tabc:{REF}\t{summary}\nDone\n"), REF)
        };
        assert_eq!(line("*", "[new branch]"), Some(Answer::Done));
        assert_eq!(line(" ", "1..2"), Some(Answer::Done));
        assert_eq!(line("+", "1...2 (forced update)"), Some(Answer::Done));
        assert_eq!(line("-", "[deleted]"), Some(Answer::Done));
        assert_eq!(line("=", "[up to date]"), Some(Answer::UpToDate));
        let refused = "[remote rejected] (protected branch hook declined)";
        assert_eq!(line("!", refused), Some(Answer::No(refused.to_owned())));
        assert_eq!(answer("To x\nDone\n", REF), None);
    }

    /// The reasons after `[remote rejected]`, with the lines that the remote prints beside them.
    const RULES: &[(&str, &str)] = &[
        ("(protected branch hook declined)", "error: GH006: Protected branch update failed for refs/heads/x."),
        ("(push declined due to repository rule violations)", "error: GH013: Repository rule violations found"),
        ("(push declined due to email privacy restrictions)", "error: GH007: Your push would publish a private email"),
        ("(pre-receive hook declined)", "error: GH001: Large files detected."),
        ("(pre-receive hook declined)", "no pushes to refs/heads/autobuild/7/task-001-timeout"),
        ("(pre-receive hook declined)", "always_reject.sh: failed with exit status 1"),
        (
            "(refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without \
                 `workflows` permission)",
            "",
        ),
        ("(deletion prohibited)", ""),
        ("(directory file conflict)", ""),
        (
            "(failed)",
            "error: object 7e79ae8: duplicateEntries: contains duplicate file entries\nfatal: fsck error in packed object",
        ),
    ];

    const HICCUPS: &[(&str, &str)] = &[
        ("[remote failure] (remote failed to report status)", "Internal Server Error"),
        ("[remote rejected] (Internal Server Error)", ""),
        ("[remote rejected] (unpacker error)", "fatal: write error: No space left on device"),
        ("[remote rejected] (n/a (unpacker error))", ""),
        ("[remote rejected] (failed to update ref)", ""),
        ("[remote rejected] (cannot lock ref 'refs/heads/x': Unable to create 'x.lock': File exists.)", ""),
        ("[remote rejected] (unable to migrate objects to permanent storage)", ""),
        ("[remote rejected] (pre-receive hook declined)", "the hook timed out"),
        ("[remote rejected] (failure)", ""),
        ("[remote rejected] (something new)", ""),
    ];

    #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
    fn is_rule(summary: &str, remote: &str) -> bool {
        let output = GitOutput {
            code: 1,
            stdout: Vec::new(),
            truncated: false,
            stderr: remote.lines().map(|line| format!("remote: {line}\n")).collect(),
        };
        match of_refusal(summary, &output, &"autobuild/7/task-001-timeout".parse().unwrap()) {
            PushError::Rejected { .. } => true,
            PushError::Git(GitError::Transient(_)) => false,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_rule_is_told_from_a_hiccup() {
        for (reason, remote) in RULES {
            let summary = format!("[remote rejected] {reason}");
            assert!(is_rule(&summary, remote), "{summary} {remote}");
        }
        for (summary, remote) in HICCUPS {
            assert!(!is_rule(summary, remote), "{summary} {remote}");
        }
    }
}
