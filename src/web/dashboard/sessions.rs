//! Finds the viewer of a request: the holder of its session, if the session is valid and was not ended.

use crate::{
    store::{NameUse, StoreError},
    web::inbox::Inbox,
};
use axum::extract::FromRequestParts;
use domain::ids::{Millis, User, UserId};
use http::{HeaderMap, Method, request::Parts};
use page_parts::session::Session;
use secrecy::SecretString;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SessionHolder {
    /// An operator, who has the administrator's token or this run's key, and sees everything.
    Operator,
    /// A person whom GitHub named, who sees the repositories that they may read there.
    Person(User),
}

impl SessionHolder {
    /// Returns the holder of a valid session. Its cookie is signed, so its content is trusted.
    fn of(session: &Session) -> Self {
        let Some(holder) = session.holder() else {
            return Self::Operator;
        };
        // Without an id, the holder gets id 0, which nobody on GitHub has.
        let (id, login) = holder.split_once('-').unwrap_or_default();
        Self::Person(User { id: UserId(id.parse().unwrap_or_default()), login: login.to_owned() })
    }
}

/// The number of sessions and sign-ins of this process.
#[derive(Debug, Default)]
pub(super) struct Sessions(AtomicU64);

impl Sessions {
    pub(super) fn begin(&self, admin: &SecretString, now: Millis, who: &SessionHolder) -> Session {
        let holder = match who {
            SessionHolder::Operator => None,
            SessionHolder::Person(person) => Some(format!("{}-{}", person.id, person.login)),
        };
        Session::begin(admin, now.0, self.number(), holder.as_deref())
    }

    /// Returns a number that no other session or sign-in of this process has.
    pub(super) fn number(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Returns the name under which an ended session is stored.
fn ended_name(session: &Session) -> String {
    format!("session {}", session.name())
}

/// Ends a session for every process that works on this database.
pub(super) async fn end(inbox: &Inbox, session: &Session) -> Result<NameUse, StoreError> {
    let until = Millis(session.until());
    inbox.engine.store.spend(&ended_name(session), until, inbox.now()).await
}

pub(super) struct Viewer {
    pub(super) session: Session,
    pub(super) who: SessionHolder,
}

/// The reason why a request has no viewer.
#[derive(Debug)]
pub(super) enum NotIn {
    /// There is no valid session.
    SignedOut {
        /// The page that was asked for; `None` if a form was sent.
        wanted: Option<String>,
    },
    /// The database does not answer, so the session cannot be checked.
    NoDatabase,
}

impl Viewer {
    /// Returns the viewer of a request, if it has a valid session.
    pub(super) async fn of(inbox: &Inbox, headers: &HeaderMap) -> Result<Option<Self>, StoreError> {
        let signing = inbox.admin.as_ref().map(|admin| &admin.signing);
        let Some(session) = signing.and_then(|key| Session::of(headers, key, inbox.now().0)) else {
            return Ok(None);
        };
        if inbox.engine.store.is_spent(&ended_name(&session)).await? {
            return Ok(None);
        }
        let who = SessionHolder::of(&session);
        Ok(Some(Self { session, who }))
    }

    /// `true` if the viewer may see the pages about the whole service.
    pub(super) fn sees_everything(&self) -> bool {
        self.who == SessionHolder::Operator
    }
}

impl FromRequestParts<Arc<Inbox>> for Viewer {
    type Rejection = NotIn;

    async fn from_request_parts(parts: &mut Parts, inbox: &Arc<Inbox>) -> Result<Self, NotIn> {
        let wanted = || {
            let page = parts.uri.path_and_query().filter(|_| parts.method == Method::GET);
            page.map(ToString::to_string)
        };
        match Self::of(inbox, &parts.headers).await {
            Ok(Some(viewer)) => Ok(viewer),
            Ok(None) => Err(NotIn::SignedOut { wanted: wanted() }),
            Err(error) => {
                tracing::warn!(%error, "whether a session was ended is not known");
                Err(NotIn::NoDatabase)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_whose_it_is() {
        let (sessions, admin) = (Sessions::default(), SecretString::from("admin"));
        let person = User { id: UserId(33), login: "ada-of-acme_x.y".to_owned() };
        for who in [SessionHolder::Operator, SessionHolder::Person(person)] {
            assert_eq!(SessionHolder::of(&sessions.begin(&admin, Millis(1_000), &who)), who);
        }
    }
}
