//! Webhooks as receivers see them, and their log, also after a restart.

use super::world::*;
use crate::{Fault, Forge, ForgeOptions, Mishap};
use hmac::Mac;
use serde_json::{Value, json};

#[tokio::test]
async fn deliveries_are_signed_and_named() {
    let world = World::new().await;
    world.forge.as_user("ann").unwrap().open_issue(REPO, "One", "é", &["go"]).unwrap();
    world.forge.deliveries_idle().await;
    assert_eq!(world.inbox.kinds(), ["installation.created", "issues.opened", "issues.labeled"]);
    let got = world.inbox.got.lock().unwrap();
    let (headers, body) = &got[1];
    let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(b"s3cret").unwrap();
    mac.update(body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(headers["x-hub-signature-256"], format!("sha256={hex}"));
    assert_eq!(headers["x-github-hook-installation-target-type"], "integration");
    assert_eq!(headers["x-github-hook-installation-target-id"], world.worker.id.to_string());
    assert!(headers["user-agent"].to_str().unwrap().starts_with("GitHub-Hookshot/"));
}

#[tokio::test]
async fn what_was_not_acknowledged_is_redelivered_with_the_same_guid() {
    let world = World::new().await;
    world.forge.deliveries_idle().await;
    world.inbox.answers.lock().unwrap().push(503);
    world.forge.as_user("ann").unwrap().open_issue(REPO, "One", "", &[]).unwrap();
    world.forge.deliveries_idle().await;
    assert_eq!(world.forge.redeliver_failed().await, 1);
    assert_eq!(world.forge.redeliver_failed().await, 0);
    assert_eq!(world.inbox.kinds(), ["installation.created", "issues.opened", "issues.opened"]);
    {
        let got = world.inbox.got.lock().unwrap();
        assert_eq!(got[1].0["x-github-delivery"], got[2].0["x-github-delivery"]);
        assert_eq!(got[1].1, got[2].1);
    }
    let log: Vec<octocrab::models::hooks::Delivery> =
        world.app(&world.worker).get("/app/hook/deliveries", None::<&()>).await.unwrap();
    let shown: Vec<_> = log.iter().map(|one| (one.status_code, one.redelivery, one.action.as_deref())).collect();
    assert_eq!(shown, [(202, true, Some("opened")), (503, false, Some("opened")), (202, false, Some("created"))]);
    let path = format!("/app/hook/deliveries/{}/attempts", log[0].id);
    let _: Value = world.app(&world.worker).post(path, None::<&()>).await.unwrap();
    world.forge.deliveries_idle().await;
    assert_eq!(world.inbox.kinds().len(), 4);
}

#[tokio::test]
async fn the_log_is_read_page_by_page_and_shows_what_was_sent() {
    let world = World::new().await;
    for title in ["One", "Two"] {
        world.forge.as_user("ann").unwrap().open_issue(REPO, title, "", &[]).unwrap();
    }
    world.forge.deliveries_idle().await;
    let app = world.app(&world.worker);
    let page = |cursor: u64| format!("/app/hook/deliveries?per_page=2&cursor={cursor}");
    let first: Vec<Value> = app.get(page(u64::MAX), None::<&()>).await.unwrap();
    let last = first.last().unwrap()["id"].as_u64().unwrap();
    let rest: Vec<Value> = app.get(page(last), None::<&()>).await.unwrap();
    let actions: Vec<&str> = first.iter().chain(&rest).map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!((actions, first.len()), (vec!["opened", "opened", "created"], 2));
    let sent: Value = app.get(format!("/app/hook/deliveries/{last}"), None::<&()>).await.unwrap();
    assert_eq!(sent["request"]["payload"]["issue"]["title"], "One");
}

#[tokio::test]
async fn deliveries_can_be_lost_doubled_and_reordered_by_order() {
    let world = World::new().await;
    let ann = world.forge.as_user("ann").unwrap();
    world.forge.order(Fault::on_delivery("issues.opened", Mishap::LoseRequest));
    world.forge.order(Fault::on_delivery("issues.labeled", Mishap::Twice));
    let held = world.forge.order(Fault::on_delivery("issue_comment.*", Mishap::Hold));
    let number = ann.open_issue(REPO, "One", "", &["go"]).unwrap();
    ann.comment(REPO, number, "first").unwrap();
    ann.comment(REPO, number, "second").unwrap();
    world.forge.deliveries_idle().await;
    assert_eq!(
        world.inbox.kinds(),
        ["installation.created", "issues.labeled", "issues.labeled", "issue_comment.created"]
    );
    held.release().await;
    while world.inbox.kinds().len() < 5 {
        tokio::task::yield_now().await;
    }
    assert_eq!(held.hits(), 1);
    let last: Value = serde_json::from_slice(&world.inbox.got.lock().unwrap()[4].1).unwrap();
    assert_eq!(last["comment"]["body"], "first");
}

#[tokio::test]
async fn who_writes_checks_hears_of_runs_and_suites_without_subscribing() {
    let world = World::new().await;
    let ann = world.forge.as_user("ann").unwrap();
    ann.push(REPO, "x", "One more", &[("x.txt", Some("x"))]).await.unwrap();
    let head = world.forge.head(REPO, "x").unwrap().unwrap();
    let token = world.token(json!({"checks": "write"})).await;
    let path = "/repos/acme/shop/check-runs";
    let new = |name: &str| json!({"name": name, "head_sha": head, "status": "in_progress"});
    let (_, one) = world.raw("POST", path, Some(&token), new("one")).await;
    let (_, other) = world.raw("POST", path, Some(&token), new("other")).await;
    for (run, conclusion) in [(&one, "success"), (&other, "failure")] {
        let path = format!("{path}/{}", run["id"]);
        let ended = json!({"status": "completed", "conclusion": conclusion});
        world.raw("PATCH", &path, Some(&token), ended).await;
    }
    ann.rerun_checks(REPO, &head).unwrap();
    world.forge.deliveries_idle().await;
    let expected = [
        "installation.created",
        "push",
        "check_suite.requested",
        "check_run.created",
        "check_run.created",
        "check_run.completed",
        "check_run.completed",
        "check_suite.completed",
        "check_suite.rerequested",
    ];
    assert_eq!(world.inbox.kinds(), expected);
    let completed = &world.inbox.payload("check_suite.completed")["check_suite"];
    assert_eq!(
        (&completed["conclusion"], &completed["latest_check_runs_count"], &completed["head_commit"]["message"]),
        (&json!("failure"), &json!(2), &json!("One more"))
    );
    let again = &world.inbox.payload("check_suite.rerequested")["check_suite"];
    assert_eq!(
        (&again["status"], &again["conclusion"], &again["head_branch"], &again["head_sha"]),
        (&json!("queued"), &Value::Null, &json!("x"), &json!(head))
    );
    let run = &world.inbox.payload("check_run.created")["check_run"];
    assert_eq!(run["check_suite"]["id"], again["id"]);
}

#[tokio::test]
async fn life_cycle_events_reach_the_app_they_concern() {
    let world = World::new().await;
    let ann = world.forge.as_user("ann").unwrap();
    world.forge.suspend(world.worker_at).unwrap();
    ann.open_issue(REPO, "Unheard", "", &[]).unwrap();
    world.forge.unsuspend(world.worker_at).unwrap();
    ann.archive_repo(REPO).unwrap();
    assert!(ann.open_issue(REPO, "No", "", &[]).is_err());
    ann.unarchive_repo(REPO).unwrap();
    let number = ann.open_issue(REPO, "Heard", "", &[]).unwrap();
    ann.delete_issue(REPO, number).unwrap();
    ann.delete_repo(REPO).unwrap();
    world.forge.uninstall(world.worker_at).unwrap();
    world.forge.deliveries_idle().await;
    let expected = [
        "installation.created",
        "installation.suspend",
        "installation.unsuspend",
        "repository.archived",
        "repository.unarchived",
        "issues.opened",
        "issues.deleted",
        "repository.deleted",
        "installation.deleted",
    ];
    assert_eq!(world.inbox.kinds(), expected);
    assert_eq!(world.inbox.payload("installation.suspend")["installation"]["app_slug"], "worker");
}

#[tokio::test]
async fn a_restarted_forge_goes_on_where_it_stopped() {
    let world = World::new().await;
    let ann = world.forge.as_user("ann").unwrap();
    let number = ann.open_issue(REPO, "One", "body", &["go"]).unwrap();
    ann.push(REPO, "x", "x", &[("x.txt", Some("x"))]).await.unwrap();
    let pull = ann.open_pull(REPO, "x", "main", "X", "").await.unwrap();
    let head = world.forge.head(REPO, "x").unwrap();
    let token = world.token(json!({"issues": "write"})).await;
    let events = world.forge.events();
    world.forge.deliveries_idle().await;
    let World { forge, dir, .. } = world;
    forge.shutdown().await.unwrap();
    let forge = Forge::start(ForgeOptions::new(dir.path().join("forge"))).await.unwrap();
    assert_eq!(forge.look(REPO, &format!("issues/{number}")).await.unwrap()["title"], "One");
    assert_eq!(forge.look(REPO, &format!("pulls/{pull}")).await.unwrap()["head"]["sha"], json!(head));
    assert_eq!(forge.events().len(), events.len());
    assert!(forge.app("worker").is_some());
    let next = forge.as_user("ann").unwrap().open_issue(REPO, "Two", "", &[]).unwrap();
    assert_eq!(next, pull + 1);
    assert!(token.starts_with("ghs_"));
}
