//! Reads Go's coverage profiles (`go test -coverprofile`): blocks of lines in files named by import path.

use crate::coverage::{Measured, Names};

/// The beginning of every profile.
pub(super) const BEGINS: &str = "mode: ";

/// The most lines of one block; no real function is longer.
const LONGEST: u32 = 100_000;

/// Reads lines such as `example.com/x/a.go:12.34,15.2 3 1`: from line 12 to 15, three statements, run once.
pub(super) fn read(text: &str) -> Result<Measured, String> {
    let mut measured = Measured { names: Names::ImportPaths, ..Measured::default() };
    let lines = text.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(BEGINS)) {
        let Some((file, first, last, hits)) = block(line) else {
            return Err(format!("`{line:.80}` is no line of a Go profile"));
        };
        for number in first..=last {
            measured.line(file, number, hits).map_err(|error| error.to_string())?;
        }
    }
    Ok(measured)
}

fn block(line: &str) -> Option<(&str, u32, u32, u64)> {
    let (file, rest) = line.rsplit_once(':')?;
    let mut words = rest.split(' ');
    let (from, to) = words.next()?.split_once(',')?;
    let number = |place: &str| place.split_once('.')?.0.parse::<u32>().ok();
    let (first, last) = (number(from)?, number(to)?);
    let hits = words.nth(1)?.parse().ok()?;
    (last.checked_sub(first)? <= LONGEST).then_some((file, first, last, hits))
}
