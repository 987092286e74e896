//! The list of repositories, and the page of one.

use super::{
    super::state::{Issue, Repo, State},
    layout::{PageView, time},
};
use maud::{Markup, html};
use page_parts::badge;

/// Returns the list of the repositories that `is_shown` selects.
pub(super) fn index(state: &State, is_shown: impl Fn(&&Repo) -> bool) -> PageView {
    let repos: Vec<&Repo> = state.repos.values().filter(is_shown).collect();
    let body = html! {
        h1 { "Repositories" }
        ul.rows {
            @for repo in &repos {
                @let name = state.full_name(repo);
                li {
                    a href=(format!("/{name}")) { (name) } " "
                    span.muted { (repo.issues.len()) " issues and pull requests" }
                }
            }
            @if repos.is_empty() { li.muted { "None yet." } }
        }
    };
    PageView::new("Local forge", body)
}

/// Returns the page of a repository: issues, pull requests and branches.
pub(super) fn repository(state: &State, repo: &Repo) -> PageView {
    let name = state.full_name(repo);
    let newest = || repo.issues.values().rev();
    let body = html! {
        h1 { (name) @if repo.archived { " " (badge("closed", "archived")) } }
        p.muted { "git clone " code { (state.repo_page(repo)) ".git" } }
        h2 { "Issues" }
        (rows(state, repo, newest().filter(|issue| !issue.is_pull())))
        h2 { "Pull requests" }
        (rows(state, repo, newest().filter(|issue| issue.is_pull())))
        h2 { "Branches" }
        ul.rows {
            @for (branch, sha) in &repo.branches {
                li { code { (branch) } " " a href=(format!("/{name}/commit/{sha}")) { code { (short(sha)) } } }
            }
        }
    };
    PageView::new(name, body)
}

fn rows<'a>(state: &State, repo: &Repo, issues: impl Iterator<Item = &'a Issue>) -> Markup {
    let issues: Vec<&Issue> = issues.collect();
    html! {
        ul.rows {
            @for issue in &issues {
                li {
                    (state_badge(issue)) " "
                    a href=(format!("/{}{}", state.full_name(repo), issue.page())) { (issue.title) } " "
                    @for label in &issue.labels { span.label { (label) } }
                    div.muted { "#" (issue.number) " by " (state.login(issue.user)) ", " (time(issue.created_at)) }
                }
            }
            @if issues.is_empty() { li.muted { "None." } }
        }
    }
}

/// Returns the state of an issue or pull request as a badge.
pub(super) fn state_badge(issue: &Issue) -> Markup {
    match &issue.pull {
        Some(pull) if pull.merged.is_some() => badge("merged", "Merged"),
        Some(pull) if issue.open && pull.draft => badge("draft", "Draft"),
        _ if issue.open => badge("open", "Open"),
        Some(_) => badge("closed", "Closed"),
        None => badge("completed", "Closed"),
    }
}

/// Returns the first seven digits of a commit id.
pub(super) fn short(sha: &str) -> &str {
    sha.get(..7).unwrap_or(sha)
}
