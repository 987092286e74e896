//! Two processes on one PostgreSQL: a person who signed in at one is also signed in at the other, and the pages of both
//! show an agent's actions, no matter which of them runs it.

use crate::{
    doctor::PRODUCT,
    web::sign_in::{Browser, host, read_until},
};
use autobuild::cli::assemble;
use std::{fs::File, path::Path};
use support::{
    beside::{Beside, MONA, REPO},
    pipes::Pipes,
    postgres,
};
use tokio::process::Child;

const SETTINGS: &str = "max_turns: 1\nplan_approval: never\n";
const ISSUE: &str = "Greet people.\n\n```yaml\ntasks:\n  - id: TASK-001\n    name: Greet\n    type: documentation\n    \
                     acceptance_criteria:\n      - text: It greets\n        check: { file: hello.txt }\n    \
                     files: [hello.txt]\n    dependencies: []\n```\n";
/// The number of tool calls that are watched.
const CALLS: usize = 5;

/// Returns a Player that calls a tool each time on request, and reports each call.
fn player(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        r#"#!/bin/sh
update() {{ printf '{{"jsonrpc":"2.0","method":"session/update","params":{{"update":%s}}}}\n' "$1"; }}
read -r _; echo '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":1}}}}'
read -r _; echo '{{"jsonrpc":"2.0","id":1,"result":{{"sessionId":"s"}}}}'
read -r _
pwd > "{folder}/started"
n=0
while read -r _ < "{folder}/go"; do
  n=$((n + 1))
  update "{{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"$n\",\"title\":\"Bash call-$n-$(date +%s%3N)-\"}}"
  update "{{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"$n\",\"status\":\"completed\"}}"
done
"#
    )
}

/// Starts one of the processes, with its own data folder.
fn service(beside: &Beside, listen: &str, database: &str) -> Child {
    let folder = beside.folder.path();
    let script = folder.join("player.sh");
    std::fs::write(&script, player(folder)).unwrap();
    let log = File::create(folder.join(format!("log-{listen}"))).unwrap();
    let mut process = beside.service("0", log);
    process
        .env("AUTOBUILD_AGENT", "command:false")
        .env("AUTOBUILD_AGENT_PLAYER", format!("acp:sh {}", script.display()))
        .env("AUTOBUILD_ADMIN_TOKEN", "the-administrators-token")
        .env("AUTOBUILD_DATABASE_URL", database)
        .env("AUTOBUILD_DATA_DIR", folder.join(format!("data-{listen}")))
        .env("AUTOBUILD_LISTEN", listen);
    process.spawn().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_both_processes_show_what_one_of_them_does() {
    let files = [("README.md", "# Tally\n"), (".github/autobuild.yml", SETTINGS)];
    let beside = Beside::new(PRODUCT, support::folder::folder("autobuild-replicas-"), &files).await;
    let folder = beside.folder.path();
    let mut pipes = Pipes::new(folder);
    let services = [beside.listen.clone(), beside.listen.replace(":7070", ":7071")];
    let database = postgres::database().await;
    let _processes = services.each_ref().map(|listen| service(&beside, listen, &database));
    let person = beside.forge.as_user(MONA).unwrap();
    let issue = person.open_issue(REPO, "Greet", ISSUE, &[]).unwrap();
    person.label(REPO, issue, "autobuild").unwrap();
    pipes.started().await;

    let mut operator = Browser::default();
    let addresses = services.each_ref().map(|listen| format!("http://{listen}"));
    let token = "token=the-administrators-token";
    assert_eq!(operator.post(&format!("{}/sign-in", addresses[0]), token).await.status, 303);
    let cookies = operator.0[&host(&addresses[0])].clone();
    operator.0.insert(host(&addresses[1]), cookies);
    let page = operator.get(&format!("{}/", addresses[1])).await.text;
    let path = page.split_once("href=\"/features/").unwrap().1.split('"').next().unwrap();
    let mut pages = Vec::new();
    for address in &addresses {
        let mut stream = operator.open("GET", &format!("{address}/features/{path}/live"), None).await;
        read_until(&mut stream, "TASK-001").await;
        pages.push(stream);
    }
    for call in 1..=CALLS {
        pipes.go().await;
        for (number, stream) in pages.iter_mut().enumerate() {
            let mark = format!("call-{call}-");
            let shown = read_until(stream, &mark).await;
            let at = shown.split_once(&mark).unwrap().1.split('-').next().unwrap();
            let took = assemble::clock().0 - at.parse::<i64>().unwrap();
            println!("page {number} shows tool call {call} after {took} ms");
        }
    }
}
