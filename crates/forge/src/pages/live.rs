//! A stream of server-sent events that sends a page's content again whenever it changed.

use super::{borrowed, content, hand_of, look_for_replies, on_own_thread, owned};
use crate::{pages::layout::PageView, reply::reply, site::Site};
use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::{Response, request::Parts};
use page_parts::events::{GONE, HERE, LastSent};
use std::{convert::Infallible, sync::Arc, time::Duration};

/// The pause between looks for a change.
const LOOK: Duration = Duration::from_millis(500);
/// The number of looks without news after which a comment is sent, so that no proxy ends the stream.
const QUIET: u32 = 30;

struct Stream {
    site: Arc<Site>,
    /// The page's path.
    parts: Vec<String>,
    head: Parts,
    /// The number of the forge's changes that the reader has seen.
    seen: Option<u64>,
    sent: LastSent,
    quiet: u32,
    /// `true` if the last event is sent.
    ended: bool,
}

/// Streams a page for as long as the reader may see it.
pub(super) fn stream(site: &Arc<Site>, parts: &[&str], head: &Parts) -> Response<Body> {
    let stream = Stream {
        site: Arc::clone(site),
        parts: owned(parts),
        head: head.clone(),
        seen: None,
        sent: LastSent::default(),
        quiet: 0,
        ended: false,
    };
    let body = Body::from_stream(stream::unfold(stream, |mut stream| async move {
        let next = stream.next().await?;
        Some((Ok::<Bytes, Infallible>(next.into()), stream))
    }));
    let headers = [("content-type", "text/event-stream"), ("cache-control", "no-store")];
    reply(200, &headers, body)
}

impl Stream {
    async fn next(&mut self) -> Option<String> {
        while !self.ended {
            if hand_of(&self.site, &self.head).is_err() {
                return self.last();
            }
            let changes = self.site.changes();
            if self.seen != Some(changes) {
                let drawing = draw(Arc::clone(&self.site), self.parts.clone(), self.head.clone());
                let Some(shown) = on_own_thread(drawing).await.flatten() else {
                    return self.last();
                };
                self.seen = Some(changes);
                if let Some(event) = self.sent.news(&shown.content) {
                    self.quiet = 0;
                    return Some(event);
                }
            }
            tokio::time::sleep(LOOK).await;
            self.quiet += 1;
            if self.quiet >= QUIET {
                self.quiet = 0;
                return Some(HERE.to_owned());
            }
        }
        None
    }

    fn last(&mut self) -> Option<String> {
        self.ended = true;
        Some(GONE.to_owned())
    }
}

async fn draw(site: Arc<Site>, parts: Vec<String>, head: Parts) -> Option<PageView> {
    let parts = borrowed(&parts);
    let mut hand = hand_of(&site, &head).ok()?;
    if let Some(hand) = &mut hand {
        look_for_replies(hand, &site, &parts).await;
    }
    content(&site, &parts, hand.as_ref(), None).await
}
