//! Deliveries that are sent while no service listens, twice, late, or again after the end.

use crate::{
    beside::{MONA, REPO},
    disk::Disk,
    picture,
    play::{WATCHDOG, assert_looks, calm, go_on, undisturbed},
    story::{ISSUE, Move, Story},
    world::World,
};
use autobuild::store::{OpenOptions, Store, StoreError};
use forge::{Fault, Mishap};
use rustix::process::{Resource, Rlimit, prlimit};
use sqlx::{AssertSqlSafe, Connection, PgConnection, postgres::PgConnectOptions};
use std::{os::unix::fs::MetadataExt, time::Duration};
use support::postgres;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

const EVERY: usize = 10_000;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_the_service_is_dead_is_heard_when_it_lives() {
    let story = Story::completed();
    let calm = calm(&story).await;
    let mut world = World::new(&story).await;
    for step in &story.moves {
        step.play(&world).await;
        world.start();
        let rested = tokio::time::timeout(WATCHDOG, world.rest()).await;
        assert!(rested.is_ok(), "{}", world.log());
        world.kill().await;
    }
    assert_looks(&world, &calm.picture, "killed whenever nothing was left to do").await;
}

/// Starts a story whose program reports that it runs, and waits; no delivery is under way then.
async fn caught_world() -> World {
    let story = Story::caught();
    let mut world = World::new(&story).await;
    world.forge.set_retry_until_acknowledged(true);
    world.start();
    story.moves[0].play(&world).await;
    let running = tokio::time::timeout(WATCHDOG, world.rest_or_started()).await.unwrap();
    assert!(running.is_some(), "something runs that is waited for");
    world.forge.deliveries_idle().await;
    world
}

/// Returns the service's report on its readiness.
async fn readiness(world: &World) -> String {
    let mut connected = TcpStream::connect(world.address()).await.expect("it listens");
    let asked = b"GET /readyz HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n";
    connected.write_all(asked).await.unwrap();
    let mut answer = String::new();
    connected.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_while_the_service_drains_is_stored_and_heard_at_the_next_start() {
    let mut world = caught_world().await;

    world.terminate();
    while !readiness(&world).await.contains("draining") {
        tokio::task::yield_now().await;
    }
    // GitHub sends nothing twice.
    world.forge.set_retry_until_acknowledged(false);
    let cancel = Move::Comment(MONA, ISSUE, "/autobuild cancel");
    cancel.play(&world).await;
    world.forge.deliveries_idle().await;
    assert_eq!(world.forge.redeliver_failed().await, 0, "it was taken: {}", world.log());
    world.pipes.go().await;
    world.exits().await;

    world.start();
    tokio::time::timeout(WATCHDOG, world.rest()).await.unwrap();
    let comments = world.forge.look(REPO, "issues/1/comments").await.unwrap();
    assert!(comments.to_string().contains("cancelled"), "{comments}\n{}", world.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_database_cannot_grow_is_not_ready() {
    let story = Story::completed();
    let mut world = World::new(&story).await;
    world.survives_file_limits();
    world.start();
    story.moves[0].play(&world).await;
    let rested = tokio::time::timeout(WATCHDOG, world.rest()).await;
    assert!(rested.is_ok(), "{}", world.log());
    // The existing files have room for some more commits, and no file may grow.
    let length = |file: &str| std::fs::metadata(world.folder.path().join(file)).map_or(0, |meta| meta.len());
    let longest = length("autobuild.db").max(length("autobuild.db-wal"));
    assert!(longest > 0);
    let limit = Rlimit { current: Some(longest + (512 << 10)), maximum: None };
    assert!(readiness(&world).await.starts_with("HTTP/1.1 200"), "{}", world.log());
    let before = prlimit(Some(world.process()), Resource::Fsize, limit).unwrap();
    let asked = tokio::time::timeout(Duration::from_secs(3), readiness(&world)).await;
    let answer = asked.expect("within 3 seconds");
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    prlimit(Some(world.process()), Resource::Fsize, before).unwrap();
    assert!(readiness(&world).await.starts_with("HTTP/1.1 200"), "{}", world.log());
}

#[tokio::test]
async fn a_server_whose_disk_is_full_takes_no_writes() {
    let url = postgres::database().await;
    let folder = support::folder::folder("autobuild-disk-");
    let Some(disk) = Disk::mount(folder.path()) else { return };
    let mut server = PgConnection::connect(&url).await.unwrap();
    let data: String = sqlx::query_scalar("SHOW data_directory").fetch_one(&mut server).await.unwrap();
    let owner = std::fs::metadata(data).unwrap().uid();
    std::os::unix::fs::chown(folder.path(), Some(owner), None).unwrap();
    let (name, place) = (format!("small_{}", std::process::id()), folder.path().display());
    let database = url.parse::<PgConnectOptions>().unwrap().get_database().unwrap().to_owned();
    for sql in [
        format!("CREATE TABLESPACE {name} LOCATION '{place}'"),
        format!("ALTER DATABASE {database} SET temp_tablespaces = '{name}'"),
    ] {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut server).await.unwrap();
    }
    let store = Store::open(&url, OpenOptions::default()).await.unwrap();
    store.check_writable().await.unwrap();
    disk.fill();
    let full = store.check_writable().await;
    assert!(matches!(full, Err(StoreError::CannotWrite(_))), "{full:?}");
    disk.empty();
    store.check_writable().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_said_while_the_service_was_down_is_fetched_at_the_next_start() {
    let mut world = caught_world().await;
    world.kill().await;
    world.forge.set_retry_until_acknowledged(false);
    let cancel = Move::Comment(MONA, ISSUE, "/autobuild cancel");
    cancel.play(&world).await;
    world.forge.deliveries_idle().await;

    world.replay();
    world.start();
    let is_cancelled = async {
        while !world.forge.look(REPO, "issues/1/comments").await.unwrap().to_string().contains("cancelled") {
            tokio::task::yield_now().await;
        }
    };
    let heard = tokio::time::timeout(WATCHDOG, is_cancelled).await;
    assert!(heard.is_ok(), "{}", world.log());
    assert!(world.log().contains("never arrived, fetched from GitHub: 1"), "{}", world.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_that_come_twice_count_once() {
    let story = Story::completed();
    let calm = calm(&story).await;
    let mut world = World::new(&story).await;
    let twice = Fault::on_delivery("*", Mishap::Twice).times(EVERY);
    let order = world.forge.order(twice);
    world.start();
    let played = tokio::time::timeout(WATCHDOG, go_on(&mut world, &story)).await;
    assert!(played.is_ok(), "{}", world.log());
    assert!(order.hits() > 10);
    assert_looks(&world, &calm.picture, "every delivery twice").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deliveries_of_long_ago_change_nothing() {
    let story = Story::completed();
    let mut world = tokio::time::timeout(WATCHDOG, undisturbed(&story)).await.unwrap();
    let expected = picture::take(&world).await;
    let ids: Vec<u64> = world.forge.deliveries("autobuild").iter().map(|one| one.0).collect();
    // The newest first, so the order is wrong too.
    for id in ids.iter().rev() {
        world.forge.redeliver(*id).unwrap();
    }
    let rested = tokio::time::timeout(WATCHDOG, world.rest()).await;
    assert!(rested.is_ok(), "{}", world.log());
    assert_looks(&world, &expected, "every delivery again").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_told_of_pushes_and_pull_requests_may_come_last() {
    let story = Story::completed();
    let calm = calm(&story).await;
    let mut world = World::new(&story).await;
    let late = ["push", "pull_request.*", "create", "delete"]
        .map(|event| world.forge.order(Fault::on_delivery(event, Mishap::Hold).times(EVERY)));
    world.start();
    let played = tokio::time::timeout(WATCHDOG, go_on(&mut world, &story)).await;
    assert!(played.is_ok(), "{}", world.log());
    assert!(late.iter().map(|order| order.hits()).sum::<usize>() > 3);
    for order in &late {
        order.release().await;
    }
    world.forge.deliveries_idle().await;
    let rested = tokio::time::timeout(WATCHDOG, world.rest()).await;
    assert!(rested.is_ok(), "{}", world.log());
    assert_looks(&world, &calm.picture, "pushes and pull requests told last").await;
}
