//! What the service needs and how it stands, for operators: a page, and JSON for programs.

use crate::web::{
    Inbox,
    dashboard::{Viewer, answer, of, to_sign_in},
    metrics,
};
use axum::{
    Json,
    extract::{Query, State, rejection::QueryRejection},
    http::{
        HeaderMap, StatusCode,
        header::{ACCEPT, AUTHORIZATION},
    },
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
pub(super) async fn page(
    State(inbox): State<Arc<Inbox>>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let name = asked.ok().and_then(|Query(asked)| asked.repo);
    let repo = name.and_then(|name| name.trim().parse::<RepoName>().ok());
    let by_token = inbox.admin().is_some_and(|token| metrics::shows(&headers, token));
    let viewer = of(&inbox, &headers);
    let is_operator = viewer.as_ref().is_some_and(|viewer| is_for(&inbox, viewer));
    let rows = match inbox.doctor() {
        Some(doctor) if by_token || is_operator => doctor(repo.clone()).await,
        Some(_) | None => {
            return match viewer {
                Some(viewer) => answer(&inbox, &viewer, "Not found", None, Ok(None)),
                None if headers.contains_key(AUTHORIZATION) => StatusCode::UNAUTHORIZED.into_response(),
                None => to_sign_in(),
            };
        }
    };
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    match viewer.filter(|_| !accepts.is_some_and(|kinds| kinds.contains("application/json"))) {
        Some(viewer) => {
            let content = content(&rows, repo.as_ref());
            answer(&inbox, &viewer, "Doctor", None, Ok(Some(content)))
        }
        None => Json(diagnosis::report(&rows)).into_response(),
    }
}

/// Whether somebody may see it.
pub(super) fn is_for(inbox: &Inbox, viewer: &Viewer) -> bool {
    let is_operator = match viewer {
        Viewer::SignedIn(_) => true,
        Viewer::ThisMachine => false,
    };
    is_operator && inbox.doctor().is_some()
}

/// The page's content.
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
                thead { tr { th { "state" } th { "what" } th { "found" } th { "what to do" } } }
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
            td.says { (row.found) }
            td.says { (row.remedy.as_deref().unwrap_or("–")) }
        }
    }
}
