//! Slows down guesses of the administrator's token, separately for each sender, so that wrong tokens of one keep nobody
//! else out. Behind a proxy, everybody has the proxy's address. Open sessions are not affected.

use axum::{extract::FromRequestParts, http::request::Parts};
use domain::ids::Millis;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, Ipv6Addr},
};

/// The most wrong tokens in a row of one sender.
const MOST: u64 = 30;

/// The time after which one more may be shown, in milliseconds.
const ONE_MORE_MS: u64 = 1_000;

/// The most senders that are counted separately.
const MOST_SENDERS: usize = 1_024;

/// The bits of an IPv6 address that a sender cannot choose. Providers give one customer all addresses with the same
/// first bits.
const SITE: u32 = 48;

/// Whoever sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sender {
    /// The site at this address, which is the other end of the connection.
    At(IpAddr),
    /// Everybody else.
    Other,
}

impl Sender {
    pub(super) fn at(address: IpAddr) -> Self {
        Self::At(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = u128::MAX << (Ipv6Addr::BITS - SITE);
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & network))
            }
            address @ IpAddr::V4(_) => address,
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Sender {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or(Self::Other))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenCheck {
    Right,
    Wrong,
    /// Too many were wrong, so this one was not checked.
    NotNow,
}

/// The wrong tokens that are not forgiven yet.
#[derive(Default)]
pub(super) struct TokenTries(Mutex<HashMap<Sender, WrongTries>>);

struct WrongTries {
    count: u64,
    /// The time up to which wrong tokens are forgiven.
    at: Millis,
}

impl WrongTries {
    fn forgive(&mut self, now: Millis) {
        let forgiven = now.0.abs_diff(self.at.0) / ONE_MORE_MS;
        if forgiven > 0 {
            self.count = self.count.saturating_sub(forgiven);
            self.at = now;
        }
    }
}

impl TokenTries {
    /// Checks a token with `is_right`, unless its sender has shown too many wrong ones.
    pub(super) fn check(&self, sender: Sender, now: Millis, is_right: impl FnOnce() -> bool) -> TokenCheck {
        let mut wrong = self.0.lock();
        let sender = counted_sender(&mut wrong, sender, now);
        if wrong.get(&sender).is_some_and(|wrong| wrong.count >= MOST) {
            return TokenCheck::NotNow;
        }
        if is_right() {
            return TokenCheck::Right;
        }
        let of_sender = wrong.entry(sender).or_insert(WrongTries { count: 0, at: now });
        of_sender.count = of_sender.count.saturating_add(1);
        TokenCheck::Wrong
    }
}

/// Forgives wrong tokens for the time that has passed, and returns the sender under whom the next token counts. Beyond
/// the most senders, all others share one count, so more addresses do not buy more guesses.
fn counted_sender(wrong: &mut HashMap<Sender, WrongTries>, sender: Sender, now: Millis) -> Sender {
    if let Some(wrong) = wrong.get_mut(&sender) {
        wrong.forgive(now);
        return sender;
    }
    if wrong.len() >= MOST_SENDERS {
        wrong.retain(|_, wrong| {
            wrong.forgive(now);
            wrong.count > 0
        });
    }
    if wrong.len() < MOST_SENDERS {
        return sender;
    }
    if let Some(wrong) = wrong.get_mut(&Sender::Other) {
        wrong.forgive(now);
    }
    Sender::Other
}

#[cfg(test)]
mod tests {
    use super::{MOST_SENDERS, Sender, TokenCheck, TokenTries};
    use domain::ids::Millis;
    use std::net::{IpAddr, Ipv4Addr};

    const NOW: Millis = Millis(1_000_000);

    fn sender(number: usize) -> Sender {
        let number = u32::try_from(number).unwrap();
        Sender::at(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    /// Shows 100 wrong tokens and returns how many were checked.
    fn looked_at(tries: &TokenTries, sender: Sender, now: Millis) -> usize {
        let checks = (0..100).map(|_| tries.check(sender, now, || false));
        checks.filter(|check| *check == TokenCheck::Wrong).count()
    }

    #[test]
    fn thirty_wrong_tokens_are_looked_at_and_then_one_a_second() {
        let tries = TokenTries::default();
        let looked_at = |from: i64, to: i64| {
            let checks = (from..to).step_by(10).map(|now| tries.check(Sender::Other, Millis(now), || false));
            checks.filter(|check| *check == TokenCheck::Wrong).count()
        };
        let check = |now| tries.check(Sender::Other, Millis(now), || true);
        assert_eq!(looked_at(1_000_000, 1_000_500), 30);
        assert_eq!(looked_at(1_000_500, 1_010_500), 10);
        assert_eq!(check(1_010_500), TokenCheck::NotNow);
        assert_eq!(check(1_012_000), TokenCheck::Right);
        assert_eq!(looked_at(0, 500), 30, "the clock was set back");
    }

    #[test]
    fn right_tokens_are_never_slowed_down() {
        let tries = TokenTries::default();
        assert!((0..1_000).all(|_| tries.check(Sender::Other, Millis(5), || true) == TokenCheck::Right));
    }

    #[test]
    fn wrong_tokens_of_one_sender_keep_no_other_out() {
        let tries = TokenTries::default();
        assert_eq!(looked_at(&tries, sender(1), NOW), 30);
        assert_eq!(tries.check(sender(1), NOW, || true), TokenCheck::NotNow);
        assert_eq!(tries.check(sender(2), NOW, || true), TokenCheck::Right);
    }

    #[test]
    fn more_senders_than_are_counted_share_one_bound_until_others_are_forgiven() {
        let tries = TokenTries::default();
        let all: usize = (0..MOST_SENDERS * 2).map(|number| looked_at(&tries, sender(number), NOW)).sum();
        assert_eq!(all, (MOST_SENDERS + 1) * 30);
        assert_eq!(looked_at(&tries, sender(MOST_SENDERS * 3), Millis(NOW.0 + 30_000)), 30);
    }

    #[test]
    fn a_site_is_one_sender() {
        let at = |address: &str| Sender::at(address.parse().unwrap());
        assert_eq!(at("2001:db8:1:2::3"), at("2001:db8:1:ffff::"));
        assert_ne!(at("2001:db8:1::"), at("2001:db8:2::"));
        assert_eq!(at("::ffff:192.0.2.1"), at("192.0.2.1"));
        assert_ne!(at("192.0.2.1"), at("192.0.2.2"));
    }
}
