//! SIGKILL before and after every kind of call, and answers that are lost.

use crate::calls::Kind;
use crate::calls::kinds;
use crate::picture;
use crate::play::WATCHDOG;
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
/// One edit of a comment is like the other.
const EDITS: usize = 2;

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
            let met = if kind.method == "PATCH" { EDITS } else { occurrences };
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
    every_call(Story::completed, Blow::Lost, Kind::writes, OCCURRENCES).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_reads_it_reads_again() {
    every_call(Story::completed, Blow::After, |kind| !kind.writes(), 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_comes_down_after_the_restart_is_adopted() {
    let pushes = |kind: &Kind| kind.path.ends_with("/git-receive-pack");
    every_call(Story::completed, Blow::Late, pushes, OCCURRENCES).await;
}
