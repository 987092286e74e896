//! Remembers for minutes who has no more rights in a repository than the public, so that a flood of their comments does
//! not use up the calls to GitHub that others need. It can only refuse: before a command is obeyed, GitHub is always
//! asked.

use domain::ids::{Millis, RepoId, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;

/// How long a person counts as a stranger before GitHub is asked again, in milliseconds, even with new rights.
const KNOWN_MS: i64 = 5 * 60_000;

/// The most people who are remembered.
const MOST: usize = 10_000;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Visitor {
    pub(super) repo: RepoId,
    pub(super) person: UserId,
}

/// The strangers of the last minutes, with the time at which GitHub was asked.
#[derive(Default)]
pub struct Strangers(Mutex<HashMap<Visitor, Millis>>);

impl Strangers {
    pub(super) fn knows(&self, visitor: Visitor, now: Millis) -> bool {
        self.0.lock().get(&visitor).is_some_and(|asked| now < asked.plus(KNOWN_MS))
    }

    pub(super) fn remember(&self, visitor: Visitor, now: Millis) {
        let mut known = self.0.lock();
        if known.len() >= MOST {
            known.retain(|_, asked| now < asked.plus(KNOWN_MS));
        }
        if known.len() < MOST {
            known.insert(visitor, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(repo: u64, person: u64) -> Visitor {
        let (repo, person) = (RepoId(repo), UserId(person));
        Visitor { repo, person }
    }

    #[test]
    fn a_stranger_is_known_in_one_repository_for_five_minutes() {
        let strangers = Strangers::default();
        strangers.remember(visitor(1, 7), Millis(1_000));
        let knows = |visitor, at| strangers.knows(visitor, Millis(at));
        assert!(knows(visitor(1, 7), 300_999) && !knows(visitor(1, 7), 301_000));
        assert!(!knows(visitor(2, 7), 1_000) && !knows(visitor(1, 8), 1_000));
    }

    #[test]
    fn a_full_memory_forgets_the_old_ones_alone() {
        let strangers = Strangers::default();
        strangers.remember(visitor(1, 0), Millis(0));
        (1..10_000).for_each(|person| strangers.remember(visitor(1, person), Millis(1)));
        strangers.remember(visitor(1, 20_000), Millis(1));
        assert!(!strangers.knows(visitor(1, 20_000), Millis(1)));
        strangers.remember(visitor(1, 20_000), Millis(KNOWN_MS));
        assert!(strangers.knows(visitor(1, 20_000), Millis(KNOWN_MS)));
        assert!(strangers.knows(visitor(1, 9_999), Millis(KNOWN_MS)));
    }
}
