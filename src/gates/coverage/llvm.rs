//! The JSON that `cargo llvm-cov --json` and `llvm-cov export` write: segments that begin at a line and column.

use crate::gates::coverage::Measured;
use serde::Deserialize;

#[derive(Deserialize)]
struct Export {
    data: Vec<Data>,
}

#[derive(Deserialize)]
struct Data {
    #[serde(default)]
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    #[serde(default)]
    segments: Vec<Segment>,
}

/// Line, column, how often it ran, whether that is known, whether a region begins, whether it is a gap between regions.
#[derive(Deserialize)]
#[serde(from = "Raw")]
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

/// Older versions leave the last field out.
#[derive(Deserialize)]
#[serde(untagged)]
enum Raw {
    New(u32, u32, u64, bool, bool, bool),
    Old(u32, u32, u64, bool, bool),
}

impl From<Raw> for Segment {
    fn from(raw: Raw) -> Self {
        let (line, column, count, has_count, is_entry, is_gap) = match raw {
            Raw::New(line, column, count, has_count, is_entry, is_gap) => {
                (line, column, count, has_count, is_entry, is_gap)
            }
            Raw::Old(line, column, count, has_count, is_entry) => (line, column, count, has_count, is_entry, false),
        };
        Self {
            line,
            column,
            count,
            counted: if has_count { Counted::Yes } else { Counted::No },
            begins: if is_entry && !is_gap {
                Begins::Region
            } else {
                Begins::Nothing
            },
        }
    }
}

/// The most lines of a file.
const MOST_LINES: u32 = 1_000_000;

pub(super) fn read(text: &str) -> Result<Measured, String> {
    let export: Export =
        serde_json::from_str(text).map_err(|error| format!("it is not cargo-llvm-cov's JSON: {error}"))?;
    let mut measured = Measured::default();
    for mut file in export.data.into_iter().flat_map(|data| data.files) {
        file.segments.sort_by_key(|segment| (segment.line, segment.column));
        measured.file(&file.filename);
        lines(&file, &mut measured);
    }
    Ok(measured)
}

/// A line ran as often as the busiest region that begins in it, or as what was open when it began.
fn lines(file: &File, measured: &mut Measured) {
    let mut open: Option<(u64, Counted)> = None;
    let mut segments = file.segments.iter().peekable();
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
            measured.line(&file.filename, line, count);
        }
        open = Some((last.count, last.counted));
        let Some(next) = segments.peek() else { return };
        if last.counted == Counted::Yes && next.line.saturating_sub(line) < MOST_LINES {
            for between in line.saturating_add(1)..next.line {
                measured.line(&file.filename, between, last.count);
            }
        }
    }
}
