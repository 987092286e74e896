//! SIGKILL before and after every kind of call, and answers that are lost.

use crate::calls::Kind;
use crate::calls::kinds;
use crate::picture;
use crate::play::WATCHDOG;
use crate::play::assert_looks;
use crate::play::difference;
use crate::play::go_on;
use crate::play::undisturbed;
use crate::story::Story;
use crate::world::World;
use autobuild::forge::Fault;
use autobuild::forge::FaultOrder;
use autobuild::forge::Mishap;
use futures_util::StreamExt;

/// Stories that are played at once by one test.
const AT_ONCE: usize = 2;
/// Stories that mostly wait until something is tried again.
const WAITING_AT_ONCE: usize = 6;
/// Of one kind of call, this many occurrences are met.
const OCCURRENCES: usize = 8;
/// The same where more would say nothing new.
const FEW: usize = 2;

/// What befalls the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blow {
    /// It is killed when the forge has the request, which is never obeyed.
    Before,
    /// It is killed when the forge has obeyed and not answered.
    After,
    /// It is killed when the forge has the request, which is obeyed when the service has been started again.
    Late,
    /// It lives, and never hears that the forge has obeyed.
    Lost,
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
            Blow::Before | Blow::Late => Mishap::Hold,
            Blow::After => Mishap::HoldReply,
            Blow::Lost => Mishap::LoseReply,
        };
        world
            .forge
            .order(Fault::on(&self.kind.method, &self.kind.path, mishap).nth(self.nth))
    }

    /// Plays a story that this befalls once.
    async fn play(&self, story: &Story) -> World {
        let mut world = World::new(story).await;
        let order = self.order(&world);
        world.start();
        if self.blow == Blow::Lost {
            go_on(&mut world, story).await;
        } else {
            self.play_killed(story, &mut world, &order).await;
        }
        assert_eq!(order.hits(), 1, "{self:?} never came");
        world
    }

    async fn play_killed(&self, story: &Story, world: &mut World, order: &FaultOrder) {
        let mut killed = false;
        for step in &story.moves {
            step.play(world).await;
            while !killed {
                tokio::select! {
                    () = order.struck() => {
                        killed = true;
                        self.kill(world, order).await;
                    }
                    () = world.rest() => break,
                }
            }
            world.rest().await;
        }
    }

    async fn kill(&self, world: &mut World, order: &FaultOrder) {
        world.kill().await;
        if self.blow == Blow::Late {
            world.start();
            order.release();
        } else {
            order.cut();
            world.start();
        }
    }
}

/// Plays the story once for each occurrence of a call that is `wanted`; each time it must end as if nothing had happened.
async fn every_call(story: fn() -> Story, blow: Blow, wanted: fn(&Kind) -> bool, occurrences: usize) {
    let calm = undisturbed(&story()).await;
    let expected = picture::take(&calm).await;
    let cases: Vec<Case> = kinds(&calm.forge)
        .into_iter()
        .filter(|(kind, _)| wanted(kind))
        .flat_map(|(kind, times)| {
            let met = if kind.method == "PATCH" { FEW } else { occurrences };
            (1..=times.min(met)).map(move |nth| Case {
                kind: kind.clone(),
                nth,
                blow,
            })
        })
        .collect();
    drop(calm);
    assert!(!cases.is_empty(), "the story makes no such call");
    let at_once = if blow == Blow::Lost { WAITING_AT_ONCE } else { AT_ONCE };
    let differences: Vec<String> = futures_util::stream::iter(cases)
        .map(|case| differs(story, case, &expected))
        .buffer_unordered(at_once)
        .filter_map(|difference| async move { difference })
        .collect()
        .await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

async fn differs(story: fn() -> Story, case: Case, expected: &str) -> Option<String> {
    let played = async {
        let world = case.play(&story()).await;
        difference(&world, expected).await
    };
    match tokio::time::timeout(WATCHDOG, played).await {
        Ok(difference) => difference.map(|difference| format!("{case:?}: {difference}")),
        Err(_) => Some(format!("{case:?}: does not end")),
    }
}

/// Calls that the completed story never makes.
fn only_when_cancelled(kind: &Kind) -> bool {
    let closes = kind.path.ends_with("/pulls/*") || kind.path.ends_with("/issues/*/comments");
    kind.writes() && (closes || kind.path.ends_with("/dismissals"))
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_each_write_nothing_is_missing() {
    every_call(Story::completed, Blow::Before, Kind::writes, OCCURRENCES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_each_write_nothing_is_done_twice() {
    every_call(Story::completed, Blow::After, Kind::writes, OCCURRENCES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_to_a_write_is_made_up_for() {
    every_call(Story::completed, Blow::Lost, Kind::writes, FEW).await;
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
async fn a_lost_answer_to_closing_or_dismissing_is_made_up_for() {
    every_call(Story::cancelled, Blow::Lost, only_when_cancelled, OCCURRENCES).await;
}

/// Calls about check runs and their annotations.
fn about_checks(kind: &Kind) -> bool {
    kind.path.contains("/check-runs") || kind.path.contains("/annotations")
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_two_requests_for_annotations_none_is_missing_or_there_twice() {
    every_call(Story::mended, Blow::Before, about_checks, FEW).await;
    every_call(Story::mended, Blow::After, about_checks, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_between_two_requests_for_annotations_is_made_up_for() {
    every_call(Story::mended, Blow::Lost, about_checks, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_added_to_a_plan_is_pushed_and_merged_once_whenever_the_service_is_killed() {
    let lands = |kind: &Kind| kind.path.ends_with("/git-receive-pack") || kind.path.ends_with("/merge");
    every_call(Story::mended, Blow::Before, lands, OCCURRENCES).await;
    every_call(Story::mended, Blow::After, lands, OCCURRENCES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_reads_it_reads_again() {
    every_call(Story::completed, Blow::After, |kind| !kind.writes(), 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_comes_down_after_the_restart_is_adopted() {
    let pushes = |kind: &Kind| kind.path.ends_with("/git-receive-pack");
    every_call(Story::completed, Blow::Late, pushes, OCCURRENCES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_again_and_again_it_still_ends_well() {
    let calm = undisturbed(&Story::completed()).await;
    let expected = picture::take(&calm).await;
    let calls = calm.forge.calls().len();
    drop(calm);
    for stride in [23, 31, 47] {
        let played = tokio::time::timeout(WATCHDOG, relentless(stride)).await;
        let (world, kills) = played.unwrap_or_else(|_| panic!("every {stride} calls: does not end"));
        assert!(kills > calls / stride / 2, "{kills} kills in {calls} calls");
        assert_looks(&world, &expected, &format!("killed every {stride} calls")).await;
    }
}

/// Plays the story and kills the service at every call of that number since its start.
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
    let calm = undisturbed(&Story::completed()).await;
    let expected = picture::take(&calm).await;
    for (method, path) in [
        ("POST", "/repos/*/comments"),
        ("PATCH", "/repos/*"),
        ("POST", "/repos/*/reviews"),
        ("GET", "/repos/*/comments"),
    ] {
        let story = Story::completed();
        let mut world = World::new(&story).await;
        world
            .forge
            .order(Fault::on(method, path, Mishap::Delay(std::time::Duration::from_millis(700))).always());
        world.start();
        let played = tokio::time::timeout(WATCHDOG, go_on(&mut world, &story)).await;
        assert!(played.is_ok(), "{}", world.log());
        assert_looks(&world, &expected, path).await;
    }
}
