//! The administrator's token: who shows it, and what guessing it costs.

use axum::extract::FromRequestParts;
use domain::ids::Millis;
use http::request::Parts;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Mutex, PoisonError},
};

/// Wrong tokens that cost nothing: a person mistypes.
const FREE: u32 = 5;
/// The longest wait, in milliseconds.
const LONGEST_WAIT: i64 = 60_000;
/// An address that was quiet for so long begins anew.
const FORGOTTEN: i64 = 60 * 60_000;
/// Addresses that are remembered.
const MOST_ADDRESSES: usize = 10_000;

/// The address at the other end of a connection; behind a proxy it is the proxy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer(pub(super) IpAddr);

impl Peer {
    /// Whoever has an address of IPv6 has a whole network of them.
    fn network(self) -> IpAddr {
        match self.0 {
            IpAddr::V4(_) => self.0,
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let unknown = Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        Ok(parts.extensions.get().copied().unwrap_or(unknown))
    }
}

/// The token, and who guessed it wrong.
pub(super) struct Admin {
    token: SecretString,
    signing: SecretString,
    wrong: Mutex<HashMap<IpAddr, Wrong>>,
}

#[derive(Clone, Copy)]
struct Wrong {
    times: u32,
    last: Millis,
}

impl Wrong {
    /// Nothing is looked at before.
    fn until(self) -> Millis {
        let wait = match self.times.checked_sub(FREE) {
            None => 0,
            Some(more) => 1_000_i64.saturating_mul(2_i64.saturating_pow(more)).min(LONGEST_WAIT),
        };
        self.last.plus(wait)
    }
}

/// What somebody showed as the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// It is the token.
    Right,
    /// It is not.
    Wrong,
    /// Nobody looked: too many were wrong before.
    TooSoon {
        /// When to come again.
        seconds: u64,
    },
}

impl Admin {
    /// With what sessions are signed. Strangers see signatures: made with the token alone, they would tell who guesses it
    /// without asking us.
    pub(super) fn new(token: SecretString, signing: SecretString) -> Self {
        Self {
            token,
            signing,
            wrong: Mutex::default(),
        }
    }

    pub(super) fn token(&self) -> &SecretString {
        &self.token
    }

    pub(super) fn signing(&self) -> &SecretString {
        &self.signing
    }

    /// Whether a text is the token; compared by hashes, so that the time tells nothing of it. After five wrong ones from
    /// an address each costs a wait that doubles, in which none of that address is looked at.
    pub(super) fn judge(&self, shown: &str, from: Peer, now: Millis) -> Shown {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let network = from.network();
        wrong.retain(|_, wrong| now.0.saturating_sub(wrong.last.0) < FORGOTTEN);
        let known = wrong.get(&network).copied();
        if let Some(until) = known.map(Wrong::until).filter(|until| *until > now) {
            let rest = u64::try_from(until.0.saturating_sub(now.0)).unwrap_or(0);
            return Shown::TooSoon {
                seconds: rest.div_ceil(1_000),
            };
        }
        if Sha256::digest(shown.trim()) == Sha256::digest(self.token.expose_secret()) {
            wrong.remove(&network);
            return Shown::Right;
        }
        if known.is_some() || wrong.len() < MOST_ADDRESSES {
            let times = known.map_or(0, |known| known.times).saturating_add(1);
            wrong.insert(network, Wrong { times, last: now });
        }
        Shown::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::{Admin, Peer, Shown};
    use domain::ids::Millis;
    use secrecy::SecretString;

    const TOKEN: &str = "the administrator's";

    fn peer(address: &str) -> Peer {
        Peer(address.parse().unwrap())
    }

    #[test]
    fn guesses_cost_a_wait_that_doubles_and_nobody_else_waits() {
        let admin = Admin::new(SecretString::from(TOKEN), SecretString::from(""));
        let (guesser, other) = (peer("192.0.2.1"), peer("192.0.2.2"));
        let at = |shown: &str, ms: i64| admin.judge(shown, guesser, Millis(ms));
        for _ in 0..5 {
            assert_eq!(at("guess", 0), Shown::Wrong);
        }
        assert_eq!(at(TOKEN, 999), Shown::TooSoon { seconds: 1 }, "not even the right one");
        assert_eq!(admin.judge(TOKEN, other, Millis(999)), Shown::Right);
        assert_eq!(at("guess", 1_000), Shown::Wrong);
        assert_eq!(at("guess", 2_000), Shown::TooSoon { seconds: 1 });
        assert_eq!(at("guess", 3_000), Shown::Wrong);
        assert_eq!(at("guess", 3_001), Shown::TooSoon { seconds: 4 });
        assert_eq!(at(TOKEN, 7_000), Shown::Right);
        assert_eq!(at("guess", 7_000), Shown::Wrong, "a right one begins anew");
        assert_eq!(at("guess", 7_000), Shown::Wrong);
    }

    #[test]
    fn a_wait_lasts_a_minute_at_most_and_is_forgotten_after_an_hour() {
        let admin = Admin::new(SecretString::from(TOKEN), SecretString::from(""));
        let from = peer("2001:db8::1");
        let mut now = 0;
        for _ in 0..40 {
            assert_eq!(admin.judge("guess", from, Millis(now)), Shown::Wrong);
            now += 60_000;
        }
        now -= 59_000;
        let neighbour = peer("2001:db8::2");
        assert_eq!(
            admin.judge("guess", neighbour, Millis(now)),
            Shown::TooSoon { seconds: 59 },
            "of the same network"
        );
        now += 3_600_000;
        for _ in 0..2 {
            assert_eq!(admin.judge("guess", from, Millis(now)), Shown::Wrong);
        }
    }
}
