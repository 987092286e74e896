//! GitHub, the network and our own machine fail: temporary failures are waited out, finished work is kept, and failures
//! that people must repair are named.

use crate::world::{ISSUE, Plan, REPO, Setup, WRITER, World};
use autobuild::store::{EffectState, StoredEffect};
use domain::ids::InstallationId;
use forge::{Fault, Mishap};
use sqlx::Connection;

/// More consecutive failures than an agent has tries.
const LONG: usize = 20;

async fn effect(world: &World, kind: &str) -> StoredEffect {
    let key = world.feature().await.key;
    let effects = world.engine.store.effects_of(&key).await.unwrap();
    effects.into_iter().rev().find(|effect| effect.kind == kind).unwrap()
}

async fn player_runs(world: &World) -> usize {
    let key = world.feature().await.key;
    let runs = world.engine.store.runs_of(&key, None).await.unwrap();
    runs.iter().filter(|run| run.role == "player").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_github_fails_is_waited_out_and_the_player_is_not_paid_twice() {
    for mishap in [Mishap::fail(502), Mishap::LoseRequest, Mishap::LoseReply] {
        let world = World::new().await;
        let order = Fault::on("POST", "*/git-receive-pack", mishap.clone()).containing("task-001").times(LONG);
        let order = world.forge.order(order);
        world.script.plans(&Plan::one()).succeeds(1);
        world.start().await;
        assert_eq!(world.state().await, "in_review", "{mishap:?}");
        assert!(order.hits() > 0);
        assert_eq!(player_runs(&world).await, 1);
        let play = effect(&world, "play").await;
        assert_eq!((play.attempt, play.state), (0, EffectState::Done));
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_github_fails_is_waited_out_before_every_agent() {
    let world = World::new().await;
    let order = Fault::on("GET", "*/info/refs", Mishap::fail(503)).nth(2).times(3 * LONG);
    let order = world.forge.order(order);
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(order.hits(), 3 * LONG);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_for_github_is_said_in_the_living_comment_and_holds_no_worker() {
    let world = Setup::new().slow().build().await;
    let order = Fault::on("POST", "*/git-receive-pack", Mishap::fail(500)).containing("task-001");
    world.forge.order(order);
    world.script.plans(&Plan::one()).succeeds(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    world.idle().await;
    while world.engine.store.unfinished_effects().await.unwrap().len() > 1 {
        tokio::task::yield_now().await;
    }
    let play = effect(&world, "play").await;
    assert_eq!((play.state, play.attempt), (EffectState::Ready, 0));
    let said = world.living().await;
    assert!(said.contains("**Waiting for GitHub**") && said.contains("- TASK-001"), "{said}");
    // The hour is over.
    let (store, now) = (&world.engine.store, world.engine.now());
    store.hurry(InstallationId(world.installation), now).await.unwrap();
    world.settle().await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(player_runs(&world).await, 1);
    world.end().await;
}

/// A Player's finished run whose push GitHub refused: neither a temporary failure nor a rule. Returns the answer on the
/// issue; from then on pushes pass.
async fn refused_push(world: &World) -> String {
    let order = Fault::on("POST", "*/git-receive-pack", Mishap::fail(403)).containing("task-001");
    let order = world.forge.order(order.always());
    world.script.plans(&Plan::one()).plays(1);
    world.start().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    order.withdraw();
    world.answers(ISSUE).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_finished_run_that_was_given_up_at_its_push_is_pushed_after_resume() {
    let world = World::new().await;
    let said = refused_push(&world).await;
    assert!(said.contains("403"), "{said}");
    world.script.approves(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(player_runs(&world).await, 1);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guidance_after_a_push_that_was_given_up_starts_the_player_again() {
    let world = World::new().await;
    refused_push(&world).await;
    world.script.succeeds(1);
    world.say(WRITER, ISSUE, "/autobuild resume Say it louder").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(player_runs(&world).await, 2);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_with_a_resume_do_not_throw_finished_work_away() {
    for is_mended in [true, false] {
        let world = World::new().await;
        let order = Fault::on("POST", "*/git-receive-pack", Mishap::fail(403)).containing("task-001");
        let order = world.forge.order(order.always());
        world.script.plans(&Plan::one());
        world.script.writes(1, &[("hello/1.txt", "hello 1\n"), ("hello/first.txt", "by the first run\n")]);
        world.start().await;
        assert_eq!(world.tasks().await, ["blocked"]);
        if is_mended {
            order.withdraw();
            world.script.writes(1, &[("hello/second.txt", "by the second run\n")]).approves(1);
        }
        world.say(WRITER, ISSUE, "/autobuild resume I fixed the rule").await;
        let runs = player_runs(&world).await;
        if is_mended {
            assert_eq!((world.state().await, runs), ("in_review".to_owned(), 2));
            let first = world.file("autobuild/1/integration", "hello/first.txt");
            assert_eq!(first.as_deref(), Some("by the first run\n"));
        } else {
            assert_eq!(
                (world.state().await, runs),
                ("blocked".to_owned(), 1),
                "nobody is paid before the push is let in"
            );
        }
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_is_not_paid_again_for_what_github_does_not_show_then() {
    let world = World::new().await;
    let order = world.forge.order(Fault::on("GET", "*/check-runs*", Mishap::fail(502)).times(20));
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    assert_eq!((world.state().await, order.hits()), ("in_review".to_owned(), 20));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_that_cannot_be_read_is_our_own_mistake_and_people_hear_of_it() {
    let world = World::new().await;
    let order = Fault::on("POST", "*/git-receive-pack", Mishap::fail(500)).containing("task-001");
    let order = world.forge.order(order.always());
    world.script.plans(&Plan::one()).plays(1);
    world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
    order.struck().await;
    let file = format!("sqlite:{}", world.folder().join("autobuild.db").display());
    let mut database = sqlx::SqliteConnection::connect(&file).await.unwrap();
    let tampered = sqlx::query("UPDATE effect SET payload = '{\"plot\": 1}' WHERE kind = 'play'");
    tampered.execute(&mut database).await.unwrap();
    world.settle().await;
    assert_eq!(world.tasks().await, ["blocked"]);
    let said = world.answers(ISSUE).await;
    assert!(said.contains("cannot read what it stored itself"), "{said}");
    assert!(!said.contains("GitHub refused a request"), "{said}");
    order.withdraw();
    world.script.approves(1);
    world.say(WRITER, ISSUE, "/autobuild resume").await;
    assert_eq!(world.state().await, "in_review");
    assert_eq!(player_runs(&world).await, 1);
    world.end().await;
}

async fn execute(world: &World, sql: &'static str) {
    let file = format!("sqlite:{}", world.folder().join("autobuild.db").display());
    let mut database = sqlx::SqliteConnection::connect(&file).await.unwrap();
    sqlx::query(sql).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feature_of_a_newer_version_keeps_no_other_from_its_events() {
    let world = Setup::new().settings("plan_approval: always").build().await;
    world.script.plans(&Plan::one());
    world.start().await;
    world.by(WRITER).push(REPO, "more", "More", &[("more.txt", Some("more\n"))]).await.unwrap();
    let pull = world.by(WRITER).open_pull(REPO, "more", "main", "More", "").await.unwrap();
    world.settle().await;
    execute(&world, "UPDATE feature SET format = 99").await;
    world.script.plans(&Plan::one());
    let other = world.open_issue(WRITER, "Say hello in files");
    world.by(WRITER).label(REPO, other, "autobuild").unwrap();
    world.by(WRITER).comment(REPO, pull, "Nothing for AutoBuild.").unwrap();
    world.settle().await;
    let built = async || world.feature_of(other).await.unwrap();
    assert_eq!(built().await.state.word(), "awaiting_approval");
    // The delivery waits for the newer version, but has reached the Features that can be read.
    world.forge.suspend(world.installation).unwrap();
    let mut wakeups = world.engine.store.wakeups();
    while !built().await.is_held() {
        wakeups.next().await;
    }
    execute(&world, "UPDATE feature SET format = 1").await;
    world.forge.unsuspend(world.installation).unwrap();
    world.settle().await;
    // The suspension may have reached the first Feature only now; the sweep sees that it is over.
    world.engine.sweep().await.unwrap();
    world.settle().await;
    assert!(!built().await.is_held() && !world.feature().await.is_held());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_whose_feature_cannot_be_told_stays_until_it_can() {
    for (kind, method, path, containing) in
        [("play", "POST", "*/git-receive-pack", "task-001"), ("merge", "PUT", "*/merge", "")]
    {
        let world = World::new().await;
        let fault = Fault::on(method, path, Mishap::Hold).containing(containing);
        let order = world.forge.order(fault);
        world.script.plans(&Plan::one()).succeeds(1);
        world.open_issue(WRITER, "Say hello in files");
        world.by(WRITER).label(REPO, ISSUE, "autobuild").unwrap();
        order.struck().await;
        execute(&world, "CREATE TRIGGER refused BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, 'no'); END").await;
        order.release().await;
        let mut wakeups = world.engine.store.wakeups();
        while !effect(&world, kind).await.last_error.is_some_and(|why| why.contains("refused a statement")) {
            wakeups.next().await;
        }
        // After any number of tries.
        let tried = effect(&world, kind).await.fence;
        while effect(&world, kind).await.fence < tried + 3 {
            wakeups.next().await;
            let state = effect(&world, kind).await.state;
            assert!(matches!(state, EffectState::Ready | EffectState::Running), "{kind} is {state:?}");
        }
        execute(&world, "DROP TRIGGER refused").await;
        world.settle().await;
        // When the database accepted writes again, the effect was done or given up, and the Feature has learned of it.
        assert_ne!(world.state().await, "building", "{kind}");
        assert_eq!(player_runs(&world).await, 1, "{kind}");
        world.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_does_all_that_it_says_is_stored_with_the_end_of_its_delivery() {
    let world = Setup::new().settings("merge: human").build().await;
    world.script.plans(&Plan::one()).succeeds(1);
    world.start().await;
    let pull = world.pull(1).await;
    world.script.writes(1, &[("hello/more.txt", "hello\n")]).approves(1);
    let refused = "CREATE TRIGGER refused BEFORE UPDATE ON effect WHEN NEW.kind = 'ingest' AND NEW.state = 'done' \
                   BEGIN SELECT RAISE(ABORT, 'no'); END";
    execute(&world, refused).await;
    let words = "/autobuild resume 'Say it louder.'";
    world.by(WRITER).review(REPO, pull, "REQUEST_CHANGES", words, &[]).await.unwrap();
    let mut wakeups = world.engine.store.wakeups();
    let is_refused = |effect: &StoredEffect| {
        let why = effect.last_error.as_deref().unwrap_or_default();
        effect.kind == "ingest" && why.contains("refused a statement")
    };
    while !world.engine.store.unfinished_effects().await.unwrap().iter().any(is_refused) {
        wakeups.next().await;
    }
    assert_eq!(world.feature().await.tasks[0].turns.len(), 1, "the review is not stored without that end");
    execute(&world, "DROP TRIGGER refused").await;
    world.settle().await;
    assert_eq!(world.feature().await.tasks[0].turns.len(), 2);
    assert!(world.comments(pull).await.is_empty(), "nothing is refused");
    world.end().await;
}
