//! Sessions of this process: whose they are, and which ended before their time. Their cookies would still hold.

use domain::ids::{Millis, User, UserId};
use page_parts::session::Session;
use secrecy::SecretString;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// Who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Who showed the administrator's token.
    Operator,
    /// Whom GitHub named.
    Person(User),
}

impl Who {
    /// Whose a session is that holds: what its cookie says is signed.
    pub(super) fn of(session: &Session) -> Self {
        let Some(holder) = session.holder() else {
            return Self::Operator;
        };
        // Who has no number is nobody on GitHub.
        let (id, login) = holder.split_once('-').unwrap_or_default();
        Self::Person(User {
            id: UserId(id.parse().unwrap_or_default()),
            login: login.to_owned(),
        })
    }
}

/// How many began, and which were ended.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    begun: AtomicU64,
    ended: Mutex<Vec<Session>>,
}

impl Sessions {
    /// A new one.
    pub(super) fn begin(&self, admin: &SecretString, now: Millis, who: &Who) -> Session {
        let session = (now.0, self.number());
        match who {
            Who::Operator => Session::begin(admin, session.0, session.1),
            Who::Person(person) => Session::of_holder(admin, session, &format!("{}-{}", person.id, person.login)),
        }
    }

    /// A number that no session and no sign-in of this process has.
    pub(super) fn number(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::Relaxed)
    }

    /// Ends a session; those whose time is over are forgotten.
    pub(super) fn end(&self, session: Session, admin: &SecretString, now: Millis) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|session| session.holds(admin, now.0));
        ended.push(session);
    }

    /// Whether it was ended.
    pub(super) fn has_ended(&self, session: &Session) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.contains(session)
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
