//! Finds the viewer of a request: the holder of its session, if the session is valid and was not ended.

use crate::{
    store::{Spent, StoreError},
    web::{admin::Admin, inbox::Inbox},
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

/// A person who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// An operator, who entered the administrator's token.
    Operator,
    /// A person whom GitHub named.
    Person(User),
}

impl Who {
    /// Returns the holder of a valid session. Its cookie is signed, so its content is trusted.
    fn of(session: &Session) -> Self {
        let Some(holder) = session.holder() else {
            return Self::Operator;
        };
        // Without an id, the holder gets id 0, which nobody on GitHub has.
        let (id, login) = holder.split_once('-').unwrap_or_default();
        Self::Person(User {
            id: UserId(id.parse().unwrap_or_default()),
            login: login.to_owned(),
        })
    }
}

/// The number of sessions and sign-ins of this process.
#[derive(Debug, Default)]
pub(super) struct Sessions(AtomicU64);

impl Sessions {
    /// Begins a new session.
    pub(super) fn begin(&self, admin: &SecretString, now: Millis, who: &Who) -> Session {
        let session = (now.0, self.number());
        match who {
            Who::Operator => Session::begin(admin, session.0, session.1),
            Who::Person(person) => Session::of_holder(admin, session, &format!("{}-{}", person.id, person.login)),
        }
    }

    /// Returns a number that no other session or sign-in of this process has.
    pub(super) fn number(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Returns the name under which an ended session is stored.
fn ended(session: &Session) -> String {
    format!("session {}", session.name())
}

/// Ends a session for every process that works on this database.
pub(super) async fn end(inbox: &Inbox, session: &Session) -> Result<Spent, StoreError> {
    let until = Millis(session.until());
    inbox.store().spend(&ended(session), until, inbox.now()).await
}

/// The viewer of a request.
pub(super) enum Viewer {
    /// A viewer with the administrator's token, or this run's key, who sees everything.
    Whole(Session),
    /// A person who sees what they may read on GitHub.
    Person(Session, User),
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
        let signing = inbox.admin().map(Admin::signing);
        let Some(session) = signing.and_then(|key| Session::of(headers, key, inbox.now().0)) else {
            return Ok(None);
        };
        if inbox.store().is_spent(&ended(&session)).await? {
            return Ok(None);
        }
        Ok(Some(match Who::of(&session) {
            Who::Operator => Self::Whole(session),
            Who::Person(person) => Self::Person(session, person),
        }))
    }

    pub(super) fn session(&self) -> &Session {
        match self {
            Self::Whole(session) | Self::Person(session, _) => session,
        }
    }

    /// `true` if the viewer may see the pages about the whole service.
    pub(super) fn sees_everything(&self) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Person(..) => false,
        }
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
        let person = User {
            id: UserId(33),
            login: "ada-of-acme_x.y".to_owned(),
        };
        for who in [Who::Operator, Who::Person(person)] {
            assert_eq!(Who::of(&sessions.begin(&admin, Millis(1_000), &who)), who);
        }
    }
}
