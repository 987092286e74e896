//! The JUnit files that Maven and Gradle write without being asked, in the build folders of their modules.

use crate::gates::files;
use std::{fs, path::Path};

/// The most files that are read, and the largest size of all files together, in bytes.
const MOST_FILES: usize = 20_000;
const MAX_BYTES: usize = 256 * 1024 * 1024;
/// The largest size of one file, in bytes.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Removes the files of earlier runs, so that files found later were written later.
pub(super) fn clear(root: &Path, folders: &[String]) {
    for path in find_files(root, folders) {
        // A file that stays is read again, and its tests count as those of this run.
        let _ = files::clear(root, &path);
    }
}

/// Returns the contents of the files; `None` for one that could not be read.
pub(super) fn read(root: &Path, folders: &[String]) -> Vec<Option<Vec<u8>>> {
    let mut left = MAX_BYTES;
    let mut contents = Vec::new();
    for path in find_files(root, folders) {
        let bytes = files::read(root, &path, MAX_FILE).ok();
        let bytes = bytes.filter(|bytes| bytes.len() <= left);
        left = left.saturating_sub(bytes.as_ref().map_or(0, Vec::len));
        contents.push(bytes);
    }
    contents
}

/// Returns the paths of the files, relative to the root. Gradle has a folder below for each of its tasks.
fn find_files(root: &Path, folders: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for folder in folders {
        let (here, below) = entries(root, folder);
        found.extend(here);
        for folder in below {
            found.extend(entries(root, &folder).0);
        }
        if found.len() >= MOST_FILES {
            break;
        }
    }
    found.truncate(MOST_FILES);
    found
}

fn entries(root: &Path, folder: &str) -> (Vec<String>, Vec<String>) {
    let (mut here, mut below) = (Vec::new(), Vec::new());
    let all = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    for entry in all.take(MOST_FILES) {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let kind = entry.file_type();
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            below.push(format!("{folder}/{name}"));
        } else if kind.is_ok_and(|kind| kind.is_file()) && name.starts_with("TEST-") && name.ends_with(".xml") {
            here.push(format!("{folder}/{name}"));
        }
    }
    here.sort();
    below.sort();
    (here, below)
}

#[cfg(test)]
mod tests {
    use super::{clear, read};
    use std::{fs, os::unix::fs::symlink};

    #[test]
    fn files_are_read_and_cleared_without_following_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        let results = root.join("build/test-results/test");
        fs::create_dir_all(&results).unwrap();
        fs::write(results.join("TEST-a.xml"), "a").unwrap();
        fs::write(results.join("output.bin"), "b").unwrap();
        fs::write(folder.path().join("TEST-secret.xml"), "s").unwrap();
        symlink("../../../../TEST-secret.xml", results.join("TEST-link.xml")).unwrap();
        symlink("../..", root.join("build/test-results/up")).unwrap();
        let folders = ["build/test-results".to_owned(), "none/target/surefire-reports".to_owned()];
        assert_eq!(read(&root, &folders), [Some(b"a".to_vec())]);
        clear(&root, &folders);
        assert!(read(&root, &folders).is_empty() && results.join("output.bin").exists());
        assert!(folder.path().join("TEST-secret.xml").exists());
    }
}
