//! The doctor's rows for operators: a page, and JSON for programs.

use crate::{
    messages,
    web::{
        dashboard::{
            bar, not_found, page,
            sessions::{NotIn, Viewer},
        },
        inbox::Inbox,
        metrics,
        token_tries::TokenCheck,
    },
};
use axum::{
    Json,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header::ACCEPT},
    response::{IntoResponse, Response},
};
use domain::{
    diagnosis,
    diagnosis::{Row, RowStatus},
    ids::{NotAnId, RepoName},
};
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
pub(super) struct DoctorRequest {
    repo: Option<String>,
}

impl DoctorRequest {
    fn repository(&self) -> Result<Option<RepoName>, NotAnId> {
        let name = self.repo.as_deref().unwrap_or_default().trim();
        (!name.is_empty()).then(|| name.parse()).transpose()
    }
}

/// `GET /doctor`: for the administrator's session or, as JSON, for the token in a header.
pub(super) async fn doctor_page(
    State(inbox): State<Arc<Inbox>>,
    viewer: Result<Viewer, NotIn>,
    Query(asked): Query<DoctorRequest>,
    headers: HeaderMap,
) -> Response {
    let repo = asked.repository();
    match metrics::by_token(&inbox, &headers).await {
        None => {}
        Some(TokenCheck::Right) => return json(&inbox, repo).await,
        Some(TokenCheck::Wrong) => return StatusCode::UNAUTHORIZED.into_response(),
        Some(TokenCheck::TooMany) => return metrics::too_many_tokens(),
    }
    let viewer = match viewer {
        Ok(viewer) => viewer,
        Err(not_in) => return not_in.into_response(),
    };
    let Some(doctor) = inbox.doctor.as_ref().filter(|_| is_for(&inbox, &viewer)) else {
        return not_found(&inbox, Some(&viewer));
    };
    let accepts = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    if accepts.is_some_and(|kinds| kinds.contains("application/json")) {
        return json(&inbox, repo).await;
    }
    let entered = asked.repo.unwrap_or_default();
    let (status, content) = match repo {
        Ok(repo) => (StatusCode::OK, rows_shown(&doctor(repo).await)),
        Err(error) => (StatusCode::BAD_REQUEST, html! { p.wrong role="alert" { (error) ". Write it as acme/shop." } }),
    };
    let content = html! { h1 { "Doctor" } (look(&entered)) (content) };
    page(status, "Doctor", &bar(&inbox, Some(&viewer)), None, &content)
}

async fn json(inbox: &Inbox, repo: Result<Option<RepoName>, NotAnId>) -> Response {
    match (&inbox.doctor, repo) {
        (Some(doctor), Ok(repo)) => Json(diagnosis::report(&doctor(repo).await)).into_response(),
        (Some(_), Err(error)) => {
            let error = serde_json::json!({ "error": error.to_string() });
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        }
        (None, _) => StatusCode::NOT_FOUND.into_response(),
    }
}

pub(super) fn is_for(inbox: &Inbox, viewer: &Viewer) -> bool {
    viewer.sees_everything() && inbox.doctor.is_some()
}

/// Returns the form for the name of a repository.
fn look(entered: &str) -> Markup {
    html! {
        form.look method="get" action="/doctor" {
            label for="repo" { "Look at a repository too" }
            input #repo name="repo" placeholder="owner/name" value=(entered) pattern="[^\\/]+\\/[^\\/]+";
            button { "Look" }
        }
    }
}

fn rows_shown(rows: &[Row]) -> Markup {
    html! {
        p { (messages::summary_of_rows(rows)) }
        ul.rows { @for row in rows { (line(row)) } }
        p.muted { "The same in a terminal: " code { "autobuild doctor" } }
    }
}

fn line(row: &Row) -> Markup {
    let colour = match row.status {
        RowStatus::Ok => "success",
        RowStatus::Warning => "action_required",
        RowStatus::Broken => "failure",
    };
    html! {
        li {
            (page_parts::badge(colour, row.status.word())) " " b { (row.what()) }
            div.says { (page_parts::sentence(&row.found)) }
            @if let Some(remedy) = &row.remedy { div.says { "→ " (page_parts::sentence(remedy)) } }
        }
    }
}
