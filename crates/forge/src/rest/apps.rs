//! Apps, installations and their tokens.

use crate::{
    auth::Caller,
    call::{Answer, Answered, Call, Routed},
    clock, json as github,
    refusal::{OrNotFound, Refusal, Result},
    rest::of_repo::number,
    state::{Installation, Permissions, State, Token},
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::Duration;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) fn answer(call: &Call, parts: &[&str]) -> Routed {
    Ok(Some(match (call.method.as_str(), parts) {
        ("GET", ["app"]) => show_app(call)?,
        ("GET", ["app", "installations"]) => installations(call)?,
        ("POST", ["app", "installations", id, "access_tokens"]) => mint(call, number(id)?)?,
        ("POST", ["app-manifests", code, "conversions"]) => convert(call, code)?,
        ("GET", ["installation", "repositories"]) => repositories(call)?,
        _ => return Ok(None),
    }))
}

/// Returns the App that calls by JWT.
pub(super) fn app(call: &Call) -> Result<u64> {
    match call.caller {
        Caller::App(id) => Ok(id),
        Caller::Anonymous | Caller::Installation(_) | Caller::Person(_) => {
            Err(Refusal::new(401, "A JSON web token could not be decoded"))
        }
    }
}

fn show_app(call: &Call) -> Answered {
    let id = app(call)?;
    call.site.read(|state| Ok(Answer::ok(state.app_json(state.apps.get(&id).or_not_found()?))))
}

/// Answers with an App's credentials, in exchange for the code of its registration.
fn convert(call: &Call, code: &str) -> Answered {
    call.site.change(|state| {
        let app = state.exchange(code)?.clone();
        Ok(Answer::created(state.app_with_credentials(&app)?))
    })
}

fn installations(call: &Call) -> Answered {
    let app = app(call)?;
    let list = call.site.read(|state| {
        let own = state.installations.values().filter(|one| one.app == app);
        own.map(|one| state.installation_json(one)).collect()
    });
    Ok(call.page(list))
}

fn own(state: &State, app: u64, id: u64) -> Result<&Installation> {
    state.installations.get(&id).filter(|one| one.app == app).or_not_found()
}

/// Creates a token with the requested part of the installation's rights.
fn mint(call: &Call, installation: u64) -> Answered {
    let app = app(call)?;
    call.site.change(|state| {
        let one = own(state, app, installation)?;
        if one.suspended_at.is_some() {
            return Err(Refusal::new(403, "This installation has been suspended"));
        }
        let permissions = narrowed_permissions(&call.body, &one.permissions)?;
        let repositories = narrowed_repositories(state, call, installation)?;
        let expires_at = clock::wall() + Duration::hours(1);
        let serial = state.next_id();
        let secret = secret(app, serial, expires_at.timestamp(), state.seed);
        let mut body = json!({
            "token": secret,
            "expires_at": github::time(expires_at),
            "permissions": permissions,
            "repository_selection": selection(repositories.as_ref()),
        });
        if let Some(ids) = &repositories {
            let known = ids.iter().filter_map(|id| state.repos.get(id));
            let shown: Value = known.map(|repo| state.repo_json(repo, None)).collect();
            github::put(&mut body, "repositories", shown);
        }
        let is_over =
            |token: &Token| matches!(token, Token::Installation { expires_at, .. } if *expires_at <= clock::wall());
        state.tokens.retain(|_, token| !is_over(token));
        let token = Token::Installation { installation, repositories, permissions, expires_at };
        state.tokens.insert(secret, token);
        Ok(Answer::created(body))
    })
}

/// Returns GitHub's word for the repositories that a token reaches.
fn selection(chosen: Option<&BTreeSet<u64>>) -> &'static str {
    if chosen.is_some() { "selected" } else { "all" }
}

/// Returns the requested permissions, which must be granted to the installation; all of them if none is requested.
fn narrowed_permissions(body: &Value, granted: &Permissions) -> Result<Permissions> {
    let mut granted = granted.clone();
    let read = || "read".to_owned();
    granted.entry("metadata".to_owned()).or_insert_with(read);
    let asked = body.get("permissions").and_then(Value::as_object);
    let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
        return Ok(granted);
    };
    let mut given = Permissions::new();
    for (name, level) in asked {
        let enough = match (granted.get(name).map(String::as_str), level.as_str()) {
            (Some("admin"), Some(level @ ("admin" | "write" | "read"))) => Some(level),
            (Some("write"), Some(level @ ("write" | "read"))) => Some(level),
            (Some("read"), Some("read")) => Some("read"),
            _ => None,
        };
        let refused = || Refusal::new(422, "The permissions requested are not granted to this installation.");
        given.insert(name.clone(), enough.ok_or_else(refused)?.to_owned());
    }
    given.entry("metadata".to_owned()).or_insert_with(read);
    Ok(given)
}

fn narrowed_repositories(state: &State, call: &Call, installation: u64) -> Result<Option<BTreeSet<u64>>> {
    if call.body.get("repositories").is_some() {
        return Err(Refusal::new(422, "The forge narrows tokens by repository_ids only."));
    }
    let covered = state.covered(installation);
    let Some(ids) = call.body.get("repository_ids").and_then(Value::as_array) else {
        return Ok(None);
    };
    let known = |id: &Value| id.as_u64().filter(|id| covered.iter().any(|repo| repo.id == *id));
    let ids: Option<BTreeSet<u64>> = ids.iter().map(known).collect();
    let text = "There is at least one repository that does not exist or is not accessible to the parent installation.";
    let refused = || Refusal::new(422, text);
    ids.filter(|ids| !ids.is_empty()).map(Some).ok_or_else(refused)
}

/// Returns a token in GitHub's form: long, opaque, of no fixed length, with dots.
fn secret(app: u64, serial: u64, expires: i64, seed: Option<u64>) -> String {
    let mut noise = [0_u8; 72];
    // With a seed, or without randomness, tokens only have to differ.
    if seed.is_some() || getrandom::fill(&mut noise).is_err() {
        let bytes = noise.iter_mut().zip(serial.to_be_bytes());
        bytes.for_each(|(byte, own)| *byte = own);
    }
    let head = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256","typ":"JWT"}"#);
    let body = json!({"app": app, "exp": expires, "serial": serial}).to_string();
    let body = BASE64_URL_SAFE_NO_PAD.encode(body);
    format!("ghs_{app}_{head}.{body}.{}", BASE64_URL_SAFE_NO_PAD.encode(noise))
}

fn repositories(call: &Call) -> Answered {
    let Caller::Installation(narrowed) = &call.caller else {
        let text = "You must authenticate with an installation access token in order to list repositories for an installation.";
        return Err(Refusal::new(403, text));
    };
    let chosen = narrowed.repositories.as_ref();
    let list = call.site.read(|state| {
        let covered = state.covered(narrowed.installation).into_iter();
        let reached = covered.filter(|repo| chosen.is_none_or(|ids| ids.contains(&repo.id)));
        reached.map(|repo| state.repo_json(repo, None)).collect()
    });
    let more = json!({"repository_selection": selection(chosen)});
    Ok(call.page_with_count("repositories", list, more))
}
