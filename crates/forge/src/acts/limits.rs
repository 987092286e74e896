//! What every deed is held to: the longest text, and that the repository can be written to.

use crate::{refusal::Refusal, state::Repo};

/// GitHub refuses longer texts.
pub(crate) const LONGEST_BODY: usize = 65_536;

pub(super) fn check_body(resource: &str, field: &str, body: &str) -> Result<(), Refusal> {
    if body.chars().count() > LONGEST_BODY {
        return Err(Refusal::custom(
            resource,
            field,
            "Body is too long (maximum is 65536 characters)",
        ));
    }
    Ok(())
}

pub(super) fn check_writable(repo: &Repo) -> Result<(), Refusal> {
    if repo.archived {
        return Err(Refusal::new(403, "Repository was archived so is read-only."));
    }
    Ok(())
}
