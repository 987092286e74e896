//! The hosts that programs could not reach, for the people who wait.

use domain::refused_host::RefusedHost;
use tokio::sync::watch;

/// The most different refused hosts that are kept.
const MOST: usize = 20;

/// A list of the hosts that the programs of one piece of work could not reach. Clones share the list.
#[derive(Clone, Debug, Default)]
pub struct Refusals(watch::Sender<Vec<RefusedHost>>);

impl Refusals {
    /// Returns the hosts so far, ordered by when each was first refused.
    pub fn hosts(&self) -> Vec<RefusedHost> {
        self.0.borrow().clone()
    }

    /// Returns a receiver that changes with each new host.
    pub fn watched(&self) -> watch::Receiver<Vec<RefusedHost>> {
        self.0.subscribe()
    }

    pub(super) fn add(&self, refused: RefusedHost) {
        self.0.send_if_modified(|hosts| {
            let is_new = hosts.len() < MOST && !hosts.contains(&refused);
            if is_new {
                hosts.push(refused);
            }
            is_new
        });
    }
}
