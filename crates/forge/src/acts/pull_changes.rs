//! Changing pull requests: title, state, base, head, draft.

use super::{
    super::{
        feed::{EventOutcome, Telling},
        json,
        refusal::Refusal,
        site::Site,
        state::Actor,
    },
    pulls::{size, tip},
};
use crate::acts::issues::IssueChange;
use serde_json::json;

/// What is to change on a pull request; what is none stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct PullChange {
    pub(crate) title: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) open: Option<bool>,
    pub(crate) base: Option<String>,
}

impl Site {
    /// Changes title, body, state or base.
    pub(crate) async fn change_pull(
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
    pub(crate) async fn computed(&self, repo: u64, number: u64) -> Result<json::Computed, Refusal> {
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
    pub(crate) fn set_draft(&self, by: Actor, repo: u64, number: u64, draft: bool) -> Result<(), Refusal> {
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
                what: if draft {
                    "made a draft of"
                } else {
                    "marked ready for review"
                }
                .to_owned(),
                number: Some(number),
                page: format!("/pull/{number}"),
                text: title,
                outcome: EventOutcome::Neutral,
            };
            state.tell(by, Some(repo), telling);
            Ok(())
        })
    }
}
