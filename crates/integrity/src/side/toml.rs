//! Reads the tables and keys of TOML.

use super::sections::{self, Line, Section};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

pub(super) fn sections(text: &str) -> Option<Vec<Section<'_>>> {
    let parsed = DeTable::parse(text).ok()?;
    let mut values = Vec::new();
    several_lines(text, parsed.get_ref(), &mut values);
    values.sort_by_key(|value| value.start);
    sections::sections(text, |at, line| read(at, line, text, &values))
}

fn read(at: usize, line: &str, text: &str, values: &[Range<usize>]) -> Option<Line> {
    let (before, after) = values.split_at(values.partition_point(|value| value.start < at));
    if before.last().is_some_and(|value| at < value.end) {
        return Some(Line::Continued);
    }
    let plain = line.trim();
    if plain.is_empty() || plain.starts_with('#') {
        return Some(Line::Comment);
    }
    if plain.starts_with('[') {
        return Some(Line::Header(names(line, DeTable::parse(line).ok()?.get_ref())));
    }
    let end = at.saturating_add(line.len());
    let begun = after.first().filter(|value| value.start < end);
    let whole = text.get(at..begun.map_or(end, |value| value.end))?;
    Some(Line::Key(names(whole, DeTable::parse(whole).ok()?.get_ref())))
}

/// Returns the names of the only key, outermost first.
fn names(text: &str, table: &DeTable<'_>) -> Vec<String> {
    let Some((name, value)) = table.iter().next() else {
        return Vec::new();
    };
    let is_written = text.get(value.span()).is_some_and(|value| value.starts_with('{'));
    let table = value.get_ref().as_table().filter(|_| !is_written);
    let below = table.map(|table| names(text, table)).unwrap_or_default();
    std::iter::once(name.get_ref().to_string()).chain(below).collect()
}

/// Collects the outermost values that span several lines, such as texts and arrays.
fn several_lines(text: &str, table: &DeTable<'_>, found: &mut Vec<Range<usize>>) {
    for value in table.values() {
        collect(text, value.span(), value.get_ref(), found);
    }
}

fn collect(text: &str, span: Range<usize>, value: &DeValue<'_>, found: &mut Vec<Range<usize>>) {
    if text.get(span.clone()).is_some_and(|value| value.contains('\n')) {
        found.push(span);
        return;
    }
    match value {
        DeValue::Table(table) => several_lines(text, table, found),
        DeValue::Array(items) => items.iter().for_each(|item| collect(text, item.span(), item.get_ref(), found)),
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}
