//! Opens, changes, closes, moves and removes issues.

use crate::{
    acts::limits::check_body,
    feed::FeedEvent,
    json,
    refusal::{Refusal, Result},
    state::{Access, Edit, Issue, State, TimelineChange},
};
use serde_json::{Value, json};

/// The changes to an issue or pull request; `None` keeps a field.
#[derive(Clone, Debug, Default)]
pub(crate) struct IssueChange {
    pub(crate) title: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) open: Option<bool>,
    /// The base branch of a pull request.
    pub(crate) base: Option<String>,
}

impl State {
    /// Opens an issue; returns its number. Each label sends an event of its own, as on GitHub.
    pub(crate) fn open_issue(&mut self, at: Access, title: &str, body: Option<&str>, labels: &[String]) -> Result<u64> {
        if !self.repo(at.repo)?.settings.has_issues {
            return Err(Refusal::new(410, "Issues are disabled for this repo"));
        }
        if title.trim().is_empty() {
            return Err(Refusal::invalid("Issue", "title", "missing_field"));
        }
        check_body("Issue", "body", body.unwrap_or_default())?;
        let number = self.new_issue(at, title, body)?;
        self.issue_happened(at, number, "opened", json!({}))?;
        for name in labels {
            self.add_label(at, number, name)?;
        }
        Ok(number)
    }

    /// Records a new issue without any event; returns its number.
    pub(super) fn new_issue(&mut self, at: Access, title: &str, body: Option<&str>) -> Result<u64> {
        let (id, now) = (self.next_id(), self.clock.stamp());
        let repo = self.repo_mut(at.repo)?;
        repo.last_number += 1;
        let number = repo.last_number;
        let issue = Issue {
            id,
            number,
            title: title.to_owned(),
            body: body.map(str::to_owned),
            user: at.by.user,
            app: at.by.app,
            open: true,
            created_at: now,
            updated_at: now,
            ..Issue::default()
        };
        repo.issues.insert(number, issue);
        Ok(number)
    }

    /// Changes an issue or the issue side of a pull request.
    pub(crate) fn change_issue(&mut self, at: Access, number: u64, change: &IssueChange) -> Result {
        check_body("Issue", "body", change.body.as_deref().unwrap_or_default())?;
        if change.title.as_deref().is_some_and(|title| title.trim().is_empty()) {
            return Err(Refusal::invalid("Issue", "title", "missing_field"));
        }
        self.edit_issue(at, number, change)?;
        match change.open {
            Some(open) if open != self.issue(at.repo, number)?.open => self.set_open(at, number, open),
            Some(_) | None => Ok(()),
        }
    }

    fn edit_issue(&mut self, at: Access, number: u64, change: &IssueChange) -> Result {
        let now = self.clock.stamp();
        let issue = self.issue_mut(at.repo, number)?;
        let mut from = serde_json::Map::new();
        if let Some(title) = change.title.as_ref().filter(|title| **title != issue.title) {
            from.insert("title".to_owned(), json!({"from": issue.title}));
            issue.title.clone_from(title);
        }
        if let Some(body) = change.body.as_ref().filter(|body| issue.body.as_ref() != Some(*body)) {
            from.insert("body".to_owned(), json!({"from": issue.body}));
            issue.body = Some(body.clone());
            let editor = at.by.user;
            issue.edits.push(Edit { at: now, editor });
        }
        if from.is_empty() {
            return Ok(());
        }
        issue.updated_at = now;
        self.issue_happened(at, number, "edited", json!({"changes": from}))
    }

    /// Closes an issue or pull request.
    pub(super) fn close_issue(&mut self, at: Access, number: u64) -> Result {
        self.set_open(at, number, false)
    }

    /// Closes or reopens an issue or pull request.
    fn set_open(&mut self, at: Access, number: u64, open: bool) -> Result {
        let now = self.clock.stamp();
        let issue = self.issue_mut(at.repo, number)?;
        let merged = issue.pull.as_ref().is_some_and(|pull| pull.merged.is_some());
        if open && merged {
            let sentence = "The pull request cannot be reopened.";
            return Err(Refusal::custom("PullRequest", "state", sentence));
        }
        let (action, reason) = if open { ("reopened", "reopened") } else { ("closed", "completed") };
        issue.open = open;
        issue.state_reason = (!issue.is_pull()).then(|| reason.to_owned());
        issue.closed_at = (!open).then_some(now);
        issue.closed_by = (!open).then_some(at.by.user);
        issue.updated_at = now;
        let change = if open { TimelineChange::Reopened } else { TimelineChange::Closed };
        issue.changed(now, at.by.user, change);
        self.issue_happened(at, number, action, json!({}))
    }

    pub(crate) fn delete_issue(&mut self, at: Access, number: u64) -> Result {
        self.issue_happened(at, number, "deleted", json!({}))?;
        self.repo_mut(at.repo)?.issues.remove(&number);
        Ok(())
    }

    /// Moves an issue to another repository, where it gets another number.
    pub(crate) fn transfer_issue(&mut self, at: Access, number: u64, to: u64) -> Result<u64> {
        let mut moved = self.issue(at.repo, number)?.clone();
        let id = self.next_id();
        let target = self.repo_mut(to)?;
        target.last_number += 1;
        let new_number = target.last_number;
        (moved.number, moved.id) = (new_number, id);
        target.issues.insert(new_number, moved);
        let (target, arrived) = (self.repo(to)?, self.issue(to, new_number)?);
        let changes = json!({"changes": {
            "new_issue": json::issue(self, target, arrived),
            "new_repository": self.repo_json(target, None),
        }});
        self.issue_happened(at, number, "transferred", changes)?;
        self.repo_mut(at.repo)?.issues.remove(&number);
        Ok(new_number)
    }

    /// Sends an event about an issue or pull request.
    pub(super) fn issue_event(&mut self, at: Access, number: u64, action: &str, more: Value) -> Result {
        let (repo, issue) = (self.repo(at.repo)?, self.issue(at.repo, number)?);
        let (event, mut fields) = match &issue.pull {
            Some(pull) => {
                let shown = json::single_pull(self, repo, issue, pull, None);
                ("pull_request", json!({"number": number, "pull_request": shown}))
            }
            None => ("issues", json!({"issue": json::issue(self, repo, issue)})),
        };
        json::extend(&mut fields, more);
        self.emit(at, event, Some(action), fields);
        Ok(())
    }

    /// Records a feed event about an issue or pull request.
    pub(super) fn record_on_issue(&mut self, at: Access, number: u64, what: &str, text: &str) -> Result {
        let (kind, noun) = match &self.issue(at.repo, number)?.pull {
            Some(pull) if pull.draft => ("pull_request", "draft pull request"),
            Some(_) => ("pull_request", "pull request"),
            None => ("issue", "issue"),
        };
        let news = FeedEvent::new(format!("{kind}.{what}"), format!("{what} {noun}"), text);
        self.record_on(at, number, news);
        Ok(())
    }

    /// Sends and records an event about the issue or pull request as a whole.
    pub(super) fn issue_happened(&mut self, at: Access, number: u64, action: &str, more: Value) -> Result {
        self.issue_event(at, number, action, more)?;
        let title = self.issue(at.repo, number)?.title.clone();
        self.record_on_issue(at, number, action, &title)
    }
}
