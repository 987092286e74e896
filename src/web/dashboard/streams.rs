//! Limits the streams that each person may have open, so that one person cannot use up all.

use domain::ids::UserId;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};
use tokio::sync::Notify;

/// The most streams that one person may have open.
const MOST: usize = 6;

/// The open streams by person, oldest first. Operators have no limit.
#[derive(Default)]
pub(super) struct OpenStreams(Mutex<HashMap<UserId, Vec<Weak<Notify>>>>);

impl OpenStreams {
    /// Adds a stream of a person. If the person has reached the limit, their oldest stream is ended. The stream counts
    /// until the value is dropped.
    pub(super) fn join(&self, person: UserId) -> Arc<Notify> {
        let mut open = self.0.lock();
        open.retain(|_, theirs| {
            theirs.retain(|stream| stream.strong_count() > 0);
            !theirs.is_empty()
        });
        let theirs = open.entry(person).or_default();
        if theirs.len() >= MOST {
            theirs.remove(0).upgrade().iter().for_each(|oldest| oldest.notify_one());
        }
        let stream = Arc::new(Notify::new());
        theirs.push(Arc::downgrade(&stream));
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, OpenStreams};
    use domain::ids::UserId;
    use futures_util::FutureExt;

    #[test]
    fn the_oldest_stream_of_a_person_makes_room_and_nobody_elses() {
        let streams = OpenStreams::default();
        let other = streams.join(UserId(2));
        let mut theirs: Vec<_> = (0..MOST).map(|_| streams.join(UserId(1))).collect();
        assert!(theirs.iter().all(|stream| stream.notified().now_or_never().is_none()));
        drop(theirs.pop());
        theirs.push(streams.join(UserId(1)));
        assert!(theirs[0].notified().now_or_never().is_none(), "one was closed before");
        theirs.push(streams.join(UserId(1)));
        let told: Vec<bool> = theirs.iter().map(|stream| stream.notified().now_or_never().is_some()).collect();
        assert_eq!(told.iter().filter(|told| **told).count(), 1);
        assert!(told[0] && other.notified().now_or_never().is_none());
    }
}
