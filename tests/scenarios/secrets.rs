//! Credentials in every place that an agent can write to; none of them appears in a place that people read.

use crate::world::{Plan, REPO, Setup, Task, World};
use autobuild::{config::Role, messages};
use forge::{NewApp, NewCiJob};
use serde_json::json;
use std::{path::Path, process::Command};

/// The secret of the world's webhooks.
const OWN: &str = "0123456789abcdef0123456789abcdef";

/// The planted secrets: a token of a known form, the service's own webhook secret, a key, an assigned value.
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
  echo "$ASSIGNED" > "hello/$TOKEN.py"
  echo "$TOKEN.log" > hello/.gitignore
  echo x > "hello/$TOKEN.log"
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

/// Collects every text below a folder, except git's files.
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

/// Returns everything in a repository: commits, messages, contents, names of branches.
fn history(repository: &Path) -> String {
    let git = |arguments: &[&str]| {
        let told = Command::new("git").arg("-C").arg(repository).args(arguments).output().unwrap();
        String::from_utf8_lossy(&told.stdout).into_owned()
    };
    format!("{}{}", git(&["log", "-p", "-m", "--all", "--root"]), git(&["for-each-ref"]))
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
        // Both sides know the secret that signs webhooks: the forge stores it once, with the App.
        holds_none(path, &text.replacen(OWN, "", 1));
    }
    let database = |end: &str| std::fs::read(world.folder().join(format!("autobuild.db{end}")));
    holds_none("the database", &String::from_utf8_lossy(&database("").unwrap()));
    holds_none("its newest pages", &String::from_utf8_lossy(&database("-wal").unwrap_or_default()));
    holds_none("the repository", &history(&world.forge.repository_dir(REPO).unwrap()));
    for event in world.forge.events() {
        holds_none("the feed", &format!("{event:?}"));
    }
    let feature = world.feature().await;
    holds_none("the Feature", &format!("{feature:?}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn planted_credentials_get_out_nowhere() {
    let world = Setup::new().command(Role::Player, &player()).command(Role::Coach, &coach()).build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    let feature = world.feature().await;
    let turns = &feature.tasks[0].turns;
    let items = &turns[0].verdict.as_ref().unwrap().items;
    let told: Vec<String> = items.iter().map(|item| messages::problem(item).into_owned()).collect();
    for place in [
        "hello/1.txt:2 holds a GitHub token",
        "hello/own.txt:1 holds a secret of this service",
        "hello/key:1 holds a private key",
        "hello/settings.py:1 holds a value",
        "the name of the file hello/[masked]",
    ] {
        assert!(told.iter().any(|told| told.contains(place)), "{place} is not named: {told:#?}");
    }
    assert!(turns.len() > 1, "the second turn was clean");
    nothing_got_out(&world).await;
    world.end().await;
}

/// A token of the Player, one of the Coach and one of CI, each in a spelling that is only complete for its reader.
const HIDDEN: [&str; 3] = [
    "Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc",
    "Xm3nB5vC7xZ9lK1jH2gF4dS6aP8oIuYtReWq",
    "Tr5eW7qA9sD1fG3hJ5kL7zX9cV1bN3mQ2wEr",
];

/// Turn 1 leaves credentials in places that are easy to miss, turn 2 is clean; both report them in forms that Markdown
/// makes complete.
const HIDING_PLAYER: &str = r#"T=Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc
HIDDEN=$(printf 'ghp\342\200\213_%s' "$T")
COLOURED=$(printf 'ghp_Zq4x\033[0mW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc')
B64=$(printf 'user:ghp_%s' "$T" | base64 -w0)
HEX=$(printf 'ghp_%s' "$T" | od -An -tx1 | tr -d ' \n')
mkdir -p hello
if [ "$AUTOBUILD_TURN" = 1 ]; then
  echo "auth: $B64" > hello/secret.yaml
  echo "key = $HEX" > hello/hex.txt
  printf '%s\n' '{"k": "\u0067hp_Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc"}' > hello/escaped.json
  echo "see $HIDDEN" > hello/hidden.txt
  echo x > "hello/a_ghp_$T.txt"
else
  rm -rf hello; mkdir hello; echo hello 1 > hello/1.txt
  cat > tests/leak_test.sh <<'END'
a=ghp_Zq4xW7vB2nM9; b=kL5jH8gF3dS6aP1oIuYtReTc
printf '%s\n' "$(printf 'user:%s%s' $a $b | base64 -w0) ghp_Zq4x$(printf '\033')[0mW7vB2nM9$b"
test -f hello/1.txt
END
fi
echo "$B64 $HEX $COLOURED $HIDDEN"
echo "$B64 $HEX $COLOURED $HIDDEN" >&2
cat <<'END'
{"summary": "Used ghp\u200b_Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc, dXNlcjpnaHBfWnE0eFc3dkIybk05a0w1akg4Z0YzZFM2YVAxb0l1WXRSZVRj.",
"files_modified": ["ghp\\_Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc", "\\u0067hp_Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc"],
"files_created": ["hello/1.txt"], "concerns": ["*ghp&#8203;_Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc*"], "ready_for_validation": true}
END
"#;

/// It may only read, but leaves a file whose name contains a token.
const HIDING_COACH: &str = r#"echo x > left_ghp_Xm3nB5vC7xZ9lK1jH2gF4dS6aP8oIuYtReWq.txt
cat <<'END'
{"decision": "approve", "summary": "It has ghp\\_Xm3nB5vC7xZ9lK1jH2gF4dS6aP8oIuYtReWq.",
"criteria": [{"criterion": 1, "met": true, "evidence": "hello/1.txt"}]}
END
"#;

/// Returns everything that our Apps wrote: every text that people read, and all content of git.
async fn said_by_us(world: &World) -> String {
    let mut said = history(&world.forge.repository_dir(REPO).unwrap());
    for thread in world.list("issues?state=all").await {
        let number = thread["number"].as_u64().unwrap();
        said.push_str(&world.answers(number).await);
        if thread["pull_request"].is_null() {
            continue;
        }
        said.push_str(&format!("{}{}", thread["title"], thread["body"]));
        for review in world.reviews(number).await {
            said.push_str(&review.2);
        }
        said.push_str(&format!("{:?}", world.list(&format!("pulls/{number}/comments")).await));
        for commit in world.list(&format!("pulls/{number}/commits")).await {
            let sha = commit["sha"].as_str().unwrap();
            let runs = world.get(&format!("commits/{sha}/check-runs")).await;
            let ours = runs["check_runs"].as_array().unwrap().iter();
            ours.filter(|run| run["app"]["slug"] == "autobuild").for_each(|run| said.push_str(&run.to_string()));
        }
    }
    said
}

/// Makes the CI of tasks fail with tokens in the names and texts of its checks.
fn ci_prints_tokens(world: &World) {
    world
        .forge
        .create_app(&NewApp {
            slug: "actions",
            owner: "acme",
            permissions: &[("checks", "write")],
            events: &[],
            hook: None,
        })
        .unwrap();
    let red = NewCiJob {
        app: Some("actions"),
        branches: "autobuild/*/task-*",
        name: "build ghp&#8203;_Tr5eW7qA9sD1fG3hJ5kL7zX9cV1bN3mQ2wEr",
        conclusion: Some("failure"),
        summary: "failed with ghp\\_Tr5eW7qA9sD1fG3hJ5kL7zX9cV1bN3mQ2wEr and \u{1b}[1mghp_Tr5e\u{1b}[0mW7qA9sD1fG3hJ5kL7zX9cV1bN3mQ2wEr",
    };
    let green = NewCiJob { branches: "autobuild/*/integration", conclusion: Some("success"), summary: "well", ..red };
    world.forge.set_ci(REPO, &[green, red]).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_encoded_escaped_or_hidden_gets_out_nowhere() {
    let world = Setup::new()
        .settings("max_turns: 2")
        .command(Role::Player, HIDING_PLAYER)
        .command(Role::Coach, HIDING_COACH)
        .build()
        .await;
    ci_prints_tokens(&world);
    let hidden = "Say ghp\u{200b}_Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYtReTc";
    let task = Task::new(1).with("name", json!(hidden)).with("description", json!(hidden));
    world.script.plans(&Plan::of([task]));
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let turns = world.feature().await.tasks[0].turns.clone();
    let items = &turns[0].verdict.as_ref().unwrap().items;
    for path in ["secret.yaml", "hex.txt", "escaped.json", "hidden.txt"] {
        let file = format!("hello/{path}");
        let held = items.iter().find(|item| item.file.as_ref() == Some(&file) && item.line == Some(1));
        let problem = held.map(|item| format!("{:?}", item.problem)).unwrap_or_default();
        assert!(problem.contains("Secret(\"a GitHub token\")"), "{path} is not named: {items:?}");
    }
    let told = format!("{items:?}");
    assert!(told.contains("SecretName { masked: \"hello/a_[masked]"), "{told}");
    let told = format!("{:?}", turns[1].verdict);
    assert!(told.contains("left_[masked]"), "{told}");
    let said = said_by_us(&world).await;
    let seen = said.replace(['\\', '\u{200b}'], "").replace("&#8203;", "").replace("\u{1b}[0m", "");
    assert!(seen.contains("[masked]") && seen.contains("build "), "{seen}");
    for token in HIDDEN {
        assert!(!seen.contains(token), "{token} in {seen}");
        assert!(!seen.to_lowercase().contains(&token.to_lowercase()), "{token} in {seen}");
    }
    let base64 = ["dXNlcjpnaHBfWnE0eFc3", "6768705f5a713478"];
    assert!(base64.iter().all(|part| !seen.contains(part)), "{seen}");
    world.end().await;
}
