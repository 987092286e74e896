//! Sends spans in batches. A batch that the collector does not accept after two tries is dropped; the work continues.

use crate::telemetry::{Span, TelemetrySettings, otlp};
use bytes::Bytes;
use http::{Method, Request, StatusCode, header::CONTENT_TYPE};
use http_body_util::Full;
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use std::time::Duration;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use uplink::{Connector, NoAuthorities, Uplink};

/// The most spans in one request.
const BATCH: usize = 512;
/// How long the first span of a batch waits for more.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);
const TRIES: u32 = 2;

#[derive(Debug)]
pub(super) enum SenderRequest {
    Span(Box<Span>),
    /// Send everything, then answer.
    Flush(oneshot::Sender<()>),
}

/// The state of the sending task.
pub(super) struct Sender {
    settings: TelemetrySettings,
    instance: String,
    client: Client<Connector, Full<Bytes>>,
    /// `true` if a failure was logged already. It is logged once, not for every batch.
    has_complained: bool,
}

/// The reason why the collector did not accept a batch.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("it cannot be reached: {0}")]
    Unreachable(#[from] hyper_util::client::legacy::Error),
    #[error("it does not answer in time")]
    Late,
    #[error("it answered {0}")]
    Refused(StatusCode),
}

impl NotTaken {
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Late => true,
            Self::Refused(status) => matches!(status.as_u16(), 429 | 502 | 503 | 504),
        }
    }
}

impl Sender {
    pub(super) fn new(settings: TelemetrySettings, instance: &str, uplink: &Uplink) -> Result<Self, NoAuthorities> {
        Ok(Self {
            settings,
            instance: instance.to_owned(),
            client: Client::builder(TokioExecutor::new()).build(uplink.connector()?),
            has_complained: false,
        })
    }

    /// Runs until all senders of messages are dropped.
    pub(super) async fn work(mut self, mut requests: mpsc::Receiver<SenderRequest>) {
        let mut batch: Vec<Span> = Vec::new();
        let mut due = Instant::now();
        loop {
            let request = tokio::select! {
                request = requests.recv() => request,
                () = tokio::time::sleep_until(due), if !batch.is_empty() => {
                    self.send(&mut batch).await;
                    continue;
                }
            };
            match request {
                Some(SenderRequest::Span(span)) => {
                    if batch.is_empty() {
                        due = Instant::now() + PATIENCE;
                    }
                    batch.push(*span);
                    if batch.len() >= BATCH {
                        self.send(&mut batch).await;
                    }
                }
                Some(SenderRequest::Flush(done)) => {
                    self.send(&mut batch).await;
                    // The caller of `flush` may have stopped waiting.
                    let _ = done.send(());
                }
                None => return self.send(&mut batch).await,
            }
        }
    }

    async fn send(&mut self, batch: &mut Vec<Span>) {
        let spans = std::mem::take(batch);
        if spans.is_empty() {
            return;
        }
        let request = otlp::request(&self.settings.service, &self.instance, &spans);
        let body = Bytes::from(request.to_string());
        for tries in 1.. {
            match self.send_once(body.clone()).await {
                Ok(()) => {
                    self.has_complained = false;
                    return;
                }
                Err(error) if error.may_pass() && tries < TRIES => tokio::time::sleep(PAUSE).await,
                Err(error) => {
                    if !std::mem::replace(&mut self.has_complained, true) {
                        let spans = spans.len();
                        tracing::warn!(%error, "the OpenTelemetry collector took none of {spans} spans; they are lost");
                    }
                    return;
                }
            }
        }
    }

    async fn send_once(&self, body: Bytes) -> Result<(), NotTaken> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        // The settings checked the address, so this does not fail. If it did, the collector at `/` would answer 404,
        // which is logged.
        *request.uri_mut() = self.settings.endpoint.as_str().parse().unwrap_or_default();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
        headers.extend(self.settings.headers.iter().cloned());
        let answer = tokio::time::timeout(self.settings.timeout, self.client.request(request)).await;
        let status = answer.map_err(|_| NotTaken::Late)??.status();
        if status.is_success() { Ok(()) } else { Err(NotTaken::Refused(status)) }
    }
}
