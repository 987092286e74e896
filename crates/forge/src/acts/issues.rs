//! Opening, changing, closing and removing issues.

use super::super::{
    feed::{EventOutcome, Telling},
    hooks::Occasion,
    json,
    refusal::Refusal,
    state::{Actor, Edit, Issue, State},
};
use crate::acts::limits::{check_body, check_writable};
use serde_json::{Value, json};

/// What is to change on an issue; what is none stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct IssueChange {
    pub(crate) title: Option<String>,
    pub(crate) body: Option<String>,
    pub(crate) open: Option<bool>,
    pub(crate) reason: Option<String>,
    pub(crate) labels: Option<Vec<String>>,
}

impl State {
    /// Opens an issue; each label fires an event of its own, as on GitHub.
    pub(crate) fn open_issue(
        &mut self,
        by: Actor,
        repo: u64,
        title: &str,
        body: Option<&str>,
        labels: &[String],
    ) -> Result<u64, Refusal> {
        check_writable(self.repo(repo)?)?;
        if !self.repo(repo)?.settings.has_issues {
            return Err(Refusal::new(410, "Issues are disabled for this repo"));
        }
        if title.trim().is_empty() {
            return Err(Refusal::invalid("Issue", "title", "missing_field"));
        }
        check_body("Issue", "body", body.unwrap_or_default())?;
        let number = self.new_issue(by, repo, title, body)?;
        self.issue_event(by, repo, number, "opened", json!({}))?;
        self.tell_issue(by, repo, number, "opened", title);
        for name in labels {
            self.add_label(by, repo, number, name)?;
        }
        Ok(number)
    }

    /// A new issue, not yet told to anyone.
    pub(super) fn new_issue(&mut self, by: Actor, repo: u64, title: &str, body: Option<&str>) -> Result<u64, Refusal> {
        let (id, at) = (self.next_id(), self.clock.stamp());
        let repo = self.repo_mut(repo)?;
        repo.last_number += 1;
        let number = repo.last_number;
        let issue = Issue {
            id,
            number,
            title: title.to_owned(),
            body: body.map(str::to_owned),
            user: by.user,
            app: by.app,
            labels: Vec::new(),
            open: true,
            state_reason: None,
            locked: false,
            comments: Vec::new(),
            reactions: Vec::new(),
            edits: Vec::new(),
            created_at: at,
            updated_at: at,
            closed_at: None,
            closed_by: None,
            pull: None,
        };
        repo.issues.insert(number, issue);
        Ok(number)
    }

    /// Changes an issue or the issue side of a pull request.
    pub(crate) fn change_issue(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        change: &IssueChange,
    ) -> Result<(), Refusal> {
        check_writable(self.repo(repo)?)?;
        check_body("Issue", "body", change.body.as_deref().unwrap_or_default())?;
        if change.title.as_deref().is_some_and(|title| title.trim().is_empty()) {
            return Err(Refusal::invalid("Issue", "title", "missing_field"));
        }
        self.edit_issue(by, repo, number, change)?;
        if let Some(labels) = &change.labels {
            self.set_labels(by, repo, number, labels)?;
        }
        match change.open {
            Some(true) if !self.issue(repo, number)?.open => self.reopen_issue(by, repo, number),
            Some(false) if self.issue(repo, number)?.open => {
                self.close_issue(by, repo, number, change.reason.as_deref().unwrap_or("completed"))
            }
            _ => Ok(()),
        }
    }

    fn edit_issue(&mut self, by: Actor, repo: u64, number: u64, change: &IssueChange) -> Result<(), Refusal> {
        let at = self.clock.stamp();
        let issue = self.issue_mut(repo, number)?;
        let mut from = serde_json::Map::new();
        if let Some(title) = change.title.as_ref().filter(|title| **title != issue.title) {
            from.insert("title".to_owned(), json!({"from": issue.title}));
            issue.title.clone_from(title);
        }
        if let Some(body) = change.body.as_ref().filter(|body| issue.body.as_ref() != Some(*body)) {
            from.insert("body".to_owned(), json!({"from": issue.body}));
            issue.body = Some(body.clone());
            issue.edits.push(Edit {
                at,
                editor: by.user,
                text: body.clone(),
            });
        }
        if from.is_empty() {
            return Ok(());
        }
        issue.updated_at = at;
        let title = issue.title.clone();
        self.issue_event(by, repo, number, "edited", json!({"changes": from}))?;
        self.tell_issue(by, repo, number, "edited", &title);
        Ok(())
    }

    pub(super) fn close_issue(&mut self, by: Actor, repo: u64, number: u64, reason: &str) -> Result<(), Refusal> {
        let at = self.clock.stamp();
        let issue = self.issue_mut(repo, number)?;
        issue.open = false;
        issue.state_reason = (!issue.is_pull()).then(|| reason.to_owned());
        issue.closed_at = Some(at);
        issue.closed_by = Some(by.user);
        issue.updated_at = at;
        let title = issue.title.clone();
        self.issue_event(by, repo, number, "closed", json!({}))?;
        self.tell_issue(by, repo, number, "closed", &title);
        Ok(())
    }

    pub(super) fn reopen_issue(&mut self, by: Actor, repo: u64, number: u64) -> Result<(), Refusal> {
        let at = self.clock.stamp();
        let issue = self.issue_mut(repo, number)?;
        if issue.pull.as_ref().is_some_and(|pull| pull.merged.is_some()) {
            return Err(Refusal::custom(
                "PullRequest",
                "state",
                "The pull request cannot be reopened.",
            ));
        }
        issue.open = true;
        issue.state_reason = (!issue.is_pull()).then(|| "reopened".to_owned());
        issue.closed_at = None;
        issue.closed_by = None;
        issue.updated_at = at;
        let title = issue.title.clone();
        self.issue_event(by, repo, number, "reopened", json!({}))?;
        self.tell_issue(by, repo, number, "reopened", &title);
        Ok(())
    }

    /// Removes an issue for good.
    pub(crate) fn delete_issue(&mut self, by: Actor, repo: u64, number: u64) -> Result<(), Refusal> {
        let title = self.issue(repo, number)?.title.clone();
        self.issue_event(by, repo, number, "deleted", json!({}))?;
        self.tell_issue(by, repo, number, "deleted", &title);
        self.repo_mut(repo)?.issues.remove(&number);
        Ok(())
    }

    /// Moves an issue to another repository, where it gets another number.
    pub(crate) fn transfer_issue(&mut self, by: Actor, repo: u64, number: u64, to: u64) -> Result<u64, Refusal> {
        let mut moved = self.issue(repo, number)?.clone();
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
        self.issue_event(by, repo, number, "transferred", changes)?;
        let title = self.issue(repo, number)?.title.clone();
        self.tell_issue(by, repo, number, "transferred", &title);
        self.repo_mut(repo)?.issues.remove(&number);
        Ok(new_number)
    }

    /// Tells Apps of something about an issue, or the pull request that it is.
    pub(super) fn issue_event(
        &mut self,
        by: Actor,
        repo: u64,
        number: u64,
        action: &str,
        more: Value,
    ) -> Result<(), Refusal> {
        let (known, issue) = (self.repo(repo)?, self.issue(repo, number)?);
        let (event, mut fields) = match &issue.pull {
            Some(pull) => {
                let shown = json::pull(self, known, issue, pull, Some(json::Computed::default()));
                ("pull_request", json!({"number": number, "pull_request": shown}))
            }
            None => ("issues", json!({"issue": json::issue(self, known, issue)})),
        };
        json::extend(&mut fields, more);
        self.emit(&Occasion::of_repo(event, Some(action), repo, by.user, fields));
        Ok(())
    }

    /// Tells people of it.
    pub(super) fn tell_issue(&mut self, by: Actor, repo: u64, number: u64, what: &str, text: &str) {
        let pull = self.issue(repo, number).ok().and_then(|issue| issue.pull.as_ref());
        let (kind, page, noun) = match pull.map(|pull| pull.draft) {
            Some(true) => (format!("pull_request.{what}"), "pull", "draft pull request"),
            Some(false) => (format!("pull_request.{what}"), "pull", "pull request"),
            None => (format!("issue.{what}"), "issues", "issue"),
        };
        let telling = Telling {
            kind: &kind,
            what: format!("{what} {noun}"),
            number: Some(number),
            page: format!("/{page}/{number}"),
            text: text.to_owned(),
            outcome: EventOutcome::Neutral,
        };
        self.tell(by, Some(repo), telling);
    }
}
