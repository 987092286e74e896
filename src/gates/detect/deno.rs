//! Detects Deno.

use crate::gates::detect::repository::{Found, Repository};

pub(super) const FILES: &[&str] = &["deno.json", "deno.jsonc"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Found> {
    let file = repository.first(FILES)?;
    let text = repository.text(file)?;
    // The file may hold comments, so it is not parsed: a task and a dependency have plain keys.
    let test = match text.contains("\"test\":") {
        true => "deno task test",
        false => "deno test",
    };
    let needs = repository.has("deno.lock") || text.contains("\"imports\"");
    Some(Found::new(if needs { "deno install" } else { "" }, test, file))
}
