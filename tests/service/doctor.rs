//! `autobuild doctor` with a forge, and on a laptop without one: each row in good order, and each row broken.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "a test that cannot go on has failed")]

use crate::{own::Own, setup::until};
use autobuild::github::{AUTOBUILD_EVENTS, AUTOBUILD_PERMISSIONS, COACH_PERMISSIONS};
use domain::diagnosis::Topic;
use forge::{BranchRule, Fault, Mishap, NewApp, NewCiJob, RuleKind};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::{fs::File, path::Path, process::Output};
use support::beside::{Beside, MONA, Product, REPO};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::{Child, Command},
};

pub const PRODUCT: Product = Product {
    program: env!("CARGO_BIN_EXE_autobuild"),
    permissions: AUTOBUILD_PERMISSIONS,
    events: AUTOBUILD_EVENTS,
    coach_permissions: COACH_PERMISSIONS,
};

const FILES: [(&str, &str); 3] = [
    ("README.md", "# Tally\n"),
    ("go.mod", "module tally\n"),
    (".github/autobuild.yml", "max_turns: 3\ntest: sh check.sh\n"),
];

const NO_KEY: &str = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";

async fn beside() -> Beside {
    let beside = Beside::new(PRODUCT, support::folder::folder("autobuild-doctor-"), &FILES).await;
    let person = beside.forge.as_user(MONA).unwrap();
    let issue = person.open_issue(REPO, "Labels", "", &[]).unwrap();
    for label in ["autobuild", "autobuild-task"] {
        person.label(REPO, issue, label).unwrap();
    }
    beside
}

fn doctor(beside: &Beside, set: &[(&str, &str)]) -> Command {
    let mut command = beside.command("doctor", "0");
    command.args(["--json", "--repo", REPO]).env("AUTOBUILD_AGENT", "command:true");
    command.envs(set.iter().copied());
    command
}

fn read(output: &Output) -> Value {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.starts_with('{'), "{output:?}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(output.status.code(), Some(i32::from(report["ok"] != true)), "{report}");
    has_the_documented_form(&report);
    report
}

/// Asserts that the report has the form that docs/doctor.md describes.
#[track_caller]
fn has_the_documented_form(report: &Value) {
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(report), ["ok", "rows"]);
    for row in report["rows"].as_array().unwrap() {
        assert_eq!(names(row), ["found", "of", "remedy", "state", "what"]);
        let what = row["what"].as_str().unwrap();
        assert!(Topic::ALL.iter().any(|topic| topic.word() == what), "{row}");
        assert!(["ok", "warning", "broken"].contains(&row["state"].as_str().unwrap()), "{row}");
        assert!(row["found"].is_string() && row["of"].as_str().is_none_or(|of| !of.is_empty()), "{row}");
        assert!(row["remedy"].is_string() || row["remedy"].is_null() && row["state"] == "ok", "{row}");
    }
}

/// Returns the rows about one topic: their states and texts.
fn of(report: &Value, what: &str) -> Vec<(String, String)> {
    let rows = report["rows"].as_array().unwrap().iter();
    let own = rows.filter(|row| row["what"] == what);
    own.map(|row| {
        let text = |key: &str| row[key].as_str().unwrap_or_default();
        let said = format!("{} {} {}", text("of"), text("found"), text("remedy"));
        (text("state").to_owned(), said)
    })
    .collect()
}

/// Asserts that exactly one row about it has this state and contains this text.
#[track_caller]
fn stands(report: &Value, what: &str, state: &str, part: &str) {
    let rows = of(report, what);
    let fits = rows.iter().filter(|(stands, said)| stands == state && said.contains(part));
    assert_eq!(fits.count(), 1, "{what} {state} {part}: {rows:#?}");
}

async fn started(beside: &Beside) -> (Child, String) {
    let log = beside.folder.path().join("log");
    let mut service = beside.service("0", File::create(&log).unwrap());
    service.env("AUTOBUILD_AGENT", "command:true").env("AUTOBUILD_ADMIN_TOKEN", "the-administrators-token");
    let child = service.spawn().unwrap();
    // The forge repeats deliveries until they are acknowledged, which the service does once it runs.
    beside.forge.deliveries_idle().await;
    while beside.forge.deliveries("autobuild").iter().any(|(.., arrived)| !arrived) {
        beside.forge.redeliver_failed().await;
        tokio::task::yield_now().await;
    }
    (child, log.display().to_string())
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one row after the other")]
async fn a_service_in_order_has_no_row_that_is_broken() {
    let beside = beside().await;
    let (_service, log) = started(&beside).await;
    let report = read(&doctor(&beside, &[]).output().await.unwrap());
    assert_eq!(report["ok"], true, "{report:#}");
    for (what, part) in [
        ("AutoBuild", env!("CARGO_PKG_VERSION")),
        ("git", "2."),
        ("settings", "read"),
        ("data folder", "in use by a running service"),
        ("database", "tables of this version"),
        ("agent", "command:true"),
        ("App", "autobuild (id"),
        ("Coach App", "autobuild-coach (id"),
        ("clock", "GitHub's"),
        ("deliveries", "was answered 202"),
        ("installation", "autobuild on acme has granted everything"),
        ("installation", "autobuild-coach on acme has granted everything"),
        ("repository", "default branch main"),
        ("branch rules", "none keeps AutoBuild"),
        ("approval", "no ruleset asks"),
        ("merge methods", "squash, merge commit, rebase"),
        ("workflows", "no workflow starts"),
        ("settings file", "without mistakes"),
        ("labels", "autobuild, autobuild-task"),
        ("test command", "sh check.sh"),
    ] {
        stands(&report, what, "ok", part);
    }
    // Because of this test's settings: no isolation, and a webhook on loopback.
    stands(&report, "isolation", "warning", "L0");
    stands(&report, "webhook", "warning", "this machine or network alone");

    let asked = async |repo: &str, headers: &str| {
        let mut stream = TcpStream::connect(&beside.listen).await.unwrap();
        let request = format!("GET /doctor?repo={repo} HTTP/1.1\r\nhost: a\r\n{headers}connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let page = async |headers: &str| asked(REPO, headers).await;
    let token = "authorization: Bearer the-administrators-token\r\n";
    let refused = asked("nope", token).await;
    assert!(refused.starts_with("HTTP/1.1 400") && refused.contains("is not owner/name"), "{refused}");
    let by_operator = page(token).await;
    let said = || std::fs::read_to_string(&log).unwrap();
    let (_, shown) = by_operator.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{by_operator:?} {}", said()));
    let shown: Value = serde_json::from_str(shown).unwrap();
    stands(&shown, "test command", "ok", "sh check.sh");
    stands(&shown, "data folder", "ok", "in use");
    stands(&shown, "steps", "ok", "wait for their turn");
    assert!(page("authorization: Bearer guessed\r\n").await.starts_with("HTTP/1.1 401"));
    assert!(page("").await.starts_with("HTTP/1.1 303"));
    let log = until(async || Some(said()).filter(|log| log.contains("doctor: "))).await;
    // GitHub's first delivery may have come before the service listened.
    let ends = ["doctor: Nothing is broken. 2 warnings.", "doctor: Broken: 1. Warnings: 2."];
    assert!(log.contains("webhook: ") && ends.iter().any(|end| log.contains(end)), "{log}");
    assert!(!log.contains("git: ") && !log.contains("App: "), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_row_of_the_service_is_seen_broken() {
    let beside = beside().await;
    let coachs_key = beside.apps[1].private_key.expose_secret().to_owned();
    for (set, what, state, part) in [
        (("AUTOBUILD_LISTEN", "nowhere"), "settings", "broken", "AUTOBUILD_LISTEN"),
        (("AUTOBUILD_DATA_DIR", "/dev/null/data"), "data folder", "broken", "AUTOBUILD_DATA_DIR"),
        (("AUTOBUILD_DATABASE_URL", "postgres://127.0.0.1:1/none"), "database", "broken", "AUTOBUILD_DATABASE_URL"),
        (("AUTOBUILD_AGENT", "codex"), "agent", "broken", "codex"),
        (("AUTOBUILD_PRIVATE_KEY", &coachs_key), "App", "broken", "with this key"),
        (("AUTOBUILD_PRIVATE_KEY", NO_KEY), "App", "broken", "not an RSA key"),
        (("AUTOBUILD_COACH_PRIVATE_KEY", NO_KEY), "Coach App", "broken", "not an RSA key"),
    ] {
        let report = read(&doctor(&beside, &[set]).env("PATH", git_alone(&beside)).output().await.unwrap());
        stands(&report, what, state, part);
    }
    let report = read(&doctor(&beside, &[("AUTOBUILD_COLOUR", "red")]).output().await.unwrap());
    stands(&report, "settings", "broken", "docs/server-settings.md lists them all");
    stands(&report, "settings", "warning", "the rest is looked at once the settings can be read");
    let mut alone = doctor(&beside, &[]);
    alone.env_remove("AUTOBUILD_COACH_APP_ID").env_remove("AUTOBUILD_COACH_PRIVATE_KEY");
    let report = read(&alone.output().await.unwrap());
    stands(&report, "Coach App", "warning", "reviews are comments");
    // No service listens, so nothing arrived.
    beside.forge.set_retry_until_acknowledged(false);
    beside.forge.redirect("autobuild", "http://127.0.0.1:1/").unwrap();
    beside.forge.redeliver_failed().await;
    let headers = vec![("date".to_owned(), "Tue, 15 Nov 1994 12:45:26 GMT".to_owned())];
    let (status, body) = (503, "{}".to_owned());
    let long_ago = Mishap::Fail { status, body, headers };
    beside.forge.order(Fault::on("GET", "/rate_limit", long_ago).always());
    let report = read(&doctor(&beside, &[]).output().await.unwrap());
    stands(&report, "webhook", "broken", "/webhook");
    stands(&report, "deliveries", "broken", "answered by nobody");
    stands(&report, "clock", "broken", "timedatectl");
}

/// Returns a folder with git and without an agent.
fn git_alone(beside: &Beside) -> String {
    let folder = beside.folder.path().join("programs");
    let _ = std::fs::create_dir(&folder);
    for program in ["git", "sh", "true"] {
        let folders = std::env::var_os("PATH").unwrap();
        let mut found = std::env::split_paths(&folders).map(|folder| folder.join(program));
        let _ = std::os::unix::fs::symlink(found.find(|path| path.is_file()).unwrap(), folder.join(program));
    }
    folder.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_with_too_few_rights_is_told_with_what_it_lacks() {
    let beside = beside().await;
    let small = NewApp {
        slug: "small",
        owner: "acme",
        permissions: &[("issues", "write"), ("contents", "read")],
        events: &["issues"],
        hook: None,
    };
    let small = beside.forge.create_app(&small).unwrap();
    let id = small.id.to_string();
    let set = [("AUTOBUILD_APP_ID", id.as_str()), ("AUTOBUILD_PRIVATE_KEY", small.private_key.expose_secret())];
    let report = read(&doctor(&beside, &set).output().await.unwrap());
    stands(&report, "installation", "warning", "/apps/small/installations/new");
    stands(&report, "repository", "broken", "not installed");
    beside.forge.install("small", "acme", None).unwrap();
    let report = read(&doctor(&beside, &set).output().await.unwrap());
    stands(&report, "App", "broken", "contents: write");
    stands(&report, "webhook", "broken", "no webhook address");
    stands(&report, "installation", "broken", "small on acme has not granted checks: write");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_row_of_a_repository_is_seen_broken() {
    let beside = beside().await;
    let person = beside.forge.as_user(MONA).unwrap();
    let workflow = "on: push\nenv:\n  KEY: ${{ secrets.KEY }}\n";
    let files = [
        ("go.mod", None),
        (".github/autobuild.yml", Some("label: build me\nmax_turns: many\n")),
        (".github/workflows/ci.yml", Some(workflow)),
    ];
    person.push(REPO, "main", "Break", &files).await.unwrap();
    let rule = |pattern: &str, kind: RuleKind| BranchRule { pattern: pattern.to_owned(), kind };
    beside.forge.add_rule(REPO, rule("autobuild/*", RuleKind::Creation)).unwrap();
    let approvals = RuleKind::PullRequest { approvals: 1 };
    beside.forge.add_rule(REPO, rule("main", approvals)).unwrap();
    let no_way = |settings: &mut forge::Settings| {
        settings.allow_squash_merge = false;
        settings.allow_merge_commit = false;
        settings.allow_rebase_merge = false;
    };
    beside.forge.change_settings(REPO, no_way).unwrap();
    let report = read(&doctor(&beside, &[]).output().await.unwrap());
    stands(&report, "branch rules", "broken", "creation");
    stands(&report, "approval", "warning", "contents: write");
    stands(&report, "merge methods", "broken", "no way of merging");
    stands(&report, "workflows", "warning", "ci.yml` (on push) gives the code");
    stands(&report, "settings file", "broken", "max_turns");
    stands(&report, "test command", "warning", "test: <command>");
    person.push(REPO, "main", "Label", &[(".github/autobuild.yml", Some("label: build me\n"))]).await.unwrap();
    person.archive_repo(REPO).unwrap();
    let report = read(&doctor(&beside, &[]).output().await.unwrap());
    stands(&report, "labels", "broken", "gh label create 'build me'");
    stands(&report, "repository", "broken", "archived");
}

#[tokio::test(flavor = "multi_thread")]
async fn ci_of_many_files_and_of_other_services_is_judged_as_for_a_plan() {
    let beside = beside().await;
    let name = "coverage/lines";
    let job = NewCiJob { app: None, branches: "main", name, conclusion: Some("success"), summary: "" };
    beside.forge.set_ci(REPO, &[job]).unwrap();
    let workflow = "on: push\npermissions: {}\njobs: {a: {runs-on: ubuntu-latest, steps: []}}\n";
    let names: Vec<String> = (10..71).map(|n| format!(".github/workflows/w{n}.yml")).collect();
    let workflows = names.iter().map(|path| (path.as_str(), Some(workflow)));
    let others = [("Makefile", Some("test:\n\tsh check.sh\n")), ("go.mod", None), (".github/autobuild.yml", None)];
    let files: Vec<_> = workflows.chain(others).collect();
    beside.forge.as_user(MONA).unwrap().push(REPO, "main", "Add CI", &files).await.unwrap();
    let report = read(&doctor(&beside, &[]).output().await.unwrap());
    stands(
        &report,
        "workflows",
        "warning",
        "Each of 61 workflows (on push) gives the code nothing but the right to read",
    );
    stands(&report, "workflows", "warning", name);
    stands(&report, "test command", "ok", "make test");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_github_that_does_not_answer_costs_seconds() {
    let beside = beside().await;
    let held = beside.forge.order(Fault::on("*", "*", Mishap::Hold).always());
    let begun = std::time::Instant::now();
    let report = read(&doctor(&beside, &[]).output().await.unwrap());
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    stands(&report, "App", "warning", "no answer within 5 seconds");
    stands(&report, "repository", "warning", "no answer within 5 seconds");
    held.cut();
}

/// The program is replaced while it runs, and the machine has no user namespaces or no bubblewrap.
#[tokio::test]
async fn the_program_and_the_isolation_are_seen_broken() {
    let own = Own::new(None).await;
    let program = own.folder.path().join("autobuild");
    std::fs::copy(env!("CARGO_BIN_EXE_autobuild"), &program).unwrap();
    let seen = async |script: &str, least: &str| {
        let mut shell = Command::new("bash");
        shell.args(["-c", script, &program.display().to_string()]);
        shell.current_dir(&own.repository).env("AUTOBUILD_AGENT", "command:true");
        shell.env("AUTOBUILD_SANDBOX_MIN_LEVEL", least).env_remove("AUTOBUILD_DATA_DIR");
        read(&shell.output().await.unwrap())
    };
    let report =
        seen("exec 3<\"$0\"; cp \"$0\" \"$0.new\"; mv \"$0.new\" \"$0\"; exec /proc/self/fd/3 doctor --json", "0")
            .await;
    stands(&report, "AutoBuild", "warning", "start it again");
    for (needed, arguments) in [("unshare", ["-Urm", "true"]), ("bwrap", ["--version", "--version"])] {
        let ran = std::process::Command::new(needed).args(arguments).status();
        if !ran.is_ok_and(|status| status.success()) {
            println!("skipped: what doctor says of isolation needs {needed}, which does not work here");
            return;
        }
    }
    let forbidden =
        "exec unshare -Ur bash -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec \"$0\" doctor --json' \"$0\"";
    // Inside `unshare`, the user is root.
    for (least, state, why) in [
        ("0", "warning", "L3 and L2: user namespaces are forbidden here (sysctl"),
        ("2", "broken", "AUTOBUILD_SANDBOX_MIN_LEVEL is the lowest level"),
    ] {
        stands(&seen(forbidden, least).await, "isolation", state, why);
    }
    let missing = "mkdir \"$0.bin\" && cp $(type -P env bash sh true git) \"$0.bin\" && exec unshare -Urm bash -c \
                   'mount --bind \"$0.bin\" /usr/bin; exec \"$0\" doctor --json' \"$0\"";
    let report = seen(missing, "0").await;
    stands(&report, "isolation", "warning", "L3 and L2: bubblewrap is not installed");
}

/// Returns a command with a mount namespace of its own, in which a script prepares the disk and then runs the command with
/// the script's other arguments; `None` if that does not work here.
fn with_own_mounts(script: &str, path: &Path, command: &Command) -> Option<Command> {
    let ran = std::process::Command::new("unshare").args(["-Urm", "true"]).status();
    if !ran.is_ok_and(|status| status.success()) {
        println!("skipped: what doctor says of this disk needs unshare, which does not work here");
        return None;
    }
    let command = command.as_std();
    let script = format!("{script} && shift && exec \"$@\"");
    let mut shell = Command::new("unshare");
    shell.args(["-Urm", "bash", "-c", &script, "bash"]).arg(path).arg(command.get_program()).args(command.get_args());
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(shell)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_not_called_a_lack_of_isolation() {
    let beside = beside().await;
    let data = beside.folder.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    let mut command = beside.command("doctor", "1");
    command.arg("--json").env("AUTOBUILD_AGENT", "command:true");
    let full = "mount -t tmpfs -o size=64k none \"$1\" && ! cat /dev/zero > \"$1/full\" 2> /dev/null";
    let Some(mut shell) = with_own_mounts(full, &data, &command) else { return };
    let report = read(&shell.output().await.unwrap());
    stands(&report, "isolation", "broken", "No space left on device (os error 28) make room");
    stands(&report, "data folder", "warning", "make room");
}

/// The file or its folder is on a disk that is mounted for reading alone. Root may write whatever the modes say.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_can_only_be_read_is_seen_broken() {
    let beside = beside().await;
    drop(started(&beside).await);
    let made = beside.database();
    let none = beside.folder.path().join("none/autobuild.db");
    std::fs::create_dir(none.parent().unwrap()).unwrap();
    for (read_only, database) in
        [(made.as_path(), &made), (made.parent().unwrap(), &made), (none.parent().unwrap(), &none)]
    {
        let url = format!("sqlite:{}", database.display());
        let command = doctor(&beside, &[("AUTOBUILD_DATABASE_URL", &url)]);
        let script = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\"";
        let Some(mut shell) = with_own_mounts(script, read_only, &command) else { return };
        let report = read(&shell.output().await.unwrap());
        stands(&report, "database", "broken", "read and write that file");
    }
    stands(&read(&doctor(&beside, &[]).output().await.unwrap()), "database", "ok", "can be written");
}

#[tokio::test]
async fn a_laptop_without_github_is_told_what_run_needs() {
    let own = Own::new(None).await;
    let mut command = own.autobuild("", &["doctor", "--json"]);
    command.env("AUTOBUILD_AGENT", "command:true");
    let report = read(&command.output().await.unwrap());
    assert_eq!(report["ok"], true, "{report:#}");
    stands(&report, "this repository", "ok", "on main");
    stands(&report, "agent", "ok", "command:true");
    stands(&report, "App", "warning", "/setup");
    assert_eq!(of(&report, "database"), []);
    // Elsewhere, with no agent installed, and in a repository without a commit.
    let mut elsewhere = own.autobuild("..", &["doctor", "--json"]);
    elsewhere.env_remove("AUTOBUILD_AGENT").env("PATH", "/nowhere");
    let report = read(&elsewhere.output().await.unwrap());
    stands(&report, "git", "broken", "then start AutoBuild again");
    stands(&report, "agent", "broken", "no agent is installed");
    stands(&report, "this repository", "warning", "git init");
    let mut command = own.autobuild("", &["doctor", "--json"]);
    command.env("AUTOBUILD_AGENT", "command:/no/such agent");
    let report = read(&command.output().await.unwrap());
    stands(&report, "agent", "broken", "\"/no/such\" was not found");
    own.commits_settings("test: ./check --all\n").await;
    let report = read(&own.autobuild("", &["doctor", "--json"]).output().await.unwrap());
    stands(&report, "test command", "warning", "has ./check");
    own.commits_settings("test: nosuch --all\n").await;
    let report = read(&own.autobuild("", &["doctor", "--json"]).output().await.unwrap());
    stands(&report, "test command", "warning", "install nosuch");
    own.types("git clone -q --depth 1 \"file://$PWD\" ../shallow").await;
    let report = read(&own.autobuild("../shallow", &["doctor", "--json"]).output().await.unwrap());
    stands(&report, "this repository", "broken", "git fetch --unshallow");
    own.types("git init -q ../fresh").await;
    let report = read(&own.autobuild("../fresh", &["doctor", "--json"]).output().await.unwrap());
    stands(&report, "this repository", "broken", "git commit -m Begin");
}
