//! Detects Deno.

use crate::detect::repository::{Detection, Repository};
use serde_json::Value;

pub(super) const FILES: &[&str] = &["deno.json", "deno.jsonc"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    let manifest: Value = serde_json::from_str(&plain_json(&repository.text(file)?)).ok()?;
    // `test` outside `tasks` holds options of the runner.
    let test = if manifest.pointer("/tasks/test").is_some() { "deno task test" } else { "deno test" };
    let needs = repository.has("deno.lock") || manifest.get("imports").is_some();
    Some(Detection::new(if needs { "deno install" } else { "" }, test, file))
}

/// Returns JSON without its comments and without commas before a closing bracket, both of which Deno allows.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('"', _) => {
                plain.push(c);
                while let Some(c) = chars.next() {
                    plain.push(c);
                    match c {
                        '"' => break,
                        '\\' => plain.extend(chars.next()),
                        _ => {}
                    }
                }
            }
            ('/', Some('/')) => while chars.next_if(|c| *c != '\n').is_some() {},
            ('/', Some('*')) => {
                let mut before = ' ';
                chars.next();
                for c in chars.by_ref() {
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
            }
            (']' | '}', _) => {
                let end = plain.trim_end().len();
                if plain.get(..end).is_some_and(|plain| plain.ends_with(',')) {
                    plain.truncate(end.saturating_sub(1));
                }
                plain.push(c);
            }
            (c, _) => plain.push(c),
        }
    }
    plain
}
