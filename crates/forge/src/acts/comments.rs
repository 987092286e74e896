//! Comments and reactions.

use super::super::{
    feed::{EventOutcome, Telling},
    hooks::Occasion,
    json,
    refusal::Refusal,
    state::{Actor, Comment, Edit, Reaction, State},
};
use crate::acts::limits::{check_body, check_writable};
use serde_json::{Value, json};

/// What a reaction is put on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// An issue or pull request, by number.
    Issue(u64),
    /// A comment, by id.
    Comment(u64),
}

impl State {
    /// The number of the issue that holds a comment, and the comment's place there.
    pub(crate) fn find_comment(&self, repo: u64, id: u64) -> Result<(u64, &Comment), Refusal> {
        let issues = self.repo(repo)?.issues.values();
        issues
            .flat_map(|issue| issue.comments.iter().map(|comment| (issue.number, comment)))
            .find(|(_, comment)| comment.id == id)
            .ok_or_else(Refusal::not_found)
    }

    fn comment_mut(&mut self, repo: u64, number: u64, id: u64) -> Result<&mut Comment, Refusal> {
        let issue = self.issue_mut(repo, number)?;
        issue
            .comments
            .iter_mut()
            .find(|comment| comment.id == id)
            .ok_or_else(Refusal::not_found)
    }

    /// Writes a comment; gives its id.
    pub(crate) fn comment(&mut self, by: Actor, repo: u64, number: u64, body: &str) -> Result<u64, Refusal> {
        check_writable(self.repo(repo)?)?;
        if self.issue(repo, number)?.locked {
            return Err(Refusal::new(403, "Unable to create comment because issue is locked."));
        }
        if body.trim().is_empty() {
            return Err(Refusal::invalid("IssueComment", "data", "missing_field"));
        }
        check_body("IssueComment", "data", body)?;
        let (id, at) = (self.next_id(), self.clock.stamp());
        let issue = self.issue_mut(repo, number)?;
        issue.updated_at = at;
        issue.comments.push(Comment {
            id,
            body: body.to_owned(),
            user: by.user,
            app: by.app,
            reactions: Vec::new(),
            edits: Vec::new(),
            created_at: at,
            updated_at: at,
        });
        self.comment_event(by, repo, id, "created", "commented on", json!({}))?;
        Ok(id)
    }

    /// Changes a comment's text.
    pub(crate) fn edit_comment(&mut self, by: Actor, repo: u64, id: u64, body: &str) -> Result<(), Refusal> {
        check_writable(self.repo(repo)?)?;
        check_body("IssueComment", "data", body)?;
        let number = self.find_comment(repo, id)?.0;
        let at = self.clock.stamp();
        let comment = self.comment_mut(repo, number, id)?;
        let from = std::mem::replace(&mut comment.body, body.to_owned());
        comment.updated_at = at;
        comment.edits.push(Edit {
            at,
            editor: by.user,
            text: body.to_owned(),
        });
        let changes = json!({"changes": {"body": {"from": from}}});
        self.comment_event(by, repo, id, "edited", "edited a comment on", changes)
    }

    /// Removes a comment.
    pub(crate) fn delete_comment(&mut self, by: Actor, repo: u64, id: u64) -> Result<(), Refusal> {
        let number = self.find_comment(repo, id)?.0;
        self.comment_event(by, repo, id, "deleted", "deleted a comment on", json!({}))?;
        self.issue_mut(repo, number)?
            .comments
            .retain(|comment| comment.id != id);
        Ok(())
    }

    fn comment_event(
        &mut self,
        by: Actor,
        repo: u64,
        id: u64,
        action: &str,
        what: &str,
        more: Value,
    ) -> Result<(), Refusal> {
        let (number, comment) = self.find_comment(repo, id)?;
        let text = comment.body.clone();
        let (known, issue) = (self.repo(repo)?, self.issue(repo, number)?);
        let page = format!(
            "/{}/{number}#issuecomment-{id}",
            if issue.is_pull() { "pull" } else { "issues" }
        );
        let mut fields = json!({
            "issue": json::issue(self, known, issue),
            "comment": json::comment(self, known, issue, comment),
        });
        json::extend(&mut fields, more);
        self.emit(&Occasion::of_repo("issue_comment", Some(action), repo, by.user, fields));
        let kind = format!("comment.{action}");
        let telling = Telling {
            kind: &kind,
            what: what.to_owned(),
            number: Some(number),
            page,
            text,
            outcome: EventOutcome::Neutral,
        };
        self.tell(by, Some(repo), telling);
        Ok(())
    }

    /// Puts a reaction; says whether it is new. Each account has one of a kind.
    pub(crate) fn react(
        &mut self,
        by: Actor,
        repo: u64,
        target: Target,
        content: &str,
    ) -> Result<(Reaction, bool), Refusal> {
        if !["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"].contains(&content) {
            return Err(Refusal::invalid("Reaction", "content", "invalid"));
        }
        let (number, page) = match target {
            Target::Issue(number) => (number, String::new()),
            Target::Comment(id) => (self.find_comment(repo, id)?.0, format!("#issuecomment-{id}")),
        };
        let pull = self.issue(repo, number)?.is_pull();
        let (id, at) = (self.next_id(), self.clock.stamp());
        let reactions = match target {
            Target::Issue(number) => &mut self.issue_mut(repo, number)?.reactions,
            Target::Comment(id) => &mut self.comment_mut(repo, number, id)?.reactions,
        };
        if let Some(known) = reactions
            .iter()
            .find(|one| one.user == by.user && one.content == content)
        {
            return Ok((known.clone(), false));
        }
        let fresh = Reaction {
            id,
            user: by.user,
            content: content.to_owned(),
            created_at: at,
        };
        reactions.push(fresh.clone());
        let telling = Telling {
            kind: "reaction.created",
            what: "reacted to".to_owned(),
            number: Some(number),
            page: format!("/{}/{number}{page}", if pull { "pull" } else { "issues" }),
            text: content.to_owned(),
            outcome: EventOutcome::Neutral,
        };
        self.tell(by, Some(repo), telling);
        Ok((fresh, true))
    }
}
