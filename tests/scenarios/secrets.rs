//! Credentials in every place that an agent can write to, and none of them anywhere that anybody reads.

use crate::world::Plan;
use crate::world::REPO;
use crate::world::Setup;
use crate::world::World;
use autobuild::config::Role;
use std::path::Path;
use std::process::Command;

/// The secret of the world's webhooks.
const OWN: &str = "0123456789abcdef0123456789abcdef";

/// What is planted: a token of a known form, the service's own webhook secret, a key, an assigned value.
const PLANTED: [&str; 4] = [
    "Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc",
    OWN,
    "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW",
    "q7Xv2Lm9Tz4Rk8Wp3Bn6",
];

/// Sets `$TOKEN` and others, and prints them all.
const PLANT: &str = r#"TOKEN=ghp_Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc
OWN=0123456789abcdef0123456789abcdef
KEY="-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
-----END OPENSSH PRIVATE KEY-----"
ASSIGNED='api_key = "q7Xv2Lm9Tz4Rk8Wp3Bn6"'
echo "$TOKEN $OWN $KEY $ASSIGNED" >&2
echo "$TOKEN $OWN $KEY $ASSIGNED"
"#;

fn player() -> String {
    format!(
        r#"{PLANT}
mkdir -p hello
if [ "$AUTOBUILD_TURN" = 1 ]; then
  printf '%s\n%s\n' hello "$TOKEN" > hello/1.txt
  echo "$OWN" > hello/own.txt
  echo "$KEY" > hello/key
  echo "$ASSIGNED" > hello/settings.py
  echo x > "hello/$TOKEN.txt"
else
  rm -rf hello; mkdir hello; echo hello 1 > hello/1.txt
  echo 'a=ghp_Zq4xW7vB2nM9; b=kL5jH8gF3dS6aP1oIuYtReTc; echo "leak $a$b"; exit 0' > tests/leak_test.sh
fi
echo "{{\"summary\": \"Used $TOKEN and $OWN.\", \"files_modified\": [\"$TOKEN\"], \"files_created\": [\"hello/1.txt\"], \
\"concerns\": [\"$OWN\"], \"test_output_summary\": \"api_key = q7Xv2Lm9Tz4Rk8Wp3Bn6q7Xv2Lm9Tz4Rk8Wp3Bn6\", \"ready_for_validation\": true}}"
"#
    )
}

fn coach() -> String {
    format!(
        r#"{PLANT}
echo "{{\"decision\": \"approve\", \"summary\": \"Saw $TOKEN and $OWN.\", \
\"criteria\": [{{\"criterion\": 1, \"met\": true, \"evidence\": \"hello/1.txt with $TOKEN\"}}], \
\"issues\": [{{\"severity\": \"nice_to_have\", \"category\": \"security\", \"description\": \"It says $OWN\", \"file\": \"hello/1.txt\", \
\"line\": 1, \"suggestion\": \"$TOKEN\"}}]}}"
"#
    )
}

/// Every text below a folder that is not git's.
fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(&path, found);
        } else {
            let bytes = std::fs::read(&path).unwrap_or_default();
            found.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

/// Everything that git would tell of a repository: commits, messages, contents, names of branches.
fn history(repository: &Path) -> String {
    let git = |arguments: &[&str]| {
        let told = Command::new("git")
            .arg("-C")
            .arg(repository)
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8_lossy(&told.stdout).into_owned()
    };
    format!(
        "{}{}",
        git(&["log", "-p", "-m", "--all", "--root"]),
        git(&["for-each-ref"])
    )
}

fn holds_none(place: &str, text: &str) {
    for planted in PLANTED {
        assert!(!text.contains(planted), "{place} holds {planted}:\n{text}");
    }
}

async fn nothing_got_out(world: &World) {
    let mut found = Vec::new();
    texts(&world.folder().join("forge"), &mut found);
    for (path, text) in &found {
        // What signs the webhooks is known to both sides: the forge keeps it once, with the App.
        holds_none(path, &text.replacen(OWN, "", 1));
    }
    holds_none("the repository", &history(&world.forge.repository_dir(REPO).unwrap()));
    for event in world.forge.events() {
        holds_none("the feed", &format!("{event:?}"));
    }
    let feature = world.feature().await;
    holds_none("the Feature", &format!("{feature:?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_credentials_get_out_nowhere() {
    let world = Setup::new()
        .command(Role::Player, &player())
        .command(Role::Coach, &coach())
        .build()
        .await;
    world.script.plans(&Plan::one());
    world.start().await;
    let feature = world.feature().await;
    let turns = &feature.tasks[0].turns;
    let items = &turns[0].verdict.as_ref().unwrap().items;
    let told: Vec<String> = items.iter().map(|item| item.description.clone()).collect();
    for place in [
        "hello/1.txt:2 holds a GitHub token",
        "hello/own.txt:1 holds a secret of this service",
        "hello/key:1 holds a private key",
        "hello/settings.py:1 holds a value",
        "the name of the file hello/[masked]",
    ] {
        assert!(
            told.iter().any(|told| told.contains(place)),
            "{place} is not named: {told:#?}"
        );
    }
    assert!(turns.len() > 1, "the second turn was clean");
    nothing_got_out(&world).await;
    world.end().await;
}
