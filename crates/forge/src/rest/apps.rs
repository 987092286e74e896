//! Apps, installations and their tokens.

use super::{
    super::{
        auth::Caller,
        call::{Answer, Answered, Call},
        clock,
        refusal::Refusal,
        state::{Permissions, State, Token},
    },
    number,
};
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use chrono::Duration;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) fn answer(call: &Call, method: &str, parts: &[&str]) -> Option<Answered> {
    Some(match (method, parts) {
        ("GET", ["app"]) => app(call)
            .map(|id| call.site.read(|state| shown(state, id)))
            .and_then(|found| found),
        ("GET", ["app", "installations"]) => installations(call),
        ("GET", ["app", "installations", id]) => number(id).and_then(|id| one(call, id)),
        ("POST", ["app", "installations", id, "access_tokens"]) => number(id).and_then(|id| mint(call, id)),
        ("GET", ["repos", _, _, "installation"]) => Err(Refusal::not_found()),
        ("DELETE", ["installation", "token"]) => revoke(call),
        ("GET", ["installation", "repositories"]) => repositories(call),
        _ => return None,
    })
}

/// The App that calls by JWT.
pub(super) fn app(call: &Call) -> Result<u64, Refusal> {
    match call.caller {
        Caller::App(id) => Ok(id),
        Caller::Anonymous | Caller::Installation(_) | Caller::Person(_) => {
            Err(Refusal::new(401, "A JSON web token could not be decoded"))
        }
    }
}

fn shown(state: &State, id: u64) -> Answered {
    let app = state.apps.get(&id).ok_or_else(Refusal::not_found)?;
    Ok(Answer::ok(state.app_json(app)))
}

fn installations(call: &Call) -> Answered {
    let app = app(call)?;
    let list = call.site.read(|state| {
        let own = state.installations.values().filter(|one| one.app == app);
        own.map(|one| state.installation_json(one)).collect::<Vec<Value>>()
    });
    Ok(call.page(list))
}

fn one(call: &Call, id: u64) -> Answered {
    let app = app(call)?;
    call.site.read(|state| {
        let one = state
            .installations
            .get(&id)
            .filter(|one| one.app == app)
            .ok_or_else(Refusal::not_found)?;
        Ok(Answer::ok(state.installation_json(one)))
    })
}

/// Makes a token, narrowed as asked to what the installation has.
fn mint(call: &Call, id: u64) -> Answered {
    let app = app(call)?;
    call.site.change(|state| {
        let one = state
            .installations
            .get(&id)
            .filter(|one| one.app == app)
            .ok_or_else(Refusal::not_found)?;
        if one.suspended_at.is_some() {
            return Err(Refusal::new(403, "This installation has been suspended"));
        }
        let permissions = narrowed_permissions(&call.body, &one.permissions)?;
        let repositories = narrowed_repositories(state, call, id)?;
        let expires_at = clock::wall() + Duration::hours(1);
        let serial = state.next_id();
        let secret = secret(app, serial, expires_at.timestamp(), state.seed);
        let mut body = json!({
            "token": secret,
            "expires_at": super::super::json::time(expires_at),
            "permissions": permissions,
            "repository_selection": if repositories.is_some() { "selected" } else { "all" },
        });
        if let Some(ids) = &repositories {
            let known = ids.iter().filter_map(|id| state.repos.get(id));
            crate::json::put(
                &mut body,
                "repositories",
                known.map(|repo| state.repo_json(repo, None)).collect::<Value>(),
            );
        }
        state.tokens.retain(
            |_, token| !matches!(token, Token::Installation { expires_at, .. } if *expires_at <= clock::wall()),
        );
        state.tokens.insert(
            secret,
            Token::Installation {
                installation: id,
                repositories,
                permissions,
                expires_at,
            },
        );
        Ok(Answer::created(body))
    })
}

/// The permissions asked for, which must be among those granted; none asked: all.
fn narrowed_permissions(body: &Value, granted: &Permissions) -> Result<Permissions, Refusal> {
    let mut granted = granted.clone();
    granted
        .entry("metadata".to_owned())
        .or_insert_with(|| "read".to_owned());
    let Some(asked) = body
        .get("permissions")
        .and_then(Value::as_object)
        .filter(|asked| !asked.is_empty())
    else {
        return Ok(granted);
    };
    let refused = || Refusal::new(422, "The permissions requested are not granted to this installation.");
    let mut given = Permissions::new();
    for (name, level) in asked {
        let level = level.as_str().ok_or_else(refused)?;
        let enough = match (granted.get(name).map(String::as_str), level) {
            (Some("admin"), "admin" | "write" | "read") | (Some("write"), "write" | "read") => true,
            (Some("read"), level) => level == "read",
            _ => false,
        };
        if !enough {
            return Err(refused());
        }
        given.insert(name.clone(), level.to_owned());
    }
    given.entry("metadata".to_owned()).or_insert_with(|| "read".to_owned());
    Ok(given)
}

fn narrowed_repositories(state: &State, call: &Call, installation: u64) -> Result<Option<BTreeSet<u64>>, Refusal> {
    let covered = state.covered(installation);
    let refused = || {
        Refusal::new(
            422,
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        )
    };
    if let Some(ids) = call.body.get("repository_ids").and_then(Value::as_array) {
        let ids: Option<BTreeSet<u64>> = ids.iter().map(Value::as_u64).collect();
        let ids = ids.ok_or_else(refused)?;
        let fine = ids.iter().all(|id| covered.iter().any(|repo| repo.id == *id));
        return if fine && !ids.is_empty() {
            Ok(Some(ids))
        } else {
            Err(refused())
        };
    }
    let Some(names) = call.texts("repositories") else {
        return Ok(None);
    };
    let find = |name: &String| {
        covered
            .iter()
            .find(|repo| repo.name.eq_ignore_ascii_case(name))
            .map(|repo| repo.id)
    };
    let ids: Option<BTreeSet<u64>> = names.iter().map(find).collect();
    ids.map(Some).ok_or_else(refused)
}

/// A token in the form that GitHub gives: long, of unfixed length, with dots, opaque.
fn secret(app: u64, serial: u64, expires: i64, seed: Option<u64>) -> String {
    let mut noise = [0_u8; 72];
    // Without randomness, or with a seed, tokens only have to differ.
    if seed.is_some() || getrandom::fill(&mut noise).is_err() {
        noise
            .iter_mut()
            .zip(serial.to_be_bytes())
            .for_each(|(byte, own)| *byte = own);
    }
    let head = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256","typ":"JWT"}"#);
    let body = json!({"app": app, "exp": expires, "serial": serial}).to_string();
    let body = BASE64_URL_SAFE_NO_PAD.encode(body);
    format!("ghs_{app}_{head}.{body}.{}", BASE64_URL_SAFE_NO_PAD.encode(noise))
}

fn revoke(call: &Call) -> Answered {
    let Caller::Installation(narrowed) = &call.caller else {
        return Err(Refusal::bad_credentials());
    };
    call.site.change(|state| state.tokens.remove(&narrowed.token));
    Ok(Answer::nothing())
}

fn repositories(call: &Call) -> Answered {
    let Caller::Installation(narrowed) = &call.caller else {
        return Err(Refusal::new(
            403,
            "You must authenticate with an installation access token in order to list repositories for an installation.",
        ));
    };
    let list: Vec<Value> = call.site.read(|state| {
        let covered = state.covered(narrowed.installation).into_iter();
        let chosen = covered.filter(|repo| narrowed.repositories.as_ref().is_none_or(|ids| ids.contains(&repo.id)));
        chosen.map(|repo| state.repo_json(repo, None)).collect()
    });
    let mut answer = call.counted("repositories", list);
    if let Some(body) = &mut answer.body {
        crate::json::put(
            body,
            "repository_selection",
            json!(if narrowed.repositories.is_some() {
                "selected"
            } else {
                "all"
            }),
        );
    }
    Ok(answer)
}
