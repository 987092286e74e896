//! Reads rules of make files and recipes of just.

use super::sections::{self, Line, Section};

pub(super) fn sections(text: &str) -> Option<Vec<Section<'_>>> {
    let mut is_open = false;
    sections::sections(text, |_, line| {
        let goes_on = std::mem::replace(&mut is_open, line.trim_end().ends_with('\\'));
        Some(if goes_on { Line::Continued } else { read(line) })
    })
}

fn read(line: &str) -> Line {
    let plain = line.trim();
    if plain.is_empty() || line.starts_with('#') {
        return Line::Comment;
    }
    if line.starts_with([' ', '\t']) {
        return Line::Continued;
    }
    let is_value = |rest: &str| rest.starts_with('=') || rest.starts_with(":=");
    match plain.split_once(':') {
        Some((targets, rest)) if !targets.contains('=') && !is_value(rest) => {
            Line::Key(vec![targets.split_whitespace().next().unwrap_or_default().to_owned()])
        }
        // The `=` keeps a variable apart from the target of its name.
        _ => Line::Key(vec![format!("={plain}")]),
    }
}
