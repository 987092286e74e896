//! The uncommitted changes in a person's own repository. They are read with the person's own ignore settings, nothing is
//! written, and no program is started.

use crate::{error::GitError, mirror::make_skeleton, process::GitCall};
use std::{
    io::Read,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// The most bytes of the folder's own list of ignored files that are read.
const MAX_EXCLUDES: u64 = 1 << 20;

/// Returns the files that differ from the last commit, marked `(new)` or `(deleted)` if they are. A file that attributes
/// would convert counts as changed once git has to read it again.
///
/// To compare a file, git would run the filter that the folder's attributes name, with the rights of the person. So a
/// git folder of our own, without settings and attributes, compares the work tree with the person's index and objects.
pub async fn uncommitted(work_tree: &Path) -> Result<Vec<String>, GitError> {
    let places = GitCall::in_folder(work_tree, "rev-parse").args([
        "--path-format=absolute",
        "--git-path",
        "index",
        "--git-path",
        "objects",
        "--git-path",
        "info/exclude",
    ]);
    let places = places.ok().await?.text();
    let mut places = places.lines();
    let (index, objects) = (places.next().unwrap_or_default(), places.next().unwrap_or_default());
    let head = GitCall::in_folder(work_tree, "rev-parse").args(["-q", "--verify", "HEAD^{commit}"]);
    let head = head.run().await?.text();
    let own = git_folder(&head, places.next().map(Path::new)).map_err(GitError::io("looking at a work tree"))?;
    let call = GitCall::in_work_tree(own.path(), work_tree, "status")
        .env("GIT_INDEX_FILE", index)
        .env("GIT_OBJECT_DIRECTORY", objects)
        .config("core.attributesFile", "/dev/null");
    let output = with_own_settings(call).args([
        "--porcelain=v1",
        "-z",
        "--untracked-files=normal",
        "--no-renames",
        "--ignore-submodules=dirty",
    ]);
    Ok(read(&output.ok().await?.stdout))
}

/// Makes a git folder without settings and attributes whose HEAD is this commit; without one it is unborn.
fn git_folder(head: &str, excludes: Option<&Path>) -> std::io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    make_skeleton(folder.path(), "bare = false", None)?;
    let excluded = excludes.and_then(|file| std::fs::File::open(file).ok());
    if let Some(file) = excluded {
        let mut patterns = Vec::new();
        file.take(MAX_EXCLUDES).read_to_end(&mut patterns)?;
        std::fs::create_dir_all(folder.path().join("info"))?;
        std::fs::write(folder.path().join("info/exclude"), patterns)?;
    }
    let head = if head.is_empty() { "ref: refs/heads/main" } else { head };
    std::fs::write(folder.path().join("HEAD"), format!("{head}\n"))?;
    Ok(folder)
}

fn with_own_settings(call: GitCall) -> GitCall {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else {
        return call;
    };
    let settings = home.join(".gitconfig");
    let call = call.env("HOME", &home);
    if settings.is_file() { call.env("GIT_CONFIG_GLOBAL", &settings) } else { call }
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
            ["src/a b.rs", "gone (deleted)", "gone too (deleted)", "added", "notes/ (new)", "\u{fffd} (new)"]
        );
        assert_eq!(read(b""), Vec::<String>::new());
    }
}
