//! The demo from outside: the spans that a collector gets, and the traces of its runs afterwards.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "a test that cannot go on has failed"
)]

use axum::{Router, extract::State, routing::post};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Output,
    sync::{Arc, Mutex},
};
use tokio::process::Command;

type Spans = Arc<Mutex<Vec<Value>>>;

/// Starts a collector that stores every span.
async fn collector() -> (String, Spans) {
    let spans = Spans::default();
    let take = |State(spans): State<Spans>, body: String| async move {
        let request: Value = serde_json::from_str(&body).unwrap();
        let arrived = request["resourceSpans"][0]["scopeSpans"][0]["spans"].clone();
        spans.lock().unwrap().extend(arrived.as_array().unwrap().iter().cloned());
    };
    let router = Router::new().route("/v1/traces", post(take)).with_state(spans.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (address, spans)
}

async fn autobuild(folder: &Path, collector: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
    command.args(arguments).env("TMPDIR", folder).env("HOME", folder).env_remove("AUTOBUILD_CONFIG");
    if let Some(address) = collector {
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", address);
    }
    command.output().await.unwrap()
}

/// Returns the folder that the demo left.
fn transcript_folder(folder: &Path) -> PathBuf {
    let found = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found = found.filter(|path| path.join("transcript.txt").exists());
    found.next().unwrap()
}

fn fact<'a>(span: &'a Value, key: &str) -> &'a Value {
    let facts = span["attributes"].as_array().unwrap();
    facts.iter().find(|fact| fact["key"] == key).map_or(&Value::Null, |fact| &fact["value"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_hears_of_a_demo_and_its_runs_can_be_read_afterwards() {
    let folder = support::folder::folder("autobuild-trace-");
    let (address, spans) = collector().await;
    let demo = autobuild(folder.path(), Some(&address), &["demo", "--once"]).await;
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    every_feature_task_turn_gate_and_run_is_told(&spans.lock().unwrap());
    runs_can_be_read(folder.path()).await;
}

fn every_feature_task_turn_gate_and_run_is_told(spans: &[Value]) {
    let names: BTreeSet<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    for name in
        ["Feature", "Task", "Turn", "gates", "invoke_agent planner", "invoke_agent player", "invoke_agent coach"]
    {
        assert!(names.contains(name), "{name} is missing: {names:?}");
    }
    let ids: BTreeSet<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    let traces: BTreeSet<&str> = spans.iter().map(|span| span["traceId"].as_str().unwrap()).collect();
    assert_eq!(traces.len(), 1, "one Feature, one trace");
    for span in spans {
        let parent = span["parentSpanId"].as_str().unwrap();
        assert!(parent.is_empty() == (span["name"] == "Feature"), "{span}");
        assert!(parent.is_empty() || ids.contains(parent), "its parent is told as well: {span}");
    }
    let player = spans.iter().find(|span| span["name"] == "invoke_agent player").unwrap();
    assert_eq!(fact(player, "gen_ai.agent.name")["stringValue"], "player");
    assert_eq!(fact(player, "autobuild.outcome")["stringValue"], "answered");
    let told = serde_json::to_string(spans).unwrap();
    assert!(!told.contains("tally"), "nothing of the issue, the repository or the prompts");
}

async fn runs_can_be_read(folder: &Path) {
    let left = transcript_folder(folder);
    let transcript = std::fs::read_to_string(left.join("transcript.txt")).unwrap();
    assert!(transcript.contains("TASK-001 turn 1 · player"), "{transcript}");
    let data = left.display().to_string();
    let shown = autobuild(folder, None, &["trace", "TASK-001", "--data-dir", &data]).await;
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.status.success() && text.contains("TASK-001 turn 1 · coach"), "{text}");
    let lines = autobuild(folder, None, &["trace", "PLAN", "--json", "--data-dir", &data]).await;
    let lines = String::from_utf8_lossy(&lines.stdout).into_owned();
    for line in lines.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&event["role"], &event["feature"]), (&"planner".into(), &"FEAT-1".into()), "{line}");
    }
    assert!(lines.contains("\"event\":\"run\""), "{lines}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_that_is_not_there_is_answered_with_what_is() {
    let folder = support::folder::folder("autobuild-trace-");
    let data = folder.path().display().to_string();
    let nowhere = autobuild(folder.path(), None, &["trace", "TASK-001", "--data-dir", &data]).await;
    let said = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(!nowhere.status.success() && said.contains("autobuild.db"), "{said}");
    let wrong = autobuild(folder.path(), None, &["trace", "T1", "--data-dir", &data]).await;
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("TASK-001"), "{wrong:?}");
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is created");
}
