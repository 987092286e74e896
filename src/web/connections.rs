//! Limits the number of connections. A new connection over the limit replaces the one that has waited longest for its
//! sender, so slow senders do not block others or the health checks.

use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use tokio_util::sync::CancellationToken;

pub(super) struct Connections {
    most: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    /// A counter that numbers connections and events.
    moment: u64,
    by_number: HashMap<u64, Connection>,
}

struct Connection {
    state: State,
    cut: CancellationToken,
}

#[derive(Clone, Copy)]
enum State {
    /// The sender has to act, since that moment.
    Waits(u64),
    /// The service has to act.
    Works,
}

/// The right to keep a connection open; it ends when this is dropped.
pub(super) struct ConnectionPermit {
    number: u64,
    cut: CancellationToken,
    connections: Arc<Connections>,
}

impl Connections {
    /// Allows at most `most` connections at once.
    pub(super) fn at_most(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default() })
    }

    /// Returns a permit for one more connection; `None` if requests that are being answered hold all permits.
    pub(super) fn admit(self: &Arc<Self>) -> Option<ConnectionPermit> {
        let mut open = self.open.lock();
        if open.by_number.len() >= self.most {
            let slowest = open.slowest()?;
            if let Some(connection) = open.by_number.remove(&slowest) {
                connection.cut.cancel();
            }
        }
        let number = open.next();
        let cut = CancellationToken::new();
        let connection = Connection { state: State::Waits(number), cut: cut.clone() };
        open.by_number.insert(number, connection);
        Some(ConnectionPermit { number, cut, connections: Arc::clone(self) })
    }
}

impl OpenConnections {
    fn next(&mut self) -> u64 {
        self.moment = self.moment.wrapping_add(1);
        self.moment
    }

    /// Returns the connection that has waited longest for its sender.
    fn slowest(&self) -> Option<u64> {
        let open = self.by_number.iter();
        let waiting = open.filter_map(|(number, connection)| match connection.state {
            State::Waits(since) => Some((since, *number)),
            State::Works => None,
        });
        waiting.min().map(|(_, number)| number)
    }
}

impl ConnectionPermit {
    /// Waits until another connection needs the permit.
    pub(super) async fn wait_until_needed(&self) {
        self.cut.cancelled().await;
    }

    /// Records that the sender has to send something.
    pub(super) fn waits(&self) {
        let mut open = self.connections.open.lock();
        let since = open.next();
        if let Some(connection) = open.by_number.get_mut(&self.number) {
            connection.state = State::Waits(since);
        }
    }

    /// Records that the request is complete.
    pub(super) fn works(&self) {
        if let Some(connection) = self.connections.open.lock().by_number.get_mut(&self.number) {
            connection.state = State::Works;
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connections.open.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectionPermit, Connections};

    fn is_taken(permit: &ConnectionPermit) -> bool {
        permit.cut.is_cancelled()
    }

    #[test]
    fn a_newcomer_takes_the_place_of_whoever_waited_longest_for_its_sender() {
        let connections = Connections::at_most(3);
        let [first, second, third] = [(); 3].map(|()| connections.admit().unwrap());
        first.works();
        let fourth = connections.admit().unwrap();
        assert_eq!([&first, &second, &third, &fourth].map(is_taken), [false, true, false, false]);
        // An answered connection waits for its sender from then on.
        first.waits();
        drop(second);
        let fifth = connections.admit().unwrap();
        assert_eq!([&first, &third, &fourth, &fifth].map(is_taken), [false, true, false, false]);
    }

    #[test]
    fn nobody_is_cut_off_while_there_is_room_or_while_it_is_answered() {
        let connections = Connections::at_most(2);
        let [first, second] = [(); 2].map(|()| connections.admit().unwrap());
        drop(first);
        let third = connections.admit().unwrap();
        assert!(!is_taken(&second) && !is_taken(&third));
        second.works();
        third.works();
        assert!(connections.admit().is_none());
        third.waits();
        assert!(connections.admit().is_some() && is_taken(&third));
    }
}
