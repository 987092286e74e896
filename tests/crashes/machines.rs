//! Services on PostgreSQL, also two at once, each with a data folder of its own: one is killed, and the other, which
//! never saw the killed one's folder, finishes. Nothing is lost or paid twice.

use crate::{
    beside::REPO,
    calls::Kind,
    killed::{Blow, Extent, Met, every_call_at},
    play::{WATCHDOG, assert_looks, calm, go_on, is_thorough},
    relay::Line,
    story::Story,
    world::{LEASE_SECONDS, Place, World},
};
use forge::{Fault, Mishap};
use rustix::process::{Resource, Rlimit, prlimit};

fn pushes(kind: &Kind) -> bool {
    kind.path.ends_with("/git-receive-pack")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_whose_machine_is_gone_is_made_up_for_by_the_other() {
    for blow in [Blow::Before, Blow::After] {
        // The first push after a move is often that of the integration branch.
        let met: Met = (pushes, Extent::OfEachMove(2));
        every_call_at(Place::Machines(2), Story::completed, blow, met).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_machines_that_cannot_push_for_long_pay_for_one_run() {
    let story = Story::completed();
    let calm = calm(&story).await;
    // Without a pack in the database, the machine that made the commit waits until it can push it.
    for pack_size in ["64MiB", "0"] {
        let mut world = World::at(Place::Machines(2), &story).await;
        world.set("AUTOBUILD_BACKOFF_SECONDS", "1");
        world.set("AUTOBUILD_PACK_SIZE", pack_size);
        let order = Fault::on("POST", "*/git-receive-pack", Mishap::fail(502)).containing("task-001");
        let order = world.forge.order(order.times(4));
        world.start();
        let played = tokio::time::timeout(WATCHDOG, go_on(&mut world, &story)).await;
        assert!(played.is_ok(), "{}", world.log());
        assert_eq!(order.hits(), 4);
        assert_looks(&world, &calm.picture, pack_size).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_every_write_on_postgres_it_ends_alike() {
    if !is_thorough() {
        return;
    }
    for place in [Place::Postgres, Place::Machines(2)] {
        for blow in [Blow::Before, Blow::After] {
            let met: Met = (Kind::writes, Extent::OfEachMove(2));
            every_call_at(place, Story::completed, blow, met).await;
        }
    }
}

/// Waits until the Player of the caught story runs; lets everything before it continue.
async fn player_runs(world: &mut World, story: &Story) {
    story.moves[0].play(world).await;
    let running = async {
        while let Some(name) = world.rest_or_started().await {
            if name == "player" {
                return;
            }
            world.pipes.go().await;
        }
    };
    tokio::time::timeout(WATCHDOG, running).await.expect("the Player starts");
}

/// Lets everything continue until it rests, and asserts that the Player was paid once in its turn.
async fn ends_with_one_run(world: &mut World) {
    let ending = async {
        while world.rest_or_started().await.is_some() {
            world.pipes.go().await;
        }
    };
    let ended = tokio::time::timeout(WATCHDOG, ending).await;
    assert!(ended.is_ok(), "does not end:\n{}", world.log());
    assert_eq!(world.runs("player").await, ["ended"], "{}", world.log());
    let pulls = world.forge.look(REPO, "pulls").await.unwrap();
    assert_eq!(pulls.as_array().map(Vec::len), Some(1), "the work was pushed and judged\n{}", world.log());
}

/// Waits until the running effect's lease has ended.
async fn lease_ends(world: &mut World) {
    let ended = tokio::time::timeout(WATCHDOG, world.lease_ends()).await;
    assert!(ended.is_ok(), "the lease is renewed for ever:\n{}", world.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_that_ends_while_postgres_is_away_for_leases_is_not_paid_again() {
    let story = Story::caught();
    let mut world = World::at(Place::Postgres, &story).await;
    let line = world.relay_database().await;
    world.start();
    player_runs(&mut world, &story).await;
    line.set(Line::Cut);
    world.pipes.go().await;
    lease_ends(&mut world).await;
    line.set(Line::Open);
    ends_with_one_run(&mut world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_that_ends_while_the_disk_is_full_is_not_paid_again() {
    let story = Story::caught();
    let mut world = World::new(&story).await;
    world.survives_file_limits();
    world.set("AUTOBUILD_LEASE_SECONDS", LEASE_SECONDS);
    world.start();
    player_runs(&mut world, &story).await;
    // No file of the service grows any more, as on a full disk.
    let full = Rlimit { current: Some(1), maximum: None };
    let before = prlimit(Some(world.process()), Resource::Fsize, full).unwrap();
    world.pipes.go().await;
    lease_ends(&mut world).await;
    prlimit(Some(world.process()), Resource::Fsize, before).unwrap();
    ends_with_one_run(&mut world).await;
}
