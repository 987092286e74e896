//! A body whose pieces are looked at on their way, and how it comes. Its length stays as announced, so a piece may only be replaced by one as
//! long.

use crate::egress::pace::Pace;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// A body, and who looks at its pieces.
#[derive(Debug)]
pub(super) struct ObservedBody<F> {
    body: Incoming,
    pace: Arc<Pace>,
    hear: F,
}

impl<F: FnMut(Bytes) -> Bytes> ObservedBody<F> {
    pub(super) fn new(body: Incoming, pace: Arc<Pace>, hear: F) -> Self {
        if body.is_end_stream() {
            pace.ends();
        }
        Self { body, pace, hear }
    }
}

impl<F: FnMut(Bytes) -> Bytes + Unpin> Body for ObservedBody<F> {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match &frame {
            Poll::Pending => self.pace.waits(),
            // Of a body whose length is known nobody asks for more than its last piece.
            Poll::Ready(Some(Ok(_))) if !self.body.is_end_stream() => self.pace.came(),
            Poll::Ready(Some(Ok(_)) | None) => self.pace.ends(),
            Poll::Ready(Some(Err(_))) => self.pace.breaks(),
        }
        frame.map(|frame| frame.map(|frame| frame.map(|frame| frame.map_data(&mut self.hear))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
