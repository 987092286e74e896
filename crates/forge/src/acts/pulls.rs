//! Opens and changes pull requests: title, state, base, head, draft.

use crate::{
    acts::{issues::IssueChange, limits::check_body},
    feed::FeedEvent,
    json,
    refusal::{OrNotFound, Refusal, Result},
    site::Site,
    state::{Access, Issue, Pull, Repo, Size, State},
};
use git::bare::{Comparison, ExpectedRef};
use serde_json::{Value, json};

#[derive(Clone, Debug, Default)]
pub(crate) struct NewPull {
    pub(crate) title: String,
    pub(crate) body: Option<String>,
    /// `branch` or `owner:branch`.
    pub(crate) head: String,
    pub(crate) base: String,
    pub(crate) draft: bool,
}

fn size(seen: &Comparison) -> Size {
    Size {
        commits: seen.ahead,
        additions: seen.files.iter().map(|file| file.additions).sum(),
        deletions: seen.files.iter().map(|file| file.deletions).sum(),
        files: seen.files.len(),
    }
}

fn tip(repo: &Repo, branch: &str, field: &str) -> Result<String> {
    let known = repo.branches.get(branch).cloned();
    known.ok_or_else(|| Refusal::invalid("PullRequest", field, "invalid"))
}

fn pull_error(sentence: &str) -> Refusal {
    let error = json!({"resource": "PullRequest", "code": "custom", "message": sentence});
    Refusal::new(422, "Validation Failed").because(error)
}

fn check_drafts(repo: &Repo) -> Result {
    if repo.settings.drafts {
        return Ok(());
    }
    let text = "Draft pull requests are not supported in this repository.";
    Err(Refusal::new(422, text))
}

fn has_open_pull(repo: &Repo, head: &str, base: &str) -> bool {
    repo.open_pulls().any(|(_, pull)| pull.head == head && pull.base == base)
}

/// Refuses to reopen a pull request whose branch is gone or has another open pull request.
fn check_reopening(repo: &Repo, issue: &Issue, pull: &Pull) -> Result {
    let refused = |sentence: &str| Err(Refusal::custom("PullRequest", "state", sentence));
    if issue.open {
        return Ok(());
    }
    if !repo.branches.contains_key(&pull.head) {
        let head = &pull.head;
        return refused(&format!("state cannot be changed. The {head} branch has been deleted."));
    }
    if has_open_pull(repo, &pull.head, &pull.base) {
        return refused("state cannot be changed. There is already an open pull request for this branch.");
    }
    Ok(())
}

impl State {
    /// Returns the branch in `branch` or `owner:branch`, which must be of this repository.
    fn head_branch(&self, repo: &Repo, head: &str) -> Result<String> {
        match head.split_once(':') {
            Some((owner, branch)) if owner.eq_ignore_ascii_case(self.login(repo.owner)) => Ok(branch.to_owned()),
            Some(_) => Err(Refusal::invalid("PullRequest", "head", "invalid")),
            None => Ok(head.to_owned()),
        }
    }

    /// Returns head branch, head commit and base commit of a new pull request, or the reason why it may not be opened.
    fn ends_of(&self, repo: u64, new: &NewPull) -> Result<(String, String, String)> {
        let repo = self.repo(repo)?;
        if new.draft {
            check_drafts(repo)?;
        }
        let base_sha = tip(repo, &new.base, "base")?;
        let head = self.head_branch(repo, &new.head)?;
        let head_sha = tip(repo, &head, "head")?;
        if has_open_pull(repo, &head, &new.base) {
            let owner = self.login(repo.owner);
            return Err(pull_error(&format!("A pull request already exists for {owner}:{head}.")));
        }
        Ok((head, head_sha, base_sha))
    }

    /// Sends an event of a pull request that has fields of its own, such as a review.
    pub(super) fn pull_event(&mut self, at: Access, number: u64, event: &str, action: &str, more: Value) -> Result {
        let (repo, (issue, pull)) = (self.repo(at.repo)?, self.pull(at.repo, number)?);
        let mut fields = json!({"pull_request": json::pull(self, repo, issue, pull)});
        json::extend(&mut fields, more);
        self.emit(at, event, Some(action), fields);
        Ok(())
    }
}

impl Site {
    /// Opens a pull request between two branches of a repository; returns its number.
    pub(crate) async fn open_pull(&self, at: Access, new: &NewPull) -> Result<u64> {
        check_body("PullRequest", "body", new.body.as_deref().unwrap_or_default())?;
        if new.title.trim().is_empty() {
            return Err(Refusal::invalid("PullRequest", "title", "missing_field"));
        }
        let _gate = self.gate(at.repo).await;
        let (head, head_sha, base_sha) = self.read(|state| state.ends_of(at.repo, new))?;
        let seen = self.comparison(at.repo, &base_sha, &head_sha).await?;
        let base = &new.base;
        if seen.ahead == 0 {
            return Err(pull_error(&format!("No commits between {base} and {head}")));
        }
        if seen.merge_base.is_none() {
            let sentence = format!("The {head} branch has no history in common with {base}");
            return Err(pull_error(&sentence));
        }
        let number = self.change(|state| {
            let number = state.new_issue(at, &new.title, new.body.as_deref())?;
            let id = state.next_id();
            state.issue_mut(at.repo, number)?.pull = Some(Pull {
                id,
                head,
                head_sha: head_sha.clone(),
                base: base.clone(),
                base_sha,
                draft: new.draft,
                size: size(&seen),
                ..Pull::default()
            });
            state.issue_happened(at, number, "opened", json!({}))?;
            Ok::<_, Refusal>(number)
        })?;
        self.keep_pull_head(at.repo, number, &head_sha).await?;
        Ok(number)
    }

    /// Keeps a pull request's head commit reachable even if its branch is deleted, as GitHub does.
    async fn keep_pull_head(&self, repo: u64, number: u64, head: &str) -> Result {
        let name = format!("refs/pull/{number}/head");
        Ok(self.bare(repo).update_ref(&name, head, ExpectedRef::Any).await?)
    }

    /// Changes title, body, state or base of a pull request.
    pub(crate) async fn change_pull(&self, at: Access, number: u64, change: &IssueChange) -> Result {
        let _gate = self.gate(at.repo).await;
        let reopened = change.open == Some(true);
        if reopened {
            self.read(|state| {
                let (issue, pull) = state.pull(at.repo, number)?;
                check_reopening(state.repo(at.repo)?, issue, pull)
            })?;
        }
        if let Some(base) = &change.base {
            self.change_base(at, number, base).await?;
        }
        let (open, head_now) = self.read(|state| {
            let (issue, pull) = state.pull(at.repo, number)?;
            Ok::<_, Refusal>((issue.open, state.repo(at.repo)?.branches.get(&pull.head).cloned()))
        })?;
        if let Some(head) = head_now.filter(|_| reopened && !open) {
            self.move_pull(at.repo, number, &head).await?;
        }
        self.change(|state| state.change_issue(at, number, change))
    }

    async fn change_base(&self, at: Access, number: u64, base: &str) -> Result {
        let refused = |sentence: &str| Refusal::custom("PullRequest", "base", sentence);
        let (from, base_sha, head_sha) = self.read(|state| {
            let (issue, pull) = state.pull(at.repo, number)?;
            if !issue.open {
                return Err(refused("Cannot change the base branch of a closed pull request."));
            }
            let sha = tip(state.repo(at.repo)?, base, "base")?;
            Ok((pull.base.clone(), sha, pull.head_sha.clone()))
        })?;
        if from == base {
            return Ok(());
        }
        let seen = self.comparison(at.repo, &base_sha, &head_sha).await?;
        if seen.ahead == 0 {
            let sentence = format!("There are no new commits between base branch '{base}' and head branch");
            return Err(refused(&sentence));
        }
        self.change(|state| {
            let pull = state.pull_mut(at.repo, number)?;
            (pull.base, pull.base_sha, pull.size) = (base.to_owned(), base_sha, size(&seen));
            let changes = json!({"changes": {"base": {"ref": {"from": from}}}});
            state.issue_event(at, number, "edited", changes)
        })
    }

    /// Gives a pull request a new head and computes its size again.
    pub(super) async fn move_pull(&self, repo: u64, number: u64, head: &str) -> Result {
        let base = self.read(|state| {
            let (_, pull) = state.pull(repo, number)?;
            Ok::<_, Refusal>(state.repo(repo)?.branches.get(&pull.base).cloned())
        })?;
        let measured = match &base {
            Some(base) => Some(size(&*self.comparison(repo, base, head).await?)),
            None => None,
        };
        self.change(|state| {
            let now = state.clock.stamp();
            let issue = state.issue_mut(repo, number)?;
            issue.updated_at = now;
            if let Some(pull) = issue.pull.as_mut() {
                head.clone_into(&mut pull.head_sha);
                pull.base_sha = base.unwrap_or_else(|| pull.base_sha.clone());
                pull.size = measured.unwrap_or(pull.size);
            }
            Ok::<_, Refusal>(())
        })?;
        self.keep_pull_head(repo, number, head).await
    }

    /// Asks git if an open pull request can be merged.
    pub(crate) async fn mergeable_now(&self, repo: u64, number: u64) -> Result<Option<bool>> {
        let (open, base, head) = self.read(|state| {
            let (issue, pull) = state.pull(repo, number)?;
            let base = state.repo(repo)?.branches.get(&pull.base).cloned();
            Ok::<_, Refusal>((issue.open, base, pull.head_sha.clone()))
        })?;
        match base {
            Some(base) if open => self.mergeable(repo, &base, &head).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Marks a pull request as a draft, or as ready for review.
    pub(crate) fn set_draft(&self, at: Access, number: u64, draft: bool) -> Result {
        self.change(|state| {
            if draft {
                check_drafts(state.repo(at.repo)?)?;
            }
            let now = state.clock.stamp();
            let issue = state.issue_mut(at.repo, number)?;
            let (open, title) = (issue.open, issue.title.clone());
            issue.updated_at = now;
            let pull = issue.pull.as_mut().or_not_found()?;
            if !open || pull.draft == draft {
                return Ok(());
            }
            pull.draft = draft;
            let (action, what) = if draft {
                ("converted_to_draft", "made a draft of")
            } else {
                ("ready_for_review", "marked ready for review")
            };
            state.issue_event(at, number, action, json!({}))?;
            let news = FeedEvent::new(format!("pull_request.{action}"), what, title);
            state.record_on(at, number, news);
            Ok(())
        })
    }
}
