//! Reads the JSON of `cargo llvm-cov --json` and `llvm-cov export`: segments that begin at a line and column.

use crate::coverage::{Measured, TooMuch};
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use std::{fmt, marker::PhantomData};

/// The most entries of one list.
const MOST_ENTRIES: usize = 8_000_000;

#[derive(Deserialize)]
struct Export {
    #[serde(deserialize_with = "list")]
    data: Vec<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default, deserialize_with = "list")]
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    #[serde(default, deserialize_with = "list")]
    segments: Vec<Segment>,
}

/// A position where a region begins or ends. In the file it is a list of these values; older versions omit the last.
#[derive(Deserialize)]
struct Segment {
    line: u32,
    column: u32,
    /// The count of the code after it.
    count: u64,
    has_count: bool,
    is_entry: bool,
    #[serde(default)]
    is_gap: bool,
}

/// Reads a list with at most `MOST_ENTRIES` entries.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(ListVisitor(PhantomData))
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST_ENTRIES} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            if list.len() >= MOST_ENTRIES {
                return Err(A::Error::invalid_length(list.len(), &self));
            }
            list.push(entry);
        }
        Ok(list)
    }
}

impl Segment {
    /// Returns the count of the code after it; `None` if that was not counted.
    fn count_after(&self) -> Option<u64> {
        self.has_count.then_some(self.count)
    }

    /// Returns the same if a region begins here.
    fn count_of_region(&self) -> Option<u64> {
        self.count_after().filter(|_| self.is_entry && !self.is_gap)
    }
}

/// The most lines between two segments; no file is longer.
const MOST_LINES: u32 = 1_000_000;

pub(super) fn read(text: &str) -> Result<Measured, String> {
    let export: Export =
        text::json::read(text.as_bytes()).map_err(|error| format!("it is not cargo-llvm-cov's JSON: {error}"))?;
    let mut measured = Measured::default();
    for mut file in export.data.into_iter().flat_map(|data| data.files) {
        file.segments.sort_by_key(|segment| (segment.line, segment.column));
        lines(&file, &mut measured).map_err(|error| error.to_string())?;
    }
    Ok(measured)
}

/// Counts each line as the highest count among the regions that begin on it and the region open at its start.
fn lines(file: &File, measured: &mut Measured) -> Result<(), TooMuch> {
    measured.file(&file.filename)?;
    let mut open = None;
    let mut on_lines = file.segments.chunk_by(|one, other| one.line == other.line).peekable();
    while let Some(on_line) = on_lines.next() {
        let Some(last) = on_line.last() else { continue };
        let begun = on_line.iter().filter_map(Segment::count_of_region).max();
        if let Some(count) = begun.max(open) {
            measured.line(&file.filename, last.line, count)?;
        }
        open = last.count_after();
        let next = on_lines.peek().and_then(|next| next.first());
        if let (Some(count), Some(next)) = (open, next)
            && next.line.saturating_sub(last.line) < MOST_LINES
        {
            for between in last.line.saturating_add(1)..next.line {
                measured.line(&file.filename, between, count)?;
            }
        }
    }
    Ok(())
}
