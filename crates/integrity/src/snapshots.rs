//! Decides which files are snapshots, and where a file changed.

use crate::{change::FileChange, language};

/// `true` if a file of this path is a snapshot.
pub fn is_snapshot(path: &str) -> bool {
    let end = language::file_name(path).rsplit_once('.').map_or("", |(_, end)| end);
    matches!(end, "snap" | "ambr" | "snapshot" | "approved")
        || language::folders(path).any(|folder| matches!(folder, "__snapshots__" | "__image_snapshots__"))
}

/// Returns the first line of the new version that differs from the old one; `None` if there is no new version.
pub fn first_changed_line(file: &FileChange) -> Option<u32> {
    let lines = |bytes: &[u8]| -> Vec<String> { String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect() };
    let (before, after) = (lines(file.before.bytes().unwrap_or_default()), lines(file.after.bytes()?));
    let same = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    Some(u32::try_from(same).unwrap_or(u32::MAX).saturating_add(1))
}
