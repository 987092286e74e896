//! The REST API, one file per noun. What no file knows is answered 404 and remembered as unknown.

mod apps;
mod checks;
mod contents;
mod file_contents;
mod hooks;
mod issues;
mod labels;
mod pulls;
mod refs;
mod repos;
mod reviews;
mod users;

use super::call::{Answered, Call};
use crate::refusal::Refusal;

/// Whether a path without `/api/v3` belongs to the API rather than to the pages.
pub(super) fn is_api(parts: &[&str]) -> bool {
    const ROOTS: [&str; 8] = [
        "app",
        "graphql",
        "installation",
        "rate_limit",
        "repos",
        "repositories",
        "user",
        "users",
    ];
    parts.first().is_some_and(|root| ROOTS.contains(root))
}

/// Answers a call; none: the forge does not know it.
pub(super) async fn answer(mut call: Call) -> Option<Answered> {
    if call.parts.first().is_some_and(|part| part == "api") {
        call.parts.drain(..2.min(call.parts.len()));
    }
    if let Err(refusal) = by_id(&mut call) {
        return Some(Err(refusal));
    }
    let parts: Vec<String> = call.parts.clone();
    let slices: Vec<&str> = parts.iter().map(String::as_str).collect();
    let method = call.method.clone();
    match slices.as_slice() {
        ["repos", owner, name, rest @ ..] => of_repo(&call, &method, owner, name, rest).await,
        all => match hooks::answer(&call, &method, all) {
            Some(answer) => Some(answer),
            None => match apps::answer(&call, &method, all) {
                Some(answer) => Some(answer),
                None => users::answer(&call, &method, all),
            },
        },
    }
}

/// `/repositories/{id}/…` stands for `/repos/{owner}/{name}/…`.
fn by_id(call: &mut Call) -> Result<(), Refusal> {
    let id = match call.parts.as_slice() {
        [root, id, ..] if root == "repositories" => id.parse::<u64>().map_err(|_| Refusal::not_found())?,
        _ => return Ok(()),
    };
    let (owner, name) = call.site.read(|state| {
        let repo = state.repo(id)?;
        Ok::<_, Refusal>((state.login(repo.owner).to_owned(), repo.name.clone()))
    })?;
    call.parts.splice(..2, ["repos".to_owned(), owner, name]);
    Ok(())
}

async fn of_repo(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    match rest {
        ["labels", ..] | ["issues", _, "labels", ..] => labels::answer(call, method, owner, name, rest),
        ["issues", ..] => issues::answer(call, method, owner, name, rest),
        ["pulls", _, "reviews", ..] | ["pulls", _, "comments", ..] | ["pulls", "comments", ..] => {
            reviews::answer(call, method, owner, name, rest).await
        }
        ["pulls", ..] => pulls::answer(call, method, owner, name, rest).await,
        ["check-runs" | "check-suites", ..]
        | ["statuses", _]
        | ["commits", _, "check-runs" | "check-suites" | "status" | "statuses"] => {
            checks::answer(call, method, owner, name, rest).await
        }
        ["git", ..] | ["branches", ..] | ["rules" | "rulesets", ..] => {
            refs::answer(call, method, owner, name, rest).await
        }
        ["contents", ..] | ["compare", ..] | ["commits", ..] => contents::answer(call, method, owner, name, rest).await,
        _ => repos::answer(call, method, owner, name, rest),
    }
}

/// A number in a path; anything else is not there.
fn number(text: &str) -> Result<u64, Refusal> {
    text.parse().map_err(|_| Refusal::not_found())
}
