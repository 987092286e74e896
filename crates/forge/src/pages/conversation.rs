//! The events on an issue or pull request, in order.

use super::{
    super::{
        feed::FeedEvent,
        state::{Comment, InlineComment, Issue, Reaction, Repo, Review, State},
    },
    acts,
    acts::ReaderActor,
    layout::{PageView, time},
    lists::{short, state_badge},
};
use maud::{Markup, html};
use page_parts::{badge, boxed, markdown};

pub(super) fn issue_page(state: &State, repo: u64, number: u64, hand: Option<&ReaderActor<'_>>) -> Option<PageView> {
    let repo = state.repos.get(&repo)?;
    let issue = repo.issues.get(&number)?;
    let name = state.full_name(repo);
    let at = format!("/{name}{}", issue.page());
    Some(PageView {
        title: format!("{} · {name}", issue.title),
        content: html! {
            (heading(state, repo, issue))
            (timeline(state, repo, issue))
            @if let Some(hand) = hand { (acts::buttons(hand, &at, issue, None, &[])) }
        },
        boxes: html! { @if let Some(hand) = hand { (acts::comment_box(hand, &at)) } },
    })
}

pub(super) fn heading(state: &State, repo: &Repo, issue: &Issue) -> Markup {
    let name = state.full_name(repo);
    html! {
        p { a href=(format!("/{name}")) { (name) } }
        h1 { (issue.title) " " span.number { "#" (issue.number) } }
        p {
            (state_badge(issue)) " "
            @if let Some(reason) = &issue.state_reason { span.muted { (reason) } " " }
            @for label in &issue.labels { span.label { (label) } }
        }
    }
}

/// Returns all events in order: the text, then comments, reviews and smaller events.
pub(super) fn timeline(state: &State, repo: &Repo, issue: &Issue) -> Markup {
    let names = names(state, repo);
    let mine = |event: &&FeedEvent| {
        event.number == Some(issue.number) && names.iter().any(|name| name.eq_ignore_ascii_case(&event.repository))
    };
    html! {
        (opening(state, issue))
        @for event in state.feed.iter().filter(mine) { (entry(state, issue, event)) }
    }
}

/// Returns the repository's present and former names.
fn names(state: &State, repo: &Repo) -> Vec<String> {
    let former = state.former_names.iter().filter(|(_, id)| **id == repo.id);
    former.map(|(name, _)| name.clone()).chain([state.full_name(repo)]).collect()
}

fn opening(state: &State, issue: &Issue) -> Markup {
    let head = html! { b { (state.login(issue.user)) } " opened, " (time(issue.created_at)) @if !issue.edits.is_empty() { " (edited)" } };
    let body = html! { (markdown::render(issue.body.as_deref().unwrap_or("*No description.*"))) (reactions(&issue.reactions)) };
    boxed(None, "", &head, &body)
}

fn entry(state: &State, issue: &Issue, event: &FeedEvent) -> Markup {
    let anchor = event.url.rsplit_once('#').map(|(_, anchor)| anchor).unwrap_or_default();
    let id = |prefix: &str| anchor.strip_prefix(prefix).and_then(|id| id.parse::<u64>().ok());
    match event.kind.as_str() {
        "comment.created" => {
            let mut comments = issue.comments.iter();
            let found = comments.find(|comment| Some(comment.id) == id("issuecomment-"));
            found.map(|comment| comment_box(state, comment)).unwrap_or_default()
        }
        "review.submitted" => {
            let mut reviews = issue.pull.iter().flat_map(|pull| &pull.reviews);
            let found = reviews.find(|review| Some(review.id) == id("pullrequestreview-"));
            found.map(|review| review_box(state, issue, review)).unwrap_or_default()
        }
        "comment.edited" | "reaction.created" | "issue.opened" | "pull_request.opened" => html! {},
        _ => html! {
            p.event {
                b { (event.actor) } " " (event.what) " "
                @if !event.text.is_empty() && event.text != issue.title { "“" (event.text.lines().next().unwrap_or_default()) "” " }
                (time(event.at))
            }
        },
    }
}

fn comment_box(state: &State, comment: &Comment) -> Markup {
    let edits = comment.edits.len();
    let head = html! {
        b { (state.login(comment.user)) } " commented, " (time(comment.created_at))
        @if edits > 0 { " (edited " @if edits == 1 { "once" } @else { (edits) " times" } ")" }
    };
    let body = html! { (markdown::render(&comment.body)) (reactions(&comment.reactions)) };
    boxed(Some(&format!("issuecomment-{}", comment.id)), "", &head, &body)
}

fn reactions(list: &[Reaction]) -> Markup {
    let shown = |content: &str| match content {
        "+1" => "👍",
        "-1" => "👎",
        "laugh" => "😄",
        "hooray" => "🎉",
        "confused" => "😕",
        "heart" => "❤️",
        "rocket" => "🚀",
        _ => "👀",
    };
    html! {
        @if !list.is_empty() {
            p.reactions { @for one in list { span { (shown(&one.content)) } } }
        }
    }
}

fn review_box(state: &State, issue: &Issue, review: &Review) -> Markup {
    let word = review.state.upper().to_lowercase();
    let threads = issue.pull.iter().flat_map(|pull| &pull.threads);
    let remarks = threads.filter(|remark| remark.review == review.id);
    let head = html! {
        b { (state.login(review.user)) } " "
        (badge(&word, &word.replace('_', " "))) " on " code { (short(&review.commit)) } ", " (time(review.submitted_at))
        @if let Some(message) = &review.dismissal { " — dismissed: " (message) }
    };
    let body = html! {
        (markdown::render(&review.body))
        @for remark in remarks { (remark_box(state, remark, true)) }
    };
    boxed(Some(&format!("pullrequestreview-{}", review.id)), &word, &head, &body)
}

/// Returns a comment on a line, with the end of its hunk if it is shown outside the diff.
pub(super) fn remark_box(state: &State, remark: &InlineComment, with_hunk: bool) -> Markup {
    let lines = match (remark.start_line, remark.line) {
        (Some(from), Some(to)) => format!("lines {from} to {to}"),
        (None, Some(line)) => format!("line {line}"),
        _ => "the file".to_owned(),
    };
    let hunk: Vec<&str> = remark.hunk.lines().collect();
    let shown = hunk.get(hunk.len().saturating_sub(4)..).unwrap_or_default().join("\n");
    let head = html! { b { (state.login(remark.user)) } " on " code { (remark.path) } ", " (lines) };
    let body = html! {
        @if with_hunk { pre { code { (shown) } } }
        (markdown::render(&remark.body))
    };
    let place = if with_hunk { "review" } else { "discussion" };
    boxed(Some(&format!("{place}_r{}", remark.id)), "", &head, &body)
}
