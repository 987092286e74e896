//! The webhook inbox: it checks a delivery's signature, size and use, stores it, and only then acknowledges it.

use crate::{
    engine::{
        Engine,
        deliveries::{DeliveryFailure, DeliveryOutcome, DeliveryRequest},
    },
    github::{
        OAuthApp,
        webhook::{DeliveryHeaders, HeaderError, Signature, SignatureError, verify},
    },
    store::{DeliverySource, MemoryShare},
    web::{
        bodies::{BODY_PATIENCE, Bodies, BodyFailure},
        dashboard::readings::OpenPages,
        log_throttle::LogThrottle,
        token_tries::{TokenCheck, TokenTries, WRONG_TAKES},
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
    ids::{Millis, RepoName},
};
use futures_util::future::BoxFuture;
use page_parts::session::{is_key, signed};
use secrecy::{ExposeSecret, SecretString};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// The largest body, in bytes: GitHub sends nothing larger than 25 MB.
pub const MAX_BODY: usize = 25 * 1024 * 1024;

/// How long a delivery may take to be stored: GitHub hangs up after ten seconds, and its body took some of them.
pub const STORE_PATIENCE: Duration = Duration::from_secs(8);

/// The seconds after which a refused sender may try again.
const ROOM_AGAIN: u64 = BODY_PATIENCE.as_secs();

/// A function that checks everything that the service needs, and a repository if one is given. Its rows hold no secret.
pub type Doctor = Arc<dyn Fn(Option<RepoName>) -> BoxFuture<'static, Vec<Row>> + Send + Sync>;

/// The inbox of deliveries, and the state of the routes beside it.
pub struct Inbox {
    pub(super) engine: Arc<Engine>,
    secrets: Vec<SecretString>,
    pub(super) draining: CancellationToken,
    pub patience: Duration,
    /// How long the store may take for a delivery.
    pub store_patience: Duration,
    bodies: Bodies,
    unsigned: LogThrottle,
    crowded_out: LogThrottle,
    pub(super) admin: Option<Admin>,
    pub(super) viewers: Viewers,
    pub doctor: Option<Doctor>,
    pub oauth: Option<OAuthApp>,
    pub(super) pages: OpenPages,
}

/// The token, and the key that signs sessions. With the token alone as the key, a stranger with a signature could test
/// guesses of the token without asking the service.
pub(super) struct Admin {
    pub(super) token: SecretString,
    pub(super) signing: SecretString,
    tries: TokenTries,
}

impl Admin {
    /// Checks if the text is the token. A wrong one is answered later.
    pub(super) async fn check(&self, shown: &str, now: Millis) -> TokenCheck {
        if is_key(shown, &self.token) {
            return TokenCheck::Right;
        }
        let check = self.tries.wrong(now);
        if check == TokenCheck::Wrong {
            tracing::warn!("somebody showed a wrong administrator's token");
            tokio::time::sleep(WRONG_TAKES).await;
        }
        check
    }
}

/// The people who may see the dashboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Viewers {
    SignedIn,
    /// People on this machine who have the key of this run.
    WithKey,
}

impl Inbox {
    /// Creates an inbox for the AutoBuild App; `secrets` are the present webhook secret and, while it is being changed,
    /// the previous one.
    pub fn new(engine: Arc<Engine>, secrets: Vec<SecretString>, draining: CancellationToken) -> Self {
        Self {
            engine,
            secrets,
            draining,
            patience: BODY_PATIENCE,
            store_patience: STORE_PATIENCE,
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

    /// Adds metrics and a dashboard for people with this token. Sessions are signed with a key made from `own`, which
    /// must be secret, and the token, so they end when the token changes.
    pub fn with_admin(self, token: SecretString, own: &SecretString) -> Self {
        let signing = SecretString::from(signed(own, token.expose_secret()));
        Self { admin: Some(Admin { token, signing, tries: TokenTries::default() }), ..self }
    }

    /// Adds a dashboard for people who open it by an address with this key, for a service that listens on loopback
    /// only. The key replaces the administrator's token.
    pub fn with_key(self, key: SecretString) -> Self {
        Self {
            admin: Some(Admin { token: key.clone(), signing: key, tries: TokenTries::default() }),
            viewers: Viewers::WithKey,
            ..self
        }
    }

    pub(super) fn now(&self) -> Millis {
        self.engine.now()
    }
}

/// `POST /webhook`.
pub(super) async fn webhook(State(inbox): State<Arc<Inbox>>, request: Request) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    let headers = DeliveryHeaders::read(&parts.headers).map_err(|error| {
        let status = match error {
            HeaderError::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            HeaderError::Missing(_) | HeaderError::Malformed(_) => StatusCode::BAD_REQUEST,
        };
        (status, format!("{error}\n")).into_response()
    })?;
    let unsigned = |error: SignatureError| {
        if let Some(refused) = inbox.unsigned.count_event(inbox.now()) {
            tracing::warn!(
                delivery = %headers.delivery,
                refused,
                "delivery {} is refused: {error}; {refused} without a valid signature since this was last told",
                headers.delivery
            );
        }
        (StatusCode::UNAUTHORIZED, format!("{error}\n")).into_response()
    };
    // The signature's form is checked before the body is read, so a sender without one costs no memory.
    let signature = Signature::read(headers.signature.as_deref()).map_err(unsigned)?;
    let (body, share) = whole(&inbox, body).await?;
    verify(&inbox.secrets, &body, &signature).map_err(unsigned)?;
    Ok(store(&inbox, headers, body, share).await.into_response())
}

/// Stores a signed delivery, if it is of use.
async fn store(inbox: &Inbox, headers: DeliveryHeaders, body: Vec<u8>, share: MemoryShare) -> (StatusCode, String) {
    let DeliveryHeaders { event, delivery, .. } = headers;
    let request = DeliveryRequest { id: delivery.clone(), event, body, share, source: DeliverySource::Webhook };
    match tokio::time::timeout(inbox.store_patience, inbox.engine.accept(request)).await {
        Ok(Ok(DeliveryOutcome::Stored(_))) => (StatusCode::ACCEPTED, "stored\n".to_owned()),
        Ok(Ok(DeliveryOutcome::NotNeeded)) => (StatusCode::ACCEPTED, "not needed\n".to_owned()),
        Ok(Err(DeliveryFailure::Payload(error))) => (StatusCode::BAD_REQUEST, format!("{error}\n")),
        // If it is in the store's queue already, it is stored later, and counts as a body until then. A replay finds it.
        Err(_) => {
            tracing::error!(%delivery, "delivery {delivery} could not be stored in time: the database does not answer");
            let said = "the delivery could not be stored in time; send it again\n";
            (StatusCode::SERVICE_UNAVAILABLE, said.to_owned())
        }
        Ok(Err(DeliveryFailure::Store(error))) => {
            tracing::error!(%error, %delivery, "delivery {delivery} could not be stored");
            let said = "the delivery could not be stored; send it again\n";
            (StatusCode::SERVICE_UNAVAILABLE, said.to_owned())
        }
    }
}

/// Returns the whole body with its share of the memory for bodies, or the answer that refuses it.
async fn whole(inbox: &Inbox, body: Body) -> Result<(Vec<u8>, MemoryShare), Response> {
    let (status, said) = match tokio::time::timeout(inbox.patience, inbox.bodies.read(body, MAX_BODY)).await {
        Ok(Ok(whole)) => return Ok(whole),
        Ok(Err(BodyFailure::NoRoom)) => return Err(no_room(inbox)),
        Ok(Err(BodyFailure::TooLarge)) => {
            (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is over {MAX_BODY} bytes\n"))
        }
        Ok(Err(BodyFailure::BrokenOff)) => (StatusCode::BAD_REQUEST, "the body did not arrive whole\n".to_owned()),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time\n".to_owned()),
    };
    Err((status, said).into_response())
}

fn no_room(inbox: &Inbox) -> Response {
    if let Some(refused) = inbox.crowded_out.count_event(inbox.now()) {
        tracing::warn!(
            refused,
            "deliveries are refused, since others hold all the memory that there is for bodies: {refused} since this \
             was last told"
        );
    }
    let said = "too many large bodies at once; send it again\n";
    (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, ROOM_AGAIN)], said).into_response()
}
