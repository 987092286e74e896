//! A service without agents and a worker on one PostgreSQL: neither could build the Feature alone.

use crate::{doctor::PRODUCT, web::sign_in::Browser};
use std::{fs::File, time::Duration};
use support::{
    beside::{Beside, MONA, REPO},
    postgres,
};
use tokio::process::{Child, Command};

/// Longer than any story takes, unless it hangs.
const WATCHDOG: Duration = Duration::from_secs(300);

const SETTINGS: &str = "max_turns: 1\nplan_approval: never\nci: ignore\n";
const ISSUE: &str = "Greet people.\n\n```yaml\ntasks:\n  - id: TASK-001\n    name: Greet\n    type: documentation\n    \
                     acceptance_criteria:\n      - text: It greets\n        check: { file: hello.txt }\n    \
                     files: [hello.txt]\n    dependencies: []\n```\n";
const AGENTS: &str = r#"
- role: player
  write: { hello.txt: "hello\n" }
  answer: { summary: It greets., files_modified: [], files_created: [hello.txt], ready_for_validation: true }
- role: coach
  answer:
    decision: approve
    summary: It greets.
    criteria: [{ criterion: 1, met: true, evidence: "file hello.txt" }]
"#;

/// Returns a process on the database, with its own data folder and address.
fn process(beside: &Beside, command: &str, listen: &str, database: &str) -> Command {
    let folder = beside.folder.path();
    let mut process = beside.command(command, "0");
    process
        .env("AUTOBUILD_DATABASE_URL", database)
        .env("AUTOBUILD_DATA_DIR", folder.join(format!("data-{command}")))
        .env("AUTOBUILD_LISTEN", listen)
        .stderr(File::create(folder.join(format!("log-{command}"))).unwrap());
    process
}

fn both(beside: &Beside, worker_listens: &str, database: &str) -> [Child; 2] {
    let script = beside.folder.path().join("agents.yml");
    std::fs::write(&script, AGENTS).unwrap();
    let mut service = process(beside, "serve", &beside.listen, database);
    // Its machine has no agent program.
    service.arg("--no-agents").env("AUTOBUILD_AGENT", "acp:no-such-program");
    let mut worker = process(beside, "worker", worker_listens, database);
    worker.env("AUTOBUILD_AGENT", format!("scripted:{}", script.display())).env_remove("AUTOBUILD_WEBHOOK_SECRET");
    [service, worker].map(|mut process| process.spawn().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_builds_what_a_service_without_agents_plans_and_posts() {
    let files = [("README.md", "# Tally\n"), (".github/autobuild.yml", SETTINGS)];
    let beside = Beside::new(PRODUCT, support::folder::folder("autobuild-roles-"), &files).await;
    let mut news = beside.forge.subscribe();
    let database = postgres::database().await;
    let worker_listens = beside.listen.replace(":7070", ":7071");
    let _processes = both(&beside, &worker_listens, &database);
    let person = beside.forge.as_user(MONA).unwrap();
    let issue = person.open_issue(REPO, "Greet", ISSUE, &[]).unwrap();
    person.label(REPO, issue, "autobuild").unwrap();
    let merged = async { while news.recv().await.unwrap().kind != "pull_request.merged" {} };
    tokio::time::timeout(WATCHDOG, merged).await.expect("the task is merged");
    let mut browser = Browser::default();
    let mut answers = async |path: &str| browser.get(&format!("http://{worker_listens}{path}")).await.status;
    assert_eq!(answers("/healthz").await, 200);
    assert_eq!(answers("/readyz").await, 200);
    assert_eq!(answers("/webhook").await, 404, "nothing is received there");
    assert_eq!(answers("/").await, 404);
}
