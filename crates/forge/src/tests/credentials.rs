//! The credentials that are accepted, and the rights that they give.

use super::world::*;
use crate::Settings;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

fn jwt(world: &World, claims: &Value) -> String {
    let key = jsonwebtoken::EncodingKey::from_rsa_pem(world.worker.private_key.expose_secret().as_bytes()).unwrap();
    jsonwebtoken::encode(&jsonwebtoken::Header::new(jsonwebtoken::Algorithm::RS256), claims, &key).unwrap()
}

#[tokio::test]
async fn a_jwt_is_checked_as_github_checks_it() {
    let world = World::new().await;
    let now = super::super::clock::wall().timestamp();
    let app = async |claims: Value| world.raw("GET", "/app", Some(&jwt(&world, &claims)), Value::Null).await;
    let (status, body) = app(json!({"iss": world.worker.id, "iat": now - 60, "exp": now + 540})).await;
    assert_eq!((status, &body["slug"]), (200, &json!("worker")));
    let (status, _) = app(json!({"iss": world.worker.client_id, "iat": now - 60, "exp": now + 540})).await;
    assert_eq!(status, 200, "the client id signs as well");
    let (status, body) = app(json!({"iss": world.worker.id, "iat": now, "exp": now + 3600})).await;
    assert_eq!((status, &body["message"]), (401, &json!("'Expiration time' claim ('exp') is too far in the future")));
    let (status, _) = app(json!({"iss": world.worker.id, "iat": now - 900, "exp": now - 300})).await;
    assert_eq!(status, 401);
    let forged = jwt(&world, &json!({"iss": world.coach.id, "iat": now, "exp": now + 60}));
    assert_eq!(world.raw("GET", "/app", Some(&forged), Value::Null).await.0, 401, "another App's key");
}

#[tokio::test]
async fn a_token_reaches_only_its_repositories_with_its_permissions_until_it_ends() {
    let world = World::new().await;
    world.forge.create_repo("acme/other", crate::RepoSource::Empty, Settings::default()).await.unwrap();
    let id = world.forge.repo_id(REPO).unwrap();
    let path = format!("/app/installations/{}/access_tokens", world.worker_at);
    let body = json!({"repository_ids": [id], "permissions": {"issues": "write"}});
    let answer: Value = world.app(&world.worker).post(&path, Some(&body)).await.unwrap();
    let token = answer["token"].as_str().unwrap();
    assert!(
        token.starts_with(&format!("ghs_{}_", world.worker.id)) && token.len() > 200 && token.matches('.').count() == 2
    );
    let _: octocrab::models::InstallationToken = serde_json::from_value(answer.clone()).unwrap();
    let get = async |path: &str| world.raw("GET", path, Some(token), Value::Null).await;
    assert_eq!(get("/repos/acme/shop/issues").await.0, 200);
    assert_eq!(get("/repos/acme/other/issues").await.0, 404);
    let (status, body) = get("/repos/acme/shop/contents/README.md").await;
    assert_eq!((status, &body["message"]), (403, &json!("Resource not accessible by integration")));
    let too_much = json!({"permissions": {"administration": "write"}});
    assert!(world.app(&world.worker).post::<_, Value>(&path, Some(&too_much)).await.is_err());

    world.forge.suspend(world.worker_at).unwrap();
    let (status, body) = get("/repos/acme/shop/issues").await;
    assert_eq!((status, &body["message"]), (403, &json!("This installation has been suspended")));
    world.forge.unsuspend(world.worker_at).unwrap();
    assert_eq!(get("/repos/acme/shop/issues").await.0, 200);
    world.forge.expire_tokens();
    let (status, body) = get("/repos/acme/shop/issues").await;
    assert_eq!((status, &body["message"]), (401, &json!("Bad credentials")));
}

#[tokio::test]
async fn permissions_are_told_by_role_and_bots_have_none() {
    let world = World::new().await;
    let token = world.token(json!({"metadata": "read"})).await;
    let role = async |login: &str| {
        let path = format!("/repos/acme/shop/collaborators/{login}/permission");
        let (status, body) = world.raw("GET", &path, Some(&token), Value::Null).await;
        (status, body["permission"].as_str().map(str::to_owned), body["role_name"].as_str().map(str::to_owned))
    };
    let some = |text: &str| Some(text.to_owned());
    world.forge.set_role(REPO, "eve", crate::Role::Triage).unwrap();
    assert_eq!(role("ann").await, (200, some("admin"), some("admin")));
    assert_eq!(role("eve").await, (200, some("read"), some("triage")));
    assert_eq!(role("worker%5Bbot%5D").await, (200, some("none"), some("none")));
    assert_eq!(role("nobody").await, (404, None, None));
}

#[tokio::test]
async fn a_call_that_the_forge_does_not_know_is_a_404_and_remembered() {
    let world = World::new().await;
    let token = world.token(json!({"issues": "write"})).await;
    assert_eq!(world.raw("GET", "/repos/acme/shop/issues/1/timeline", Some(&token), Value::Null).await.0, 404);
    assert_eq!(world.raw("GET", "/repos/acme/shop/issues/99", Some(&token), Value::Null).await.0, 404);
    let unknown: Vec<String> = world.forge.unknown_calls().into_iter().map(|call| call.path).collect();
    assert_eq!(unknown, ["/repos/acme/shop/issues/1/timeline"]);
    assert!(world.forge.calls().iter().any(|call| call.kind == crate::CallKind::Mint));
}
