//! Commits and their changed lines.

use super::{
    super::{
        diff,
        diff::DiffLine,
        site::Site,
        state::{InlineComment, State},
    },
    conversation::remark_box,
    layout::{PageView, time},
    lists::short,
};
use git::bare::{CommitRecord, FileChange};
use maud::{Markup, html};
use page_parts::{badge, boxed};
use std::sync::Arc;

/// The most lines of a file's diff that a page shows.
const LONGEST_DIFF: usize = 5_000;

pub(super) async fn commit_page(site: &Arc<Site>, repo: u64, sha: &str) -> Option<PageView> {
    if !(4..=40).contains(&sha.len()) || !sha.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let bare = site.bare(repo);
    let commit = bare.commit(sha).await.ok()??;
    let files = match commit.parents.first() {
        Some(parent) => bare.diff(parent, &commit.sha).await.ok()?,
        None => Vec::new(),
    };
    site.read(|state| {
        let repo = state.repos.get(&repo)?;
        let name = state.full_name(repo);
        let body = html! {
            p { a href=(format!("/{name}")) { (name) } }
            h1 { (commit.message.lines().next().unwrap_or_default()) }
            p.muted {
                (commit.author_name) " · " code { (commit.sha) }
                @if repo.signed.contains(&commit.sha) { " " (badge("completed", "Verified")) }
            }
            pre { (commit.message) }
            (files_shown(state, &files, &[]))
        };
        Some(PageView::new(format!("{} · {name}", short(&commit.sha)), body))
    })
}

/// Returns a list of commits, oldest first.
pub(super) fn commits(name: &str, list: &[CommitRecord]) -> Markup {
    html! {
        ul.rows {
            @for commit in list {
                li {
                    a href=(format!("/{name}/commit/{}", commit.sha)) { code { (short(&commit.sha)) } } " "
                    (commit.message.lines().next().unwrap_or_default()) " "
                    span.muted {
                        (commit.author_name) ", "
                        @if let Some(at) = chrono::DateTime::from_timestamp(commit.committed, 0) { (time(at)) }
                    }
                }
            }
        }
    }
}

/// Returns changed files, with each comment below its line.
pub(super) fn files_shown(state: &State, files: &[FileChange], remarks: &[InlineComment]) -> Markup {
    html! {
        @for file in files {
            @let own: Vec<&InlineComment> = remarks.iter().filter(|remark| remark.path == file.path).collect();
            (boxed(None, "", &file_head(file), &file_body(state, file, &own)))
        }
    }
}

fn file_head(file: &FileChange) -> Markup {
    html! {
        b { code { (file.path) } }
        @if let Some(previous) = &file.previous { " (was " code { (previous) } ")" }
        " +" (file.additions) " −" (file.deletions)
    }
}

fn file_body(state: &State, file: &FileChange, remarks: &[&InlineComment]) -> Markup {
    let lines = diff::lines(file.patch.as_deref().unwrap_or_default());
    if lines.is_empty() || lines.len() > LONGEST_DIFF {
        return html! { p.muted { "No lines to show." } };
    }
    let below = |line: &DiffLine| -> Vec<&&InlineComment> {
        let fits = |remark: &&&InlineComment| remark.line.is_some_and(|number| line.is(remark.side, number));
        remarks.iter().filter(fits).collect()
    };
    html! {
        table.diff {
            @for line in &lines {
                tr class=(kind(line)) {
                    td.n { @if let Some(number) = line.left { (number) } }
                    td.n { @if let Some(number) = line.right { (number) } }
                    td { (line.text) }
                }
                @for remark in below(line) {
                    tr { td.remarks colspan="3" { (remark_box(state, remark, false)) } }
                }
            }
        }
    }
}

fn kind(line: &DiffLine) -> &'static str {
    match line.text.as_bytes().first() {
        Some(b'+') => "plus",
        Some(b'-') => "minus",
        Some(b'@') => "hunk",
        _ => "",
    }
}
