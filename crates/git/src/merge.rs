//! Merges two commits in the mirror, without a working copy.

use crate::{
    commit::CommitRequest, error::GitError, failure::local_failure, mirror::Mirror, names::RepoPath, process::GitCall,
};
use domain::ids::Sha;
use std::collections::BTreeSet;

/// The result of merging `theirs` into `ours`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// `ours` already contains `theirs`.
    AlreadyUpToDate,
    /// `theirs` contains `ours`, so moving the branch is enough.
    FastForward,
    /// They merge without a conflict.
    Clean {
        /// The merged tree, for [`Mirror::commit_merge`].
        tree: Sha,
    },
    /// They conflict.
    Conflict {
        /// The tree with conflict markers.
        tree: Sha,
        files: Vec<RepoPath>,
    },
    /// They have no common ancestor.
    Unrelated,
}

impl Mirror {
    /// Merges `theirs` into `ours`, without making a commit or moving a branch.
    pub async fn merge(&self, ours: &Sha, theirs: &Sha) -> Result<MergeOutcome, GitError> {
        match self.merge_base(ours, theirs).await? {
            None => return Ok(MergeOutcome::Unrelated),
            Some(base) if base == *theirs => return Ok(MergeOutcome::AlreadyUpToDate),
            Some(base) if base == *ours => return Ok(MergeOutcome::FastForward),
            Some(_) => {}
        }
        let call = GitCall::new(&self.dir, "merge-tree").args(["--write-tree", "-z", "--no-messages"]);
        let call = call.args(["--end-of-options", ours.as_str(), theirs.as_str()]);
        let output = call.run().await?;
        if output.truncated || !matches!(output.code, 0 | 1) {
            return Err(local_failure("merge-tree", &output));
        }
        let mut fields = output.stdout.split(|byte| *byte == 0).filter(|field| !field.is_empty());
        let tree = fields.next().and_then(|field| std::str::from_utf8(field).ok()?.trim().parse().ok());
        let tree = tree.ok_or_else(|| GitError::unexpected("merge-tree", "no tree"))?;
        if output.code == 0 {
            return Ok(MergeOutcome::Clean { tree });
        }
        // Each conflict is `<mode> <object> <stage> TAB <path>`, up to three times for one file.
        let path = |field: &[u8]| field.splitn(2, |byte| *byte == b'\t').nth(1).map(RepoPath::new);
        let files: BTreeSet<RepoPath> = fields.filter_map(path).collect();
        Ok(MergeOutcome::Conflict { tree, files: files.into_iter().collect() })
    }

    /// Makes a commit of `tree` with the request's parents in the mirror.
    pub async fn commit_merge(&self, tree: &Sha, request: &CommitRequest) -> Result<Sha, GitError> {
        self.ready()?;
        let seconds = request.at.0.div_euclid(1_000);
        let date = format!("@{seconds} +0000");
        let mut call = GitCall::new(&self.dir, "commit-tree").arg(tree.as_str());
        for parent in &request.parents {
            call = call.args(["-p", parent.as_str()]);
        }
        for (prefix, value) in [("NAME", &request.author.name), ("EMAIL", &request.author.email), ("DATE", &date)] {
            call = call.env(&format!("GIT_AUTHOR_{prefix}"), value).env(&format!("GIT_COMMITTER_{prefix}"), value);
        }
        let call = call.args(["-F", "-"]).stdin(request.full_message().into_bytes());
        let made = call.ok().await?.text();
        made.parse().map_err(|_| GitError::unexpected("commit-tree", made))
    }
}
