//! Reads the JSON of `cargo llvm-cov --json` and `llvm-cov export`: segments that begin at a line and column.

use crate::gates::coverage::{Measured, TooMuch};
use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use std::{fmt, marker::PhantomData};

/// The most entries of one list.
const MOST_ENTRIES: usize = 8_000_000;

#[derive(Deserialize)]
struct Export {
    data: List<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    files: List<File>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    #[serde(default)]
    segments: List<Segment>,
}

/// A list with at most `MOST_ENTRIES` entries.
struct List<T>(Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST_ENTRIES} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<List<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            if list.len() >= MOST_ENTRIES {
                return Err(A::Error::invalid_length(list.len(), &self));
            }
            list.push(entry);
        }
        Ok(List(list))
    }
}

/// A position where a region begins or ends, and how often the code after it ran.
struct Segment {
    line: u32,
    column: u32,
    count: u64,
    counted: Counted,
    begins: Begins,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    Yes,
    No,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    Region,
    Nothing,
}

impl<'de> Deserialize<'de> for Segment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(SegmentVisitor)
    }
}

struct SegmentVisitor;

impl<'de> Visitor<'de> for SegmentVisitor {
    type Value = Segment;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a segment: line, column, count and two or three flags")
    }

    /// Reads line, column, count, and three flags: whether the count is known, whether a region begins, and whether it
    /// is a gap between regions. Older versions omit the last flag.
    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<Segment, A::Error> {
        let missing = |at| A::Error::invalid_length(at, &"a segment");
        let line = fields.next_element()?.ok_or_else(|| missing(0))?;
        let column = fields.next_element()?.ok_or_else(|| missing(1))?;
        let count = fields.next_element()?.ok_or_else(|| missing(2))?;
        let has_count: bool = fields.next_element()?.ok_or_else(|| missing(3))?;
        let is_entry: bool = fields.next_element()?.ok_or_else(|| missing(4))?;
        let is_gap: bool = fields.next_element()?.unwrap_or_default();
        Ok(Segment {
            line,
            column,
            count,
            counted: if has_count { Counted::Yes } else { Counted::No },
            begins: if is_entry && !is_gap {
                Begins::Region
            } else {
                Begins::Nothing
            },
        })
    }
}

/// The most lines between two segments that are counted; no file is longer.
const MOST_LINES: u32 = 1_000_000;

pub(super) fn read(text: &str) -> Result<Measured, String> {
    let export: Export =
        serde_json::from_str(text).map_err(|error| format!("it is not cargo-llvm-cov's JSON: {error}"))?;
    let mut measured = Measured::default();
    for mut file in export.data.0.into_iter().flat_map(|data| data.files.0) {
        file.segments.0.sort_by_key(|segment| (segment.line, segment.column));
        lines(&file, &mut measured).map_err(|error| error.to_string())?;
    }
    Ok(measured)
}

/// Counts each line as the highest count among the regions that begin on it and the region open at its start.
fn lines(file: &File, measured: &mut Measured) -> Result<(), TooMuch> {
    measured.file(&file.filename)?;
    let mut open: Option<(u64, Counted)> = None;
    let mut segments = file.segments.0.iter().peekable();
    while let Some(first) = segments.next() {
        let line = first.line;
        let mut begun = (first.begins == Begins::Region && first.counted == Counted::Yes).then_some(first.count);
        let mut last = first;
        while let Some(next) = segments.next_if(|next| next.line == line) {
            if next.begins == Begins::Region && next.counted == Counted::Yes {
                begun = Some(begun.map_or(next.count, |count| count.max(next.count)));
            }
            last = next;
        }
        let carried = open
            .filter(|(_, counted)| *counted == Counted::Yes)
            .map(|(count, _)| count);
        if let Some(count) = begun.max(carried) {
            measured.line(&file.filename, line, count)?;
        }
        open = Some((last.count, last.counted));
        let Some(next) = segments.peek() else { break };
        if last.counted == Counted::Yes && next.line.saturating_sub(line) < MOST_LINES {
            for between in line.saturating_add(1)..next.line {
                measured.line(&file.filename, between, last.count)?;
            }
        }
    }
    Ok(())
}
