//! Limits are exact and sharing is fair for any number of concurrent claims.

use crate::contract::{Database, LEASE, NOW, claim, claim_at, effect, key};
use autobuild::store::{ClaimRequest, Claimed, Fenced, Lane, LaneLimits, NewEffect, Outcome, Store};
use domain::ids::{InstallationId, RepoId};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

on_both! {
    the_installation_with_the_fewest_running_goes_first
    a_held_back_installation_does_not_hold_back_others
    each_limit_holds
    concurrent_claimers_never_exceed_a_limit
}

fn of(id: &str, installation: u64, repo: u64) -> NewEffect {
    NewEffect { installation: InstallationId(installation), repo: Some(RepoId(repo)), ..effect(id, Lane::Agent, id) }
}

async fn claimed(store: &Store, limits: LaneLimits) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some(claimed) = claim_at(store, "w", limits, NOW).await {
        ids.push(claimed.effect.id);
    }
    ids
}

async fn the_installation_with_the_fewest_running_goes_first(db: Database) {
    let store = db.open().await;
    let mut effects: Vec<_> = (0..4).map(|n| of(&format!("big{n}"), 1, 1)).collect();
    effects.push(of("small0", 2, 2));
    effects.push(of("small1", 2, 2));
    store.add_effects(&effects).await.unwrap();
    let order = claimed(&store, LaneLimits::none(Lane::Agent)).await;
    assert_eq!(order, ["big0", "small0", "big1", "small1", "big2", "big3"]);
}

async fn a_held_back_installation_does_not_hold_back_others(db: Database) {
    let store = db.open().await;
    let same = |id: &str| NewEffect { subject: "one task".to_owned(), ..of(id, 1, 1) };
    store.add_effects(&[same("a"), of("b", 2, 2), of("c", 2, 2), same("d")]).await.unwrap();
    let order = claimed(&store, LaneLimits::none(Lane::Agent)).await;
    assert_eq!(order, ["a", "b", "c"]);
}

async fn each_limit_holds(db: Database) {
    let none = LaneLimits::none(Lane::Agent);
    let per_feature = |n| {
        let mut effect = of(&format!("e{n}"), 1, 1);
        effect.feature_limit = Some(2);
        effect
    };
    let store = db.open().await;
    let mut effects: Vec<_> = (0..4).map(per_feature).collect();
    effects.push(NewEffect { feature: Some(key(2, 1)), ..of("other feature", 1, 1) });
    effects.push(of("other repository", 1, 2));
    effects.push(of("other installation", 2, 3));
    store.add_effects(&effects).await.unwrap();

    let in_all = LaneLimits { in_all: Some(1), ..none };
    assert_eq!(claimed(&store, in_all).await, ["e0"]);
    let per_installation = LaneLimits { per_installation: Some(1), ..none };
    assert_eq!(claimed(&store, per_installation).await, ["other installation"]);
    let per_repository = LaneLimits { per_repository: Some(1), ..none };
    assert_eq!(claimed(&store, per_repository).await, ["other repository"]);
    let per_feature = LaneLimits { per_feature: Some(1), ..none };
    assert_eq!(claimed(&store, per_feature).await, ["other feature"]);
    // Neither limit counts another lane.
    store.add_effects(&[effect("said", Lane::Forge, "x")]).await.unwrap();
    assert!(claim(&store, Lane::Forge).await.is_some());
    assert_eq!(claimed(&store, none).await, Vec::<String>::new(), "two of the first feature's run already");
}

/// The effects that run now, as the claimers see them.
#[derive(Default)]
struct Running {
    of_feature: HashMap<u64, u32>,
    of_installation: HashMap<u64, u32>,
    in_all: u32,
}

impl Running {
    fn begin(&mut self, claimed: &Claimed) {
        let (feature, installation) = owners(claimed);
        let of_feature = self.of_feature.entry(feature).or_default();
        let of_installation = self.of_installation.entry(installation).or_default();
        *of_feature += 1;
        *of_installation += 1;
        self.in_all += 1;
        assert!(*of_feature <= 2, "feature {feature} runs {of_feature}");
        assert!(*of_installation <= 3, "installation {installation} runs {of_installation}");
        assert!(self.in_all <= 5, "{} run", self.in_all);
    }

    fn end(&mut self, claimed: &Claimed) {
        let (feature, installation) = owners(claimed);
        *self.of_feature.entry(feature).or_default() -= 1;
        *self.of_installation.entry(installation).or_default() -= 1;
        self.in_all -= 1;
    }
}

fn owners(claimed: &Claimed) -> (u64, u64) {
    let feature = claimed.effect.feature.expect("each has a feature");
    (feature.issue.0, claimed.effect.installation.0)
}

async fn concurrent_claimers_never_exceed_a_limit(db: Database) {
    // Two stores if that is possible, since the limits apply to all processes together.
    let store = db.open().await;
    let other = if db.url.starts_with("postgres") { db.open().await } else { store.clone() };
    let effects: Vec<_> = (0..60)
        .map(|n| NewEffect {
            feature: Some(key(n % 6, 1)),
            feature_limit: Some(2),
            subject: format!("task {}", n % 30),
            ..of(&format!("e{n}"), n % 3, n % 6)
        })
        .collect();
    store.add_effects(&effects).await.unwrap();
    let running = Arc::new(Mutex::new(Running::default()));
    let claimers: Vec<_> = (0..12)
        .map(|n| {
            let store = if n % 2 == 0 { store.clone() } else { other.clone() };
            tokio::spawn(work(store, format!("w{n}"), running.clone()))
        })
        .collect();
    let mut performed = 0;
    for claimer in claimers {
        performed += claimer.await.unwrap();
    }
    assert_eq!(performed, 60, "each effect is performed once");
    assert_eq!(store.unfinished_effects().await.unwrap(), vec![]);
}

async fn work(store: Store, worker: String, running: Arc<Mutex<Running>>) -> u32 {
    let limits = [LaneLimits { per_installation: Some(3), in_all: Some(5), ..LaneLimits::none(Lane::Agent) }];
    let mut performed = 0;
    let mut wakeups = store.wakeups();
    loop {
        let request =
            ClaimRequest { worker: &worker, lanes: &limits, others: &[], now: NOW, lease_until: NOW.plus(LEASE) };
        if let Some(claimed) = store.claim(&request).await.unwrap() {
            running.lock().unwrap().begin(&claimed);
            tokio::task::yield_now().await;
            running.lock().unwrap().end(&claimed);
            let done = Outcome::Done;
            assert_eq!(store.finish(&claimed.hold, &done).await.unwrap(), Fenced::Written);
            performed += 1;
        } else if store.unfinished_effects().await.unwrap().is_empty() {
            return performed;
        } else {
            wakeups.next().await;
        }
    }
}
