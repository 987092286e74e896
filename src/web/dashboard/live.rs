//! What is shown, sent again whenever it has changed: server-sent events, each a page's whole content.

use crate::web::{
    dashboard::{
        content, readings,
        readings::{Page, Reading, Seen},
        sessions::Viewer,
        sight,
    },
    inbox::Inbox,
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

/// How often it is looked whether who reads may still read.
const LOOK: Duration = Duration::from_secs(1);
/// A comment as often as this keeps proxies from ending the stream.
const QUIET: u32 = 15;

/// Sent last to a stream that made room for a newer one: the page comes again, and so shows the news now and then.
const CROWDED: &str = "retry: 15000\n\n";

/// What one open page is sent.
struct Stream {
    inbox: Arc<Inbox>,
    /// Of the request that opened it.
    headers: HeaderMap,
    /// Told when a newer stream takes the place.
    crowded: Arc<Notify>,
    seen: Seen,
    /// Whether the newest reading was not looked at yet.
    is_unread: bool,
    sent: LastSent,
    quiet: u32,
    state: State,
}

enum State {
    Open,
    /// Its last event is sent.
    Ended,
}

/// A stream of a page's content, for as long as the request that opened it would be let in.
pub(super) async fn stream(inbox: Arc<Inbox>, page: Page, (viewer, headers): (&Viewer, HeaderMap)) -> Response {
    let stream = Stream {
        crowded: match viewer {
            Viewer::Whole(_) => Arc::default(),
            Viewer::Person(_, person) => inbox.pages().streams.join(person.id),
        },
        seen: readings::follow(&inbox, page).await,
        inbox,
        headers,
        is_unread: true,
        sent: LastSent::default(),
        quiet: 0,
        state: State::Open,
    };
    let body = Body::from_stream(stream::unfold(stream, |mut stream| async move {
        let next = stream.next().await?;
        Some((Ok::<Bytes, Infallible>(next.into()), stream))
    }));
    ([(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")], body).into_response()
}

impl Stream {
    /// The next event; none after the last.
    async fn next(&mut self) -> Option<String> {
        loop {
            match self.state {
                State::Open => {}
                State::Ended => return None,
            }
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
    }

    /// What is to be sent now, if anything is.
    async fn look(&mut self) -> Option<String> {
        // Whether the session was ended is known as soon as the database answers again.
        let Some(viewer) = Viewer::of(&self.inbox, &self.headers).await.ok()? else {
            return self.last(GONE);
        };
        // What somebody may see changes without the work.
        if !self.is_unread && viewer.sees_everything() {
            return None;
        }
        let reading = self.seen.borrow_and_update().clone()?;
        self.is_unread = false;
        let instead = sight::instead(&self.inbox, &viewer, &reading).await;
        match instead.as_ref().unwrap_or(&reading) {
            // The next reading may find the database again, and GitHub.
            Reading::NoDatabase | Reading::Undecided => None,
            Reading::Gone => self.last(GONE),
            reading @ (Reading::Overview(..)
            | Reading::Feature(..)
            | Reading::Queue(_)
            | Reading::Spending(_)
            | Reading::Unreadable) => {
                let event = self.sent.news(&content(&self.inbox, &viewer, reading))?;
                self.quiet = 0;
                Some(event)
            }
        }
    }

    fn last(&mut self, event: &str) -> Option<String> {
        self.state = State::Ended;
        Some(event.to_owned())
    }
}
