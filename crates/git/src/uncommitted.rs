//! The uncommitted changes in a person's own repository. They are read with the person's own ignore settings, and
//! nothing is written.

use crate::{error::GitError, process::GitCall};
use std::path::{Path, PathBuf};

/// Returns the files that differ from the last commit, marked `(new)` or `(deleted)` if they are.
pub async fn uncommitted(work_tree: &Path) -> Result<Vec<String>, GitError> {
    let mut call = GitCall::in_folder(work_tree, "status").args([
        "--porcelain=v1",
        "-z",
        "--untracked-files=normal",
        "--no-renames",
        "--ignore-submodules=dirty",
    ]);
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
        let settings = home.join(".gitconfig");
        call = call.env("HOME", &home);
        if settings.is_file() {
            call = call.env("GIT_CONFIG_GLOBAL", &settings);
        }
    }
    let output = call.ok().await?;
    Ok(read(&output.stdout))
}

fn read(output: &[u8]) -> Vec<String> {
    let entries = output.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let named = |entry: &[u8]| {
        let (state, path) = entry.split_at_checked(3)?;
        let path = String::from_utf8_lossy(path);
        Some(match state {
            [b'?', b'?', _] => format!("{path} (new)"),
            [b'D', _, _] | [_, b'D', _] => format!("{path} (deleted)"),
            _ => path.into_owned(),
        })
    };
    entries.filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn changes_are_named_with_what_became_of_the_file() {
        let output = b" M src/a b.rs\0D  gone\0 D gone too\0A  added\0?? notes/\0?? \xff\0";
        assert_eq!(
            read(output),
            [
                "src/a b.rs",
                "gone (deleted)",
                "gone too (deleted)",
                "added",
                "notes/ (new)",
                "\u{fffd} (new)"
            ]
        );
        assert_eq!(read(b""), Vec::<String>::new());
    }
}
