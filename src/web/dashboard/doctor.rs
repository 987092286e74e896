//! The doctor's rows for operators: a page, and JSON for programs.

use crate::web::{
    dashboard::{
        bar, not_found, page,
        sessions::{NotIn, Viewer},
    },
    inbox::Inbox,
    metrics,
    metrics::Shown,
};
use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderMap, StatusCode, header::ACCEPT},
    response::{IntoResponse, Response},
};
use domain::{
    diagnosis,
    diagnosis::{Row, Standing},
    ids::RepoName,
};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub(super) struct Asked {
    repo: Option<String>,
}

/// `GET /doctor`: for the administrator's session or, as JSON, for the token in a header.
pub(super) async fn doctor_page(
    State(inbox): State<Arc<Inbox>>,
    viewer: Result<Viewer, NotIn>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let name = asked.ok().and_then(|Query(asked)| asked.repo);
    let repo = name.and_then(|name| name.trim().parse::<RepoName>().ok());
    match metrics::by_token(&inbox, &headers) {
        None => {}
        Some(Shown::Right) => return json(&inbox, repo).await,
        Some(Shown::Wrong) => return StatusCode::UNAUTHORIZED.into_response(),
    }
    let viewer = match viewer {
        Ok(viewer) => viewer,
        Err(not_in) => return not_in.into_response(),
    };
    let Some(doctor) = inbox.doctor().filter(|_| is_for(&inbox, &viewer)) else {
        return not_found(&inbox, Some(&viewer));
    };
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    if accepts.is_some_and(|kinds| kinds.contains("application/json")) {
        return json(&inbox, repo).await;
    }
    let content = content(&doctor(repo.clone()).await, repo.as_ref());
    page(StatusCode::OK, "Doctor", &bar(&inbox, Some(&viewer)), None, &content)
}

async fn json(inbox: &Inbox, repo: Option<RepoName>) -> Response {
    match inbox.doctor() {
        Some(doctor) => Json(diagnosis::report(&doctor(repo).await)).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// `true` if the viewer may see the page.
pub(super) fn is_for(inbox: &Inbox, viewer: &Viewer) -> bool {
    viewer.sees_everything() && inbox.doctor().is_some()
}

/// Returns the page's content.
fn content(rows: &[Row], repo: Option<&RepoName>) -> Markup {
    let count = |standing: Standing| rows.iter().filter(|row| row.standing == standing).count();
    let (broken, warnings) = (count(Standing::Broken), count(Standing::Warning));
    html! {
        h1 { "Doctor" }
        p {
            @match (broken, warnings) {
                (0, 0) => { "Everything is as it should be." }
                (0, _) => { "Nothing is broken. Warnings: " (warnings) "." }
                _ => { "Broken: " (broken) ". Warnings: " (warnings) "." }
            }
        }
        form.look method="get" action="/doctor" {
            label for="repo" { "Look at a repository too" }
            input #repo name="repo" placeholder="owner/name" value=[repo] pattern="[^\\/]+\\/[^\\/]+";
            button { "Look" }
        }
        div.scroll tabindex="0" role="region" aria-label="Rows" {
            table.list {
                thead { tr { th { "state" } th { "what" } th { "found, and what to do" } } }
                tbody { @for row in rows { (line(row)) } }
            }
        }
        p.muted { "The same in a terminal: " code { "autobuild doctor" } }
    }
}

fn line(row: &Row) -> Markup {
    let colour = match row.standing {
        Standing::Ok => "success",
        Standing::Warning => "action_required",
        Standing::Broken => "failure",
    };
    html! {
        tr {
            td { (page_parts::badge(colour, row.standing.word())) }
            td { (row.what()) }
            td {
                div.says { (row.found) }
                @if let Some(remedy) = &row.remedy { div.says { "→ " b { (remedy) } } }
            }
        }
    }
}
