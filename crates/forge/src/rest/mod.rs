//! The REST API, one file per noun. A call that no file knows is answered 404 and logged as unknown.

mod apps;
mod checks;
mod contents;
mod file_contents;
mod hooks;
mod issues;
mod labels;
mod of_repo;
mod pulls;
mod refs;
mod repos;
mod reviews;
mod users;

use crate::{
    call::{Call, Routed},
    refusal::{Refusal, Result},
    rest::of_repo::{OfRepo, number},
};

/// The first parts of the API's paths.
const ROOTS: [&str; 9] =
    ["app", "app-manifests", "graphql", "installation", "rate_limit", "repos", "repositories", "user", "users"];

/// Returns `true` if a path without `/api/v3` belongs to the API rather than to the pages.
pub(super) fn is_api(parts: &[&str]) -> bool {
    parts.first().is_some_and(|root| ROOTS.contains(root))
}

pub(super) async fn answer(mut call: Call) -> Routed {
    if call.parts.first().is_some_and(|part| part == "api") {
        call.parts.drain(..2.min(call.parts.len()));
    }
    by_id(&mut call)?;
    let parts: Vec<&str> = call.parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["repos", owner, name, rest @ ..] => {
            let call = &call;
            OfRepo { call, owner, name }.answer(rest).await
        }
        ["app", "hook", ..] => hooks::answer(&call, &parts),
        ["app" | "app-manifests" | "installation", ..] => apps::answer(&call, &parts),
        _ => users::answer(&call, &parts),
    }
}

/// Turns `/repositories/{id}/…` into `/repos/{owner}/{name}/…`.
fn by_id(call: &mut Call) -> Result {
    let id = match call.parts.as_slice() {
        [root, id, ..] if root == "repositories" => number(id)?,
        _ => return Ok(()),
    };
    let (owner, name) = call.site.read(|state| {
        let repo = state.repo(id)?;
        Ok::<_, Refusal>((state.login(repo.owner).to_owned(), repo.name.clone()))
    })?;
    call.parts.splice(..2, ["repos".to_owned(), owner, name]);
    Ok(())
}

impl OfRepo<'_> {
    async fn answer(&self, rest: &[&str]) -> Routed {
        match rest {
            ["labels", ..] | ["issues", _, "labels", ..] => labels::answer(self, rest),
            ["issues", ..] => issues::answer(self, rest),
            ["pulls", _, "reviews" | "comments", ..] => reviews::answer(self, rest).await,
            ["pulls", ..] => pulls::answer(self, rest).await,
            ["check-runs" | "commits", ..] => checks::answer(self, rest).await,
            ["git" | "rules" | "rulesets", ..] => refs::answer(self, rest).await,
            ["contents" | "compare", ..] => contents::answer(self, rest).await,
            _ => repos::answer(self, rest),
        }
    }
}
