//! Who may see the dashboard, for twelve hours: whoever showed the administrator's token, and people whom GitHub named.
//! Nothing is stored: the cookie is signed with the token, and ends with it.

use axum::http::{
    HeaderMap,
    header::{COOKIE, HOST},
};
use domain::ids::{Millis, User, UserId};
use hmac::{Hmac, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// The cookie's name.
const NAME: &str = "autobuild_session";
/// How long it holds, in milliseconds.
const LASTS: i64 = 12 * 60 * 60 * 1_000;

/// The sessions of this process: how many began, and which ended before their time. Their cookies would still hold.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    begun: AtomicU64,
    ended: Mutex<Vec<Session>>,
}

impl Sessions {
    /// A new one.
    pub(super) fn begin(&self, admin: &SecretString, now: Millis, who: &Who) -> Session {
        Session::begin(admin, now, self.number(), who)
    }

    /// A number that no session and no sign-in of this process has.
    pub(super) fn number(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::Relaxed)
    }

    /// Ends a session; those whose time is over are forgotten.
    pub(super) fn end(&self, session: Session, admin: &SecretString, now: Millis) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|session| holds(&session.0, admin, now));
        ended.push(session);
    }

    /// Whether it was ended.
    pub(super) fn has_ended(&self, session: &Session) -> bool {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(session)
    }
}

/// Who signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Who showed the administrator's token.
    Operator,
    /// Whom GitHub named.
    Person(User),
}

/// Somebody who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Session(String);

/// Whether a request names this machine as its host: a page of elsewhere whose name was made to lead here does not.
pub(super) fn is_of_this_machine(headers: &HeaderMap) -> bool {
    let host = headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

impl Session {
    /// A session from now on; `number` tells it from others that begin at the same moment.
    fn begin(admin: &SecretString, now: Millis, number: u64, who: &Who) -> Self {
        let until = now.0.saturating_add(LASTS);
        let named = match who {
            Who::Operator => format!("{until}-{number}"),
            Who::Person(person) => format!("{until}-{number}-{}-{}", person.id, person.login),
        };
        let signature = signed(admin, &format!("session {named}"));
        Self(format!("{named}.{signature}"))
    }

    /// The session of a request, if it has one that holds.
    pub(super) fn of(headers: &HeaderMap, admin: &SecretString, now: Millis) -> Option<Self> {
        cookies(headers, NAME)
            .find(|value| holds(value, admin, now))
            .map(|value| Self(value.to_owned()))
    }

    /// Who signed in. The signature holds, so that what stands before it is ours.
    pub(super) fn who(&self) -> Who {
        let named = self.0.rsplit_once('.').map_or("", |(named, _)| named);
        let mut parts = named.splitn(4, '-').skip(2);
        match (parts.next().and_then(|id| id.parse().ok()), parts.next()) {
            (Some(id), Some(login)) => Who::Person(User {
                id: UserId(id),
                login: login.to_owned(),
            }),
            (_, _) => Who::Operator,
        }
    }

    /// What a form of this session carries, so that no other site can send it.
    pub(super) fn form_token(&self, admin: &SecretString) -> String {
        signed(admin, &format!("form {}", self.0))
    }

    /// The header that gives it to a browser. Over plain HTTP, as on one's own machine, it cannot be `Secure`.
    pub(super) fn cookie(&self, over_tls: bool) -> String {
        let secure = if over_tls { "; Secure" } else { "" };
        format!(
            "{NAME}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{secure}",
            self.0,
            LASTS / 1_000
        )
    }

    /// The header that takes it back.
    pub(super) fn no_cookie() -> String {
        format!("{NAME}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0")
    }
}

/// What forms carry on pages that are open to this machine.
pub(super) fn token_of_this_machine(secret: &SecretString) -> String {
    signed(secret, "form of this machine")
}

/// The values of a request's cookies of this name.
pub(super) fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    pairs.filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// Whether two texts are the same, in a time that tells nothing.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}

fn holds(value: &str, admin: &SecretString, now: Millis) -> bool {
    let Some((named, signature)) = value.rsplit_once('.') else {
        return false;
    };
    let until = named.split('-').next().unwrap_or_default();
    let is_current = until.parse().is_ok_and(|until: i64| now.0 < until);
    is_current && is_same(signature, &signed(admin, &format!("session {named}")))
}

/// A text's signature, which only who has the token can make.
pub(super) fn signed(admin: &SecretString, text: &str) -> String {
    let key = Sha256::digest(admin.expose_secret());
    let mut mac = match Hmac::<Sha256>::new_from_slice(&key) {
        Ok(mac) => mac,
        // HMAC takes keys of any length.
        Err(_) => return String::new(),
    };
    mac.update(text.as_bytes());
    mac.finalize()
        .into_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookie: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, cookie.parse().unwrap());
        headers
    }

    #[test]
    fn a_session_holds_for_its_time_and_its_token_alone() {
        let (admin, other) = (SecretString::from("admin"), SecretString::from("other"));
        let session = Session::begin(&admin, Millis(1_000), 0, &Who::Operator);
        let cookie = format!("a=b; {}={}", NAME, session.0);
        assert_eq!(
            Session::of(&headers(&cookie), &admin, Millis(2_000)),
            Some(session.clone())
        );
        assert_eq!(Session::of(&headers(&cookie), &admin, Millis(1_000 + LASTS)), None);
        assert_eq!(Session::of(&headers(&cookie), &other, Millis(2_000)), None);
        for forged in [
            "",
            "x",
            "99999999999999.",
            "99999999999999.00",
            &format!("9{}", session.0),
        ] {
            let cookie = format!("{NAME}={forged}");
            assert_eq!(Session::of(&headers(&cookie), &admin, Millis(2_000)), None, "{forged}");
        }
        assert_ne!(
            session.form_token(&admin),
            Session::begin(&admin, Millis(1_000), 1, &Who::Operator).form_token(&admin)
        );
    }

    #[test]
    fn a_session_says_whose_it_is_and_nobody_can_change_that() {
        let admin = SecretString::from("admin");
        let person = Who::Person(User {
            id: UserId(33),
            login: "ada-of-acme_x.y".to_owned(),
        });
        for who in [Who::Operator, person] {
            let session = Session::begin(&admin, Millis(1_000), 7, &who);
            let cookie = format!("{NAME}={}", session.0);
            let read = Session::of(&headers(&cookie), &admin, Millis(2_000)).unwrap();
            assert_eq!(read.who(), who);
        }
        let ada = Session::begin(
            &admin,
            Millis(1_000),
            7,
            &Who::Person(User {
                id: UserId(33),
                login: "ada".to_owned(),
            }),
        );
        for forged in [
            ada.0.replace("-33-ada", "-34-ada"),
            ada.0.replace("-33-ada", "-33-eve"),
            ada.0.replace("-33-ada", ""),
        ] {
            let cookie = format!("{NAME}={forged}");
            assert_eq!(Session::of(&headers(&cookie), &admin, Millis(2_000)), None, "{forged}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        let of = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            is_of_this_machine(&headers)
        };
        assert!(of("127.0.0.1:8080") && of("localhost") && of("[::1]:80"));
        assert!(!of("evil.example:8080") && !of("127.0.0.1.evil.example") && !is_of_this_machine(&HeaderMap::new()));
    }

    #[test]
    fn the_cookie_is_for_the_browser_alone() {
        let session = Session::begin(&SecretString::from("admin"), Millis(0), 0, &Who::Operator);
        assert!(session.cookie(true).ends_with("; Secure") && session.cookie(false).contains("HttpOnly; SameSite=Lax"));
        assert!(!session.cookie(false).contains("Secure"));
    }
}
