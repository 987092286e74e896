//! The uncommitted changes in a person's own repository. They are read with the person's own ignore settings, nothing is
//! written, and no program is started.

use crate::{error::GitError, process::GitCall};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Returns the files that differ from the last commit, marked `(new)` or `(deleted)` if they are. A file that a filter
/// would convert counts as changed once git has to read it again.
pub async fn uncommitted(work_tree: &Path) -> Result<Vec<String>, GitError> {
    let mut call = with_own_settings(work_tree, "status").args([
        "--porcelain=v1",
        "-z",
        "--untracked-files=normal",
        "--no-renames",
        "--ignore-submodules=dirty",
    ]);
    // To compare a file, git runs the filter that the folder's attributes name, as the person who only looks.
    for filter in filters(work_tree).await? {
        for program in ["clean", "smudge", "process"] {
            call = call.config(&format!("{filter}.{program}"), "");
        }
        call = call.config(&format!("{filter}.required"), "false");
    }
    let output = call.ok().await?;
    Ok(read(&output.stdout))
}

/// Returns the sections of the filters that the folder or the person defines, such as `filter.lfs`.
async fn filters(work_tree: &Path) -> Result<BTreeSet<String>, GitError> {
    let call = with_own_settings(work_tree, "config").args(["--null", "--name-only", "--get-regexp", r"^filter\."]);
    let output = call.run().await?;
    let names = output.stdout.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    Ok(names
        .filter_map(|name| name.rsplit_once('.').map(|(section, _)| section.to_owned()))
        .collect())
}

fn with_own_settings(work_tree: &Path, subcommand: &str) -> GitCall {
    let call = GitCall::in_folder(work_tree, subcommand);
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else {
        return call;
    };
    let settings = home.join(".gitconfig");
    let call = call.env("HOME", &home);
    if settings.is_file() {
        call.env("GIT_CONFIG_GLOBAL", &settings)
    } else {
        call
    }
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
