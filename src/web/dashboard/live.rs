//! Sends a page's whole content again whenever it has changed, as server-sent events.

use crate::{
    engine::own_thread::on_own_thread,
    web::{
        dashboard::{
            content, read_access, readings,
            readings::{Page, Reading, RunActivity},
            sessions::{SessionHolder, Viewer},
        },
        inbox::Inbox,
    },
};
use axum::{
    body::{Body, Bytes},
    http::{
        HeaderMap,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use futures_util::stream;
use page_parts::events::{GONE, HERE, LATER, LastSent};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::sync::Notify;

/// The time between two checks of the viewer's permission.
const LOOK: Duration = Duration::from_secs(1);
/// The number of looks without news after which a comment is sent, so that proxies keep the stream open.
const QUIET: u32 = 15;

/// The last event of a stream that made room for a newer one. The browser reconnects after 15 seconds, and so still
/// shows changes now and then.
const CROWDED: &str = "retry: 15000\n\n";

struct LiveStream {
    inbox: Arc<Inbox>,
    headers: HeaderMap,
    /// The signal that a newer stream takes this one's place.
    crowded: Arc<Notify>,
    seen: RunActivity,
    /// `true` if the newest reading was not handled yet.
    is_unread: bool,
    sent: LastSent,
    quiet: u32,
    /// `true` if the last event was sent.
    is_ended: bool,
}

/// Returns the stream of a page's content; it lasts as long as the request that opened it would be admitted.
pub(super) async fn stream(inbox: Arc<Inbox>, page: Page, viewer: &Viewer, headers: HeaderMap) -> Response {
    let stream = LiveStream {
        crowded: match &viewer.who {
            SessionHolder::Operator => Arc::default(),
            SessionHolder::Person(person) => inbox.pages.streams.join(person.id),
        },
        seen: readings::follow(&inbox, page).await,
        inbox,
        headers,
        is_unread: true,
        sent: LastSent::default(),
        quiet: 0,
        is_ended: false,
    };
    let body = Body::from_stream(stream::unfold(stream, |mut stream| async move {
        let next = stream.next().await?;
        Some((Ok::<Bytes, Infallible>(next.into()), stream))
    }));
    ([(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")], body).into_response()
}

impl LiveStream {
    async fn next(&mut self) -> Option<String> {
        while !self.is_ended {
            if let Some(event) = self.look().await {
                return Some(event);
            }
            tokio::select! {
                changed = self.seen.changed() => match changed {
                    Ok(()) => self.is_unread = true,
                    Err(_) => return self.last(LATER),
                },
                () = self.crowded.notified() => return self.last(CROWDED),
                () = tokio::time::sleep(LOOK) => self.quiet = self.quiet.saturating_add(1),
            }
            if self.quiet >= QUIET {
                self.quiet = 0;
                return Some(HERE.to_owned());
            }
        }
        None
    }

    /// Returns the event to send now, if there is one.
    async fn look(&mut self) -> Option<String> {
        // If the database does not answer, a later look checks if the session was ended.
        let Some(viewer) = Viewer::of(&self.inbox, &self.headers).await.ok()? else {
            return self.last(GONE);
        };
        // A person's permissions can change while the work does not.
        if !self.is_unread && viewer.sees_everything() {
            return None;
        }
        let reading = self.seen.borrow_and_update().clone()?;
        self.is_unread = false;
        let instead = read_access::instead(&self.inbox, &viewer, &reading).await;
        let reading = instead.map_or(reading, Arc::new);
        match &*reading {
            // The next reading may reach the database and GitHub again.
            Reading::NoDatabase | Reading::Undecided => None,
            Reading::Gone => self.last(GONE),
            Reading::Overview(..)
            | Reading::Feature(..)
            | Reading::Queue(..)
            | Reading::Spending(_)
            | Reading::Unreadable => {
                let inbox = Arc::clone(&self.inbox);
                let drawn = on_own_thread(async move { content(&inbox, &viewer, &reading) }).await;
                let event = self.sent.news(&drawn)?;
                self.quiet = 0;
                Some(event)
            }
        }
    }

    fn last(&mut self, event: &str) -> Option<String> {
        self.is_ended = true;
        Some(event.to_owned())
    }
}
