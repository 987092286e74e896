//! Opening and changing pull requests.

use super::super::feed::Telling;
use super::super::hooks::Occasion;
use super::super::json;
use super::super::refusal::Refusal;
use super::super::site::Site;
use super::super::state::Actor;
use super::super::state::Pull;
use super::super::state::Repo;
use super::super::state::Size;
use super::super::state::State;
use super::IssueChange;
use super::check_body;
use super::check_writable;
use crate::git::bare::Comparison;
use serde_json::json;

/// A pull request to be opened.
#[derive(Clone, Debug, Default)]
pub(in crate::forge) struct NewPull {
    pub(in crate::forge) title: String,
    pub(in crate::forge) body: Option<String>,
    /// `branch` or `owner:branch`.
    pub(in crate::forge) head: String,
    pub(in crate::forge) base: String,
    pub(in crate::forge) draft: bool,
}

/// What is to change on a pull request; what is none stays.
#[derive(Clone, Debug, Default)]
pub(in crate::forge) struct PullChange {
    pub(in crate::forge) title: Option<String>,
    pub(in crate::forge) body: Option<String>,
    pub(in crate::forge) open: Option<bool>,
    pub(in crate::forge) base: Option<String>,
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

fn tip(repo: &Repo, branch: &str, field: &str) -> Result<String, Refusal> {
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

    fn open_pull_of(&self, repo: &Repo, head: &str, base: &str) -> bool {
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
    pub(in crate::forge) async fn open_pull(&self, by: Actor, repo: u64, new: &NewPull) -> Result<u64, Refusal> {
        check_body("PullRequest", "body", new.body.as_deref().unwrap_or_default())?;
        if new.title.trim().is_empty() {
            return Err(Refusal::invalid("PullRequest", "title", "missing_field"));
        }
        let _gate = self.gate(repo).await;
        let (head, head_sha, base_sha) = self.read(|state| {
            let known = state.repo(repo)?;
            check_writable(known)?;
            if new.draft && !known.settings.drafts {
                return Err(Refusal::new(
                    422,
                    "Draft pull requests are not supported in this repository.",
                ));
            }
            let base_sha = tip(known, &new.base, "base")?;
            let head = state.head_branch(known, &new.head)?;
            let head_sha = tip(known, &head, "head")?;
            if state.open_pull_of(known, &head, &new.base) {
                let owner = state.login(known.owner);
                return Err(pull_error(format!("A pull request already exists for {owner}:{head}.")));
            }
            Ok((head, head_sha, base_sha))
        })?;
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
                size,
            });
            state.issue_event(by, repo, number, "opened", json!({}))?;
            state.tell_issue(
                by,
                repo,
                number,
                if new.draft { "opened as a draft" } else { "opened" },
                &new.title,
            );
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

    /// Changes title, body, state or base.
    pub(in crate::forge) async fn change_pull(
        &self,
        by: Actor,
        repo: u64,
        number: u64,
        change: &PullChange,
    ) -> Result<(), Refusal> {
        let _gate = self.gate(repo).await;
        if change.open == Some(true) {
            self.read(|state| {
                let (issue, pull) = state.pull(repo, number)?;
                let known = state.repo(repo)?;
                if !issue.open && !known.branches.contains_key(&pull.head) {
                    let sentence = format!("state cannot be changed. The {} branch has been deleted.", pull.head);
                    return Err(Refusal::custom("PullRequest", "state", sentence));
                }
                if !issue.open && state.open_pull_of(known, &pull.head, &pull.base) {
                    let sentence = "state cannot be changed. There is already an open pull request for this branch.";
                    return Err(Refusal::custom("PullRequest", "state", sentence));
                }
                Ok(())
            })?;
        }
        if let Some(base) = &change.base {
            self.change_base(by, repo, number, base).await?;
        }
        let (before, head_now) = self.read(|state| {
            let (issue, pull) = state.pull(repo, number)?;
            Ok::<_, Refusal>((issue.open, state.repo(repo)?.branches.get(&pull.head).cloned()))
        })?;
        if let (false, Some(true), Some(head)) = (before, change.open, head_now) {
            self.move_pull(repo, number, &head).await?;
        }
        let issue = IssueChange {
            title: change.title.clone(),
            body: change.body.clone(),
            open: change.open,
            ..IssueChange::default()
        };
        self.change(|state| state.change_issue(by, repo, number, &issue))
    }

    async fn change_base(&self, by: Actor, repo: u64, number: u64, base: &str) -> Result<(), Refusal> {
        let (from, base_sha, head_sha) = self.read(|state| {
            let (issue, pull) = state.pull(repo, number)?;
            if !issue.open {
                let sentence = "Cannot change the base branch of a closed pull request.";
                return Err(Refusal::custom("PullRequest", "base", sentence));
            }
            let sha = tip(state.repo(repo)?, base, "base")?;
            Ok((pull.base.clone(), sha, pull.head_sha.clone()))
        })?;
        if from == base {
            return Ok(());
        }
        let seen = self.comparison(repo, &base_sha, &head_sha).await?;
        if seen.ahead == 0 {
            let sentence = format!("There are no new commits between base branch '{base}' and head branch");
            return Err(Refusal::custom("PullRequest", "base", sentence));
        }
        self.change(|state| {
            let pull = state.pull_mut(repo, number)?;
            (pull.base, pull.base_sha, pull.size) = (base.to_owned(), base_sha.clone(), size(&seen));
            let changes = json!({"changes": {"base": {"ref": {"from": from}}}});
            state.issue_event(by, repo, number, "edited", changes)
        })
    }

    /// Gives a pull request a new head and measures it again.
    pub(super) async fn move_pull(&self, repo: u64, number: u64, head: &str) -> Result<(), Refusal> {
        let base = self.read(|state| {
            let base = state.pull(repo, number)?.1.base.clone();
            Ok::<_, Refusal>(state.repo(repo)?.branches.get(&base).cloned())
        })?;
        let measured = match &base {
            Some(base) => Some(size(&*self.comparison(repo, base, head).await?)),
            None => None,
        };
        self.change(|state| {
            let at = state.clock.stamp();
            let issue = state.issue_mut(repo, number)?;
            issue.updated_at = at;
            if let Some(pull) = issue.pull.as_mut() {
                head.clone_into(&mut pull.head_sha);
                pull.base_sha = base.unwrap_or_else(|| pull.base_sha.clone());
                pull.size = measured.unwrap_or(pull.size);
            }
            Ok::<_, Refusal>(())
        })?;
        self.keep_pull_head(repo, number, head).await
    }

    /// Whether an open pull request can be merged, as git sees it.
    pub(in crate::forge) async fn computed(&self, repo: u64, number: u64) -> Result<json::Computed, Refusal> {
        let (open, base, head) = self.read(|state| {
            let (issue, pull) = state.pull(repo, number)?;
            let base = state.repo(repo)?.branches.get(&pull.base).cloned();
            Ok::<_, Refusal>((issue.open, base, pull.head_sha.clone()))
        })?;
        let mergeable = match base {
            Some(base) if open => Some(self.mergeable(repo, &base, &head).await?),
            _ => None,
        };
        Ok(json::Computed { mergeable })
    }

    /// Marks a draft as ready, or makes a draft of it again.
    pub(in crate::forge) fn set_draft(&self, by: Actor, repo: u64, number: u64, draft: bool) -> Result<(), Refusal> {
        self.change(|state| {
            if draft && !state.repo(repo)?.settings.drafts {
                return Err(Refusal::new(
                    422,
                    "Draft pull requests are not supported in this repository.",
                ));
            }
            let at = state.clock.stamp();
            let issue = state.issue_mut(repo, number)?;
            let (open, title) = (issue.open, issue.title.clone());
            issue.updated_at = at;
            let pull = issue.pull.as_mut().ok_or_else(Refusal::not_found)?;
            if !open || pull.draft == draft {
                return Ok(());
            }
            pull.draft = draft;
            let action = if draft {
                "converted_to_draft"
            } else {
                "ready_for_review"
            };
            state.issue_event(by, repo, number, action, json!({}))?;
            let telling = Telling {
                kind: if draft {
                    "pull_request.converted_to_draft"
                } else {
                    "pull_request.ready_for_review"
                },
                what: if draft { "made a draft of" } else { "marked ready" }.to_owned(),
                number: Some(number),
                page: format!("/pull/{number}"),
                text: title,
            };
            state.tell(by, Some(repo), telling);
            Ok(())
        })
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
