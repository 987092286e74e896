//! Sessions, of twelve hours, of browsers that presented a key. Nothing is stored: the key signs the cookie, so a new
//! key ends the session. Services on one machine with the same key share sessions, because cookies ignore ports.

use hmac::{Hmac, Mac};
use http::{
    HeaderMap,
    header::{COOKIE, HOST},
    uri::Authority,
};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// The start of the cookie's name. It ends with letters made from the key, so that services with different keys on one
/// host have different cookies.
const NAME: &str = "autobuild_session_";
/// The life of a session, in milliseconds.
const LASTS: i64 = 12 * 60 * 60 * 1_000;
/// The query parameter that holds the key.
const PARAMETER: &str = "key";

/// The session of a browser that presented the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    cookie: String,
    value: String,
}

/// The pages from which a browser sends the cookie, and the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Also from links on other sites, over TLS only.
    Tls,
    /// Also from links on other sites, over plain HTTP too.
    Plain,
    /// Only from pages of this machine.
    ThisMachine,
}

impl Reach {
    /// Returns how a browser reaches a service that itself speaks plain HTTP: a header of the proxy in front shows if
    /// TLS was used.
    pub fn of(headers: &HeaderMap) -> Self {
        if headers.get("x-forwarded-proto").is_some_and(|proto| proto == "https") { Self::Tls } else { Self::Plain }
    }
}

/// Returns the `Set-Cookie` header for a path and a time in seconds; 0 removes the cookie. Over plain HTTP, as on one's
/// own machine, the cookie cannot be `Secure`.
pub fn set_cookie(name: &str, value: &str, path: &str, seconds: i64, reach: Reach) -> String {
    let site = match reach {
        Reach::Tls => "Lax; Secure",
        Reach::Plain => "Lax",
        Reach::ThisMachine => "Strict",
    };
    format!("{name}={value}; Path={path}; HttpOnly; Max-Age={seconds}; SameSite={site}")
}

/// Returns `true` if a request's `Host` is this machine. An attacker's host name that resolves to this machine (DNS
/// rebinding) does not count.
pub fn is_of_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = host.and_then(|host| host.parse::<Authority>().ok()) else {
        return false;
    };
    let name = host.host();
    let address = name.trim_start_matches('[').trim_end_matches(']').parse();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The answer to a request that names another host.
pub const OTHER_HOST: &str = "This address is for this machine alone: open it as http://127.0.0.1 with its port.\n";

/// The answer to a browser that has neither the key nor a session.
pub const NO_KEY: &str = "Only the person who started this can see it. First open the dashboard's address, as its terminal shows it with `?key=`: \
     every link works in that browser then.\n";

/// Returns the address with the key.
pub fn with_key(address: &str, key: &SecretString) -> String {
    format!("{address}?{PARAMETER}={}", key.expose_secret())
}

/// Returns the `Refresh` header that sends a browser which presented the key to the same address without it. A redirect
/// would not work: after a link from elsewhere, such as a page on disk, the browser follows a redirect without the
/// cookies of [`Reach::ThisMachine`].
pub fn refresh(to: &str) -> String {
    format!("0; url={to}")
}

/// The relation of a request to the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The request belongs to a session.
    In(Session),
    /// The request has the key. The browser is sent to the same address without the key, with this cookie.
    Begins {
        /// The `Set-Cookie` header.
        cookie: String,
        /// The path without the key.
        to: String,
    },
    /// The request has neither.
    Refused,
}

impl Entry {
    /// Examines a request for this address; `now` is in epoch milliseconds.
    pub fn of(path: &str, query: Option<&str>, headers: &HeaderMap, key: &SecretString, now: i64) -> Self {
        let pairs = query.into_iter().flat_map(|query| query.split('&'));
        let (keys, rest): (Vec<&str>, Vec<&str>) = pairs.partition(|pair| pair.split('=').next() == Some(PARAMETER));
        let shown = keys.first().and_then(|pair| pair.split_once('='));
        match shown.filter(|(_, shown)| is_key(shown, key)) {
            Some(_) => Self::Begins {
                cookie: Session::begin(key, now, 0, None).cookie(Reach::ThisMachine),
                to: match (path.trim_start_matches('/'), rest.is_empty()) {
                    (path, true) => format!("/{path}"),
                    (path, false) => format!("/{path}?{}", rest.join("&")),
                },
            },
            None => Session::of(headers, key, now).map_or(Self::Refused, Self::In),
        }
    }
}

impl Session {
    /// Begins a session now, in epoch milliseconds; `number` makes it differ from others that begin in the same
    /// millisecond. The holder's name must only have characters that a cookie can hold.
    pub fn begin(key: &SecretString, now: i64, number: u64, holder: Option<&str>) -> Self {
        let holder = holder.map_or_else(String::new, |holder| format!("-{holder}"));
        let named = format!("{}-{number}{holder}", now.saturating_add(LASTS));
        let signature = signed(key, &format!("session {named}"));
        Self { cookie: cookie_name(key), value: format!("{named}.{signature}") }
    }

    /// Returns the holder that a valid session names.
    pub fn holder(&self) -> Option<&str> {
        self.name().splitn(3, '-').nth(2)
    }

    /// Returns the session's name, which differs from other sessions'. It is no secret: the cookie is the name and its
    /// signature.
    pub fn name(&self) -> &str {
        self.value.rsplit_once('.').map_or(&self.value, |(named, _)| named)
    }

    /// Returns the session's end, in epoch milliseconds.
    pub fn until(&self) -> i64 {
        until(&self.value).unwrap_or_default()
    }

    /// Returns the valid session of a request, if it has one.
    pub fn of(headers: &HeaderMap, key: &SecretString, now: i64) -> Option<Self> {
        let cookie = cookie_name(key);
        let value = cookies(headers, &cookie).find(|value| holds(value, key, now))?.to_owned();
        Some(Self { cookie, value })
    }

    /// Returns the token that this session's forms carry, so that no other site can send them.
    pub fn form_token(&self, key: &SecretString) -> String {
        signed(key, &format!("form {}", self.value))
    }

    /// Returns the `Set-Cookie` header that starts the session.
    pub fn cookie(&self, reach: Reach) -> String {
        set_cookie(&self.cookie, &self.value, "/", LASTS / 1_000, reach)
    }

    /// Returns the `Set-Cookie` header that removes the cookie.
    pub fn no_cookie(&self) -> String {
        set_cookie(&self.cookie, "", "/", 0, Reach::Plain)
    }
}

fn cookie_name(key: &SecretString) -> String {
    let own: String = signed(key, "name").chars().take(8).collect();
    format!("{NAME}{own}")
}

/// Returns the values of a request's cookies of this name.
pub fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    pairs.filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// Returns `true` if a text is the key; compares in constant time.
pub fn is_key(shown: &str, key: &SecretString) -> bool {
    is_same(shown.trim(), key.expose_secret())
}

/// Returns `true` if two texts are the same; compares in constant time.
pub fn is_same(one: &str, other: &str) -> bool {
    let code = |text: &str| {
        let mac = <Hmac<Sha256> as Mac>::new(&Default::default());
        mac.chain_update(text).finalize()
    };
    // The `hmac` crate compares codes in constant time.
    code(one) == code(other)
}

fn until(value: &str) -> Option<i64> {
    value.split('-').next()?.parse().ok()
}

fn holds(value: &str, key: &SecretString, now: i64) -> bool {
    let Some((named, signature)) = value.rsplit_once('.') else {
        return false;
    };
    let is_current = until(value).is_some_and(|until| now < until);
    is_current && is_same(signature, &signed(key, &format!("session {named}")))
}

/// Returns a text's signature, which needs the key.
pub fn signed(key: &SecretString, text: &str) -> String {
    let key = Sha256::digest(key.expose_secret());
    let mut mac = match Hmac::<Sha256>::new_from_slice(&key) {
        Ok(mac) => mac,
        // HMAC accepts keys of any length.
        Err(_) => return String::new(),
    };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
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
    fn a_session_holds_for_its_time_and_its_key_alone() {
        let (key, other) = (SecretString::from("key"), SecretString::from("other"));
        let session = Session::begin(&key, 1_000, 0, None);
        let cookie = format!("a=b; {}={}", session.cookie, session.value);
        assert_eq!(Session::of(&headers(&cookie), &key, 2_000), Some(session.clone()));
        assert_eq!(Session::of(&headers(&cookie), &key, 1_000 + LASTS), None);
        assert_eq!(Session::of(&headers(&cookie), &other, 2_000), None);
        for forged in ["", "x", "99999999999999.", "99999999999999.00", &format!("9{}", session.value)] {
            let cookie = format!("{}={forged}", session.cookie);
            assert_eq!(Session::of(&headers(&cookie), &key, 2_000), None, "{forged}");
        }
        assert_ne!(session.form_token(&key), Session::begin(&key, 1, 0, None).form_token(&key));
        assert_eq!((session.name(), session.until()), ("43201000-0", 1_000 + LASTS));
    }

    #[test]
    fn whom_a_session_names_cannot_be_changed() {
        let key = SecretString::from("key");
        let session = Session::begin(&key, 1_000, 7, Some("33-ada.x-y"));
        let read = |value: &str| Session::of(&headers(&format!("{}={value}", session.cookie)), &key, 2_000);
        assert_eq!(read(&session.value).unwrap().holder(), Some("33-ada.x-y"));
        assert_eq!(Session::begin(&key, 1_000, 7, None).holder(), None);
        for (from, to) in [("-33-ada", "-34-ada"), ("-33-ada", "-33-eve"), ("-33-ada.x-y", "")] {
            assert_eq!(read(&session.value.replace(from, to)), None, "{to}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        let of = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, host.parse().unwrap());
            is_of_this_machine(&headers)
        };
        for own in ["127.0.0.1:8080", "localhost", "LocalHost:80", "[::1]", "[::1]:80", "127.1.2.3"] {
            assert!(of(own), "{own}");
        }
        for other in ["evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "", "[::2]"]
        {
            assert!(!of(other), "{other}");
        }
        assert!(!is_of_this_machine(&HeaderMap::new()));
    }

    #[test]
    fn the_key_becomes_a_cookie_of_this_machine_and_leaves_the_address() {
        let key = SecretString::from("secret");
        let entry = |query, headers: &HeaderMap| Entry::of("/a/b", query, headers, &key, 5);
        for query in [None, Some("key="), Some("key=guessed"), Some("keys=secret")] {
            assert_eq!(entry(query, &HeaderMap::new()), Entry::Refused, "{query:?}");
        }
        let Entry::Begins { cookie, to } = entry(Some("x=1&key=secret&y=2"), &HeaderMap::new()) else {
            panic!("it shows the key")
        };
        assert_eq!(to, "/a/b?x=1&y=2");
        assert!(cookie.ends_with("SameSite=Strict") && cookie.contains("HttpOnly") && !cookie.contains("secret"));
        let session = headers(cookie.split(';').next().unwrap());
        assert_eq!(entry(None, &session), Entry::In(Session::begin(&key, 5, 0, None)));
        assert_eq!(with_key("http://127.0.0.1:1/", &key), "http://127.0.0.1:1/?key=secret");
    }

    #[test]
    fn the_cookie_is_for_the_browser_alone() {
        let session = Session::begin(&SecretString::from("admin"), 0, 0, None);
        assert!(session.cookie(Reach::Tls).ends_with("SameSite=Lax; Secure"));
        assert!(session.cookie(Reach::Plain).ends_with("HttpOnly; Max-Age=43200; SameSite=Lax"));
    }
}
