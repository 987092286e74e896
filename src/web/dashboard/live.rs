//! What is shown, sent again whenever it has changed: server-sent events, each a page's whole content.

use crate::{
    engine::view::ViewError,
    web::{
        Inbox,
        dashboard::{feature, overview},
    },
};
use axum::{
    body::{Body, Bytes},
    http::header::{CACHE_CONTROL, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use domain::ids::FeatureKey;
use futures_util::stream;
use maud::Markup;
use sha2::{Digest, Sha256};
use std::{convert::Infallible, sync::Arc, time::Duration};

/// What is written without telling others, as an agent's progress, shows after this time at the latest.
const LATEST: Duration = Duration::from_secs(1);
/// Many changes at once are one.
const TOGETHER: Duration = Duration::from_millis(150);
/// A comment as often as this keeps proxies from ending the stream.
const QUIET: u32 = 15;

struct Viewer {
    inbox: Arc<Inbox>,
    feature: Option<FeatureKey>,
    shown: Option<[u8; 32]>,
    looked: bool,
    quiet: u32,
    ended: bool,
}

/// A stream of the content of a Feature's page, or of the first page.
pub(super) fn stream(inbox: Arc<Inbox>, feature: Option<FeatureKey>) -> Response {
    let viewer = Viewer {
        inbox,
        feature,
        shown: None,
        looked: false,
        quiet: 0,
        ended: false,
    };
    let body = Body::from_stream(stream::unfold(viewer, |mut viewer| async move {
        let next = viewer.next().await?;
        Some((Ok::<Bytes, Infallible>(next.into()), viewer))
    }));
    ([(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")], body).into_response()
}

impl Viewer {
    /// The next event; none after the last.
    async fn next(&mut self) -> Option<String> {
        let mut wakeups = self.inbox.store().wakeups();
        loop {
            if self.ended {
                return None;
            }
            if self.looked {
                tokio::select! {
                    () = self.inbox.drained() => {
                        self.ended = true;
                        return Some("retry: 2000\n\n".to_owned());
                    }
                    () = wakeups.next() => tokio::time::sleep(TOGETHER).await,
                    () = tokio::time::sleep(LATEST) => {}
                }
            }
            self.looked = true;
            match self.content().await {
                // The next look may find the database again.
                Err(error) => tracing::debug!(%error, "a page could not be made anew"),
                Ok(Some(content)) => match self.news(&content) {
                    Some(event) => return Some(event),
                    None if self.quiet >= QUIET => {
                        self.quiet = 0;
                        return Some(": here\n\n".to_owned());
                    }
                    None => self.quiet = self.quiet.saturating_add(1),
                },
                Ok(None) => {
                    self.ended = true;
                    return Some("event: gone\ndata:\n\n".to_owned());
                }
            }
        }
    }

    /// What the page shows now; none where it is gone.
    async fn content(&self) -> Result<Option<Markup>, ViewError> {
        let engine = self.inbox.engine();
        match &self.feature {
            Some(key) => feature::content(engine, key).await,
            None => overview::content(engine).await.map(Some),
        }
    }

    fn news(&mut self, content: &Markup) -> Option<String> {
        let hash: [u8; 32] = Sha256::digest(&content.0).into();
        if self.shown == Some(hash) {
            return None;
        }
        (self.shown, self.quiet) = (Some(hash), 0);
        let lines: Vec<String> = content
            .0
            .split(['\n', '\r'])
            .map(|line| format!("data: {line}\n"))
            .collect();
        Some(format!("{}\n", lines.concat()))
    }
}
