//! Acts that need more rights: merging, pushing, repository maintenance.

use crate::{
    acts::MergeOrder,
    control::people::{ADMIN, Done, EVERYONE, Person, WRITE},
};

impl Person<'_> {
    /// Merges by `merge`, `squash` or `rebase`. Returns the resulting commit.
    pub async fn merge(&self, repo: &str, number: u64, method: &str) -> Done<String> {
        let at = self.enter(repo, WRITE)?;
        let order = MergeOrder { method: Some(method.to_owned()), ..MergeOrder::default() };
        let _whole = self.forge.site.whole().await;
        Ok(self.forge.site.merge(at, number, &order).await?)
    }

    /// Commits whole files (`None` removes one) to a branch and pushes. A new branch starts at the default branch.
    /// Returns the commit.
    pub async fn push(&self, repo: &str, branch: &str, message: &str, files: &[(&str, Option<&str>)]) -> Done<String> {
        let at = self.enter(repo, WRITE)?;
        let bytes = |text: &str| text.as_bytes().to_vec();
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.map(bytes)));
        let files = files.collect();
        Ok(self.forge.site.commit_files(at, branch, message, &files).await?)
    }

    /// Points a branch, new or not, at a commit.
    pub async fn set_branch(&self, repo: &str, branch: &str, to: &str) -> Done {
        let at = self.enter(repo, WRITE)?;
        let _whole = self.forge.site.whole().await;
        Ok(self.forge.site.set_branch(at, branch, Some(to)).await?)
    }

    /// Removes a branch.
    pub async fn delete_branch(&self, repo: &str, branch: &str) -> Done {
        let at = self.enter(repo, WRITE)?;
        Ok(self.forge.site.set_branch(at, branch, None).await?)
    }

    /// Renames a repository.
    pub fn rename_repo(&self, repo: &str, name: &str) -> Done {
        self.act(repo, ADMIN, |state, at| state.rename_repo(at, name))
    }

    /// Gives a repository to another account, whose installations cover it from then on.
    pub fn transfer_repo(&self, repo: &str, to: &str) -> Done {
        let to = self.forge.user_id(to)?;
        self.act(repo, ADMIN, |state, at| state.transfer_repo(at, to))
    }

    /// Makes a repository read-only.
    pub fn archive_repo(&self, repo: &str) -> Done {
        self.act(repo, ADMIN, |state, at| state.set_archived(at, true))
    }

    /// Makes an archived repository writable again.
    pub fn unarchive_repo(&self, repo: &str) -> Done {
        self.act(repo, ADMIN, |state, at| state.set_archived(at, false))
    }

    /// Makes a repository private.
    pub fn make_private(&self, repo: &str) -> Done {
        self.act(repo, ADMIN, |state, at| state.make_private(at))
    }

    /// Removes a repository.
    pub fn delete_repo(&self, repo: &str) -> Done {
        self.act(repo, ADMIN, |state, at| state.delete_repo(at))
    }

    /// Clicks _Re-run all checks_ on a commit: every App that reported a check there receives the request.
    pub fn rerun_checks(&self, repo: &str, sha: &str) -> Done {
        self.act(repo, WRITE, |state, at| {
            let repo = state.repo(at.repo)?;
            let suites = repo.suites.values().filter(|suite| suite.head_sha == sha);
            let with_runs = suites.filter(|suite| repo.runs_of(suite.id).next().is_some());
            let ids: Vec<u64> = with_runs.map(|suite| suite.id).collect();
            ids.into_iter().try_for_each(|id| state.rerequest_suite(at, id))
        })
    }

    /// Clicks a check run's button: `Re-run` (`None`), or one that its App offers, by identifier. Everybody who sees
    /// the repository may click the App's buttons: the App decides who may use them.
    pub fn click_check(&self, repo: &str, check_run: u64, button: Option<&str>) -> Done {
        let right = if button.is_some() { EVERYONE } else { WRITE };
        self.act(repo, right, |state, at| state.click_check(at, check_run, button))
    }
}
