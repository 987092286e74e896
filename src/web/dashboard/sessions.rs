//! Sessions of this process: which ended before their time. Their cookies would still hold.

use domain::ids::Millis;
use page_parts::session::Session;
use secrecy::SecretString;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// How many began, and which were ended.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    begun: AtomicU64,
    ended: Mutex<Vec<Session>>,
}

impl Sessions {
    /// A new one.
    pub(super) fn begin(&self, admin: &SecretString, now: Millis) -> Session {
        Session::begin(admin, now.0, self.begun.fetch_add(1, Ordering::Relaxed))
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
