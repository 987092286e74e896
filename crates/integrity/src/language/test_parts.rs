//! The tests inside a source file: test modules and functions, and the examples in documentation that run as tests.

use std::ops::Range;

/// The tests inside a source file.
#[derive(Debug, Default)]
pub struct TestParts {
    /// The parts, in text order; none is inside another.
    pub parts: Vec<TestPart>,
    /// The containers to which further parts may be added, and the byte at which they are inserted.
    pub ends: Vec<(String, usize)>,
}

/// A test inside a source file, or an item that only exists for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPart {
    /// The names of the items around it; empty for the file itself.
    pub container: String,
    /// Its kind and name. Several parts of a container may have the same.
    pub name: String,
    /// Its byte range: whole lines, if nothing else is on these.
    pub range: Range<usize>,
}

impl TestParts {
    /// Adds a part. If nothing else is on its lines, it spans them.
    pub(super) fn add(&mut self, text: &str, container: &str, name: String, range: Range<usize>) {
        self.parts.push(TestPart { container: container.to_owned(), name, range: whole_lines(text, range) });
    }
}

/// Returns the range with the indentation before and the line break after it, if nothing else is on its lines.
pub(super) fn whole_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    let (Some(before), Some(after)) = (before, after) else {
        return range;
    };
    let is_blank = |c: char| matches!(c, ' ' | '\t' | '\r');
    let start = before.trim_end_matches(is_blank);
    let rest = after.trim_start_matches(is_blank);
    let is_alone = (start.is_empty() || start.ends_with('\n')) && (rest.is_empty() || rest.starts_with('\n'));
    if !is_alone || range.end > 0 && text.get(..range.end).is_some_and(|part| part.ends_with('\n')) {
        return range;
    }
    let end = text.len().saturating_sub(rest.len());
    start.len()..end.saturating_add(usize::from(!rest.is_empty()))
}
