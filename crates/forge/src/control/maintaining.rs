//! What people with more rights do: merging, pushing, looking after the repository.

use super::{
    super::acts::MergeOrder,
    people::{ADMIN, Done, EVERYONE, WRITE},
};
use crate::control::people::Person;
use std::collections::BTreeMap;

impl Person<'_> {
    /// Merges by `merge`, `squash` or `rebase`; gives the resulting commit.
    pub async fn merge(&self, repo: &str, number: u64, method: &str) -> Done<String> {
        let (id, by) = self.enter(repo, WRITE)?;
        let order = MergeOrder {
            method: Some(method.to_owned()),
            ..MergeOrder::default()
        };
        Ok(self.forge.site.merge(by, id, number, &order).await?)
    }

    /// Commits whole files (none: removed) on a branch's head and pushes; a new branch starts at the default branch.
    pub async fn push(&self, repo: &str, branch: &str, message: &str, files: &[(&str, Option<&str>)]) -> Done<String> {
        self.commit(repo, branch, None, message, files).await
    }

    /// Commits on `parent` and forces the branch there.
    pub async fn force_push(
        &self,
        repo: &str,
        branch: &str,
        parent: &str,
        message: &str,
        files: &[(&str, Option<&str>)],
    ) -> Done<String> {
        self.commit(repo, branch, Some(parent), message, files).await
    }

    async fn commit(
        &self,
        repo: &str,
        branch: &str,
        parent: Option<&str>,
        message: &str,
        files: &[(&str, Option<&str>)],
    ) -> Done<String> {
        let (id, by) = self.enter(repo, WRITE)?;
        let files: BTreeMap<String, Option<Vec<u8>>> = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.map(|text| text.as_bytes().to_vec())))
            .collect();
        Ok(self
            .forge
            .site
            .commit_files(by, id, branch, parent, message, &files)
            .await?)
    }

    /// Points a branch, new or not, at a commit.
    pub async fn set_branch(&self, repo: &str, branch: &str, to: &str) -> Done {
        let (id, by) = self.enter(repo, WRITE)?;
        Ok(self.forge.site.set_branch(by, id, branch, Some(to)).await?)
    }

    /// Removes a branch.
    pub async fn delete_branch(&self, repo: &str, branch: &str) -> Done {
        let (id, by) = self.enter(repo, WRITE)?;
        Ok(self.forge.site.set_branch(by, id, branch, None).await?)
    }

    /// Gives a repository another name.
    pub fn rename_repo(&self, repo: &str, name: &str) -> Done {
        self.act(repo, ADMIN, |state, by, repo| state.rename_repo(by, repo, name))
    }

    /// Hands a repository to another account.
    pub fn transfer_repo(&self, repo: &str, to: &str) -> Done {
        let to = self.forge.user_id(to)?;
        self.act(repo, ADMIN, |state, by, repo| state.transfer_repo(by, repo, to))
    }

    /// Makes a repository read-only.
    pub fn archive_repo(&self, repo: &str) -> Done {
        self.act(repo, ADMIN, |state, by, repo| state.archive_repo(by, repo, true))
    }

    /// Makes an archived repository writable again.
    pub fn unarchive_repo(&self, repo: &str) -> Done {
        self.act(repo, ADMIN, |state, by, repo| state.archive_repo(by, repo, false))
    }

    /// Hides a repository from all but its collaborators, or shows it.
    pub fn set_private(&self, repo: &str, private: bool) -> Done {
        self.act(repo, ADMIN, |state, by, repo| state.set_private(by, repo, private))
    }

    /// Removes a repository.
    pub fn delete_repo(&self, repo: &str) -> Done {
        self.act(repo, ADMIN, |state, by, repo| state.delete_repo(by, repo))
    }

    /// Clicks _Re-run all checks_ of a commit: every App that reported one is told.
    pub fn rerun_checks(&self, repo: &str, sha: &str) -> Done {
        self.act(repo, WRITE, |state, by, repo| {
            let known = state.repo(repo)?;
            let with_runs = known.suites.values().filter(|suite| suite.head_sha == sha);
            let ids: Vec<u64> = with_runs
                .filter(|suite| known.runs_of(suite.id).next().is_some())
                .map(|suite| suite.id)
                .collect();
            ids.into_iter().try_for_each(|id| state.rerequest_suite(by, repo, id))
        })
    }

    /// Clicks a check run's button: `Re-run` (none), or one that its App offers, by identifier. Whoever sees the
    /// repository may click the latter: what it does is for the App to allow.
    pub fn click_check(&self, repo: &str, check_run: u64, button: Option<&str>) -> Done {
        let right = if button.is_some() { EVERYONE } else { WRITE };
        self.act(repo, right, |state, by, repo| {
            state.click_check(by, repo, check_run, button)
        })
    }
}
