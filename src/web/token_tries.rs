//! Slows down guesses of the administrator's token. The bound is the server's and not a sender's: behind a proxy everybody has
//! one address. Sessions that are open go on while it is reached.

use domain::ids::Millis;
use std::sync::{Mutex, PoisonError};

/// The most wrong tokens in a row.
const MOST: u64 = 30;

/// How long until one more may be shown, in milliseconds.
const ONE_MORE_MS: u64 = 1_000;

/// The result of checking a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenCheck {
    Right,
    Wrong,
    /// Too many were wrong: this one was not looked at.
    NotNow,
}

/// The wrong tokens that are not forgiven yet.
#[derive(Default)]
pub(super) struct TokenTries(Mutex<Wrong>);

#[derive(Default)]
struct Wrong {
    count: u64,
    /// The time up to which they are forgiven.
    at: Option<Millis>,
}

impl TokenTries {
    /// Checks a token with `is_right`, unless too many were wrong.
    pub(super) fn check(&self, now: Millis, is_right: impl FnOnce() -> bool) -> TokenCheck {
        let mut wrong = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let forgiven = now.0.abs_diff(wrong.at.unwrap_or(now).0) / ONE_MORE_MS;
        if forgiven > 0 || wrong.at.is_none() {
            wrong.count = wrong.count.saturating_sub(forgiven);
            wrong.at = Some(now);
        }
        if wrong.count >= MOST {
            return TokenCheck::NotNow;
        }
        if is_right() {
            return TokenCheck::Right;
        }
        wrong.count = wrong.count.saturating_add(1);
        TokenCheck::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenCheck, TokenTries};
    use domain::ids::Millis;

    #[test]
    fn thirty_wrong_tokens_are_looked_at_and_then_one_a_second() {
        let tries = TokenTries::default();
        let looked_at = |from: i64, to: i64| {
            let checks = (from..to).step_by(10).map(|now| tries.check(Millis(now), || false));
            checks.filter(|check| *check == TokenCheck::Wrong).count()
        };
        assert_eq!(looked_at(1_000_000, 1_000_500), 30);
        assert_eq!(looked_at(1_000_500, 1_010_500), 10);
        assert_eq!(tries.check(Millis(1_010_500), || true), TokenCheck::NotNow);
        assert_eq!(tries.check(Millis(1_012_000), || true), TokenCheck::Right);
        assert_eq!(looked_at(0, 500), 30, "the clock was set back");
    }

    #[test]
    fn right_tokens_are_never_slowed_down() {
        let tries = TokenTries::default();
        assert!((0..1_000).all(|_| tries.check(Millis(5), || true) == TokenCheck::Right));
    }
}
