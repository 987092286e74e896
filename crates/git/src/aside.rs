//! Commits on no branch: pushes them to refs of the remote that trigger no CI, and fetches them by their id.

use crate::{
    error::GitError,
    failure::remote_failure,
    mirror::{Mirror, held_ref},
    names::BranchName,
    push::{PushError, pushing, refused},
    remote::Remote,
};
use domain::ids::Sha;

/// The prefix of the remote's refs for commits that are on no branch yet.
const ASIDE: &str = "refs/autobuild/";

impl Mirror {
    /// Returns the commits in the history of `head` that no branch had at the last fetch. Each comes after its parents.
    /// At most `cap`.
    pub async fn on_no_branch(&self, head: &Sha, cap: usize) -> Result<Vec<Sha>, GitError> {
        let not_pushed = ["--topo-order", head.as_str(), "--not", "--branches"];
        let mut commits = self.rev_list(&not_pushed, cap).await?;
        commits.reverse();
        Ok(commits)
    }

    /// Pushes `sha` with its history to the remote, under a ref that is named after `branch` but is no branch.
    pub async fn push_aside(&self, remote: &Remote, branch: &BranchName, sha: &Sha) -> Result<(), PushError> {
        self.push_plainly(remote, branch, &format!("+{sha}:{ASIDE}{branch}")).await
    }

    /// Removes the ref that [`Mirror::push_aside`] made.
    pub async fn remove_aside(&self, remote: &Remote, branch: &BranchName) -> Result<(), PushError> {
        self.push_plainly(remote, branch, &format!(":{ASIDE}{branch}")).await
    }

    async fn push_plainly(&self, remote: &Remote, branch: &BranchName, refspec: &str) -> Result<(), PushError> {
        self.ready()?;
        let call = pushing(&self.dir, remote);
        let output = call.arg("--").arg(remote.url()).arg(refspec).run().await?;
        match output.code {
            0 => Ok(()),
            _ => Err(refused(&output, &format!("{ASIDE}{branch}"), branch)
                .unwrap_or_else(|| remote_failure("push", &output, remote.url()).into())),
        }
    }

    /// Returns the branches below `folder`, such as `autobuild/7/*`, that have a commit aside on the remote.
    pub async fn list_aside(&self, remote: &Remote, folder: &str) -> Result<Vec<String>, GitError> {
        let found = self.list_refs(remote, ASIDE, &[folder]).await?;
        Ok(found.into_keys().collect())
    }

    /// Fetches one commit by its id, and keeps it in the mirror under the held ref `id`.
    pub async fn take(&self, remote: &Remote, sha: &Sha, id: &str) -> Result<(), GitError> {
        let held = held_ref(id)?;
        self.ready()?;
        let _writing = self.writing.lock().await;
        let call = self.fetching(remote).arg("--").arg(remote.url());
        let output = call.arg(format!("+{sha}:{held}")).run().await?;
        match output.code {
            0 => Ok(()),
            _ => Err(remote_failure("fetch", &output, remote.url())),
        }
    }
}
