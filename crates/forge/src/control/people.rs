//! The acts of people in a browser or with git, within their rights.

use crate::{
    acts::{IssueChange, NewInline, NewPull, NewReview, Target},
    auth::{Caller, Right},
    disk::ForgeError,
    feed::LineRemark,
    forge::Forge,
    refusal::Result,
    state::{Access, DiffSide, Role, State},
};
/// A person who acts on the forge.
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
    /// Returns the person of that login, to act as them.
    pub fn as_user(&self, login: &str) -> Result<Person<'_>, ForgeError> {
        Ok(Person { forge: self, user: self.user_id(login)? })
    }
}

impl Person<'_> {
    pub(super) fn enter(&self, full_name: &str, right: Right) -> Done<Access> {
        let repo = self.forge.repo_id(full_name)?;
        let caller = Caller::Person(self.user);
        Ok(self.forge.site.read(|state| caller.enter(state, repo, right))?)
    }

    pub(super) fn act<T>(
        &self,
        full_name: &str,
        right: Right,
        deed: impl FnOnce(&mut State, Access) -> Result<T>,
    ) -> Done<T> {
        let at = self.enter(full_name, right)?;
        Ok(self.forge.site.change(|state| deed(state, at))?)
    }

    /// Enters the repository to change a text. Its author needs only to see the repository; everybody else needs
    /// `right`.
    fn touch(&self, full_name: &str, right: Right, author: impl Fn(&State, u64) -> Result<u64>) -> Done<Access> {
        let at = self.enter(full_name, EVERYONE)?;
        if self.forge.site.read(|state| author(state, at.repo))? == at.by.user {
            return Ok(at);
        }
        self.enter(full_name, right)
    }

    fn touch_issue(&self, full_name: &str, number: u64) -> Done<Access> {
        self.touch(full_name, TRIAGE, |state, repo| Ok(state.issue(repo, number)?.user))
    }

    fn touch_comment(&self, full_name: &str, comment: u64) -> Done<Access> {
        let author = |state: &State, repo| Ok(state.find_comment(repo, comment)?.1.user);
        self.touch(full_name, WRITE, author)
    }

    fn change_issue(&self, repo: &str, number: u64, change: &IssueChange) -> Done {
        let at = self.touch_issue(repo, number)?;
        Ok(self.forge.site.change(|state| state.change_issue(at, number, change))?)
    }

    /// Opens an issue; returns its number.
    pub fn open_issue(&self, repo: &str, title: &str, body: &str, labels: &[&str]) -> Done<u64> {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        self.act(repo, EVERYONE, |state, at| state.open_issue(at, title, Some(body), &labels))
    }

    /// Changes title or body of an issue or pull request.
    pub fn edit_issue(&self, repo: &str, number: u64, title: Option<&str>, body: Option<&str>) -> Done {
        let change =
            IssueChange { title: title.map(str::to_owned), body: body.map(str::to_owned), ..IssueChange::default() };
        self.change_issue(repo, number, &change)
    }

    /// Adds a label to an issue or pull request.
    pub fn label(&self, repo: &str, number: u64, label: &str) -> Done {
        self.act(repo, TRIAGE, |state, at| state.add_label(at, number, label))
    }

    /// Removes a label.
    pub fn unlabel(&self, repo: &str, number: u64, label: &str) -> Done {
        self.act(repo, TRIAGE, |state, at| state.remove_label(at, number, label))
    }

    /// Closes an issue or pull request.
    pub fn close(&self, repo: &str, number: u64) -> Done {
        let open = Some(false);
        let rest = IssueChange::default();
        self.change_issue(repo, number, &IssueChange { open, ..rest })
    }

    /// Opens a closed issue or pull request again.
    pub async fn reopen(&self, repo: &str, number: u64) -> Done {
        let at = self.touch_issue(repo, number)?;
        let site = &self.forge.site;
        let change = IssueChange { open: Some(true), ..IssueChange::default() };
        if site.read(|state| state.pull(at.repo, number).is_ok()) {
            return Ok(site.change_pull(at, number, &change).await?);
        }
        Ok(site.change(|state| state.change_issue(at, number, &change))?)
    }

    /// Removes an issue for good.
    pub fn delete_issue(&self, repo: &str, number: u64) -> Done {
        self.act(repo, ADMIN, |state, at| state.delete_issue(at, number))
    }

    /// Moves an issue to another repository; returns its number there.
    pub fn transfer_issue(&self, repo: &str, number: u64, to: &str) -> Done<u64> {
        let target = self.forge.repo_id(to)?;
        self.act(repo, WRITE, |state, at| state.transfer_issue(at, number, target))
    }

    /// Comments; returns the comment's id.
    pub fn comment(&self, repo: &str, number: u64, body: &str) -> Done<u64> {
        self.act(repo, EVERYONE, |state, at| state.comment(at, number, body))
    }

    /// Changes a comment.
    pub fn edit_comment(&self, repo: &str, comment: u64, body: &str) -> Done {
        let at = self.touch_comment(repo, comment)?;
        Ok(self.forge.site.change(|state| state.edit_comment(at, comment, body))?)
    }

    /// Removes a comment.
    pub fn delete_comment(&self, repo: &str, comment: u64) -> Done {
        let at = self.touch_comment(repo, comment)?;
        Ok(self.forge.site.change(|state| state.delete_comment(at, comment))?)
    }

    /// Reacts to a comment.
    pub fn react(&self, repo: &str, comment: u64, content: &str) -> Done {
        let target = Target::Comment(comment);
        self.act(repo, EVERYONE, |state, at| state.react(at, target, content).map(drop))
    }

    /// Opens a pull request; returns its number.
    pub async fn open_pull(&self, repo: &str, head: &str, base: &str, title: &str, body: &str) -> Done<u64> {
        let at = self.enter(repo, EVERYONE)?;
        let new = NewPull {
            title: title.to_owned(),
            body: Some(body.to_owned()),
            head: head.to_owned(),
            base: base.to_owned(),
            draft: false,
        };
        Ok(self.forge.site.open_pull(at, &new).await?)
    }

    /// Sets the branch that a pull request is merged into.
    pub async fn change_base(&self, repo: &str, number: u64, base: &str) -> Done {
        let at = self.touch_issue(repo, number)?;
        let change = IssueChange { base: Some(base.to_owned()), ..IssueChange::default() };
        Ok(self.forge.site.change_pull(at, number, &change).await?)
    }

    /// Marks a pull request as a draft, or as ready for review.
    pub fn set_draft(&self, repo: &str, number: u64, draft: bool) -> Done {
        let at = self.enter(repo, EVERYONE)?;
        Ok(self.forge.site.set_draft(at, number, draft)?)
    }

    /// Submits a review: `APPROVE`, `REQUEST_CHANGES` or `COMMENT`, with comments on lines. Returns the review's id.
    pub async fn review(&self, repo: &str, number: u64, event: &str, body: &str, remarks: &[LineRemark]) -> Done<u64> {
        let at = self.enter(repo, EVERYONE)?;
        let comments = remarks.iter().map(|remark| NewInline {
            path: remark.path.clone(),
            line: remark.line,
            side: DiffSide::Right,
            start_line: None,
            start_side: None,
            body: remark.text.clone(),
        });
        let new =
            NewReview { body: body.to_owned(), event: event.to_owned(), commit: None, comments: comments.collect() };
        Ok(self.forge.site.review(at, number, &new).await?)
    }

    /// Dismisses a review.
    pub fn dismiss_review(&self, repo: &str, number: u64, review: u64, message: &str) -> Done {
        self.act(repo, WRITE, |state, at| state.dismiss_review(at, number, review, message))
    }
}
