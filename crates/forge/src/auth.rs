//! Identifies callers and their rights: App JWTs, scoped installation tokens, people's tokens.

use super::{
    clock,
    refusal::{Refusal, Result},
    state::{Access, Actor, App, Permissions, Role, State, Token},
};
use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use http::{HeaderMap, header::AUTHORIZATION};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// The longest life of an App's JWT, in seconds; GitHub's limit.
const LONGEST_JWT: i64 = 600;
/// The clock difference that is tolerated, in seconds.
const SKEW: i64 = 60;

/// The caller of the API or of git.
#[derive(Clone, Debug)]
pub(super) enum Caller {
    Anonymous,
    /// An App as itself, by JWT.
    App(u64),
    /// An App in an installation, by token.
    Installation(NarrowedToken),
    /// A person, by token.
    Person(u64),
}

#[derive(Clone, Debug)]
pub(super) struct NarrowedToken {
    pub(super) installation: u64,
    pub(super) app: u64,
    pub(super) bot: u64,
    pub(super) repositories: Option<BTreeSet<u64>>,
    pub(super) permissions: Permissions,
}

impl NarrowedToken {
    /// Returns `true` if the token grants write access to `permission`.
    pub(super) fn writes(&self, permission: &str) -> bool {
        self.permissions.get(permission).is_some_and(|level| level == "write")
    }
}

/// The right that a call needs: one of these permissions from an App, or this role from a person.
#[derive(Clone, Copy, Debug)]
pub(super) struct Right {
    permissions: &'static [&'static str],
    write: bool,
    role: Role,
}

impl Right {
    pub(super) const fn read(permissions: &'static [&'static str]) -> Self {
        let (write, role) = (false, Role::Read);
        Self { permissions, write, role }
    }

    pub(super) const fn write(permissions: &'static [&'static str], role: Role) -> Self {
        let write = true;
        Self { permissions, write, role }
    }

    fn is_met_by(self, permissions: &Permissions) -> bool {
        let held = |name: &&str| match permissions.get(*name).map(String::as_str) {
            Some("write" | "admin") => true,
            Some("read") => !self.write,
            _ => *name == "metadata" && !self.write,
        };
        self.permissions.iter().any(held)
    }
}

impl Caller {
    /// Reads the `Authorization` header: `Bearer`, `token`, or `Basic` with a token as the password.
    pub(super) fn of(state: &State, headers: &HeaderMap) -> Result<Self> {
        match headers.get(AUTHORIZATION) {
            None => Ok(Self::Anonymous),
            Some(value) => match value.to_str().ok().and_then(|text| text.split_once(' ')) {
                Some((scheme, secret)) => Self::by(state, &scheme.to_ascii_lowercase(), secret),
                None => Err(Refusal::bad_credentials()),
            },
        }
    }

    fn by(state: &State, scheme: &str, secret: &str) -> Result<Self> {
        match scheme {
            "bearer" | "token" if secret.matches('.').count() == 2 && !secret.starts_with("ghs_") => {
                app_of(state, secret)
            }
            "bearer" | "token" => token_of(state, secret.trim()),
            "basic" => {
                let decoded = BASE64_STANDARD.decode(secret.trim()).ok();
                let pair = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
                let pair = pair.as_ref().and_then(|pair| pair.split_once(':'));
                let (user, password) = pair.ok_or_else(Refusal::bad_credentials)?;
                token_of(state, if password.is_empty() { user } else { password })
            }
            _ => Err(Refusal::bad_credentials()),
        }
    }

    pub(super) fn app(&self) -> Option<u64> {
        match self {
            Self::App(app) => Some(*app),
            Self::Installation(narrowed) => Some(narrowed.app),
            Self::Anonymous | Self::Person(_) => None,
        }
    }

    pub(super) fn user(&self) -> Option<u64> {
        match self {
            Self::Installation(narrowed) => Some(narrowed.bot),
            Self::Person(user) => Some(*user),
            Self::Anonymous | Self::App(_) => None,
        }
    }

    /// Returns the account as which the caller acts in a repository, or the refusal if it lacks `right`.
    pub(super) fn enter(&self, state: &State, repo: u64, right: Right) -> Result<Access> {
        let known = state.repo(repo)?;
        let by = match self {
            Self::Anonymous if known.settings.private => return Err(Refusal::not_found()),
            Self::Anonymous if right.write => return Err(Refusal::new(401, "Requires authentication")),
            Self::Anonymous => Actor::person(0),
            Self::App(_) => {
                let text = "A JSON web token could not be used here; use an installation access token";
                return Err(Refusal::new(401, text));
            }
            Self::Person(user) => {
                let role = state.role(known, *user);
                if role == Role::None {
                    return Err(Refusal::not_found());
                }
                if role < right.role {
                    return Err(Refusal::lacks_role(right.role.name()));
                }
                Actor::person(*user)
            }
            Self::Installation(narrowed) => {
                let one = state.installations.get(&narrowed.installation);
                let one = one.ok_or_else(Refusal::bad_credentials)?;
                let chosen = narrowed.repositories.as_ref().is_none_or(|ids| ids.contains(&repo));
                if !chosen || !state.covers(one, repo) {
                    return Err(Refusal::not_found());
                }
                if !right.is_met_by(&narrowed.permissions) || !right.is_met_by(&one.permissions) {
                    return Err(Refusal::not_for_integration());
                }
                Actor { user: narrowed.bot, app: Some(narrowed.app) }
            }
        };
        // An administrator may still rename, delete or open an archived repository.
        if known.archived && right.write && right.role < Role::Admin {
            return Err(Refusal::new(403, "Repository was archived so is read-only."));
        }
        Ok(Access { repo, by })
    }
}

fn token_of(state: &State, secret: &str) -> Result<Caller> {
    let bad = Refusal::bad_credentials;
    let (installation, repositories, permissions) = match state.tokens.get(secret).ok_or_else(bad)? {
        Token::Person(user) => return Ok(Caller::Person(*user)),
        Token::Installation { expires_at, .. } if *expires_at <= clock::wall() => return Err(bad()),
        Token::Installation { installation, repositories, permissions, .. } => {
            (*installation, repositories.clone(), permissions.clone())
        }
    };
    let one = state.installations.get(&installation).ok_or_else(bad)?;
    if one.suspended_at.is_some() {
        return Err(Refusal::new(403, "This installation has been suspended"));
    }
    let app = state.apps.get(&one.app).ok_or_else(bad)?;
    Ok(Caller::Installation(NarrowedToken { installation, app: app.id, bot: app.bot, repositories, permissions }))
}

#[derive(Deserialize)]
struct Claims {
    iss: Value,
    exp: i64,
    iat: i64,
}

/// Returns the App that signed a JWT, checked as GitHub does.
#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours: it has many variants, and more will come")]
fn app_of(state: &State, jwt: &str) -> Result<Caller> {
    let refused = |text: &str| Refusal::new(401, text);
    let unreadable = || refused("A JSON web token could not be decoded");
    let payload = jwt.split('.').nth(1).ok_or_else(unreadable)?;
    let payload = BASE64_URL_SAFE_NO_PAD.decode(payload).map_err(|_| unreadable())?;
    let claims: Claims = serde_json::from_slice(&payload).map_err(|_| unreadable())?;
    let issuer = match &claims.iss {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let named = |app: &&App| app.client_id == issuer || app.id.to_string() == issuer;
    let app = state.apps.values().find(named);
    let app = app.ok_or_else(|| Refusal::new(404, "Integration not found"))?;
    let key = BASE64_STANDARD.decode(&app.public_key).map_err(|_| unreadable())?;
    let mut validation = Validation::new(Algorithm::RS256);
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    jsonwebtoken::decode::<Value>(jwt, &DecodingKey::from_rsa_der(&key), &validation).map_err(|_| unreadable())?;
    let now = clock::wall().timestamp();
    if claims.exp <= now {
        return Err(refused(
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
        ));
    }
    if claims.exp > now + LONGEST_JWT + SKEW || claims.exp > claims.iat + LONGEST_JWT + SKEW {
        return Err(refused("'Expiration time' claim ('exp') is too far in the future"));
    }
    if claims.iat > now + SKEW {
        return Err(refused(
            "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
        ));
    }
    Ok(Caller::App(app.id))
}
