//! The service ends while an agent or the tests run.

use crate::{
    picture,
    play::{Once, WATCHDOG, assert_looks, is_thorough},
    story::Story,
    world::World,
};
use std::sync::Arc;

/// The number of the mended story's test run that belongs to the first wave gate: pre-flight and two turns come before
/// it.
const FIRST_AT_A_WAVE: usize = 4;

/// How the service ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Never,
    Kill,
    Terminate,
}

/// Plays the story and lets waiting programs continue at once, except that the service ends when `who` runs for the
/// `nth` time. Also returns how often `who` ran.
async fn play(story: &Story, who: &str, nth: usize, end: End) -> (World, usize) {
    let mut world = World::new(story).await;
    world.start();
    let mut seen = 0;
    for step in &story.moves {
        step.play(&world).await;
        loop {
            let Some(name) = world.rest_or_started().await else {
                break;
            };
            seen += usize::from(name == who);
            if name == who && seen == nth {
                match end {
                    End::Never => world.pipes.go().await,
                    End::Kill => {
                        world.kill().await;
                        world.start();
                    }
                    End::Terminate => {
                        world.terminate();
                        world.pipes.go().await;
                        world.exits().await;
                        world.start();
                    }
                }
            } else {
                world.pipes.go().await;
            }
        }
    }
    assert!(seen >= nth, "{who} ran {seen} times only");
    (world, seen)
}

/// The undisturbed story.
struct Undisturbed {
    /// The texts that people see in the end.
    picture: String,
    /// The number of its test runs.
    runs: usize,
}

async fn undisturbed(story: &Story) -> Arc<Undisturbed> {
    static KNOWN: Once<Undisturbed> = Once::new();
    let find = || async {
        let played = tokio::time::timeout(WATCHDOG, play(story, "tests", 1, End::Never)).await;
        let (world, runs) = played.expect("the undisturbed story ends");
        let picture = picture::take(&world).await;
        Arc::new(Undisturbed { picture, runs })
    };
    KNOWN.of(story, find).await
}

async fn ends_alike(story: fn() -> Story, cases: &[(&str, usize, End)]) -> Vec<World> {
    let expected = undisturbed(&story()).await;
    let mut worlds = Vec::new();
    for (who, nth, end) in cases {
        let played = tokio::time::timeout(WATCHDOG, play(&story(), who, *nth, *end)).await;
        let (world, _) = played.unwrap_or_else(|_| panic!("{end:?} at {who} {nth}: does not end"));
        assert_looks(&world, &expected.picture, &format!("{end:?} at {who} {nth}")).await;
        worlds.push(world);
    }
    worlds
}

fn player_runs(world: &World) -> usize {
    let runs = std::fs::read_to_string(world.folder.path().join("player.runs")).unwrap();
    runs.lines().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_player_runs_the_same_turn_is_played_again() {
    let worlds = ends_alike(Story::caught, &[("player", 1, End::Kill), ("player", 2, End::Kill)]).await;
    for world in worlds {
        assert_eq!(player_runs(&world), 3, "two turns, one of them cut off");
        assert_eq!(world.runs("player").await, ["ended", "ended", "lost"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_tests_run_they_run_again() {
    // The runs of pre-flight, of the first turn, of the second turn, of the wave.
    let worlds = ends_alike(
        Story::caught,
        &[("tests", 1, End::Kill), ("tests", 2, End::Kill), ("tests", 3, End::Kill), ("tests", 4, End::Kill)],
    )
    .await;
    for world in worlds {
        assert_eq!(player_runs(&world), 2, "no turn is played again for its Gates");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn told_to_stop_an_agent_gets_its_grace_and_nothing_counts_as_failed() {
    let worlds = ends_alike(Story::caught, &[("player", 1, End::Terminate), ("tests", 1, End::Terminate)]).await;
    for world in worlds {
        assert_eq!(player_runs(&world), 2, "nobody ran twice");
        assert_eq!(world.runs("player").await, ["ended", "ended"]);
        assert_eq!(world.most_tries().await, (0, 0), "a stop counts as nothing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_a_wave_gate_at_the_search_for_blame_or_at_a_repair_it_ends_alike() {
    // The test runs from the first wave gate on: the gate, its search, the Gates of the repair and of the conflict. The
    // test command only covers every second one.
    let runs = undisturbed(&Story::caught_mended()).await.runs;
    assert!(runs >= FIRST_AT_A_WAVE + 5, "{runs} runs");
    let stride = if is_thorough() { 1 } else { 2 };
    let met = (FIRST_AT_A_WAVE..=runs).step_by(stride);
    let cases: Vec<(&str, usize, End)> = met.map(|nth| ("tests", nth, End::Kill)).collect();
    ends_alike(Story::caught_mended, &cases).await;
}
