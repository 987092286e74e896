//! Remakes commits with other messages. Everything else of them stays.

use crate::{error::GitError, mirror::Mirror, process::GitCall, read::CommitInfo};
use domain::ids::Sha;
use std::collections::BTreeMap;

/// The most commits that are remade at once.
const MOST: usize = 10_000;

impl Mirror {
    /// Returns the commits of `head` that `base` does not contain, merged ones too. Each comes after its parents.
    pub async fn lacking(&self, base: &Sha, head: &Sha) -> Result<Vec<Sha>, GitError> {
        let not_in_base = ["--topo-order", "--end-of-options", head.as_str(), &format!("^{base}")];
        let mut commits = self.rev_list(&not_in_base, MOST).await?;
        commits.reverse();
        Ok(commits)
    }

    /// Remakes each of `commits` for which `message` returns another message, and each that builds on a remade one.
    /// Trees, authors and times stay; signatures are dropped. `commits` come after their parents. The same input gives
    /// the same commits again. Returns the new id of each remade commit.
    pub async fn reworded(
        &self,
        commits: &[Sha],
        message: impl Fn(&CommitInfo) -> Option<String>,
    ) -> Result<BTreeMap<Sha, Sha>, GitError> {
        let mut remade: BTreeMap<Sha, Sha> = BTreeMap::new();
        for commit in commits {
            let Some(info) = self.commit_info(commit).await? else {
                return Err(GitError::unexpected("cat-file", commit.to_string()));
            };
            let new = message(&info).filter(|new| *new != info.message);
            if new.is_none() && !info.parents.iter().any(|parent| remade.contains_key(parent)) {
                continue;
            }
            let stored = self.ask(&["cat-file", "commit", commit.as_str()], None).await?.text();
            let object = object(&stored, &remade, new.as_deref().unwrap_or(&info.message));
            let call = GitCall::new(self.dir(), "hash-object").args(["-t", "commit", "-w", "--stdin"]);
            let made = call.stdin(object.into_bytes()).ok().await?.text();
            let made = made.parse().map_err(|_| GitError::unexpected("hash-object", made))?;
            remade.insert(commit.clone(), made);
        }
        Ok(remade)
    }
}

/// Returns a commit object with other parents and another message. Its text is UTF-8 by now, and a signature would not
/// hold any more.
fn object(stored: &str, parents: &BTreeMap<Sha, Sha>, message: &str) -> String {
    let head = stored.split_once("\n\n").map_or(stored, |(head, _)| head);
    let mut lines = String::new();
    let mut is_dropped = false;
    for line in head.lines() {
        // A line that begins with a space continues the one before.
        is_dropped = if line.starts_with(' ') {
            is_dropped
        } else {
            ["gpgsig", "encoding "].iter().any(|name| line.starts_with(name))
        };
        if is_dropped {
            continue;
        }
        let parent = line.strip_prefix("parent ").and_then(|sha| parents.get(&sha.parse().ok()?));
        match parent {
            Some(parent) => lines.push_str(&format!("parent {parent}\n")),
            None => lines.push_str(&format!("{line}\n")),
        }
    }
    format!("{lines}\n{message}")
}
