//! How stories are played and compared.

use crate::{
    calls::{Kind, kinds},
    picture,
    story::Story,
    world::World,
};
use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::OnceCell;

/// No story takes this long, also on a machine that does much else, unless it hangs.
pub const WATCHDOG: Duration = Duration::from_secs(600);

/// Whether everything is tried, for `.ci/thorough crashes`: the test command tries what says something new.
pub fn is_thorough() -> bool {
    std::env::var_os("CRASHES").is_some()
}

/// What an undisturbed run of a story shows.
pub struct Calm {
    /// What people see in the end.
    pub picture: String,
    /// How often each kind of call was made, from each move until everything rested again.
    pub calls: Vec<BTreeMap<Kind, usize>>,
}

/// What is found once for each story, and serves all tests of this process.
pub struct Once<T>(Mutex<BTreeMap<&'static str, Arc<OnceCell<Arc<T>>>>>);

impl<T> Once<T> {
    /// Nothing is found yet.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// What was found for this story, or is found now.
    pub async fn of<F: Future<Output = Arc<T>>>(&self, story: &Story, find: impl FnOnce() -> F) -> Arc<T> {
        let cell = Arc::clone(self.0.lock().unwrap().entry(story.name).or_default());
        Arc::clone(cell.get_or_init(find).await)
    }
}

/// What an undisturbed run of the story shows.
pub async fn calm(story: &Story) -> Arc<Calm> {
    static KNOWN: Once<Calm> = Once::new();
    let find = || async {
        let watched = tokio::time::timeout(WATCHDOG, observed(story)).await;
        let (world, calls) = watched.expect("the undisturbed story ends");
        let picture = picture::take(&world).await;
        Arc::new(Calm { picture, calls })
    };
    KNOWN.of(story, find).await
}

/// Plays a story to its end without any mishap.
pub async fn undisturbed(story: &Story) -> World {
    observed(story).await.0
}

/// The same, with the calls between the rests.
async fn observed(story: &Story) -> (World, Vec<BTreeMap<Kind, usize>>) {
    let mut world = World::new(story).await;
    world.start();
    let (mut calls, mut known) = (Vec::new(), 0);
    for step in &story.moves {
        step.play(&world).await;
        world.rest().await;
        let all = world.forge.calls();
        calls.push(kinds(&all[known..]));
        known = all.len();
    }
    assert_eq!(world.given_up().await, [], "{}", world.log());
    let unknown = world.forge.unknown_calls();
    assert!(unknown.is_empty(), "{unknown:?}");
    (world, calls)
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
