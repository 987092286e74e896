//! A body whose pieces and pace are observed on their way. Its announced length stays the same, so a piece may only be
//! replaced by one of the same length.

use crate::egress::pace::Pace;
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

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
            // If a body's length is known, nobody asks for more after its last piece.
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
