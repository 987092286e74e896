//! JWTs and installation tokens.

use crate::world::*;
use autobuild::github::{
    AUTOBUILD_PERMISSIONS, App, COACH_PERMISSIONS, GithubError, Rights, SetupError, lacking, webhook::OwnApps,
};
use domain::ids::{AppId, RepoId, UserId};
use futures_util::future::join_all;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::Duration;
use wiremock::ResponseTemplate;

const MINT: &str = "/app/installations/11/access_tokens";

#[tokio::test]
async fn the_app_signs_jwts_that_its_public_key_verifies() {
    let world = World::installed().await;
    world.client.identity().await.unwrap();
    let requests = world.server.received_requests().await.unwrap();
    let header = requests[0].headers["authorization"].to_str().unwrap().to_owned();
    let key = jsonwebtoken::DecodingKey::from_rsa_der(public_key());
    let mut rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::RS256);
    rules.set_required_spec_claims(&["exp"]);
    let jwt = header.strip_prefix("Bearer ").unwrap();
    let claims = jsonwebtoken::decode::<Value>(jwt, &key, &rules).unwrap().claims;
    assert_eq!(claims["iss"], json!(7), "octocrab writes a number");
    let lifetime = claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap();
    assert!(lifetime <= 600, "GitHub accepts ten minutes at most, not {lifetime} s");
}

#[tokio::test]
async fn an_app_that_asks_for_too_little_is_told_what_it_lacks() {
    let world = World::new().await;
    let granted = json!({"contents": "read", "metadata": "read", "pull_requests": "write"});
    world.answers("GET", "/app", 200, json!({"id": 7, "slug": "autobuild", "permissions": granted})).await;
    let identity = world.client.identity().await.unwrap();
    assert_eq!(lacking(&identity.permissions, COACH_PERMISSIONS), []);
    let lacking: Vec<_> = lacking(&identity.permissions, AUTOBUILD_PERMISSIONS).iter().map(|(name, _)| *name).collect();
    assert_eq!(lacking, ["checks", "contents", "issues", "statuses"]);
}

#[tokio::test]
async fn our_own_bots_are_known_once_looked_up() {
    let world = World::installed().await;
    let own = || OwnApps::of(&[&world.client]);
    assert_eq!((own().apps, own().users), (vec![APP], vec![]));
    world.client.bot(INSTALLATION).await.unwrap();
    world.client.bot(INSTALLATION).await.unwrap();
    assert_eq!(own().users.iter().map(|user| user.id).collect::<Vec<_>>(), [UserId(BOT)]);
    assert_eq!(world.bodies_sent("GET", "/app").await.len(), 1);
    assert_eq!(world.bodies_sent("POST", MINT).await, [json!({"permissions": {"metadata": "read"}})]);
}

#[test]
fn a_bad_key_is_known_at_the_start() {
    for pem in ["", "not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
        let refused = App::new(AppId(7), &SecretString::from(pem)).err().unwrap();
        assert!(matches!(refused, SetupError::BadKey { app: AppId(7) }));
    }
}

#[tokio::test]
async fn a_token_is_for_one_repository_and_one_purpose() {
    let world = World::installed().await;
    world.client.token(INSTALLATION, REPO, Rights::Push).await.unwrap();
    world.client.token(INSTALLATION, REPO, Rights::Push).await.unwrap();
    world.client.token(INSTALLATION, REPO, Rights::Checks).await.unwrap();
    world.client.token(INSTALLATION, RepoId(23), Rights::Checks).await.unwrap();
    let checks = json!({"metadata": "read", "checks": "write"});
    assert_eq!(
        world.bodies_sent("POST", MINT).await,
        [
            json!({"repository_ids": [22], "permissions": {"metadata": "read", "contents": "write"}}),
            json!({"repository_ids": [22], "permissions": checks}),
            json!({"repository_ids": [23], "permissions": checks}),
        ]
    );
}

#[tokio::test]
async fn eight_callers_at_once_cost_one_mint() {
    let world = World::new().await;
    let slow = ResponseTemplate::new(201).set_body_json(token(&TOKEN)).set_delay(Duration::from_millis(50));
    world.replies("POST", MINT, slow).await;
    let calls = (0..8).map(|_| world.client.token(INSTALLATION, REPO, Rights::Fetch));
    for token in join_all(calls).await {
        assert_eq!(token.unwrap().expose_secret(), TOKEN.as_str());
    }
    assert_eq!(world.bodies_sent("POST", MINT).await.len(), 1);
}

#[tokio::test]
async fn every_call_shares_the_token() {
    let world = World::installed().await;
    world.answers("GET", "/repos/acme/shop/pulls/7", 200, pull(7, "b", 22)).await;
    for _ in 0..3 {
        world.client.repo(INSTALLATION, REPO).pull(PULL).await.unwrap();
    }
    assert_eq!(world.bodies_sent("POST", MINT).await.len(), 1);
}

#[tokio::test]
async fn a_token_is_replaced_five_minutes_before_its_end() {
    let world = World::installed().await;
    let mints = async || {
        world.client.token(INSTALLATION, REPO, Rights::Push).await.unwrap();
        world.bodies_sent("POST", MINT).await.len()
    };
    assert_eq!(mints().await, 1);
    pass(54 * 60_000);
    assert_eq!(mints().await, 1);
    pass(60_000);
    assert_eq!(mints().await, 2);
}

#[tokio::test]
async fn a_long_token_with_dots_is_sent_as_it_is() {
    let world = World::installed().await;
    assert!(TOKEN.len() >= 520);
    world.repo().repository().await.unwrap();
    let requests = world.server.received_requests().await.unwrap();
    let last = requests.last().unwrap();
    assert_eq!(last.headers["authorization"].to_str().unwrap(), format!("Bearer {}", *TOKEN));
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let world = World::new().await;
    world.answers_once("POST", MINT, 201, token("stale")).await;
    world.grants_tokens("").await;
    world.answers_once("GET", "/repositories/22", 401, json!({"message": "Bad credentials"})).await;
    world.answers("GET", "/repositories/22", 200, repository("acme/shop")).await;
    world.repo().repository().await.unwrap();
    assert_eq!(world.bodies_sent("POST", MINT).await.len(), 2);
}

#[tokio::test]
async fn credentials_that_stay_refused_are_reported() {
    let world = World::new().await;
    world.grants_tokens("").await;
    world.answers("GET", "/repositories/22", 401, json!({"message": "Bad credentials"})).await;
    assert!(matches!(world.repo().repository().await, Err(GithubError::Unauthorized)));
    assert_eq!(world.bodies_sent("GET", "/repositories/22").await.len(), 2);
}

#[tokio::test]
async fn each_reason_for_no_token_is_told_apart() {
    let suspended = "This installation has been suspended";
    let ungranted = "The permissions requested are not granted to this installation.";
    let uncovered =
        "There is at least one repository that does not exist or is not accessible to the parent installation.";
    let refused = async |status, text: &str| {
        let world = World::new().await;
        world.answers("POST", MINT, status, json!({"message": text})).await;
        world.client.token(INSTALLATION, REPO, Rights::Checks).await.unwrap_err()
    };
    assert!(matches!(refused(403, suspended).await, GithubError::Suspended));
    assert!(matches!(refused(404, "Not Found").await, GithubError::Uninstalled));
    assert!(matches!(refused(422, uncovered).await, GithubError::Uninstalled));
    assert!(matches!(refused(401, "A JSON web token could not be decoded").await, GithubError::Unauthorized));
    assert!(matches!(refused(422, ungranted).await, GithubError::Forbidden { what } if what.contains("Checks")));
}

#[tokio::test]
async fn a_suspended_installation_loses_its_tokens() {
    let world = World::installed().await;
    world.client.token(INSTALLATION, REPO, Rights::Read).await.unwrap();
    let suspended = json!({"message": "This installation has been suspended"});
    world.answers("GET", "/repos/acme/shop/pulls/7", 403, suspended).await;
    assert!(matches!(world.repo().pull(PULL).await, Err(GithubError::Suspended)));
    world.client.token(INSTALLATION, REPO, Rights::Read).await.unwrap();
    assert_eq!(world.bodies_sent("POST", MINT).await.len(), 2);
}
