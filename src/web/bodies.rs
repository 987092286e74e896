//! Limits the memory that the bodies of all requests use together.

use crate::store::MemoryShare;
use bytes::Buf;
use http_body_util::BodyExt;
use hyper::body::Body;
use std::{sync::Arc, time::Duration};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The time limit for a body; a slower sender is cut off. Together with its headers, a sender has at most 25 seconds.
pub const BODY_PATIENCE: Duration = Duration::from_secs(15);

/// The bytes of each body outside the budget. Usual deliveries are smaller, so a used-up budget does not affect them.
pub(super) const FREE: usize = 64 << 10;

/// The bytes that all bodies may use together beyond [`FREE`] each. A delivery that is refused is found later in
/// GitHub's log.
const BUDGET: usize = 32 << 20;

#[derive(Clone)]
pub(super) struct Bodies(Arc<Semaphore>);

/// The reason why a body was not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyFailure {
    /// The body is larger than allowed.
    TooLarge,
    /// Other bodies use the whole budget.
    NoRoom,
    /// The sender broke the body off.
    BrokenOff,
}

impl Bodies {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(BUDGET)))
    }

    /// Reads a body of at most `most` bytes, and returns it with its share of the budget. Bytes are counted as they
    /// arrive, even if a larger length was announced.
    pub(super) async fn read<B>(&self, mut body: B, most: usize) -> Result<(Vec<u8>, MemoryShare), BodyFailure>
    where
        B: Body + Unpin,
    {
        if body.size_hint().lower() > u64::try_from(most).unwrap_or(u64::MAX) {
            return Err(BodyFailure::TooLarge);
        }
        let (mut bytes, mut held) = (Vec::new(), None);
        // The system provides memory only when it is written, so an announced length costs nothing. A vector that does
        // not grow is never copied.
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(most);
        bytes.try_reserve_exact(announced).map_err(|_| BodyFailure::NoRoom)?;
        while let Some(frame) = body.frame().await {
            let Ok(mut data) = frame.map_err(|_| BodyFailure::BrokenOff)?.into_data() else {
                continue;
            };
            let length = bytes.len() + data.remaining();
            if length > most {
                return Err(BodyFailure::TooLarge);
            }
            self.hold(&mut held, length.saturating_sub(FREE))?;
            while data.has_remaining() {
                let piece = data.chunk();
                bytes.extend_from_slice(piece);
                data.advance(piece.len());
            }
        }
        Ok((bytes, held))
    }

    /// Takes from the budget until `held` covers this many bytes.
    fn hold(&self, held: &mut MemoryShare, bytes: usize) -> Result<(), BodyFailure> {
        let more = bytes.saturating_sub(held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
        let more = u32::try_from(more).map_err(|_| BodyFailure::TooLarge)?;
        if more == 0 {
            return Ok(());
        }
        let more = Arc::clone(&self.0).try_acquire_many_owned(more).map_err(|_| BodyFailure::NoRoom)?;
        match held {
            Some(held) => held.merge(more),
            None => *held = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{BUDGET, Bodies, BodyFailure, FREE};
    use bytes::Bytes;
    use futures_util::FutureExt;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;
    use std::convert::Infallible;

    const MOST: usize = 25 << 20;

    fn full(length: usize) -> Full<Bytes> {
        Full::new(Bytes::from(vec![7; length]))
    }

    #[tokio::test]
    async fn large_bodies_share_one_budget_and_give_it_back() {
        let bodies = Bodies::new();
        let mut whole = Vec::new();
        while let Ok(body) = bodies.read(full(MOST), MOST).await {
            assert_eq!(body.0.len(), MOST);
            whole.push(body);
        }
        assert_eq!(whole.len(), BUDGET / (MOST - FREE));
        assert_eq!(bodies.read(full(MOST), MOST).await.err(), Some(BodyFailure::NoRoom));
        assert!(bodies.read(full(FREE), MOST).await.is_ok(), "a usual delivery is read all the same");

        let (_, held) = whole.pop().unwrap();
        assert_eq!(bodies.read(full(MOST), MOST).await.err(), Some(BodyFailure::NoRoom));
        drop(held);
        assert!(bodies.read(full(MOST), MOST).await.is_ok());
    }

    #[tokio::test]
    async fn what_arrives_in_pieces_counts_as_it_arrives() {
        let bodies = Bodies::new();
        let piece = || Ok::<_, Infallible>(Frame::data(Bytes::from(vec![7; 1 << 20])));
        let begun = || {
            let pieces = futures_util::stream::iter((0..10).map(move |_| piece()));
            let never = futures_util::stream::pending();
            StreamBody::new(futures_util::StreamExt::chain(pieces, never))
        };
        let mut reading: Vec<_> = (0..3).map(|_| Box::pin(bodies.read(begun(), MOST))).collect();
        for reading in &mut reading {
            assert!(reading.now_or_never().is_none(), "it goes on");
        }
        assert_eq!(bodies.read(full(6 << 20), MOST).await.err(), Some(BodyFailure::NoRoom));
        // A reader that is dropped gives its share back.
        reading.pop();
        assert!(bodies.read(full(6 << 20), MOST).await.is_ok());
    }

    #[tokio::test]
    async fn nothing_larger_than_a_delivery_is_read() {
        let bodies = Bodies::new();
        assert_eq!(bodies.read(full(11), 10).await.err(), Some(BodyFailure::TooLarge));
        let pieces = (0..3).map(|_| Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"1234"))));
        let streamed = StreamBody::new(futures_util::stream::iter(pieces));
        assert_eq!(bodies.read(streamed, 10).await.err(), Some(BodyFailure::TooLarge));
    }
}
