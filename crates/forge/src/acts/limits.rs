//! What every deed is held to: the longest text, and that the repository can be written to.

use crate::{
    refusal::{Refusal, Result},
    state::Repo,
};

/// GitHub refuses longer texts.
const LONGEST_BODY: usize = 65_536;

const TOO_LONG: &str = "Body is too long (maximum is 65536 characters)";

pub(super) fn check_body(resource: &str, field: &str, body: &str) -> Result {
    if body.chars().count() > LONGEST_BODY {
        return Err(Refusal::custom(resource, field, TOO_LONG));
    }
    Ok(())
}

/// The same, as review endpoints say it.
pub(super) fn check_review_body(body: &str) -> Result {
    if body.chars().count() > LONGEST_BODY {
        return Err(Refusal::sentence(TOO_LONG));
    }
    Ok(())
}

pub(super) fn check_writable(repo: &Repo) -> Result {
    if repo.archived {
        return Err(Refusal::new(403, "Repository was archived so is read-only."));
    }
    Ok(())
}
