//! Agents that misbehave, and repositories that cannot be tested.

use crate::world::{ISSUE, Plan, REPO, Setup, WRITER, World};
use autobuild::config::{Allowance, NetworkSettings, Role};
use forge::{BranchRule, Fault, Mishap, RuleKind};
use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, TcpListener},
};

const REPORT: &str = r#"echo '{"summary": "Said it.", "files_modified": [], "files_created": ["hello/1.txt"], "ready_for_validation": true}'
"#;

/// Plays one task whose Player is this script; the Coach approves.
async fn played(script: &str, settings: &str) -> World {
    let world = Setup::new().settings(settings).command(Role::Player, script).build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    world
}

fn working(before: &str) -> String {
    format!("mkdir -p hello\necho hello 1 > hello/1.txt\n{before}\n{REPORT}")
}

/// Asserts the text on the issue if a task is blocked that never pushed.
async fn blocked_by(script: &str, settings: &str, cause: &str) {
    let world = played(script, settings).await;
    assert_eq!(world.state().await, "blocked", "{script}");
    assert_eq!(
        world.feature().await.tasks[0].turns.iter().filter(|turn| turn.verdict.is_some()).count(),
        0,
        "no turn used up"
    );
    let said = match world.feature().await.tasks[0].pull {
        Some(pull) => format!("{}{:?}", world.answers(pull.0).await, world.reviews(pull.0).await),
        None => world.answers(ISSUE).await,
    };
    assert!(said.contains(cause), "{script}: {cause} is missing in {said}");
    assert!(said.len() < 200_000);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_player_blocks_and_uses_up_no_turn() {
    blocked_by("exit 0", "", "JSON object").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_that_exits_badly_blocks_with_what_it_said() {
    blocked_by("echo no such model >&2; exit 1", "", "no such model").await;
    let hostile = "printf 'last words\\n````\\n@mona see ghp_%s\\n' a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2; exit 3";
    let world = played(hostile, "").await;
    let said = world.answers(ISSUE).await;
    assert!(said.contains("<summary>What the agent printed last</summary>\n\n`````text\nlast words\n````\n"), "{said}");
    assert!(!said.contains("a1B2a1B2"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_that_is_not_there_blocks() {
    blocked_by("exec /nonexistent/agent", "", "127").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_instead_of_json_are_asked_for_once_more_and_then_block() {
    let count = "echo run >> \"$WORLD/runs\"\necho I am done.\n";
    let world = played(count, "").await;
    assert_eq!(world.state().await, "blocked");
    let runs = std::fs::read_to_string(world.folder().join("runs")).unwrap().lines().count();
    assert_eq!(runs, 2, "one run, asked once more for its answer");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_the_wrong_shape_is_repaired_with_the_validation_error() {
    let script = format!(
        "cat > \"$WORLD/prompt\"\nif [ ! -f \"$WORLD/once\" ]; then\n  touch \"$WORLD/once\"\n  \
         mkdir -p hello; echo hello 1 > hello/1.txt\n  echo '{{\"summary\": 3}}'\n  exit 0\nfi\n{REPORT}"
    );
    let world = Setup::new().command(Role::Player, &script).build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let prompt = std::fs::read_to_string(world.folder().join("prompt")).unwrap();
    assert!(prompt.contains("summary"), "{prompt}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gigabyte_of_output_is_cut_off() {
    blocked_by("head -c 1000000000 /dev/zero | tr '\\0' 'x'", "", "printed more than").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_player_is_killed_at_its_deadline() {
    blocked_by("setsid sleep 1000 &\nsleep 1000", "timeouts: {player: 1s}", "second").await;
}

/// A Player that saves its prompt, adds a line, and hangs; from the third run on it finishes.
const SLOW: &str = r#"run=$(ls "$WORLD" | grep -c '^prompt')
cat > "$WORLD/prompt-$run"
mkdir -p hello
echo "run $run" >> hello/parts.txt
[ "$run" -ge 2 ] || sleep 1000
echo hello 1 > hello/1.txt
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_player_out_of_time_goes_on_once_and_then_blocks() {
    let world = played(&format!("{SLOW}{REPORT}"), "timeouts: {player: 5s}").await;
    assert_eq!(world.state().await, "blocked");
    let pull = world.pull(1).await;
    let said = format!("{}{:?}", world.answers(pull).await, world.reviews(pull).await);
    assert!(said.contains("The Player met its limit twice: it was stopped after 5 seconds"), "{said}");
    assert!(said.contains("`timeouts` in"), "{said}");
    let parts = world.file(&world.branch(1).await, "hello/parts.txt");
    assert_eq!(parts.as_deref(), Some("run 0\nrun 1\n"), "each run's work is kept");
    world.script.approves(1);
    world.say(WRITER, pull, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    let prompt = |run: u32| std::fs::read_to_string(world.folder().join(format!("prompt-{run}"))).unwrap();
    assert!(!prompt(0).contains("goes on from an earlier one"));
    assert!(prompt(1).contains("was stopped because its time was up. The working copy holds what it left."));
    assert!(prompt(2).contains("ended before it was done. The working copy holds what it left."));
    assert!(!world.folder().join("prompt-3").exists());
    world.end().await;
}

/// Creates a task with feedback in its only turn. The default branch has moved since, so the next turn must merge it.
async fn behind_the_default_branch(second_turn: &str) -> World {
    let script = format!("if [ \"$AUTOBUILD_TURN\" = 1 ]; then\n{}exit 0\nfi\n{second_turn}", working(""));
    let world =
        Setup::new().settings("timeouts: {player: 5s}\nmax_turns: 1").command(Role::Player, &script).build().await;
    world.script.plans(&Plan::one()).feedback(1, "Not enough.");
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let theirs = [("theirs.txt", Some("theirs\n"))];
    world.by(WRITER).push(REPO, "main", "Theirs", &theirs).await.unwrap();
    world.settle().await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_player_left_at_its_limit_is_judged_with_the_default_branch_that_it_merges() {
    let world = behind_the_default_branch(&format!("{SLOW}{REPORT}")).await;
    world.script.approves(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    let branch = world.branch(1).await;
    let parts = world.file(&branch, "hello/parts.txt");
    assert_eq!(parts.as_deref(), Some("run 0\n"), "the Gates pass, so no second run is paid");
    assert_eq!(world.file(&branch, "theirs.txt").as_deref(), Some("theirs\n"));
    world.end().await;
}

/// The Player's files pass the Gates, but its run fails.
#[tokio::test(flavor = "multi_thread")]
async fn finished_work_of_a_player_that_ends_badly_is_judged_and_not_paid_again() {
    for ending in ["echo I am done; exit 1", "echo I am done"] {
        let script = format!("echo run >> \"$WORLD/runs\"\nmkdir -p hello\necho hello 1 > hello/1.txt\n{ending}");
        let world = Setup::new().command(Role::Player, &script).build().await;
        world.script.plans(&Plan::one()).approves(1);
        world.start().await;
        assert_eq!(world.state().await, "in_review", "{ending}");
        let runs = std::fs::read_to_string(world.folder().join("runs")).unwrap();
        let reviews = format!("{:?}", world.reviews(world.pull(1).await).await);
        assert!(reviews.contains("did not end well and gave no report"), "{reviews}");
        // Only the answer is requested again, not the work.
        assert_eq!(runs.lines().count(), if ending.contains("exit") { 1 } else { 2 }, "{ending}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_merge_alone_is_nothing_that_a_player_left() {
    let nothing =
        "run=$(ls \"$WORLD\" | grep -c '^prompt')\ncat > \"$WORLD/prompt-$run\"\n[ \"$run\" -ge 1 ] || sleep 1000\n";
    let world = behind_the_default_branch(&format!("{nothing}echo more > hello/2.txt\n{REPORT}")).await;
    world.script.approves(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    let told = std::fs::read_to_string(world.folder().join("prompt-1")).unwrap();
    assert!(told.contains("It left no changes"), "{told}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_run_with_a_merged_default_branch_is_pushed_later_without_another() {
    let second = format!("echo run >> \"$WORLD/runs\"\necho more > hello/2.txt\n{REPORT}");
    let world = behind_the_default_branch(&second).await;
    let (pattern, kind) = (world.branch(1).await, RuleKind::RequiredSignatures);
    world.forge.add_rule(REPO, BranchRule { pattern, kind }).unwrap();
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "blocked");
    world.forge.clear_rules(REPO).unwrap();
    world.script.approves(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    let runs = std::fs::read_to_string(world.folder().join("runs")).unwrap();
    assert_eq!(runs, "run\n", "one run is paid");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_player_left_at_its_limit_is_kept_also_when_github_fails_the_push_at_first() {
    let script = format!("{SLOW}{REPORT}").replace("-ge 2", "-ge 1");
    let world = Setup::new().settings("timeouts: {player: 5s}").command(Role::Player, &script).build().await;
    let order = Fault::on("POST", "*/git-receive-pack", Mishap::fail(502)).containing("task-001");
    let order = world.forge.order(order.times(3));
    world.script.plans(&Plan::one()).approves(1);
    world.start().await;
    assert_eq!((order.hits(), world.state().await.as_str()), (3, "in_review"));
    let parts = world.file(&world.branch(1).await, "hello/parts.txt");
    assert_eq!(parts.as_deref(), Some("run 0\nrun 1\n"), "each run's work is kept");
    let told = std::fs::read_to_string(world.folder().join("prompt-1")).unwrap();
    assert!(told.contains("The working copy holds what it left."), "{told}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_that_meets_its_time_is_asked_twice_not_three_times() {
    let world = Setup::new()
        .settings("timeouts: {coach: 4s}")
        .command(
            Role::Coach,
            "echo run >> \"$WORLD/runs\"\ncat > \"$WORLD/told-$(wc -l < \"$WORLD/runs\")\"\necho looking at it\nsleep 1000",
        )
        .build()
        .await;
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let runs = std::fs::read_to_string(world.folder().join("runs")).unwrap();
    assert_eq!(runs.lines().count(), 2);
    let less = |run: u32| {
        let told = std::fs::read_to_string(world.folder().join(format!("told-{run}"))).unwrap();
        told.contains(
            "was stopped because its time was up. Read less, and answer before the limit. There is no third run.",
        )
    };
    assert!(!less(1) && less(2));
    let pull = world.pull(1).await;
    let said = format!("{}{:?}", world.answers(pull).await, world.reviews(pull).await);
    assert!(said.contains("What the agent printed last") && said.contains("looking at it"), "{said}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_is_told_the_commands_that_were_found_and_what_it_reaches() {
    let script = format!("cat > \"$WORLD/prompt\"\n{}", working(""));
    let world = Setup::new()
        .only_settings("setup: sh tests/prepare.sh\nnetwork: {allow: [docs.example.com]}\n")
        .with_file("tests/prepare.sh", "true\n")
        .with_file("Makefile", "test:\n\tsh tests/run.sh\n")
        .command(Role::Player, &script)
        .build()
        .await;
    world.script.plans(&Plan::one()).approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    let prompt = std::fs::read_to_string(world.folder().join("prompt")).unwrap();
    for told in [
        "The tests are run with `make test`. A clean copy is prepared for them with `sh tests/prepare.sh`;",
        "Commands that you run reach",
    ] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    world.end().await;
}

/// Requests a tunnel to npm's registry from the proxy; fails if there is no proxy.
const REACH: &str = r#"
import base64, os, socket, sys, urllib.parse
url = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
login = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
way = socket.create_connection((url.hostname, url.port))
way.sendall(f"CONNECT registry.npmjs.org:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic {login}\r\n\r\n".encode())
sys.exit(0 if b" 200 " in way.recv(100) else 1)
"#;

/// Returns a world whose set-up asks for npm's registry, which is at this address, if there is a `package.json`.
async fn world_with_npm_at(address: SocketAddr, file: &str) -> World {
    let pinned = BTreeMap::from([("registry.npmjs.org".parse().unwrap(), address)]);
    let network = NetworkSettings { pinned, ..NetworkSettings::default() };
    let setup = Setup::new().only_settings(
        "setup: if test -e package.json; then python3 tests/reach.py; fi\ntest: sh tests/run.sh\nmode: standard\n",
    );
    let setup = setup.allowance(Allowance { network, ..Allowance::default() });
    setup.with_file("tests/reach.py", REACH).with_file("go.mod", "module tree\n").with_file(file, "{}").build().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_that_opens_a_registry_by_an_empty_manifest_waits_for_a_person() {
    let npm = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let files = [("package.json", "{}"), ("hello/1.txt", "hello 1\n")];
    for (file_of_main, state) in [("notes.json", "blocked"), ("package.json", "in_review")] {
        let world = world_with_npm_at(npm.local_addr().unwrap(), file_of_main).await;
        world.script.plans(&Plan::one()).writes(1, &files);
        if state == "in_review" {
            world.script.approves(1);
        }
        world.start().await;
        assert_eq!(world.state().await, state, "{file_of_main}");
        let pull = world.pull(1).await;
        let said = format!("{}{:?}", world.answers(pull).await, world.reviews(pull).await);
        let is_refused = said.contains("`registry.npmjs.org` is a package registry");
        assert_eq!(is_refused, state == "blocked", "{said}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_of_files_that_do_not_exist_is_a_discrepancy_in_the_review() {
    let script = r#"mkdir -p hello
echo hello 1 > hello/1.txt
echo '{"summary": "All.", "files_modified": ["src/nowhere.rs"], "files_created": ["ghost.txt"], "ready_for_validation": true}'
"#;
    let world = Setup::new().command(Role::Player, script).build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.start().await;
    let review = world.reviews(world.pull(1).await).await.remove(0).2;
    for part in ["src/nowhere.rs", "ghost.txt", "hello/1.txt"] {
        assert!(review.contains(part), "{part}: {review}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_player_does_in_its_own_git_is_dropped() {
    let git = r#"git -c user.name=x -c user.email=x@x commit -qm 'Sneaky' --allow-empty
git checkout -q -b elsewhere || true
git reset -q --hard HEAD~1 2>/dev/null || true
mkdir -p hello .git/hooks && echo hello 1 > hello/1.txt
printf '#!/bin/sh\ntouch "%s/hooked"\n' "$WORLD" > .git/hooks/pre-commit
cp .git/hooks/pre-commit .git/hooks/post-checkout; cp .git/hooks/pre-commit .git/hooks/post-index-change
chmod +x .git/hooks/*
git config core.fsmonitor "touch $WORLD/hooked"
git config filter.x.clean "touch $WORLD/hooked; cat"
git config filter.x.smudge "touch $WORLD/hooked; cat"
echo '* filter=x' > .git/info/attributes
"#;
    let script = format!("{git}{REPORT}");
    let world = Setup::new().command(Role::Player, &script).build().await;
    world.script.plans(&Plan::one()).approves(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert!(!world.folder().join("hooked").exists(), "nothing that the agent planted ran");
    let log = world.git_says(&["log", "--format=%s%n%an", &world.branch(1).await]);
    assert!(!log.contains("Sneaky"), "{log}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifos_devices_and_links_in_the_checkout_hang_nothing_and_do_not_leave_it() {
    let script = working("mkfifo pipe\nln -s /etc/passwd secret\nln -s ../../.. up\nln -s hello/1.txt fine");
    let world = Setup::new().settings("max_turns: 1").command(Role::Player, &script).build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("the link secret leaves the repository"), "{said}");
    let refs = world.git_says(&["for-each-ref", "--format=%(refname)"]);
    for name in refs.lines() {
        assert!(world.file(name, "secret").is_none(), "{name} holds a link out of the repository");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_a_protected_path_is_held_and_becomes_feedback() {
    let script = working("mkdir -p .github/workflows\necho 'on: push' > .github/workflows/ci.yml");
    let world = played(&script, "max_turns: 1").await;
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains(".github/workflows/ci.yml"), "{said}");
    assert!(world.forge.head(crate::world::REPO, &world.branch(1).await).unwrap().is_none(), "nothing was pushed");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_the_change_is_held_and_only_its_place_is_quoted() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let script = working(&format!("echo 'token = {secret}' > settings.ini"));
    let world = played(&script, "max_turns: 1").await;
    assert_eq!(world.state().await, "blocked");
    let said = world.answers(ISSUE).await;
    assert!(said.contains("settings.ini"), "{said}");
    assert!(!world.happenings().contains(secret), "never the value");
    world.say(WRITER, ISSUE, "/autobuild approve").await;
    assert!(!world.happenings().contains(secret));
    assert_eq!(world.state().await, "blocked", "a secret cannot be waived");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coach_that_writes_into_its_checkout_does_not_approve() {
    let coach = r#"echo sneaky > sneaky.txt
echo '{"decision": "approve", "summary": "Fine.", "criteria": [{"criterion": 1, "met": true, "evidence": "hello/1.txt"}]}'
"#;
    let world = Setup::new().settings("max_turns: 1").command(Role::Coach, coach).build().await;
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let pull = world.pull(1).await;
    let reviews = world.reviews(pull).await;
    assert_eq!(reviews[0].1, "CHANGES_REQUESTED");
    assert!(reviews[0].2.contains("checkout_unchanged"), "{}", reviews[0].2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failing_tests_lower_an_approval() {
    let world = Setup::new().settings("max_turns: 1").build().await;
    world.script.plans(&Plan::one());
    world
        .script
        .writes(1, &[("hello/1.txt", "hello 1\n"), ("tests/red_test.sh", "echo it is red; exit 1\n")])
        .approves(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let review = world.reviews(world.pull(1).await).await.remove(0);
    assert_eq!(review.1, "CHANGES_REQUESTED");
    assert!(review.2.contains("a Gate did not pass") && review.2.contains("red"), "{}", review.2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feature_task_without_any_test_command_blocks_and_says_why() {
    let world = Setup::new().only_settings("").without_tests().build().await;
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    assert_eq!(world.state().await, "blocked");
    let said = format!("{}{:?}", world.answers(ISSUE).await, world.reviews(world.pull(1).await).await);
    assert!(said.contains("test command"), "{said}");
    assert_eq!(world.feature().await.tasks[0].turns.len(), 1);
    world.end().await;
}
