//! A call about a repository, and the numbers in its path.

use crate::{
    auth::Right,
    call::{Call, RepoCall},
    refusal::{Refusal, Result},
};

/// A call about a repository before the caller's rights are checked.
pub(super) struct OfRepo<'a> {
    pub(super) call: &'a Call,
    pub(super) owner: &'a str,
    pub(super) name: &'a str,
}

impl<'a> OfRepo<'a> {
    pub(super) fn method(&self) -> &'a str {
        &self.call.method
    }

    pub(super) fn enter(&self, right: Right) -> Result<RepoCall<'a>> {
        self.call.enter(self.owner, self.name, right)
    }
}

/// Parses a number in a path; anything else is answered 404.
pub(super) fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|_| Refusal::not_found())
}
