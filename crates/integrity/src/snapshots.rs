//! Decides which files are snapshots, and whether lines were only added to a file.

use crate::{change::FileChange, language};
use std::collections::BTreeSet;

/// `true` if a file of this path is a snapshot.
#[must_use]
pub fn is_snapshot(path: &str) -> bool {
    let end = language::file_name(path).rsplit_once('.').map_or("", |(_, end)| end);
    matches!(end, "snap" | "ambr" | "snapshot" | "approved")
        || language::folders(path).any(|folder| matches!(folder, "__snapshots__" | "__image_snapshots__"))
}

/// `true` if the file lost a line: then it was changed, not only extended.
#[must_use]
pub fn loses_lines(file: &FileChange) -> bool {
    let (Some(before), Some(after)) = (file.before.bytes(), file.after.bytes()) else {
        return file.before.bytes().is_some();
    };
    let lines = |bytes: &[u8]| -> BTreeSet<Vec<u8>> { bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect() };
    !lines(before).is_subset(&lines(after))
}
