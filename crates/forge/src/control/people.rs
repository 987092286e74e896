//! People at work: what a person does in a browser or with git, with the rights they have.

use super::super::{
    acts::{IssueChange, NewInline, NewPull, NewReview, PullChange, Target},
    auth::{Caller, Right},
    refusal::Refusal,
    state::{Actor, Role, Side, State},
};
use crate::{disk::ForgeError, forge::Forge};

/// A remark on a line of a pull request's diff, on its new side.
#[derive(Clone, Debug)]
pub struct InlineRemark {
    /// The file.
    pub path: String,
    /// The line, as numbered after the change.
    pub line: u64,
    /// What is said.
    pub body: String,
}

/// A person acting on the forge.
#[derive(Debug)]
pub struct Person<'a> {
    pub(super) forge: &'a Forge,
    user: u64,
}

pub(super) const EVERYONE: Right = Right::write(&[], Role::Read);
const TRIAGE: Right = Right::write(&[], Role::Triage);
pub(super) const WRITE: Right = Right::write(&[], Role::Write);
pub(super) const ADMIN: Right = Right::write(&[], Role::Admin);

pub(super) type Done<T = ()> = Result<T, ForgeError>;

impl Forge {
    /// Acts as the person of that login.
    pub fn as_user(&self, login: &str) -> Result<Person<'_>, ForgeError> {
        Ok(Person {
            forge: self,
            user: self.user_id(login)?,
        })
    }
}

impl Person<'_> {
    pub(super) fn enter(&self, full_name: &str, right: Right) -> Done<(u64, Actor)> {
        let repo = self.forge.repo_id(full_name)?;
        let actor = self
            .forge
            .site
            .read(|state| Caller::Person(self.user).enter(state, repo, right))?;
        Ok((repo, actor))
    }

    /// As `enter`, for changing what someone wrote: one's own needs no role but to see it, another's does.
    fn touch(
        &self,
        full_name: &str,
        author: impl Fn(&State, u64) -> Result<u64, Refusal>,
        role: Right,
    ) -> Done<(u64, Actor)> {
        let (repo, by) = self.enter(full_name, EVERYONE)?;
        let own = self.forge.site.read(|state| author(state, repo))? == by.user;
        if own {
            Ok((repo, by))
        } else {
            self.enter(full_name, role)
        }
    }

    pub(super) fn act<T>(
        &self,
        full_name: &str,
        right: Right,
        deed: impl FnOnce(&mut State, Actor, u64) -> Result<T, Refusal>,
    ) -> Done<T> {
        let (repo, by) = self.enter(full_name, right)?;
        Ok(self.forge.site.change(|state| deed(state, by, repo))?)
    }

    /// Opens an issue; gives its number.
    pub fn open_issue(&self, repo: &str, title: &str, body: &str, labels: &[&str]) -> Done<u64> {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        self.act(repo, EVERYONE, |state, by, repo| {
            state.open_issue(by, repo, title, Some(body), &labels)
        })
    }

    /// Changes title or body of an issue or pull request.
    pub fn edit_issue(&self, repo: &str, number: u64, title: Option<&str>, body: Option<&str>) -> Done {
        let change = IssueChange {
            title: title.map(str::to_owned),
            body: body.map(str::to_owned),
            ..IssueChange::default()
        };
        let (id, by) = self.touch(repo, |state, repo| Ok(state.issue(repo, number)?.user), TRIAGE)?;
        Ok(self
            .forge
            .site
            .change(|state| state.change_issue(by, id, number, &change))?)
    }

    /// Puts a label on an issue or pull request.
    pub fn label(&self, repo: &str, number: u64, label: &str) -> Done {
        self.act(repo, TRIAGE, |state, by, repo| state.add_label(by, repo, number, label))
    }

    /// Takes a label off.
    pub fn unlabel(&self, repo: &str, number: u64, label: &str) -> Done {
        self.act(repo, TRIAGE, |state, by, repo| {
            state.remove_label(by, repo, number, label)
        })
    }

    /// Closes an issue or pull request.
    pub fn close(&self, repo: &str, number: u64) -> Done {
        let change = IssueChange {
            open: Some(false),
            ..IssueChange::default()
        };
        let (id, by) = self.touch(repo, |state, repo| Ok(state.issue(repo, number)?.user), TRIAGE)?;
        Ok(self
            .forge
            .site
            .change(|state| state.change_issue(by, id, number, &change))?)
    }

    /// Opens a closed issue or pull request again.
    pub async fn reopen(&self, repo: &str, number: u64) -> Done {
        let (id, by) = self.touch(repo, |state, repo| Ok(state.issue(repo, number)?.user), TRIAGE)?;
        let pull = self
            .forge
            .site
            .read(|state| state.issue(id, number).map(|issue| issue.is_pull()))?;
        if pull {
            let change = PullChange {
                open: Some(true),
                ..PullChange::default()
            };
            return Ok(self.forge.site.change_pull(by, id, number, &change).await?);
        }
        let change = IssueChange {
            open: Some(true),
            ..IssueChange::default()
        };
        Ok(self
            .forge
            .site
            .change(|state| state.change_issue(by, id, number, &change))?)
    }

    /// Removes an issue for good.
    pub fn delete_issue(&self, repo: &str, number: u64) -> Done {
        self.act(repo, ADMIN, |state, by, repo| state.delete_issue(by, repo, number))
    }

    /// Moves an issue to another repository; gives its number there.
    pub fn transfer_issue(&self, repo: &str, number: u64, to: &str) -> Done<u64> {
        let target = self.forge.repo_id(to)?;
        self.act(repo, WRITE, |state, by, repo| {
            state.transfer_issue(by, repo, number, target)
        })
    }

    /// Comments; gives the comment's id.
    pub fn comment(&self, repo: &str, number: u64, body: &str) -> Done<u64> {
        self.act(repo, EVERYONE, |state, by, repo| state.comment(by, repo, number, body))
    }

    /// Changes a comment.
    pub fn edit_comment(&self, repo: &str, comment: u64, body: &str) -> Done {
        let (id, by) = self.touch(repo, |state, repo| Ok(state.find_comment(repo, comment)?.1.user), WRITE)?;
        Ok(self
            .forge
            .site
            .change(|state| state.edit_comment(by, id, comment, body))?)
    }

    /// Removes a comment.
    pub fn delete_comment(&self, repo: &str, comment: u64) -> Done {
        let (id, by) = self.touch(repo, |state, repo| Ok(state.find_comment(repo, comment)?.1.user), WRITE)?;
        Ok(self.forge.site.change(|state| state.delete_comment(by, id, comment))?)
    }

    /// Reacts to a comment.
    pub fn react(&self, repo: &str, comment: u64, content: &str) -> Done {
        let react = |state: &mut State, by, repo| state.react(by, repo, Target::Comment(comment), content).map(|_| ());
        self.act(repo, EVERYONE, react)
    }

    /// Opens a pull request; gives its number.
    pub async fn open_pull(&self, repo: &str, head: &str, base: &str, title: &str, body: &str) -> Done<u64> {
        let (id, by) = self.enter(repo, EVERYONE)?;
        let new = NewPull {
            title: title.to_owned(),
            body: Some(body.to_owned()),
            head: head.to_owned(),
            base: base.to_owned(),
            draft: false,
        };
        Ok(self.forge.site.open_pull(by, id, &new).await?)
    }

    /// Marks a draft as ready, or makes a draft of it again.
    pub fn set_draft(&self, repo: &str, number: u64, draft: bool) -> Done {
        let (id, by) = self.enter(repo, EVERYONE)?;
        Ok(self.forge.site.set_draft(by, id, number, draft)?)
    }

    /// Reviews: `APPROVE`, `REQUEST_CHANGES` or `COMMENT`, with remarks on lines; gives the review's id.
    pub async fn review(
        &self,
        repo: &str,
        number: u64,
        event: &str,
        body: &str,
        remarks: &[InlineRemark],
    ) -> Done<u64> {
        let (id, by) = self.enter(repo, EVERYONE)?;
        let comments = remarks.iter().map(|remark| NewInline {
            path: remark.path.clone(),
            line: Some(remark.line),
            side: Side::Right,
            start_line: None,
            start_side: None,
            body: remark.body.clone(),
        });
        let new = NewReview {
            body: body.to_owned(),
            event: Some(event.to_owned()),
            commit: None,
            comments: comments.collect(),
        };
        Ok(self.forge.site.review(by, id, number, &new).await?)
    }

    /// Takes a review back.
    pub fn dismiss_review(&self, repo: &str, number: u64, review: u64, message: &str) -> Done {
        self.act(repo, WRITE, |state, by, repo| {
            state.dismiss_review(by, repo, number, review, message)
        })
    }
}
