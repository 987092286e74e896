//! How stories are played and compared.

use crate::picture;
use crate::story::Story;
use crate::world::World;
use std::fmt::Write;
use std::time::Duration;

/// No story takes this long, unless it hangs.
pub const WATCHDOG: Duration = Duration::from_secs(120);

/// Plays a story to its end without any mishap.
pub async fn undisturbed(story: &Story) -> World {
    let mut world = World::new(story).await;
    world.start();
    go_on(&mut world, story).await;
    assert_eq!(world.given_up().await, [], "{}", world.log());
    let unknown = world.forge.unknown_calls();
    assert!(unknown.is_empty(), "{unknown:?}");
    world
}

/// Plays all of a story with a service that was started.
pub async fn go_on(world: &mut World, story: &Story) {
    for step in &story.moves {
        step.play(world).await;
        world.rest().await;
    }
}

/// Fails unless the world looks as `expected` and nothing was given up.
pub async fn assert_looks(world: &World, expected: &str, what: &str) {
    if let Some(difference) = difference(world, expected).await {
        panic!("{what}: {difference}");
    }
}

/// What people see that is not as `expected`, and what was given up.
pub async fn difference(world: &World, expected: &str) -> Option<String> {
    let found = picture::take(world).await;
    let given_up = world.given_up().await;
    (found != expected || !given_up.is_empty()).then(|| {
        let lines = differing(expected, &found);
        format!("given up: {given_up:?}\n{lines}\n{}", world.log())
    })
}

/// The lines that only one of the two has; where these are the same, their order differs.
fn differing(expected: &str, found: &str) -> String {
    let mut differing = String::new();
    for (sign, these, those) in [('-', expected, found), ('+', found, expected)] {
        let mut those: Vec<&str> = those.lines().collect();
        for line in these.lines() {
            match those.iter().position(|other| *other == line) {
                Some(at) => drop(those.swap_remove(at)),
                None => writeln!(differing, "{sign} {line}").unwrap(),
            }
        }
    }
    differing
}
