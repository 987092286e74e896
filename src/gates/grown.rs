//! Whether a change adds anything to the product: lines that only move, or only call the same by another name, do not.

use crate::gates::change::Change;
use integrity::{FileChange, Version, language::Role};
use std::collections::BTreeMap;

/// Lines, and how often each is there.
type Lines = BTreeMap<String, usize>;

/// Whether the product has a line that it had not in any form, other than comments and imports.
pub(crate) fn grows(change: &Change) -> bool {
    let is_unread = change
        .of_role(Role::Source)
        .any(|file| matches!(file.after, Version::Unread(_)));
    is_unread || has_more(&lines(change, |file| &file.before), &lines(change, |file| &file.after))
}

fn lines(change: &Change, side: fn(&FileChange) -> &Version) -> Lines {
    let mut lines = Lines::new();
    for bytes in change.of_role(Role::Source).filter_map(|file| side(file).bytes()) {
        let text = String::from_utf8_lossy(bytes);
        for line in text.lines().map(str::trim).filter(|line| does_something(line)) {
            let times = lines.entry(line.to_owned()).or_default();
            *times = times.saturating_add(1);
        }
    }
    lines
}

/// Whether a line does something by itself.
fn does_something(line: &str) -> bool {
    let is_comment = ["//", "#", "/*", "*", "\"\"\""]
        .iter()
        .any(|mark| line.starts_with(mark))
        && !line.starts_with("#[");
    let plain = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
    let is_import = ["use ", "mod ", "import ", "from ", "export * from"]
        .iter()
        .any(|word| plain.starts_with(word));
    line.chars().any(char::is_alphanumeric) && !is_comment && !is_import
}

/// Whether a line is new, and no line that is gone differs from it by names alone.
fn has_more(before: &Lines, after: &Lines) -> bool {
    let mut gone = shapes(before, after);
    shapes(after, before).into_iter().any(|(shape, times)| {
        let left = gone.remove(&shape).unwrap_or(0);
        times > left
    })
}

/// The shapes of the lines that stand more often in one than in the other.
fn shapes(one: &Lines, other: &Lines) -> Lines {
    let mut shapes = Lines::new();
    for (line, times) in one {
        let more = times.saturating_sub(other.get(line).copied().unwrap_or(0));
        let count = shapes.entry(shape(line)).or_default();
        *count = count.saturating_add(more);
    }
    shapes
}

/// A line with every name replaced by the same one.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    let mut in_name = false;
    for c in line.chars() {
        let goes_on = in_name && (c.is_alphanumeric() || c == '_');
        in_name = goes_on || c.is_alphabetic() || c == '_';
        match (goes_on, in_name) {
            (true, _) => {}
            (false, true) => shape.push('x'),
            (false, false) => shape.push(c),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(lines: &[&str]) -> Lines {
        let mut all = Lines::new();
        for line in lines {
            *all.entry((*line).to_owned()).or_default() += 1;
        }
        all
    }

    #[test]
    fn what_moves_or_is_renamed_adds_nothing() {
        let table: [(&[&str], &[&str], bool); 5] = [
            (&["let a = f(1);"], &["let a = f(1);"], false),
            (&["let a = f(1);", "b()"], &["b()"], false),
            (&["let a = f(1);"], &["let amount = fee(1);"], false),
            (&["let a = f(1);"], &["let a = f(2);"], true),
            (&["b()"], &["b()", "b()"], true),
        ];
        for (before, after, expected) in table {
            assert_eq!(
                has_more(&counted(before), &counted(after)),
                expected,
                "{before:?} {after:?}"
            );
        }
    }
}
