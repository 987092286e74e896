//! Finds the tests inside a Rust file: items for tests, macros that declare tests, and examples in doc comments.

use super::{attributes, is_for_tests};
use crate::language::{
    outline::Source,
    syntax::At,
    test_parts::{TestParts, whole_lines},
};
use std::ops::Range;

const CONTAINERS: &[&str] = &["mod_item", "impl_item", "trait_item"];

pub(super) fn test_parts(source: &Source<'_>) -> TestParts {
    let text = source.root.text();
    let mut parts = TestParts::default();
    items(text, source.root, "", &mut parts);
    parts.ends.push((String::new(), text.len()));
    parts.parts.sort_by_key(|part| part.range.start);
    parts
}

fn items(text: &str, around: At<'_>, container: &str, parts: &mut TestParts) {
    let mut comments: Vec<At<'_>> = Vec::new();
    for at in around.everything() {
        if at.is(&["line_comment", "block_comment"]) {
            comments.push(at);
            continue;
        }
        if at.is(&["attribute_item"]) || !at.is_named() {
            continue;
        }
        let comments = std::mem::take(&mut comments);
        if is_for_tests(at) || at.is(&["macro_invocation", "expression_statement"]) && at.text().contains("#[test]") {
            parts.add(text, container, name(at), with_comments(at, &comments));
            continue;
        }
        let inside = format!("{container}/{}", name(at));
        examples(text, &inside, at, &comments, parts);
        if let Some(body) = at.field("body").filter(|_| at.is(CONTAINERS)) {
            items(text, body, &inside, parts);
            let end = body.range().end.saturating_sub(1);
            parts.ends.push((inside, whole_lines(text, end..end).start));
        }
    }
}

fn name(at: At<'_>) -> String {
    let name = match at.kind() {
        "impl_item" => format!("{} {}", at.field_text("trait"), at.field_text("type")),
        "use_declaration" => at.phrase(),
        "macro_invocation" => at.field_text("macro").to_owned(),
        _ => at.field_text("name").to_owned(),
    };
    format!("{} {name}", at.kind())
}

fn with_comments(at: At<'_>, comments: &[At<'_>]) -> Range<usize> {
    let first = attributes(at).last().unwrap_or(at);
    let start = comments.iter().rfind(|comment| comment.text().starts_with("//!"));
    let after = start.map_or(0, |comment| comment.range().end);
    let above = comments.iter().map(|comment| comment.range().start).find(|start| *start >= after);
    above.unwrap_or(usize::MAX).min(first.range().start)..at.range().end
}

/// Adds the examples in the doc comments of an item.
fn examples(text: &str, container: &str, at: At<'_>, comments: &[At<'_>], parts: &mut TestParts) {
    let first = attributes(at).last().unwrap_or(at).range().start;
    let docs = comments.iter().filter(|comment| comment.text().starts_with("///"));
    let mut begun: Option<usize> = None;
    let mut end = None;
    for comment in docs {
        let range = comment.range();
        end = Some(range.end);
        let is_fence = comment.text().trim_start_matches('/').trim_start().starts_with("```");
        match (is_fence, begun) {
            (true, None) => begun = Some(range.start),
            (true, Some(start)) => {
                let stop = range.start.saturating_add(comment.text().trim_end().len());
                parts.add(text, container, "example".to_owned(), start..stop);
                begun = None;
            }
            (false, _) => {}
        }
    }
    let end = end.unwrap_or(first);
    let line = text.get(..end).and_then(|before| before.rfind('\n')).map_or(0, |at| at.saturating_add(1));
    let next = text
        .get(end..)
        .and_then(|rest| rest.find('\n'))
        .map_or(text.len(), |at| end.saturating_add(at).saturating_add(1));
    let is_at_start = end == line || end == first;
    parts.ends.push((container.to_owned(), if is_at_start { line } else { next }));
}
