//! Opening and changing pull requests.

use super::super::{
    hooks::Occasion,
    json,
    refusal::Refusal,
    site::Site,
    state::{Actor, Pull, Repo, Size, State},
};
use crate::acts::limits::{check_body, check_writable};
use git::bare::Comparison;
use serde_json::json;

/// A pull request to be opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewPull {
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    /// `branch` or `owner:branch`.
    pub(crate) head: String,
    pub(crate) base: String,
    pub(crate) draft: bool,
}

/// How much a comparison changes.
pub(super) fn size(seen: &Comparison) -> Size {
    Size {
        commits: seen.ahead,
        additions: seen.files.iter().map(|file| file.additions).sum(),
        deletions: seen.files.iter().map(|file| file.deletions).sum(),
        files: seen.files.len(),
    }
}

pub(super) fn tip(repo: &Repo, branch: &str, field: &str) -> Result<String, Refusal> {
    let known = repo.branches.get(branch).cloned();
    known.ok_or_else(|| Refusal::invalid("PullRequest", field, "invalid"))
}

fn pull_error(sentence: String) -> Refusal {
    let mut refusal = Refusal::new(422, "Validation Failed");
    refusal.errors = vec![json!({"resource": "PullRequest", "code": "custom", "message": sentence})];
    refusal
}

impl State {
    /// The branch meant by `branch` or `owner:branch`, which must be of this repository.
    fn head_branch(&self, repo: &Repo, head: &str) -> Result<String, Refusal> {
        match head.split_once(':') {
            Some((owner, branch)) if owner.eq_ignore_ascii_case(self.login(repo.owner)) => Ok(branch.to_owned()),
            Some(_) => Err(Refusal::invalid("PullRequest", "head", "invalid")),
            None => Ok(head.to_owned()),
        }
    }

    /// Head branch, head and base commit of a pull request that may be opened.
    fn ends_of(&self, repo: u64, new: &NewPull) -> Result<(String, String, String), Refusal> {
        let known = self.repo(repo)?;
        check_writable(known)?;
        if new.draft && !known.settings.drafts {
            return Err(Refusal::new(
                422,
                "Draft pull requests are not supported in this repository.",
            ));
        }
        let base_sha = tip(known, &new.base, "base")?;
        let head = self.head_branch(known, &new.head)?;
        let head_sha = tip(known, &head, "head")?;
        if self.open_pull_of(known, &head, &new.base) {
            let owner = self.login(known.owner);
            return Err(pull_error(format!("A pull request already exists for {owner}:{head}.")));
        }
        Ok((head, head_sha, base_sha))
    }

    pub(super) fn open_pull_of(&self, repo: &Repo, head: &str, base: &str) -> bool {
        let mut pulls = repo
            .issues
            .values()
            .filter(|issue| issue.open)
            .filter_map(|issue| issue.pull.as_ref());
        pulls.any(|pull| pull.head == head && pull.base == base)
    }
}

impl Site {
    /// Opens a pull request between two branches of a repository; gives its number.
    pub(crate) async fn open_pull(&self, by: Actor, repo: u64, new: &NewPull) -> Result<u64, Refusal> {
        check_body("PullRequest", "body", new.body.as_deref().unwrap_or_default())?;
        if new.title.trim().is_empty() {
            return Err(Refusal::invalid("PullRequest", "title", "missing_field"));
        }
        let _gate = self.gate(repo).await;
        let (head, head_sha, base_sha) = self.read(|state| state.ends_of(repo, new))?;
        let seen = self.comparison(repo, &base_sha, &head_sha).await?;
        if seen.ahead == 0 {
            return Err(pull_error(format!("No commits between {} and {head}", new.base)));
        }
        if seen.merge_base.is_none() {
            let sentence = format!("The {head} branch has no history in common with {}", new.base);
            return Err(pull_error(sentence));
        }
        let size = size(&seen);
        let number = self.change(|state| {
            let number = state.new_issue(by, repo, &new.title, new.body.as_deref())?;
            let id = state.next_id();
            state.issue_mut(repo, number)?.pull = Some(Pull {
                id,
                head,
                head_sha: head_sha.clone(),
                base: new.base.clone(),
                base_sha,
                draft: new.draft,
                merged: None,
                reviews: Vec::new(),
                threads: Vec::new(),
                requested: Vec::new(),
                size,
            });
            state.issue_event(by, repo, number, "opened", json!({}))?;
            state.tell_issue(by, repo, number, "opened", &new.title);
            Ok::<_, Refusal>(number)
        })?;
        self.keep_pull_head(repo, number, &head_sha).await?;
        Ok(number)
    }

    /// Keeps a pull request's head reachable, whatever becomes of its branch.
    pub(super) async fn keep_pull_head(&self, repo: u64, number: u64, head: &str) -> Result<(), Refusal> {
        Ok(self
            .bare(repo)
            .update_ref(&format!("refs/pull/{number}/head"), head, None)
            .await?)
    }
}

impl State {
    /// Tells Apps of an event of a pull request that carries more than the pull request.
    pub(super) fn pull_event(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        event: &str,
        action: &str,
        more: serde_json::Value,
    ) -> Result<(), Refusal> {
        let known = self.repo(repo)?;
        let (issue, pull) = self.pull(repo, number)?;
        let mut fields = json!({"pull_request": json::pull(self, known, issue, pull, None)});
        json::extend(&mut fields, more);
        self.emit(&Occasion::of_repo(event, Some(action), repo, by.user, fields));
        Ok(())
    }
}
