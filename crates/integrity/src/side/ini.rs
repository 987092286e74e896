//! Reads `[section]`, `key = value` or `key: value`, and indented continuation lines.

use super::sections::{self, Line, Section};

pub(super) fn sections(text: &str) -> Option<Vec<Section<'_>>> {
    sections::sections(text, |_, line| Some(read(line)))
}

fn read(line: &str) -> Line {
    let plain = line.trim();
    if plain.is_empty() || plain.starts_with(['#', ';']) {
        return Line::Comment;
    }
    let is_indented = line.starts_with([' ', '\t']);
    let header = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match (is_indented, header, plain.split_once(['=', ':'])) {
        (false, Some(name), _) => Line::Header(name.split('.').map(str::to_owned).collect()),
        (false, None, Some((key, _))) => Line::Key(vec![key.trim().to_owned()]),
        _ => Line::Continued,
    }
}
