//! The webhook inbox: it checks a delivery's signature, size and use, stores it, and only then acknowledges it.

use crate::{
    engine::{Engine, ingest::Ingest},
    github::{
        OAuthApp,
        webhook::{Admission, DeliveryHeaders, HeaderError, OwnApps, Signature, SignatureError, admit, verify},
    },
    store::{NewDelivery, Store},
    web::{
        admin::Admin,
        bodies::{BODY_PATIENCE, Bodies, Unread, Whole},
        dashboard::readings::OpenPages,
        log_throttle::LogThrottle,
    },
};
use axum::{
    body::Body,
    extract::{Request, State},
    http::{StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use domain::{
    diagnosis::Row,
    ids::{AppId, Millis, RepoName},
};
use futures_util::future::BoxFuture;
use page_parts::session::signed;
use secrecy::{ExposeSecret, SecretString};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// The largest body, in bytes: GitHub sends nothing larger than 25 MB.
pub const MAX_BODY: usize = 25 * 1024 * 1024;

/// The seconds after which a refused sender may try again.
const ROOM_AGAIN: u64 = BODY_PATIENCE.as_secs();

/// A function that checks everything that the service needs, and a repository if one is named; its rows hold no secret.
pub type Doctor = Arc<dyn Fn(Option<RepoName>) -> BoxFuture<'static, Vec<Row>> + Send + Sync>;

/// The inbox of deliveries, and the state of the routes beside it.
pub struct Inbox {
    engine: Arc<Engine>,
    app: AppId,
    secrets: Vec<SecretString>,
    draining: CancellationToken,
    patience: Duration,
    bodies: Bodies,
    unsigned: LogThrottle,
    crowded_out: LogThrottle,
    admin: Option<Admin>,
    viewers: Viewers,
    doctor: Option<Doctor>,
    oauth: Option<OAuthApp>,
    pages: OpenPages,
}

/// The people who may see the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Viewers {
    /// People who signed in.
    SignedIn,
    /// People on this machine who have the key of this run.
    WithKey,
}

impl Inbox {
    /// Creates an inbox for the AutoBuild App; `secrets` are the present webhook secret and, while it is being changed,
    /// the previous one.
    #[must_use]
    pub fn new(engine: Arc<Engine>, secrets: Vec<SecretString>, draining: CancellationToken) -> Self {
        let app = engine.autobuild.app_id();
        Self {
            engine,
            app,
            secrets,
            draining,
            patience: BODY_PATIENCE,
            bodies: Bodies::new(),
            unsigned: LogThrottle::default(),
            crowded_out: LogThrottle::default(),
            admin: None,
            viewers: Viewers::SignedIn,
            doctor: None,
            oauth: None,
            pages: OpenPages::default(),
        }
    }

    /// Sets another time limit for slow bodies.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Adds metrics and a dashboard for people with this token. Sessions are signed with a key made from `own`, which
    /// must be secret, and the token, so they end when the token changes.
    #[must_use]
    pub fn with_admin(self, token: SecretString, own: &SecretString) -> Self {
        let signing = SecretString::from(signed(own, token.expose_secret()));
        Self {
            admin: Some(Admin::new(token, signing)),
            ..self
        }
    }

    /// Adds a dashboard for people who open it by an address with this key, for a service that listens on loopback
    /// only. The key replaces the administrator's token.
    #[must_use]
    pub fn with_key(self, key: SecretString) -> Self {
        Self {
            admin: Some(Admin::new(key.clone(), key)),
            viewers: Viewers::WithKey,
            ..self
        }
    }

    /// Adds a page that shows operators what is wrong.
    #[must_use]
    pub fn with_doctor(self, doctor: Doctor) -> Self {
        Self {
            doctor: Some(doctor),
            ..self
        }
    }

    /// Opens the dashboard also to people who sign in with GitHub, if there is an OAuth client.
    #[must_use]
    pub fn with_sign_in(self, app: Option<OAuthApp>) -> Self {
        Self { oauth: app, ..self }
    }

    pub(super) fn oauth(&self) -> Option<&OAuthApp> {
        self.oauth.as_ref()
    }

    pub(super) fn doctor(&self) -> Option<&Doctor> {
        self.doctor.as_ref()
    }

    pub(super) fn viewers(&self) -> Viewers {
        self.viewers
    }

    pub(super) fn admin(&self) -> Option<&Admin> {
        self.admin.as_ref()
    }

    pub(super) fn pages(&self) -> &OpenPages {
        &self.pages
    }

    pub(super) fn now(&self) -> Millis {
        self.engine.now()
    }

    pub(super) fn store(&self) -> &Store {
        &self.engine.store
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Waits until the service is about to stop.
    pub(super) async fn drained(&self) {
        self.draining.cancelled().await;
    }

    /// Returns the level and limits of isolation, for people.
    pub(super) fn isolation(&self) -> serde_json::Value {
        let sandbox = &self.engine.sandbox;
        serde_json::json!({
            "level": sandbox.level().to_string(),
            "means": sandbox.level().means(),
            "missing": sandbox.missing(),
            "limits": sandbox.limits_held_by(),
        })
    }

    pub(super) fn is_draining(&self) -> bool {
        self.draining.is_cancelled()
    }

    fn own_apps(&self) -> OwnApps {
        let coach = self.engine.coach.as_ref();
        OwnApps::of(&std::iter::once(&self.engine.autobuild).chain(coach).collect::<Vec<_>>())
    }
}

/// An answer: a status, and one line that says what to do.
type Answer = (StatusCode, String);

/// `POST /webhook`.
pub(super) async fn webhook(State(inbox): State<Arc<Inbox>>, request: Request) -> Response {
    let answer = match receive(&inbox, request).await {
        Ok(answer) | Err(Refusal::Final(answer)) => answer,
        Err(Refusal::NoRoom) => {
            if let Some(refused) = inbox.crowded_out.happened(inbox.now()) {
                tracing::warn!(
                    refused,
                    "deliveries are refused, since others hold all the memory that there is for bodies: {refused} since \
                     this was last told"
                );
            }
            let said = "too many large bodies at once; send it again\n";
            return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, ROOM_AGAIN)], said).into_response();
        }
    };
    answer.into_response()
}

/// The reason why a delivery is refused.
enum Refusal {
    /// The delivery itself is unacceptable.
    Final(Answer),
    /// Other bodies use all the memory at this moment.
    NoRoom,
}

impl From<Answer> for Refusal {
    fn from(answer: Answer) -> Self {
        Self::Final(answer)
    }
}

async fn receive(inbox: &Inbox, request: Request) -> Result<Answer, Refusal> {
    let (parts, body) = request.into_parts();
    let headers = DeliveryHeaders::read(&parts.headers).map_err(|error| {
        let status = match error {
            HeaderError::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            HeaderError::Missing(_) | HeaderError::Malformed(_) => StatusCode::BAD_REQUEST,
        };
        (status, format!("{error}\n"))
    })?;
    let unsigned = |error: SignatureError| {
        if let Some(refused) = inbox.unsigned.happened(inbox.now()) {
            tracing::warn!(
                delivery = %headers.delivery,
                refused,
                "delivery {} is refused: {error}; {refused} without a valid signature since this was last told",
                headers.delivery
            );
        }
        (StatusCode::UNAUTHORIZED, format!("{error}\n"))
    };
    // The signature's form is checked before the body is read, so a sender without one costs no memory.
    let signature = Signature::read(headers.signature.as_deref()).map_err(unsigned)?;
    let (body, held) = whole(inbox, body).await?.into_parts();
    verify(&inbox.secrets, &body, &signature).map_err(unsigned)?;
    let stored = store(inbox, headers, body).await?;
    drop(held);
    Ok(stored)
}

/// Stores a signed delivery, if it is of use.
async fn store(inbox: &Inbox, headers: DeliveryHeaders, body: Vec<u8>) -> Result<Answer, Answer> {
    let summary = match admit(&headers.event, &body, &inbox.own_apps()) {
        Ok(Admission::Keep(summary)) => summary,
        Ok(Admission::Drop(..)) => return Ok((StatusCode::ACCEPTED, "not needed\n".to_owned())),
        Err(error) => return Err((StatusCode::BAD_REQUEST, format!("{error}\n"))),
    };
    let payload =
        String::from_utf8(body).map_err(|_| (StatusCode::BAD_REQUEST, "the body is not UTF-8\n".to_owned()))?;
    let now = inbox.engine.now();
    let delivery = NewDelivery {
        app: inbox.app,
        id: headers.delivery.clone(),
        event: headers.event,
        installation: summary.installation,
        repo: summary.repo,
        payload,
        received_at: now,
    };
    let ingest = Ingest {
        app: inbox.app,
        delivery: headers.delivery,
    };
    let effect = ingest.effect(summary.installation, summary.repo, now);
    match inbox.engine.store.accept_delivery(delivery, Some(effect)).await {
        Ok(_) => Ok((StatusCode::ACCEPTED, "stored\n".to_owned())),
        Err(error) => {
            tracing::error!(%error, delivery = %ingest.delivery, "delivery {} could not be stored", ingest.delivery);
            Err((
                StatusCode::SERVICE_UNAVAILABLE,
                "the delivery could not be stored; send it again\n".to_owned(),
            ))
        }
    }
}

async fn whole(inbox: &Inbox, body: Body) -> Result<Whole, Refusal> {
    match tokio::time::timeout(inbox.patience, inbox.bodies.read(body, MAX_BODY)).await {
        Ok(Ok(whole)) => Ok(whole),
        Ok(Err(Unread::NoRoom)) => Err(Refusal::NoRoom),
        Ok(Err(Unread::TooLarge)) => {
            let said = format!("the body is over {MAX_BODY} bytes\n");
            Err((StatusCode::PAYLOAD_TOO_LARGE, said).into())
        }
        Ok(Err(Unread::BrokenOff)) => {
            Err((StatusCode::BAD_REQUEST, "the body did not arrive whole\n".to_owned()).into())
        }
        Err(_) => {
            let said = "the body did not arrive in time\n".to_owned();
            Err((StatusCode::REQUEST_TIMEOUT, said).into())
        }
    }
}
