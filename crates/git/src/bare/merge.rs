//! Merging without a work tree: merge commits, squashes, rebases.

use super::{BareError, BareRepo, Ident, process::finish};

/// The result of merging two commits, or of replaying commits on another base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BareMerge {
    /// There is no conflict. Holds the id of the merged tree, or of the new head.
    Clean(String),
    /// They conflict; the files in conflict.
    Conflict(Vec<String>),
}

impl BareRepo {
    /// Merges two commits. With `base`, applies to `ours` the changes from `base` to `theirs`.
    pub async fn merge_tree(&self, base: Option<&str>, ours: &str, theirs: &str) -> Result<BareMerge, BareError> {
        let base = base.map(|base| format!("--merge-base={base}"));
        let mut args =
            vec!["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--allow-unrelated-histories"];
        if let Some(base) = base.as_deref() {
            args.push(base);
        }
        args.extend(["--end-of-options", ours, theirs]);
        let done = finish(self.command(&args), b"").await?;
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        let mut parts = out.split('\0').filter(|part| !part.is_empty()).map(str::to_owned);
        match (done.code, parts.next()) {
            (Some(0), Some(tree)) => Ok(BareMerge::Clean(tree)),
            (Some(1), Some(_)) => Ok(BareMerge::Conflict(parts.collect())),
            (Some(0 | 1), None) => Err(BareError::Unreadable("merge-tree")),
            _ => Err(done.failure("merge-tree")),
        }
    }

    /// Makes a commit of `tree` and returns its id.
    pub async fn commit_tree(
        &self,
        tree: &str,
        parents: &[&str],
        author: &Ident,
        committer: &Ident,
        message: &str,
    ) -> Result<String, BareError> {
        let mut args = vec!["commit-tree", "-F", "-"];
        for parent in parents {
            args.extend(["-p", parent]);
        }
        args.push(tree);
        let mut command = self.command(&args);
        for (role, who) in [("AUTHOR", author), ("COMMITTER", committer)] {
            command.env(format!("GIT_{role}_NAME"), &who.name);
            command.env(format!("GIT_{role}_EMAIL"), &who.email);
            command.env(format!("GIT_{role}_DATE"), format!("@{} +0000", who.seconds));
        }
        let done = finish(command, message.as_bytes()).await?;
        match done.code {
            Some(0) => Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned()),
            _ => Err(done.failure("commit-tree")),
        }
    }

    /// Makes a copy of the commit with a signature in its header, and returns its id.
    pub async fn sign(&self, commit: &str, signature: &str) -> Result<String, BareError> {
        let plain = self.run(&["cat-file", "commit", commit], b"").await?;
        let text = String::from_utf8_lossy(&plain);
        let (header, message) = text.split_once("\n\n").ok_or(BareError::Unreadable("cat-file"))?;
        let signed = format!("{header}\ngpgsig {}\n\n{message}", signature.replace('\n', "\n "));
        let made = self.run(&["hash-object", "-t", "commit", "-w", "--stdin"], signed.as_bytes()).await?;
        Ok(String::from_utf8_lossy(&made).trim().to_owned())
    }

    /// Replays the commits of `head` that `onto` does not have on top of `onto`. Merge commits are left out.
    pub async fn replay(&self, onto: &str, head: &str, committer: &Ident) -> Result<BareMerge, BareError> {
        let mut tip = onto.to_owned();
        for commit in self.commits(Some(onto), head, 1000).await? {
            let [parent] = commit.parents.as_slice() else {
                continue;
            };
            match self.merge_tree(Some(parent), &tip, &commit.sha).await? {
                conflict @ BareMerge::Conflict(_) => return Ok(conflict),
                BareMerge::Clean(tree) => {
                    let author = Ident::new(&commit.author_name, &commit.author_email, commit.authored);
                    tip = self.commit_tree(&tree, &[&tip], &author, committer, &commit.message).await?;
                }
            }
        }
        Ok(BareMerge::Clean(tip))
    }
}
