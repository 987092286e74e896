//! SIGKILL before and after every kind of call.

use crate::calls::Kind;
use crate::calls::kinds;
use crate::picture;
use crate::story::Story;
use crate::world::World;
use autobuild::forge::Fault;
use autobuild::forge::FaultOrder;
use autobuild::forge::Mishap;
use futures_util::StreamExt;
use std::time::Duration;

/// No story takes this long, unless it hangs.
const WATCHDOG: Duration = Duration::from_secs(90);
/// Stories that are played at once by one test.
const AT_ONCE: usize = 2;
/// Of one kind of call, this many occurrences are met.
const OCCURRENCES: usize = 8;
/// One edit of a comment is like the other.
const EDITS: usize = 2;

/// What befalls the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blow {
    /// It is killed when the forge has the request, which is never obeyed.
    Before,
    /// It is killed when the forge has obeyed and not answered.
    After,
}

/// One occurrence of a kind of call, and what happens there.
#[derive(Clone, Debug)]
struct Case {
    kind: Kind,
    nth: usize,
    blow: Blow,
}

impl Case {
    fn order(&self, world: &World) -> FaultOrder {
        let mishap = match self.blow {
            Blow::Before => Mishap::Hold,
            Blow::After => Mishap::HoldReply,
        };
        world
            .forge
            .order(Fault::on(&self.kind.method, &self.kind.path, mishap).nth(self.nth))
    }
}

/// Plays a story to its end without any mishap.
async fn undisturbed(story: &Story) -> World {
    let mut world = World::new(story).await;
    world.start();
    for step in &story.moves {
        step.play(&world).await;
        world.rest().await;
    }
    world
}

/// Plays a story in which the service is killed once.
async fn disturbed(story: &Story, case: &Case) -> World {
    let mut world = World::new(story).await;
    let order = case.order(&world);
    let mut struck = false;
    world.start();
    for step in &story.moves {
        step.play(&world).await;
        while !struck {
            tokio::select! {
                () = order.struck() => {
                    struck = true;
                    world.kill().await;
                    order.cut();
                    world.start();
                }
                () = world.rest() => break,
            }
        }
        world.rest().await;
    }
    assert_eq!(order.hits(), 1, "{case:?} never came");
    world
}

/// Plays the story once for each case and compares each end with `expected`; gives what differs.
async fn differences(story: fn() -> Story, cases: Vec<Case>, expected: &str) -> Vec<String> {
    futures_util::stream::iter(cases)
        .map(|case| async move {
            let played = async {
                let world = disturbed(&story(), &case).await;
                let found = picture::take(&world).await;
                let given_up = world.given_up().await;
                (found != expected || !given_up.is_empty()).then(|| {
                    format!(
                        "{case:?}: {given_up:?}\n{}\n{}",
                        differing(expected, &found),
                        world.log()
                    )
                })
            };
            match tokio::time::timeout(WATCHDOG, played).await {
                Ok(difference) => difference,
                Err(_) => Some(format!("{case:?}: does not end")),
            }
        })
        .buffer_unordered(AT_ONCE)
        .filter_map(|difference| async move { difference })
        .collect()
        .await
}

/// The lines that only one of the two has.
fn differing(expected: &str, found: &str) -> String {
    let only = |sign: char, these: &str, those: &str| {
        let mut those: Vec<&str> = those.lines().collect();
        let mut lines = String::new();
        for line in these.lines() {
            match those.iter().position(|other| *other == line) {
                Some(at) => drop(those.swap_remove(at)),
                None => lines.push_str(&format!("{sign} {line}\n")),
            }
        }
        lines
    };
    only('-', expected, found) + &only('+', found, expected)
}

async fn every_call(story: fn() -> Story, blow: Blow, wanted: fn(&Kind) -> bool, occurrences: usize) {
    let calm = undisturbed(&story()).await;
    let expected = picture::take(&calm).await;
    assert_eq!(calm.given_up().await, []);
    assert!(
        calm.forge.unknown_calls().is_empty(),
        "{:?}",
        calm.forge.unknown_calls()
    );
    let cases: Vec<Case> = kinds(&calm.forge)
        .into_iter()
        .filter(|(kind, _)| wanted(kind))
        .flat_map(|(kind, times)| {
            let met = if kind.method == "PATCH" { EDITS } else { occurrences };
            (1..=times.min(met)).map(move |nth| Case {
                kind: kind.clone(),
                nth,
                blow,
            })
        })
        .collect();
    assert!(!cases.is_empty());
    let differences = differences(story, cases, &expected).await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_each_write_of_a_completed_feature_nothing_is_missing() {
    every_call(Story::completed, Blow::Before, Kind::writes, OCCURRENCES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_each_write_of_a_completed_feature_nothing_is_done_twice() {
    every_call(Story::completed, Blow::After, Kind::writes, OCCURRENCES).await;
}

/// Calls that the completed story never makes.
fn only_when_cancelled(kind: &Kind) -> bool {
    kind.writes() && (kind.path.ends_with("/dismissals") || kind.path.contains("/pulls/*") && kind.method == "PATCH")
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_closing_or_dismissing_nothing_is_missing() {
    every_call(Story::cancelled, Blow::Before, only_when_cancelled, OCCURRENCES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_closing_or_dismissing_nothing_is_done_twice() {
    every_call(Story::cancelled, Blow::After, only_when_cancelled, OCCURRENCES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_closes_a_pull_request_it_says_why_once() {
    every_call(
        Story::cancelled,
        Blow::After,
        |kind| kind.writes() && kind.path.ends_with("/issues/*/comments"),
        OCCURRENCES,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_reads_it_reads_again() {
    every_call(Story::completed, Blow::After, |kind| !kind.writes(), 1).await;
}
