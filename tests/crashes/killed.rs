//! SIGKILL before and after every kind of call, and lost answers.

use crate::{
    calls::Kind,
    play::{Calm, WATCHDOG, assert_looks, calm, difference, go_on, is_thorough},
    story::Story,
    world::{Place, World},
};
use forge::{Fault, FaultOrder, Mishap};
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};

/// Stories that are played at once by one test.
const AT_ONCE: usize = 2;
/// Stories that mostly wait for retries.
const WAITING_AT_ONCE: usize = 12;
/// The number of occurrences of each kind of call that are tested after each move.
const OCCURRENCES: usize = 8;
/// The same, for cases in which more occurrences would show nothing new.
const FEW: usize = 2;

/// The occurrences of a kind of call that are tested.
#[derive(Clone, Copy)]
pub enum Extent {
    /// This number after each move.
    OfEachMove(usize),
    /// One in the whole story.
    OfTheStory,
}

/// The calls that are tested.
pub type Met = (fn(&Kind) -> bool, Extent);

/// Returns the extent for the test command; the thorough run tests everything.
fn extent(quick: Extent) -> Extent {
    if is_thorough() { Extent::OfEachMove(OCCURRENCES) } else { quick }
}

/// A mishap of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// It is killed when the forge has received the request, which is never obeyed.
    Before,
    /// It is killed when the forge has obeyed but not answered.
    After,
    /// It is killed when the forge has received the request, which is obeyed after the service has restarted.
    Late,
    /// It keeps running and never learns that the forge has obeyed.
    Lost,
}

/// One occurrence of a kind of call, and the mishap there.
#[derive(Clone, Debug)]
struct Case {
    kind: Kind,
    /// The move that leads to it, from 0.
    step: usize,
    /// Its number among the calls of this kind since then, from 1.
    nth: usize,
    blow: Blow,
}

impl Case {
    fn order(&self, world: &World) -> FaultOrder {
        let mishap = match self.blow {
            Blow::Before | Blow::Late => Mishap::Hold,
            Blow::After => Mishap::HoldReply,
            Blow::Lost => Mishap::LoseReply,
        };
        world.forge.order(Fault::on(&self.kind.method, &self.kind.path, mishap).nth(self.nth))
    }

    /// Plays the work after the move of this case.
    async fn play(&self, world: &mut World, order: &FaultOrder) {
        let came = match self.blow {
            Blow::Lost => {
                world.rest().await;
                order.hits() == 1
            }
            Blow::Before | Blow::After | Blow::Late => tokio::select! {
                biased;
                () = order.struck() => {
                    self.kill(world, order).await;
                    world.rest().await;
                    order.hits() == 1
                }
                () = world.rest() => false,
            },
        };
        assert!(came, "{self:?} never came");
    }

    async fn kill(&self, world: &mut World, order: &FaultOrder) {
        // A Player's push has its own lane.
        let is_push = self.kind.path.ends_with("/git-receive-pack");
        world.kill_in(if is_push { "agent" } else { "forge" }).await;
        if self.blow == Blow::Late {
            world.start();
            order.release().await;
        } else {
            order.cut();
            world.start();
        }
    }
}

/// Plays a story in which each case happens once, at most one after each move. Everything rests before the next case,
/// so no case can make up for another's omissions.
async fn play(place: Place, story: &Story, cases: &[Case]) -> World {
    let mut world = World::at(place, story).await;
    for (step, deed) in story.moves.iter().enumerate() {
        let case = cases.iter().find(|case| case.step == step);
        let order = case.map(|case| case.order(&world));
        if step == 0 {
            world.start();
        }
        deed.play(&world).await;
        match case.zip(order) {
            Some((case, order)) => case.play(&mut world, &order).await,
            None => world.rest().await,
        }
    }
    world
}

/// Distributes the cases of a story over plays with at most one case after each move.
fn plays(calm: &Calm, blow: Blow, wanted: fn(&Kind) -> bool, extent: Extent) -> Vec<Vec<Case>> {
    let mut of_moves: Vec<Vec<Case>> = calm.calls.iter().map(|_| Vec::new()).collect();
    let kinds: BTreeSet<&Kind> = calm.calls.iter().flat_map(BTreeMap::keys).filter(|kind| wanted(kind)).collect();
    for kind in kinds {
        let times = |step: usize| calm.calls[step].get(kind).copied().unwrap_or(0);
        let mut steps: Vec<usize> = (0..calm.calls.len()).filter(|step| times(*step) > 0).collect();
        let most = match extent {
            Extent::OfEachMove(most) if kind.method == "PATCH" => most.min(FEW),
            Extent::OfEachMove(most) => most,
            Extent::OfTheStory => {
                // After the move with the fewest cases so far, so that there are few plays.
                steps = steps.into_iter().min_by_key(|step| of_moves[*step].len()).into_iter().collect();
                1
            }
        };
        for step in steps {
            let cases = (1..=times(step).min(most)).map(|nth| Case { kind: kind.clone(), step, nth, blow });
            of_moves[step].extend(cases);
        }
    }
    let longest = of_moves.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest).map(|play| of_moves.iter().filter_map(|cases| cases.get(play)).cloned().collect()).collect()
}

/// Plays the story until all these occurrences of the `wanted` calls are tested; each time it must end as if nothing
/// had happened. The thorough run does this on both databases.
async fn every_call(story: fn() -> Story, blow: Blow, wanted: fn(&Kind) -> bool, extent: Extent) {
    every_call_at(Place::Sqlite, story, blow, (wanted, extent)).await;
    if is_thorough() {
        every_call_at(Place::Postgres, story, blow, (wanted, extent)).await;
    }
}

/// The same at this place.
pub async fn every_call_at(place: Place, story: fn() -> Story, blow: Blow, (wanted, extent): Met) {
    let calm = calm(&story()).await;
    let plays = plays(&calm, blow, wanted, extent);
    assert!(!plays.is_empty(), "the story makes no such call");
    let waits = blow == Blow::Lost || place != Place::Sqlite;
    let at_once = if waits { WAITING_AT_ONCE } else { AT_ONCE };
    let differences: Vec<String> = futures_util::stream::iter(plays)
        .map(|cases| differs(place, story, cases, &calm.picture))
        .buffer_unordered(at_once)
        .filter_map(|difference| async move { difference })
        .collect()
        .await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

async fn differs(place: Place, story: fn() -> Story, cases: Vec<Case>, expected: &str) -> Option<String> {
    let played = async {
        let world = play(place, &story(), &cases).await;
        difference(&world, expected).await
    };
    match tokio::time::timeout(WATCHDOG, played).await {
        Ok(difference) => difference.map(|difference| format!("{cases:?}: {difference}")),
        Err(_) => Some(format!("{cases:?}: does not end")),
    }
}

/// `true` for calls that the completed story never makes.
fn only_when_cancelled(kind: &Kind) -> bool {
    let closes = kind.path.ends_with("/pulls/*") || kind.path.ends_with("/issues/*/comments");
    kind.writes() && (closes || kind.path.ends_with("/dismissals"))
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_each_write_nothing_is_missing() {
    every_call(Story::completed, Blow::Before, Kind::writes, extent(Extent::OfTheStory)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_each_write_nothing_is_done_twice() {
    every_call(Story::completed, Blow::After, Kind::writes, extent(Extent::OfTheStory)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_each_write_on_postgres_nothing_is_done_twice() {
    if is_thorough() {
        return;
    }
    let met: Met = (Kind::writes, Extent::OfTheStory);
    every_call_at(Place::Postgres, Story::completed, Blow::After, met).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_to_a_write_is_made_up_for() {
    every_call(Story::completed, Blow::Lost, Kind::writes, extent(Extent::OfTheStory)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_closing_or_dismissing_nothing_is_missing() {
    every_call(Story::cancelled, Blow::Before, only_when_cancelled, extent(Extent::OfTheStory)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_closing_or_dismissing_nothing_is_done_twice() {
    every_call(Story::cancelled, Blow::After, only_when_cancelled, extent(Extent::OfTheStory)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_to_closing_or_dismissing_is_made_up_for() {
    every_call(Story::cancelled, Blow::Lost, only_when_cancelled, extent(Extent::OfTheStory)).await;
}

/// `true` for calls about check runs and their annotations.
fn about_checks(kind: &Kind) -> bool {
    kind.path.contains("/check-runs") || kind.path.contains("/annotations")
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_two_requests_for_annotations_none_is_missing_or_there_twice() {
    every_call(Story::mended, Blow::Before, about_checks, extent(Extent::OfTheStory)).await;
    every_call(Story::mended, Blow::After, about_checks, extent(Extent::OfTheStory)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_between_two_requests_for_annotations_is_made_up_for() {
    every_call(Story::mended, Blow::Lost, about_checks, extent(Extent::OfTheStory)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_added_to_a_plan_is_pushed_and_merged_once_whenever_the_service_is_killed() {
    let lands = |kind: &Kind| kind.path.ends_with("/git-receive-pack") || kind.path.ends_with("/merge");
    every_call(Story::mended, Blow::Before, lands, extent(Extent::OfTheStory)).await;
    every_call(Story::mended, Blow::After, lands, extent(Extent::OfEachMove(1))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_reads_it_reads_again() {
    // An interrupted read of the API leaves nothing behind, but an interrupted fetch may, so the test command tests
    // fetches.
    let reads = |kind: &Kind| !kind.writes() && (is_thorough() || kind.path.contains(".git/"));
    every_call(Story::completed, Blow::After, reads, Extent::OfEachMove(1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_comes_down_after_the_restart_is_adopted() {
    let pushes = |kind: &Kind| kind.path.ends_with("/git-receive-pack");
    every_call(Story::completed, Blow::Late, pushes, extent(Extent::OfEachMove(1))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_it_still_ends_well() {
    let calm = calm(&Story::completed()).await;
    let calls: usize = calm.calls.iter().flat_map(BTreeMap::values).sum();
    let strides: &[usize] = if is_thorough() { &[23, 31, 47] } else { &[31] };
    let checked = futures_util::stream::iter(strides.iter().copied()).map(|stride| async move {
        let played = tokio::time::timeout(WATCHDOG, relentless(stride)).await;
        let (world, kills) = played.unwrap_or_else(|_| panic!("every {stride} calls: does not end"));
        assert!(kills > calls / stride / 2, "{kills} kills in {calls} calls");
        (world, stride)
    });
    let mut worlds = checked.buffer_unordered(AT_ONCE);
    while let Some((world, stride)) = worlds.next().await {
        assert_looks(&world, &calm.picture, &format!("killed every {stride} calls")).await;
    }
}

/// Plays the story and kills the service each time when it has made this many calls since its start.
async fn relentless(stride: usize) -> (World, usize) {
    let story = Story::completed();
    let mut world = World::new(&story).await;
    let any = |world: &World| world.forge.order(Fault::on("*", "*", Mishap::Hold).nth(stride));
    let mut order = any(&world);
    let mut kills = 0;
    world.start();
    for step in &story.moves {
        step.play(&world).await;
        loop {
            tokio::select! {
                () = order.struck() => {
                    kills += 1;
                    world.kill().await;
                    order.cut();
                    order = any(&world);
                    world.start();
                }
                () = world.rest() => break,
            }
        }
    }
    (world, kills)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_forge_is_told_nothing_twice() {
    let calm = calm(&Story::completed()).await;
    let slow = [
        ("POST", "/repos/*/comments"),
        ("PATCH", "/repos/*"),
        ("POST", "/repos/*/reviews"),
        ("GET", "/repos/*/comments"),
    ];
    let played = futures_util::stream::iter(slow).map(|(method, path)| async move {
        let story = Story::completed();
        let mut world = World::new(&story).await;
        world.forge.order(Fault::on(method, path, Mishap::Delay(std::time::Duration::from_millis(700))).always());
        world.start();
        let played = tokio::time::timeout(WATCHDOG, go_on(&mut world, &story)).await;
        assert!(played.is_ok(), "{}", world.log());
        (world, path)
    });
    let mut worlds = played.buffer_unordered(WAITING_AT_ONCE);
    while let Some((world, path)) = worlds.next().await {
        assert_looks(&world, &calm.picture, path).await;
    }
}
