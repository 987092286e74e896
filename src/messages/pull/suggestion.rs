//! The Coach's suggestions that GitHub can apply.

use crate::messages::form::untrusted;

/// The largest suggestion, in bytes; GitHub accepts more, but nobody reads it.
const TEXT: usize = 4_000;

/// Returns the code that replaces the line: a suggestion that is indented or ends like a statement, and so is not
/// prose, or the content of one that is a single fenced block. `None` for all other text.
pub(crate) fn replacement(text: &str) -> Option<&str> {
    let code = match fenced(text) {
        Some(inside) => inside,
        None => Some(text.trim_end()).filter(|text| is_code(text))?,
    };
    let fits = !code.trim().is_empty() && code.len() <= TEXT && !code.contains("<!--") && untrusted::is_visible(code);
    fits.then_some(code)
}

fn is_code(text: &str) -> bool {
    let capital = text.starts_with(char::is_uppercase);
    let indented = text.starts_with([' ', '\t']);
    !text.contains('`') && (indented || (!capital && text.ends_with([';', '{', '}'])))
}

fn fenced(text: &str) -> Option<&str> {
    let (opening, rest) = text.trim().split_once('\n')?;
    let marks = opening.len() - opening.trim_start_matches('`').len();
    let fence = opening.get(..marks).filter(|marks| marks.len() >= 3)?;
    let inside = rest.strip_suffix(fence)?.strip_suffix('\n')?;
    (!inside.contains(fence)).then_some(inside)
}
