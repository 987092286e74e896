//! Remembers the comments and reviews that a sweep read for nothing.

use domain::{feature::sweep::RemoteFact, ids::FeatureKey};
use parking_lot::Mutex;
use std::collections::BTreeSet;

/// The most comments and reviews that are remembered as fruitless.
const MOST_FRUITLESS: usize = 10_000;

/// Comments and reviews that led to nothing, such as those that another App wrote for a person. GitHub is not asked for
/// them again.
#[derive(Debug, Default)]
pub struct Fruitless(Mutex<BTreeSet<(FeatureKey, String)>>);

impl Fruitless {
    pub fn has(&self, key: FeatureKey, fact: &RemoteFact) -> bool {
        let known = self.0.lock();
        known.contains(&(key, format!("{fact:?}")))
    }

    pub fn add(&self, key: FeatureKey, fact: &RemoteFact) {
        let mut known = self.0.lock();
        if known.len() >= MOST_FRUITLESS {
            known.clear();
        }
        known.insert((key, format!("{fact:?}")));
    }
}
