//! Separates tests inside source files from the code, by syntax.

use crate::{
    language,
    language::test_parts::{TestPart, TestParts},
};
use std::{collections::HashMap, ops::Range};

/// Returns a source file's text with its inline tests replaced by those of another version; `None` if no grammar
/// supports that. A part whose container is not in the text is left out.
pub fn with_inline_tests_of(path: &str, code: &str, tests: &str) -> Option<String> {
    let (own, others) = (language::test_parts(path, code)?, language::test_parts(path, tests)?);
    let (own_names, other_names) = (numbered(&own), numbered(&others));
    let put = |part: &TestPart| tests.get(part.range.clone()).unwrap_or_default();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (name, part) in &own_names {
        let other = other_names.get(name).map_or("", |other| put(other));
        edits.push((part.range.clone(), other.to_owned()));
    }
    let ends: HashMap<&str, usize> = own.ends.iter().map(|(name, end)| (name.as_str(), *end)).collect();
    let mut new: Vec<&TestPart> =
        other_names.iter().filter(|(name, _)| !own_names.contains_key(*name)).map(|(_, part)| *part).collect();
    new.sort_by_key(|part| part.range.start);
    for part in new {
        let Some(end) = ends.get(part.container.as_str()) else {
            continue;
        };
        edits.push((*end..*end, put(part).to_owned()));
    }
    edits.sort_by_key(|(range, _)| range.start);
    Some(edited(code, edits))
}

/// The parts by container, name, and number among those of the same name.
fn numbered(parts: &TestParts) -> HashMap<(&str, &str, usize), &TestPart> {
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let numbered = parts.parts.iter().map(|part| {
        let count = counts.entry((&part.container, &part.name)).or_default();
        *count = count.saturating_add(1);
        ((part.container.as_str(), part.name.as_str(), *count), part)
    });
    numbered.collect()
}

pub(super) fn edited(code: &str, edits: Vec<(Range<usize>, String)>) -> String {
    let mut text = String::with_capacity(code.len());
    let mut from = 0;
    for (range, put) in edits {
        text.push_str(code.get(from..range.start).unwrap_or_default());
        if range.is_empty() && !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&put);
        from = range.end;
    }
    text.push_str(code.get(from..).unwrap_or_default());
    text
}
