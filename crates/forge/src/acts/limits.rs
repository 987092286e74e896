//! The longest texts that all acts accept.

use crate::refusal::{Refusal, Result};

/// The longest text that GitHub accepts, in characters.
const LONGEST_BODY: usize = 65_536;

const TOO_LONG: &str = "Body is too long (maximum is 65536 characters)";

pub(super) fn check_body(resource: &str, field: &str, body: &str) -> Result {
    if body.chars().count() > LONGEST_BODY {
        return Err(Refusal::custom(resource, field, TOO_LONG));
    }
    Ok(())
}

/// Checks a text's length; the refusal is in the words of the review endpoints.
pub(super) fn check_review_body(body: &str) -> Result {
    if body.chars().count() > LONGEST_BODY {
        return Err(Refusal::sentence(TOO_LONG));
    }
    Ok(())
}
