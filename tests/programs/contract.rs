//! The contract of all back-ends, for any program. The tests of `main` run these, each in its own process.

use crate::stage::Stage;
use autobuild::{
    agents::{Access, Login, PersonLogin},
    config::Role,
};
use domain::{
    ids::Millis,
    isolation::{Bounds, Level},
};
use sandbox::Sandbox;
use std::{fs, path::PathBuf, sync::Arc, time::Duration};
use text::usage::Usage;
use tokio_util::sync::CancellationToken;

/// Nothing answers there, and no call is made: stand-ins call no model.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The end of each case of a program. Cases that are not in a program's list were never observed.
pub const ENDS: [(&str, &str); 37] = [
    ("ok", "answer"),
    ("torn", "answer"),
    ("badtool", "answer"),
    ("denied", "answer"),
    ("five_megabytes", "answer"),
    ("bytes", "answer"),
    ("deep", "answer"),
    ("failing", "answer"),
    ("holds", "answer"),
    ("twice", "answer"),
    ("none", "missing"),
    ("misfit", "invalid"),
    ("limited", "limited"),
    ("overloaded", "unavailable"),
    ("broken", "unavailable"),
    ("drop", "unavailable"),
    ("key", "not authorised"),
    ("forbidden", "not authorised"),
    ("credit", "not authorised"),
    ("model", "no such model"),
    ("long", "too long"),
    ("large", "too long"),
    ("odd", "request refused"),
    ("page", "unavailable"),
    ("gone", "unavailable"),
    ("refusal", "refused"),
    ("cut", "cut off"),
    ("turns", "out of turns"),
    ("nudged", "out of turns"),
    ("stubborn", "out of turns"),
    ("money", "out of money"),
    ("tools", "not as asked"),
    ("servers", "not as asked"),
    ("endless", "too much"),
    ("flood", "too much"),
    ("long_line", "too much"),
    ("mute", "AgentFailed { message: \"exit code 1: something is wrong with it\" }"),
];

/// A stand-in calls no model, so its reports about failures of the API are not confirmed, and no other run waits.
fn unseen(expected: &str) -> String {
    match expected {
        "limited" | "unavailable" | "out of money" => format!("{expected}, unseen"),
        "not authorised" => "unavailable, unseen".to_owned(),
        expected => expected.to_owned(),
    }
}

/// Made by the stand-in itself, not recorded.
const MADE: [&str; 9] =
    ["five_megabytes", "bytes", "deep", "failing", "holds", "twice", "endless", "flood", "long_line"];

/// The cases that are also tested below the best isolation level. The sandbox's tests show that too much output is
/// stopped at each level.
const EVERYWHERE: [&str; 4] = ["ok", "none", "nudged", "limited"];

/// Creates a stage at the requested isolation level, else at the best; also returns `true` if it is the best.
async fn staged(program: &str) -> (Stage, bool) {
    match std::env::var("CONTRACT_LEVEL") {
        Ok(level) => {
            let level = Level::try_from(level.parse::<u8>().unwrap()).unwrap();
            (Stage::at(program, NOWHERE, Bounds { least: level, most: level }).await, false)
        }
        Err(_) => (Stage::new(program, NOWHERE).await, true),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the tests of stand-ins with a PATH of its own"]
async fn of_stand_ins() {
    let Ok(program) = std::env::var("CONTRACT_OF") else {
        return;
    };
    let recorded = match program.strip_prefix("acp:") {
        Some(name) => crate::stand_ins().join("acp/recorded").join(name),
        None => crate::stand_ins().join(&program).join("recorded"),
    };
    let (stage, best) = staged(&program).await;
    let mut tried = 0;
    for (case, expected) in ENDS {
        let there = MADE.contains(&case) || recorded.join(format!("{case}.jsonl")).is_file();
        if there && (best || EVERYWHERE.contains(&case)) {
            assert_eq!(stage.ends(Role::Coach, case).await, unseen(expected), "{program}: {case}");
            tried += 1;
        }
    }
    assert!(tried >= if best { 18 } else { 3 }, "only {tried} cases of {program} are recorded");
    reads_only(&stage).await;
    let (ended, after, told, usage) = stage.cancelled("tool").await;
    assert_eq!(ended, "cancelled");
    crate::say_cancelled(&format!("the stand-in for {program}"), stage.level, after);
    says_what_it_used(&stage, &program, told, usage).await;
    let mut spec = stage.spec(Role::Coach, "silent");
    spec.idle = Some(Duration::from_millis(500));
    let ended = stage.ask(&spec, &CancellationToken::new()).await;
    assert!(format!("{ended:?}").contains("WentSilent"), "{ended:?}");
    if !best {
        assert_eq!(stage.left_behind(), Vec::<String>::new());
        return;
    }
    // A running tool does not count as silence, but the deadline still applies.
    let mut spec = stage.spec(Role::Player, "tool");
    (spec.idle, spec.deadline) = (Some(Duration::from_secs(4)), Duration::from_secs(6));
    let ended = stage.ask(&spec, &CancellationToken::new()).await;
    assert!(format!("{ended:?}").contains("TimedOut"), "{ended:?}");
    assert_eq!(stage.left_behind(), Vec::<String>::new());
}

/// Tests the usage of a run that was cancelled during its work, and of failed runs. Stand-ins call no model, whatever
/// they report, and the run's door shows it. If a program could have bypassed the door, its cost is unknown.
async fn says_what_it_used(stage: &Stage, program: &str, told: bool, usage: Usage) {
    let shows = !program.starts_with("acp:") || stage.level >= Level::L2;
    let nothing = |usage: Usage| (usage.usd_micros, usage.tokens.total(), usage.estimated) == (Some(0), 0, false);
    assert!(told == shows && nothing(usage) == shows, "{program} at {}: {usage:?}", stage.level);
    match program {
        "claude" => {
            for case in ["money", "mute", "turns"] {
                let (ended, told, usage) = stage.uses(case).await;
                assert!(told && nothing(usage), "{case} {ended}: {usage:?}");
            }
            let worked = (stage.worked("long").await, stage.worked("turns").await);
            assert_eq!(worked, (false, true), "what the program itself says of a failure is no work");
        }
        "codex" => {
            for case in ["worked", "limited"] {
                let (ended, told, usage) = stage.uses(case).await;
                assert!(ended == "limited, unseen" && told && nothing(usage), "{ended}: {usage:?}");
            }
        }
        _ => {}
    }
}

/// With isolation, a Coach cannot write and a Player can. Without it, only the comparison of the checkout finds the
/// Coach's changes.
async fn reads_only(stage: &Stage) {
    let file = stage.dir.path().join("checkout/README.md");
    let _ = stage.ends(Role::Coach, "writes").await;
    let now = fs::read_to_string(&file).unwrap();
    let kept = if stage.level == Level::L0 { "changed\n" } else { "hello\n" };
    assert_eq!(now, kept, "{}", stage.level);
    assert_eq!(stage.ends(Role::Player, "writes").await, "answer");
    assert_eq!(fs::read_to_string(&file).unwrap(), "changed\n");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test of programs that are too old, with a PATH of its own"]
async fn of_old_programs() {
    for program in ["claude", "codex"] {
        let stage = Stage::new(program, NOWHERE).await;
        let why = stage.check().await.unwrap_err();
        assert!(why.contains("at least") && why.contains("npm install -g"), "{why}");
        assert!(stage.ends(Role::Coach, "ok").await.starts_with("TooOld"));
    }
    // This program only reports its version in a run.
    let stage = Stage::new("acp:codex-acp", NOWHERE).await;
    assert!(stage.ends(Role::Coach, "ok").await.starts_with("TooOld"));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test of programs that are missing, with a PATH of its own"]
async fn of_missing_programs() {
    let agent = "acp:no-such-agent --acp";
    let stage = Stage::new(agent, NOWHERE).await;
    let why = stage.check().await.unwrap_err();
    assert!(why.contains("\"no-such-agent\" was not found; install it"), "{why}");
    assert!(stage.ends(Role::Coach, "ok").await.starts_with("NoAgentProgram"));
}

/// Files of a person's programs: log-ins with what renews them, history, other projects, variables. Each contains a
/// word that no run may find.
const PRIVATE: [(&str, &str); 7] = [
    (
        ".claude/.credentials.json",
        r#"{"claudeAiOauth": {"accessToken": "planted-1", "refreshToken": "planted-2", "expiresAt": 2000000000000}}"#,
    ),
    (".claude/settings.json", r#"{"env": {"OTHER_KEY": "planted-3"}}"#),
    (".claude/history.jsonl", "planted-4"),
    (".claude/projects/other/1.jsonl", "planted-5"),
    (
        ".codex/auth.json",
        r#"{"tokens": {"access_token": "planted-6", "refresh_token": "planted-7", "account_id": "planted-8"}}"#,
    ),
    (".codex/history.jsonl", "planted-9"),
    (".codex/config.toml", "# planted-10"),
];

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test of people's own log-ins with a HOME of its own"]
async fn of_a_persons_login() {
    let (Ok(program), Some(home)) = (std::env::var("CONTRACT_OF"), std::env::var_os("HOME").map(PathBuf::from)) else {
        return;
    };
    for (name, content) in PRIVATE {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), content).unwrap();
    }
    let home = home.to_str().unwrap();
    let person = PersonLogin::new([("HOME".to_owned(), home.to_owned())], || Millis(0));
    let lent = Access { models: Arc::default(), login: Login::Person(person) };
    for level in [Level::L0, Level::L1, Level::L2, Level::L3] {
        let bounds = Bounds { least: level, most: level };
        if Sandbox::probe(crate::sandbox_options(), bounds).await.is_err() {
            continue;
        }
        let stage = Stage::with(&program, &lent, bounds).await;
        fs::write(stage.dir.path().join("checkout/README.md"), home).unwrap();
        let found = stage.ends(Role::Player, "snoops").await != "answer";
        assert_eq!(found, level == Level::L0, "{program} at {level}: nothing keeps it from them at L0 alone");
    }
}
