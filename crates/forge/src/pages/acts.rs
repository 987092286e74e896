//! Boxes and buttons for people who act on the pages, and the acts behind them. Apps receive the same events as for
//! acts through the API.

use crate::{
    acts::{IssueChange, MergeOrder, NewReview},
    auth::{Caller, Right},
    readers::{Hands, QuickReply},
    refusal::{Refusal, Result},
    site::Site,
    state::{Access, Issue, Role},
};
use maud::{Markup, html};
use std::{collections::BTreeMap, sync::Arc};

const READ: Right = Right::write(&[], Role::Read);
const WRITE: Right = Right::write(&[], Role::Write);

/// The largest file that a box shows, in bytes.
const LARGEST_FILE: usize = 200_000;

/// A reader who may act.
pub(super) struct ReaderActor<'a> {
    pub(super) hands: &'a Hands,
    /// The id of the person whom they act as.
    pub(super) user: u64,
    /// The token that forms carry, so that no other site can send them.
    pub(super) token: String,
    /// The comments offered as buttons on this page.
    pub(super) replies: Vec<QuickReply>,
}

impl ReaderActor<'_> {
    /// Returns `true` unless it is their own pull request.
    fn may_review(&self, issue: &Issue) -> bool {
        issue.user != self.user
    }
}

fn form(hand: &ReaderActor<'_>, at: &str, act: &str, inner: &Markup) -> Markup {
    html! {
        form.act method="post" action=(format!("{at}/act")) {
            input type="hidden" name="token" value=(hand.token);
            input type="hidden" name="act" value=(act);
            (inner)
        }
    }
}

/// Returns the buttons that need no text. `mergeable` says, for an open pull request, if git could merge it;
/// `on_checks` holds the identifiers of the buttons on its checks.
pub(super) fn buttons(
    hand: &ReaderActor<'_>,
    at: &str,
    issue: &Issue,
    mergeable: Option<bool>,
    on_checks: &[&str],
) -> Markup {
    let said = |text: &str, label: &str| {
        html! {
            input type="hidden" name="body" value=(text);
            button id=(format!("say-{}", label.to_lowercase().replace(' ', "-"))) { (label) }
        }
    };
    let pull = issue.pull.as_ref();
    let is_on_check = |reply: &&QuickReply| reply.like.is_some_and(|like| on_checks.contains(&like));
    let replies = hand.replies.iter().filter(|reply| !is_on_check(reply));
    let is_draft = pull.is_some_and(|pull| pull.draft);
    html! {
        @if issue.open {
            div.acts {
                @if is_draft { (form(hand, at, "ready", &html! { button #ready { "Ready for review" } })) }
                @else if mergeable == Some(true) {
                    (form(hand, at, "merge", &html! { button.main #merge { "Merge" } }))
                }
                @for reply in replies { (form(hand, at, "comment", &said(reply.text, reply.label))) }
            }
            @if let (Some(pull), Some(false)) = (pull, mergeable) {
                p.muted { "It conflicts with " code { (pull.base) } ", so it cannot be merged yet." }
            }
        } @else if pull.is_none_or(|pull| pull.merged.is_none()) {
            div.acts { (form(hand, at, "reopen", &html! { button #reopen { "Reopen" } })) }
        }
    }
}

pub(super) fn check_button(hand: &ReaderActor<'_>, at: &str, run: u64, identifier: &str, label: &str) -> Markup {
    let inner = html! {
        input type="hidden" name="check" value=(run);
        input type="hidden" name="identifier" value=(identifier);
        button id=(format!("check-{run}-{identifier}")) { (label) }
    };
    form(hand, at, "check", &inner)
}

pub(super) fn comment_box(hand: &ReaderActor<'_>, at: &str) -> Markup {
    let inner = html! {
        label for="body" { "Comment as " (hand.hands.login) }
        textarea #body name="body" rows="4" required {}
        button.main { "Comment" }
    };
    form(hand, at, "comment", &inner)
}

/// Returns a box for a comment or a review.
pub(super) fn review_box(hand: &ReaderActor<'_>, at: &str, issue: &Issue) -> Markup {
    html! {
        @if !issue.open || !hand.may_review(issue) { (comment_box(hand, at)) } @else {
            form.act method="post" action=(format!("{at}/act")) {
                input type="hidden" name="token" value=(hand.token);
                label for="body" { "Comment or review as " (hand.hands.login) }
                textarea #body name="body" rows="4" required {}
                div.acts {
                    button.main name="act" value="comment" { "Comment" }
                    // An approval needs no text.
                    button #approve name="act" value="approve" formnovalidate { "Approve" }
                    button name="act" value="request-changes" { "Request changes" }
                }
            }
        }
    }
}

/// Returns a box with a file of the branch. Its text can be edited and committed.
pub(super) fn commit_box(hand: &ReaderActor<'_>, at: &str, issue: &Issue, edited: Option<(&str, &[u8])>) -> Markup {
    let Some(pull) = issue.pull.as_ref().filter(|_| issue.open) else {
        return html! {};
    };
    let text = edited.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
    let path = edited.map_or("", |(path, _)| path);
    let inner = html! {
        label for="path" { "File" }
        input #path type="text" name="path" value=(path) required;
        label for="text" { "Its whole text" }
        textarea.code #text name="text" rows="12" spellcheck="false" { "\n" (text) }
        label for="message" { "Message" }
        input #message type="text" name="message" placeholder="Change the file by hand";
        button.main { "Commit to " (pull.head) }
    };
    html! {
        details #commit open[edited.is_some()] {
            summary { h2 { "Commit by hand" } }
            form.act method="get" action=(format!("{at}#commit")) {
                label for="file" { "Open a file of the branch" }
                input #file type="text" name="file" value=(path) required;
                button { "Open" }
            }
            @if text.len() > LARGEST_FILE { p.wrong { "This file is too large to be changed here." } }
            @else { (form(hand, at, "commit", &inner)) }
        }
    }
}

/// A requested act on an issue or pull request.
pub(super) struct ActRequest<'a> {
    pub(super) site: &'a Arc<Site>,
    pub(super) repo: u64,
    pub(super) number: u64,
    pub(super) user: u64,
    pub(super) fields: &'a BTreeMap<String, String>,
}

impl ActRequest<'_> {
    /// Carries the act out with the person's rights.
    pub(super) async fn obey(&self) -> Result {
        let (site, number) = (self.site, self.number);
        match self.field("act") {
            "comment" => {
                let (at, body) = (self.enter(READ)?, self.text("body"));
                site.change(|state| state.comment(at, number, &body)).map(drop)
            }
            "approve" => self.review("APPROVE").await,
            "request-changes" => self.review("REQUEST_CHANGES").await,
            "ready" => site.set_draft(self.enter(WRITE)?, number, false),
            "reopen" => self.reopen().await,
            "merge" => site.merge(self.enter(WRITE)?, number, &MergeOrder::default()).await.map(drop),
            "commit" => self.commit().await,
            "check" => {
                let run = self.field("check").parse().map_err(|_| Refusal::not_found())?;
                let at = self.enter(READ)?;
                site.change(|state| state.click_check(at, run, Some(self.field("identifier"))))
            }
            _ => Err(Refusal::not_found()),
        }
    }

    async fn reopen(&self) -> Result {
        let (at, change) = (self.enter(WRITE)?, IssueChange { open: Some(true), ..IssueChange::default() });
        if self.site.read(|state| state.pull(self.repo, self.number).is_ok()) {
            self.site.change_pull(at, self.number, &change).await
        } else {
            self.site.change(|state| state.change_issue(at, self.number, &change))
        }
    }

    fn enter(&self, right: Right) -> Result<Access> {
        let caller = Caller::Person(self.user);
        self.site.read(|state| caller.enter(state, self.repo, right))
    }

    fn field(&self, name: &str) -> &str {
        self.fields.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Returns a field with `\n` line ends: browsers send `\r\n`.
    fn text(&self, name: &str) -> String {
        self.field(name).replace("\r\n", "\n")
    }

    async fn review(&self, event: &str) -> Result {
        let new = NewReview { body: self.text("body"), event: event.to_owned(), commit: None, comments: Vec::new() };
        self.site.review(self.enter(READ)?, self.number, &new).await.map(drop)
    }

    /// Commits a whole file to the branch of the pull request.
    async fn commit(&self) -> Result {
        let at = self.enter(WRITE)?;
        let (is_open, branch) = self.site.read(|state| {
            let (issue, pull) = state.pull(self.repo, self.number)?;
            Ok::<_, Refusal>((issue.open, pull.head.clone()))
        })?;
        if !is_open {
            return Err(Refusal::sentence("The pull request is closed, so nothing more is committed to it"));
        }
        let path = self.field("path").trim();
        let is_inside = |part: &str| !["", ".", "..", ".git"].contains(&part.to_ascii_lowercase().as_str());
        if !path.split('/').all(is_inside) || path.chars().any(char::is_control) {
            return Err(Refusal::sentence("The path is not one of a file in the repository"));
        }
        let mut text = self.text("text");
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let message = match self.text("message").trim() {
            "" => format!("Change {path} by hand"),
            message => message.to_owned(),
        };
        let files = BTreeMap::from([(path.to_owned(), Some(text.into_bytes()))]);
        self.site.commit_files(at, &branch, &message, &files).await.map(drop)
    }
}
