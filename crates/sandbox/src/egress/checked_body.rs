//! A request body that breaks off if the policy refuses the request. An API that did not get the end of a request does
//! nothing.

use crate::egress::{
    call_meter::Sent,
    request_policy::{RequestPolicy, RequestRefusal},
};
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::{
    error::Error,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

#[derive(Debug)]
pub(super) struct CheckedBody<B> {
    body: B,
    reach: RequestPolicy,
    sent: Arc<Sent>,
    broken_off: Arc<OnceLock<RequestRefusal>>,
}

impl<B> CheckedBody<B> {
    /// Wraps a body. The output limit that it asks for goes to `sent`, the reason for breaking off to `broken_off`.
    pub(super) fn new(
        body: B,
        reach: RequestPolicy,
        sent: Arc<Sent>,
        broken_off: Arc<OnceLock<RequestRefusal>>,
    ) -> Self {
        Self { body, reach, sent, broken_off }
    }
}

impl<B: Body<Data = Bytes, Error = hyper::Error> + Unpin> Body for CheckedBody<B> {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => frame,
            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => return Poll::Pending,
        };
        let data = frame.data_ref().cloned().unwrap_or_default();
        Poll::Ready(Some(match self.reach.read(&data) {
            Ok(()) => {
                self.sent.allows(self.reach.most_output, self.reach.streams);
                Ok(frame)
            }
            Err(why) => Err(self.broken_off.get_or_init(|| why).to_string().into()),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
