//! The page of a pull request: conversation, checks, commits, changed files.

use super::{
    super::{
        site::Site,
        state::{CheckRun, Issue, Pull, Repo, State},
    },
    changes, conversation, layout,
    layout::time,
    lists::short,
};
use git::bare::{CommitFacts, Comparison};
use maud::{Markup, html};
use page_parts::{badge, boxed, markdown};
use std::sync::Arc;

pub(super) async fn page(site: &Arc<Site>, repo: u64, number: u64) -> Option<Markup> {
    let (base, head) = site.read(|state| {
        let (_, pull) = state.pull(repo, number).ok()?;
        Some((pull.base_sha.clone(), pull.head_sha.clone()))
    })?;
    let seen = site.comparison(repo, &base, &head).await.ok()?;
    let commits = site.bare(repo).commits(Some(&base), &head, 250).await.ok()?;
    site.read(|state| {
        let known = state.repos.get(&repo)?;
        let (issue, pull) = state.pull(repo, number).ok()?;
        Some(whole(state, known, issue, pull, &seen, &commits))
    })
}

fn whole(state: &State, repo: &Repo, issue: &Issue, pull: &Pull, seen: &Comparison, commits: &[CommitFacts]) -> Markup {
    let name = state.full_name(repo);
    let of_pull =
        |run: &&CheckRun| run.head_sha == pull.head_sha || commits.iter().any(|commit| commit.sha == run.head_sha);
    let runs: Vec<&CheckRun> = repo.checks.values().filter(of_pull).collect();
    let body = html! {
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
        h2 { "Checks" }
        @if runs.is_empty() { p.muted { "None." } }
        @for run in runs.iter().rev() { (check(state, run)) }
        h2 { "Commits" }
        (changes::commits(&name, commits))
        h2 { "Files changed" }
        (changes::files_shown(state, &seen.files, &pull.threads))
    };
    layout::page(&format!("{} · {name}", issue.title), &body)
}

fn said<'a>(action: &'a serde_json::Value, field: &str) -> &'a str {
    action
        .get(field)
        .and_then(serde_json::Value::as_str)
        .unwrap_or_default()
}

fn check(state: &State, run: &CheckRun) -> Markup {
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
        @for action in &run.actions {
            p.muted { "Button " span.label { (said(action, "label")) } ": " (said(action, "description")) }
        }
    };
    boxed(Some(&format!("check-{}", run.id)), "", &head, &body)
}
