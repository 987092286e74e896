//! Answers wrong administrator's tokens slowly, up to a bound. Every token is compared, so that guesses never keep out
//! whoever has the right one; what stops guesses is its length. Open sessions are not affected.

use domain::ids::Millis;
use parking_lot::Mutex;
use std::time::Duration;

/// The time after which a wrong token is answered.
pub(super) const WRONG_TAKES: Duration = Duration::from_millis(500);

/// The most wrong tokens in a row that are answered slowly, since each holds a connection. Others are refused at once.
const MOST: u64 = 30;

/// The time after which one wrong token is forgiven, in milliseconds.
const FORGIVEN_MS: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenCheck {
    Right,
    Wrong,
    /// It is wrong, and so were too many before it.
    TooMany,
}

/// The wrong tokens that are not forgiven yet.
pub(super) struct TokenTries(Mutex<WrongTries>);

struct WrongTries {
    count: u64,
    /// The time up to which wrong tokens are forgiven.
    at: Millis,
}

impl Default for TokenTries {
    fn default() -> Self {
        Self(Mutex::new(WrongTries { count: 0, at: Millis(0) }))
    }
}

impl TokenTries {
    /// Counts a wrong token.
    pub(super) fn wrong(&self, now: Millis) -> TokenCheck {
        let mut tries = self.0.lock();
        let forgiven = now.0.abs_diff(tries.at.0) / FORGIVEN_MS;
        if forgiven > 0 {
            tries.count = tries.count.saturating_sub(forgiven);
            tries.at = now;
        }
        if tries.count >= MOST {
            return TokenCheck::TooMany;
        }
        tries.count = tries.count.saturating_add(1);
        TokenCheck::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenCheck, TokenTries};
    use domain::ids::Millis;

    #[test]
    fn thirty_wrong_tokens_are_answered_slowly_and_then_one_a_second() {
        let tries = TokenTries::default();
        let slow = |from: i64, to: i64| {
            let checks = (from..to).step_by(10).map(|now| tries.wrong(Millis(now)));
            checks.filter(|check| *check == TokenCheck::Wrong).count()
        };
        assert_eq!(slow(1_000_000, 1_000_500), 30);
        assert_eq!(slow(1_000_500, 1_010_500), 10);
        assert_eq!(slow(0, 500), 30, "the clock was set back");
    }
}
