//! Comments and reactions.

use crate::{
    acts::limits::check_body,
    feed::FeedEvent,
    json,
    refusal::{OrNotFound, Refusal, Result},
    state::{Access, Comment, Edit, REACTIONS, Reaction, State},
};
use serde_json::{Value, json};

/// The thing that a reaction is added to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// An issue or pull request, by number.
    Issue(u64),
    /// A comment, by id.
    Comment(u64),
}

impl State {
    pub(crate) fn find_comment(&self, repo: u64, id: u64) -> Result<(u64, &Comment)> {
        let issues = self.repo(repo)?.issues.values();
        let mut all = issues.flat_map(|issue| issue.comments.iter().map(|comment| (issue.number, comment)));
        all.find(|(_, comment)| comment.id == id).or_not_found()
    }

    fn comment_mut(&mut self, repo: u64, id: u64) -> Result<&mut Comment> {
        let issues = self.repo_mut(repo)?.issues.values_mut();
        let mut all = issues.flat_map(|issue| &mut issue.comments);
        all.find(|comment| comment.id == id).or_not_found()
    }

    /// Writes a comment; returns its id.
    pub(crate) fn comment(&mut self, at: Access, number: u64, body: &str) -> Result<u64> {
        if body.trim().is_empty() {
            return Err(Refusal::invalid("IssueComment", "data", "missing_field"));
        }
        check_body("IssueComment", "data", body)?;
        let (id, now) = (self.next_id(), self.clock.stamp());
        let issue = self.issue_mut(at.repo, number)?;
        issue.updated_at = now;
        issue.comments.push(Comment {
            id,
            body: body.to_owned(),
            user: at.by.user,
            app: at.by.app,
            created_at: now,
            updated_at: now,
            ..Comment::default()
        });
        self.comment_event(at, id, "created", "commented on", json!({}))?;
        Ok(id)
    }

    /// Changes a comment's text.
    pub(crate) fn edit_comment(&mut self, at: Access, id: u64, body: &str) -> Result {
        check_body("IssueComment", "data", body)?;
        self.find_comment(at.repo, id)?;
        let now = self.clock.stamp();
        let comment = self.comment_mut(at.repo, id)?;
        let from = std::mem::replace(&mut comment.body, body.to_owned());
        comment.updated_at = now;
        let editor = at.by.user;
        comment.edits.push(Edit { at: now, editor });
        let changes = json!({"changes": {"body": {"from": from}}});
        self.comment_event(at, id, "edited", "edited a comment on", changes)
    }

    pub(crate) fn delete_comment(&mut self, at: Access, id: u64) -> Result {
        let number = self.find_comment(at.repo, id)?.0;
        self.comment_event(at, id, "deleted", "deleted a comment on", json!({}))?;
        let comments = &mut self.issue_mut(at.repo, number)?.comments;
        comments.retain(|comment| comment.id != id);
        Ok(())
    }

    fn comment_event(&mut self, at: Access, id: u64, action: &str, what: &str, more: Value) -> Result {
        let (number, comment) = self.find_comment(at.repo, id)?;
        let mut news = FeedEvent::new(format!("comment.{action}"), what, comment.body.clone());
        news.url = format!("#issuecomment-{id}");
        let (repo, issue) = (self.repo(at.repo)?, self.issue(at.repo, number)?);
        let mut fields = json!({
            "issue": json::issue(self, repo, issue),
            "comment": json::comment(self, repo, issue, comment),
        });
        json::extend(&mut fields, more);
        self.emit(at, "issue_comment", Some(action), fields);
        self.record_on(at, number, news);
        Ok(())
    }

    /// Adds a reaction. Returns `false` with it if it existed, because an account can add each kind once.
    pub(crate) fn react(&mut self, at: Access, target: Target, content: &str) -> Result<(Reaction, bool)> {
        if !REACTIONS.contains(&content) {
            return Err(Refusal::invalid("Reaction", "content", "invalid"));
        }
        let (number, anchor) = match target {
            Target::Issue(number) => (number, String::new()),
            Target::Comment(id) => (self.find_comment(at.repo, id)?.0, format!("#issuecomment-{id}")),
        };
        self.issue(at.repo, number)?;
        let (id, now) = (self.next_id(), self.clock.stamp());
        let reactions = match target {
            Target::Issue(number) => &mut self.issue_mut(at.repo, number)?.reactions,
            Target::Comment(id) => &mut self.comment_mut(at.repo, id)?.reactions,
        };
        let same = |one: &&Reaction| one.user == at.by.user && one.content == content;
        if let Some(known) = reactions.iter().find(same) {
            return Ok((known.clone(), false));
        }
        let fresh = Reaction { id, user: at.by.user, content: content.to_owned(), created_at: now };
        reactions.push(fresh.clone());
        let mut news = FeedEvent::new("reaction.created", "reacted to", content);
        news.url = anchor;
        self.record_on(at, number, news);
        Ok((fresh, true))
    }
}
