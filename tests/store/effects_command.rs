//! `autobuild effects` beside an open store: its list, its retries, and its refusals.

use crate::contract::{Database, NOW, claim, effect};
use autobuild::store::{Lane, NewEffect, Outcome, Store};
use domain::{
    effect::{Effect, Reaction, ReactionTarget},
    ids::{Emission, IssueNumber},
};
use serde_json::Value;
use std::process::Output;
use tokio::process::Command;

on_both! {
    failed_and_waiting_steps_are_listed_with_their_cause
    a_failed_step_is_tried_again_beside_a_service
    what_cannot_be_tried_again_is_refused_in_one_line
}

const STUCK: &str = "500/1/1/open_integration/3";
const SAID: &str = "500/1/1/react/issue/eyes";

async fn autobuild(db: &Database, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
    command
        .arg("effects")
        .args(arguments)
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("AUTOBUILD_DATABASE_URL", &db.url)
        .env_remove("AUTOBUILD_CONFIG");
    command.output().await.unwrap()
}

async fn json(db: &Database, arguments: &[&str]) -> (i32, Value) {
    let output = autobuild(db, &[arguments, &["--json"]].concat()).await;
    let text = String::from_utf8(output.stdout).unwrap();
    let read = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (output.status.code().unwrap(), read)
}

fn of(id: &str, effect_: &Effect) -> NewEffect {
    NewEffect {
        kind: effect_.kind().to_owned(),
        payload: serde_json::to_string(effect_).unwrap(),
        ..effect(id, Lane::Forge, "500/1/1")
    }
}

/// Stores two steps that were given up, and one that waits for neither.
async fn filled(db: &Database) -> Store {
    let store = db.open().await;
    let emission = Emission(3);
    let eyes = Effect::React { on: ReactionTarget::Issue(IssueNumber(1)), reaction: Reaction::Eyes };
    for new in [of(STUCK, &Effect::OpenIntegration { emission }), of(SAID, &eyes)] {
        store.add_effects(&[new]).await.unwrap();
        let hold = claim(&store, Lane::Forge).await.unwrap().hold;
        let error = "GitHub says no\u{1b}[2K".to_owned();
        store.finish(&hold, &Outcome::Failed { error }).await.unwrap();
    }
    store.add_effects(&[of("waits", &Effect::WaveGate { emission })]).await.unwrap();
    store
}

async fn failed_and_waiting_steps_are_listed_with_their_cause(db: Database) {
    db.open().await.close().await;
    let nothing = autobuild(&db, &[]).await;
    assert_eq!(String::from_utf8_lossy(&nothing.stdout), "No step failed, and none waits.\n");
    let store = filled(&db).await;
    let (code, listed) = json(&db, &[]).await;
    assert_eq!(code, 0);
    let failed = listed["failed"].as_array().unwrap();
    let facts = failed.iter().map(|step| (step["id"].as_str().unwrap(), step["can_retry"] == true));
    assert_eq!(facts.collect::<Vec<_>>(), [(SAID, true), (STUCK, false)]);
    assert_eq!(failed[0]["feature"], "FEAT-1");
    assert_eq!(listed["waiting"][0]["why"], "The next free worker takes it.");
    let shown = autobuild(&db, &[]).await;
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.starts_with("Failed: 2\n"), "{shown}");
    for part in [
        "  FEAT-1: making the integration branch\n    GitHub says no",
        &format!("    autobuild effects retry {SAID}\n"),
        "Waiting or running: 1\n  FEAT-1: the wave gate\n    The next free worker takes it.\n",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    store.close().await;
}

async fn a_failed_step_is_tried_again_beside_a_service(db: Database) {
    let store = filled(&db).await;
    let (code, done) = json(&db, &["retry", SAID]).await;
    assert_eq!((code, &done["ok"]), (0, &true.into()), "{done}");
    let due = store.queue(10).await.unwrap();
    assert!(due.iter().any(|step| step.id == SAID && step.run_at > NOW), "{due:?}");
    let (code, twice) = json(&db, &["retry", SAID]).await;
    assert_eq!((code, &twice["ok"]), (1, &false.into()), "{twice}");
    store.close().await;
}

async fn what_cannot_be_tried_again_is_refused_in_one_line(db: Database) {
    let store = filled(&db).await;
    for (id, expected) in [
        (STUCK, "FEAT-1 already stopped at it"),
        ("waits", "did not fail: it waits"),
        ("500/1/1/react/issue/eye", "did you mean `500/1/1/react/issue/eyes`?"),
        ("x", "`autobuild effects` lists them"),
    ] {
        let refused = autobuild(&db, &["retry", id]).await;
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains(expected) && said.lines().count() == 1, "{id}: {said}");
    }
    store.close().await;
}

#[tokio::test]
async fn without_a_database_one_line_says_which_was_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
    let output = command
        .args(["effects", "--json", "--data-dir"])
        .arg(folder.path().join("none"))
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env_remove("AUTOBUILD_DATABASE_URL")
        .output()
        .await
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--data-dir") && said.lines().count() == 1, "{said}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["ok"], false);
}
