//! The page on which a signed-in person writes an issue. Its address may bring title, text and labels, as on GitHub.

use super::person::{Visit, page, redirect_to};
use crate::{
    auth::{Caller, Right},
    refusal::{OrNotFound, Refusal, Result},
    state::Role,
};
use axum::body::Body;
use http::Response;
use maud::html;

const READ: Right = Right::write(&[], Role::Read);
const TRIAGE: Right = Right::write(&[], Role::Triage);

/// Returns `true` if a path is this page.
pub(super) fn is_path(parts: &[&str]) -> bool {
    matches!(parts, [_, _, "issues", "new"])
}

pub(super) fn answer(visit: &Visit<'_>, person: u64) -> Result<Response<Body>> {
    let [owner, name, ..] = visit.parts else {
        return Err(Refusal::not_found());
    };
    let repo = visit.site.read(|state| state.repo_once_named(owner, name).map(|repo| repo.id)).or_not_found()?;
    let caller = Caller::Person(person);
    let at = visit.site.read(|state| caller.enter(state, repo, READ))?;
    if visit.method == "GET" {
        return Ok(form(visit));
    }
    visit.check_own_form()?;
    let may_label = visit.site.read(|state| caller.enter(state, repo, TRIAGE)).is_ok();
    let labels = labels(visit.field("labels").filter(|_| may_label));
    let text = visit.field("body").unwrap_or_default().replace("\r\n", "\n");
    let title = visit.field("title").unwrap_or_default();
    let number = visit.site.change(|state| state.open_issue(at, title, Some(&text), &labels))?;
    Ok(redirect_to(&format!("/{owner}/{name}/issues/{number}")))
}

fn labels(named: Option<&str>) -> Vec<String> {
    let named = named.unwrap_or_default().split(',').map(str::trim);
    named.filter(|label| !label.is_empty()).map(str::to_owned).collect()
}

fn form(visit: &Visit<'_>) -> Response<Body> {
    let brought = |name: &str| visit.query.get(name).map(String::as_str).unwrap_or_default();
    let body = html! {
        h1 { "New issue" }
        form.sign-in method="post" action=(visit.path.split('?').next().unwrap_or_default()) {
            (visit.own_form())
            label for="title" { "Title" }
            input #title name="title" value=(brought("title")) required;
            label for="body" { "Description" }
            textarea #body name="body" rows="8" { "\n" (brought("body")) }
            label for="labels" { "Labels" }
            input #labels name="labels" value=(brought("labels"));
            button { "Create" }
        }
    };
    page("New issue", body)
}
