//! Items of a review that stand on a line of the diff.

use crate::messages::{
    items,
    measure::{MAX_CHARS, first},
    review::{Inline, Review},
    suggestion::replacement,
    untrusted,
};
use domain::decision::Issue;

/// GitHub takes more, but nobody reads them.
const MOST: usize = 40;
const TEXT: usize = 4_000;
/// A folded comment is one entry among others.
const FOLDED: usize = 1_200;

/// Comments for items whose line the diff shows, the heaviest first, and the items that stay in the body.
pub(super) fn split<'a>(items: &'a [Issue], in_diff: &dyn Fn(&str, u32) -> bool) -> (Vec<Inline>, Vec<&'a Issue>) {
    let mut inline = Vec::new();
    let mut rest = Vec::new();
    for item in items {
        match (&item.file, item.line) {
            (Some(path), Some(line)) if inline.len() < MOST && in_diff(path, line) => {
                let comment = Inline {
                    path: path.clone(),
                    line,
                    body: body(item),
                };
                inline.push((item.severity, comment));
            }
            _ => rest.push(item),
        }
    }
    inline.sort_by_key(|(severity, _)| *severity);
    (inline.into_iter().map(|(_, comment)| comment).collect(), rest)
}

fn body(item: &Issue) -> String {
    let head = format!(
        "**{}** [{}] {}",
        items::word(item.severity),
        untrusted::inline(&item.category, 60),
        untrusted::inline(&item.description, TEXT)
    );
    match item.suggestion.as_deref().filter(|text| !text.trim().is_empty()) {
        None => head,
        Some(text) => match replacement(text) {
            Some(code) => format!("{head}\n\n{}", untrusted::fence_exact(code, "suggestion")),
            None => format!("{head}\n\nSuggestion:\n\n{}", untrusted::quote(text, TEXT)),
        },
    }
}

/// The review's body with its comments on lines as entries.
pub(super) fn fold(review: &Review) -> String {
    if review.inline.is_empty() {
        return review.body.clone();
    }
    let room = MAX_CHARS.saturating_sub(review.body.chars().count());
    let entry = |inline: &Inline| {
        format!(
            "{}, line {}:\n\n{}",
            untrusted::code(&inline.path, 200),
            inline.line,
            inline.body
        )
    };
    let fitting = review
        .inline
        .iter()
        .map(entry)
        .filter(|entry| entry.chars().count() <= FOLDED);
    let mut used = 200;
    let mut kept: Vec<String> = Vec::new();
    for entry in fitting {
        let length = entry.chars().count() + 2;
        if used + length <= room {
            used += length;
            kept.push(entry);
        }
    }
    let left = review.inline.len() - kept.len();
    let mut parts = vec![review.body.clone(), "#### Items on lines".to_owned()];
    parts.extend(first(&kept, MOST, Clone::clone, |_| String::new()));
    if left > 0 {
        parts.push(format!("And {left} more, too long to be shown here."));
    }
    parts.join("\n\n")
}
