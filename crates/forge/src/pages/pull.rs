//! The page of a pull request: conversation, checks, commits, changed files.

use super::{
    super::{
        site::Site,
        state::{CheckRun, InlineComment, Issue, Pull, Repo, State},
    },
    acts,
    acts::ReaderActor,
    changes, conversation,
    layout::{PageView, time},
    lists::short,
};
use git::bare::{CommitRecord, Comparison};
use maud::{Markup, html};
use page_parts::{badge, boxed, markdown};
use std::sync::Arc;

/// Returns the page of a pull request; `file` is the path of a file to edit.
pub(super) async fn page(
    site: &Arc<Site>,
    repo: u64,
    number: u64,
    hand: Option<&ReaderActor<'_>>,
    file: Option<&str>,
) -> Option<PageView> {
    let (base, head) = site.read(|state| {
        let (_, pull) = state.pull(repo, number).ok()?;
        Some((pull.base_sha.clone(), pull.head_sha.clone()))
    })?;
    let edited = match file {
        Some(path) => Some((path, site.bare(repo).file(&head, path).await.ok()?.unwrap_or_default())),
        None => None,
    };
    let mergeable = site.mergeable_now(repo, number).await.ok()?;
    let seen = site.comparison(repo, &base, &head).await.ok()?;
    let commits = site.bare(repo).commits(Some(&base), &head, 250).await.ok()?;
    site.read(|state| {
        let known = state.repos.get(&repo)?;
        let (issue, pull) = state.pull(repo, number).ok()?;
        let at = format!("/{}{}", state.full_name(known), issue.page());
        Some(PageView {
            title: format!("{} · {}", issue.title, state.full_name(known)),
            content: PullPage { repo: known, issue, pull, seen: &seen, commits: &commits, mergeable }
                .content(state, hand.map(|hand| (hand, at.as_str()))),
            boxes: html! {
                @if let Some(hand) = hand {
                    (acts::review_box(hand, &at, issue))
                    (acts::commit_box(hand, &at, issue, edited.as_ref().map(|(path, bytes)| (*path, bytes.as_slice()))))
                }
            },
        })
    })
}

/// A pull request with the differences that git finds.
struct PullPage<'a> {
    repo: &'a Repo,
    issue: &'a Issue,
    pull: &'a Pull,
    seen: &'a Comparison,
    commits: &'a [CommitRecord],
    mergeable: Option<bool>,
}

impl PullPage<'_> {
    fn content(&self, state: &State, hand: Option<(&ReaderActor<'_>, &str)>) -> Markup {
        let Self { repo, issue, pull, seen, commits, mergeable } = *self;
        let name = state.full_name(repo);
        let of_pull =
            |run: &&CheckRun| run.head_sha == pull.head_sha || commits.iter().any(|commit| commit.sha == run.head_sha);
        let runs: Vec<&CheckRun> = repo.checks.values().filter(of_pull).collect();
        let offered = runs.iter().flat_map(|run| actions(run, &runs));
        let on_checks: Vec<&str> = offered.map(|action| text_field(action, "identifier")).collect();
        // A comment on an earlier commit is shown only with its review, because its line may have changed since.
        let on_head = pull.threads.iter().filter(|remark| remark.commit == pull.head_sha);
        let current: Vec<InlineComment> = on_head.cloned().collect();
        html! {
            (conversation::heading(state, repo, issue))
            p.muted {
                code { (pull.head) } " into " code { (pull.base) }
                " · " (seen.files.len()) (if seen.files.len() == 1 { " file, +" } else { " files, +" }) (pull.size.additions) " −" (pull.size.deletions)
                @if let Some(merge) = &pull.merged {
                    " · merged by " (state.login(merge.by)) " as "
                    a href=(format!("/{name}/commit/{}", merge.sha)) { code { (short(&merge.sha)) } }
                }
            }
            @if issue.open && !pull.requested.is_empty() {
                p.muted { "Waits for a review by " (pull.requested.iter().map(|user| state.login(*user)).collect::<Vec<_>>().join(", ")) }
            }
            (conversation::timeline(state, repo, issue))
            @if let Some((hand, at)) = hand { (acts::buttons(hand, at, issue, mergeable, &on_checks)) }
            h2 { "Checks" }
            @if runs.is_empty() { p.muted { "None." } }
            @for run in runs.iter().rev() { (check(state, run, actions(run, &runs), hand)) }
            h2 { "Commits" }
            (changes::commits(&name, commits))
            h2 { "Files changed" }
            (changes::files_shown(state, &seen.files, &current))
        }
    }
}

fn text_field<'a>(action: &'a serde_json::Value, field: &str) -> &'a str {
    action.get(field).and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// Returns the buttons of a check that has ended, unless a newer check of the same App has its name.
fn actions<'run>(run: &'run CheckRun, runs: &[&CheckRun]) -> &'run [serde_json::Value] {
    let replaces = |other: &&CheckRun| other.app == run.app && other.name == run.name && other.id > run.id;
    if run.status == "completed" && !runs.iter().any(replaces) { &run.actions } else { &[] }
}

fn check(
    state: &State,
    run: &CheckRun,
    actions: &[serde_json::Value],
    hand: Option<(&ReaderActor<'_>, &str)>,
) -> Markup {
    let word = run.conclusion.as_deref().unwrap_or(&run.status);
    let app = state.apps.get(&run.app).map_or("", |app| app.slug.as_str());
    let head = html! {
        (badge(word, &word.replace('_', " "))) " " b { (run.name) } " by " (app)
        " on " code { (short(&run.head_sha)) } ", " (time(run.completed_at.unwrap_or(run.started_at)))
    };
    let body = html! {
        @if let Some(title) = &run.title { p { b { (title) } } }
        @if let Some(summary) = &run.summary { (markdown::render(summary)) }
        @if let Some(text) = &run.text { details { summary { "Details" } (markdown::render(text)) } }
        @for action in actions {
            @match hand {
                Some((hand, at)) => {
                    (acts::check_button(hand, at, run.id, text_field(action, "identifier"), text_field(action, "label")))
                    p.muted { (text_field(action, "description")) }
                }
                None => p.muted { "Button " span.label { (text_field(action, "label")) } ": " (text_field(action, "description")) },
            }
        }
    };
    boxed(Some(&format!("check-{}", run.id)), "", &head, &body)
}
