//! Plays stories and compares the results.

use crate::{
    calls::{Kind, kinds},
    picture,
    picture::Detail,
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

/// Longer than any story takes, even on a busy machine, unless it hangs.
pub const WATCHDOG: Duration = Duration::from_secs(600);

/// `true` if everything is tested, as for `.ci/thorough crashes`; the test command only tests cases that can show
/// something new.
pub fn is_thorough() -> bool {
    std::env::var_os("CRASHES").is_some()
}

/// The result of an undisturbed run of a story.
pub struct Calm {
    /// The texts that people see in the end.
    pub picture: String,
    /// The same without texts.
    pub facts: String,
    /// The number of calls of each kind, from each move until everything rested again.
    pub calls: Vec<BTreeMap<Kind, usize>>,
    /// The number of effects of each kind, from each move until everything rested again.
    pub effects: Vec<BTreeMap<String, usize>>,
}

/// The calls and effects from one move until everything rested again.
#[derive(Default)]
struct Observed {
    calls: Vec<BTreeMap<Kind, usize>>,
    effects: Vec<BTreeMap<String, usize>>,
}

/// Values that are computed once for each story and shared by all tests of this process.
pub struct Once<T>(Mutex<BTreeMap<&'static str, Arc<OnceCell<Arc<T>>>>>);

impl<T> Once<T> {
    /// Creates an empty store.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the value for this story; computes it if it is missing.
    pub async fn of<F: Future<Output = Arc<T>>>(&self, story: &Story, find: impl FnOnce() -> F) -> Arc<T> {
        let cell = Arc::clone(self.0.lock().unwrap().entry(story.name).or_default());
        Arc::clone(cell.get_or_init(find).await)
    }
}

/// Returns the result of an undisturbed run of the story.
pub async fn calm(story: &Story) -> Arc<Calm> {
    static KNOWN: Once<Calm> = Once::new();
    let find = || async {
        let watched = tokio::time::timeout(WATCHDOG, observed(story)).await;
        let (world, observed) = watched.expect("the undisturbed story ends");
        Arc::new(Calm {
            picture: picture::take(&world).await,
            facts: picture::take_with(&world, Detail::Facts).await,
            calls: observed.calls,
            effects: observed.effects,
        })
    };
    KNOWN.of(story, find).await
}

/// Plays a story to its end without any mishap.
pub async fn undisturbed(story: &Story) -> World {
    observed(story).await.0
}

/// The same, with the calls and effects between the rests.
async fn observed(story: &Story) -> (World, Observed) {
    let mut world = World::new(story).await;
    world.start();
    let (mut observed, mut calls, mut effects) = (Observed::default(), 0, BTreeMap::new());
    for step in &story.moves {
        step.play(&world).await;
        world.rest().await;
        let all = world.forge.calls();
        observed.calls.push(kinds(&all[calls..]));
        calls = all.len();
        let now = world.effects().await;
        observed.effects.push(more(&now, &effects));
        effects = now;
    }
    assert_eq!(world.given_up().await, [], "{}", world.log());
    let unknown = world.forge.unknown_calls();
    assert!(unknown.is_empty(), "{unknown:?}");
    (world, observed)
}

/// Returns the increase of each count.
fn more(now: &BTreeMap<String, usize>, before: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let more = now.iter().map(|(kind, count)| (kind.clone(), count - before.get(kind).unwrap_or(&0)));
    more.filter(|(_, count)| *count > 0).collect()
}

/// Plays the whole story with a service that is already started.
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

/// Returns the differences from the `expected` picture, including its order, and the effects that were given up.
pub async fn difference(world: &World, expected: &str) -> Option<String> {
    let found = picture::take(world).await;
    let given_up = world.given_up().await;
    (found != expected || !given_up.is_empty()).then(|| {
        let lines = differing(expected, &found);
        format!("given up: {given_up:?}\n{lines}\n{}", world.log())
    })
}

/// Returns the differences from the `expected` picture of this detail, in any order, and the effects that were given
/// up. The living comment, for example, is outside the order of the others.
pub async fn difference_of_lines(world: &World, detail: Detail, expected: &str) -> Option<String> {
    let lines = differing(expected, &picture::take_with(world, detail).await);
    let given_up = world.given_up().await;
    (!lines.is_empty() || !given_up.is_empty()).then(|| format!("given up: {given_up:?}\n{lines}"))
}

/// Returns the lines that only one of the two has; if there are none, says that their order differs.
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
