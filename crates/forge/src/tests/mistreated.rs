//! Ordered faults of requests.

use super::world::*;
use crate::{Fault, Mishap};
use serde_json::{Value, json};

#[tokio::test]
async fn a_lost_reply_is_obeyed_and_a_lost_request_is_not() {
    let world = World::new().await;
    let number = world.forge.as_user("ann").unwrap().open_issue(REPO, "One", "", &[]).unwrap();
    let token = world.token(json!({"issues": "write"})).await;
    let path = format!("/repos/acme/shop/issues/{number}/comments");
    let comments =
        async || world.forge.look(REPO, &format!("issues/{number}/comments")).await.unwrap().as_array().unwrap().len();
    let lost = world.forge.order(Fault::on("POST", "/repos/*/comments", Mishap::LoseReply));
    assert_eq!(world.raw("POST", &path, Some(&token), json!({"body": "one"})).await.0, 0);
    assert_eq!((comments().await, lost.hits()), (1, 1));
    world.forge.order(Fault::on("POST", "/repos/*/comments", Mishap::LoseRequest));
    assert_eq!(world.raw("POST", &path, Some(&token), json!({"body": "two"})).await.0, 0);
    assert_eq!(comments().await, 1);
    assert_eq!(world.raw("POST", &path, Some(&token), json!({"body": "three"})).await.0, 201);
}

#[tokio::test]
async fn a_held_request_waits_for_its_release() {
    let world = World::new().await;
    let number = world.forge.as_user("ann").unwrap().open_issue(REPO, "One", "", &[]).unwrap();
    let token = world.token(json!({"issues": "write"})).await;
    let path = format!("/repos/acme/shop/issues/{number}/comments");
    let held = world.forge.order(Fault::on("POST", "*comments", Mishap::HoldReply).containing("marker"));
    let (answer, ()) = tokio::join!(world.raw("POST", &path, Some(&token), json!({"body": "a marker"})), async {
        held.struck().await;
        let seen = world.forge.look(REPO, &format!("issues/{number}/comments")).await.unwrap();
        assert_eq!(seen.as_array().map(Vec::len), Some(1), "it is obeyed before its reply is held");
        held.release().await;
    });
    assert_eq!(answer.0, 201);
}

#[tokio::test]
async fn failures_and_limits_are_answered_as_ordered() {
    let world = World::new().await;
    let token = world.token(json!({"issues": "write"})).await;
    let get = async || world.raw("GET", "/repos/acme/shop/issues", Some(&token), Value::Null).await;
    world.forge.order(Fault::on("GET", "/repos/acme/shop/issues", Mishap::fail(502)).nth(2));
    assert_eq!(get().await.0, 200);
    assert_eq!(get().await.0, 502);
    let limit = Mishap::Fail {
        status: 403,
        body: r#"{"message":"You have exceeded a secondary rate limit."}"#.to_owned(),
        headers: Vec::new(),
    };
    world.forge.order(Fault::on("*", "*", limit));
    let (status, body) = get().await;
    assert!(status == 403 && body["message"].as_str().unwrap().contains("secondary rate limit"));
    let always = world.forge.order(Fault::on("GET", "*", Mishap::fail(403)).always());
    assert_eq!(get().await.0, 403);
    always.withdraw();
    assert_eq!(get().await.0, 200);
}

#[tokio::test]
async fn a_push_whose_reply_is_lost_has_arrived() {
    let world = World::new().await;
    let token = world.token(json!({"contents": "write"})).await;
    git_ok(world.dir.path(), &["clone", "-q", &world.remote(&token), "work"]).await;
    let work = world.dir.path().join("work");
    git_ok(&work, &["commit", "-q", "--allow-empty", "-m", "x"]).await;
    world.forge.order(Fault::on("POST", "*/git-receive-pack", Mishap::LoseReply));
    assert!(!git(&work, &["push", "-q", "origin", "HEAD:refs/heads/x"]).await.status.success());
    assert_eq!(world.forge.head(REPO, "x").unwrap(), Some(git_ok(&work, &["rev-parse", "HEAD"]).await));
}
