//! Finds Cargo's records of its builds, and makes it forget a package.

use crate::gates::{files, run::cache::packages::MANIFEST};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The folder in which Cargo keeps the fingerprints of its builds.
const FINGERPRINTS: &str = ".fingerprint";

/// Folders with very many files and no fingerprints.
const SKIPPED: [&str; 3] = ["incremental", "node_modules", ".git"];

/// The deepest level of the fingerprints below a kept folder.
const DEEPEST: usize = 5;

/// The largest manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 4 * 1024 * 1024;

/// The length of the hash that Cargo appends to a package's name.
const MARK: usize = 16;

/// Returns Cargo's fingerprint folders, relative to the checkout, in folders that commands left there.
pub(super) fn fingerprints(work: &Path, untracked_files: &[PathBuf]) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for left in untracked_files {
        if fs::symlink_metadata(work.join(left))?.is_dir() {
            look(work, left, 0, &mut found)?;
        }
    }
    Ok(found)
}

fn look(work: &Path, folder: &Path, depth: usize, found: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(work.join(folder))? {
        let entry = entry?;
        let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
        if !entry.file_type()?.is_dir() {
            continue;
        }
        if name == FINGERPRINTS {
            found.extend(path.to_str().map(str::to_owned));
        } else if depth < DEEPEST && !SKIPPED.iter().any(|skipped| name == *skipped) {
            look(work, &path, depth.saturating_add(1), found)?;
        }
    }
    Ok(())
}

/// Makes Cargo forget that it ever built the packages in these folders.
pub(super) fn forget(work: &Path, fingerprints: &BTreeSet<String>, packages: &BTreeSet<&str>) -> io::Result<()> {
    if fingerprints.is_empty() || packages.is_empty() {
        return Ok(());
    }
    let names = packages.iter().map(|folder| name(work, folder));
    let names = names.collect::<io::Result<Vec<Option<String>>>>()?;
    for folder in fingerprints {
        for entry in fs::read_dir(work.join(folder))? {
            let entry = entry?;
            let is_of = |name: &String| is_note_of(&entry.file_name().to_string_lossy(), name);
            if names.iter().flatten().any(is_of) {
                fs::remove_dir_all(entry.path())?;
            }
        }
    }
    Ok(())
}

/// Returns the name of the package in a folder; `None` if its manifest is unreadable or only a workspace's.
fn name(work: &Path, folder: &str) -> io::Result<Option<String>> {
    let path = format!("{folder}/{MANIFEST}");
    let path = path.trim_start_matches('/');
    let bytes = files::read(work, path, MAX_MANIFEST).map_err(io::Error::other)?;
    // Cargo cannot read such a manifest either, so it never built the package.
    let Ok(manifest) = toml::from_str::<toml::Table>(&String::from_utf8_lossy(&bytes)) else {
        return Ok(None);
    };
    let package = manifest.get("package").or_else(|| manifest.get("project"));
    let name = package
        .and_then(|package| package.get("name"))
        .and_then(toml::Value::as_str);
    Ok(name.map(str::to_owned))
}

/// `true` if a fingerprint folder, `<name>-<hash>`, belongs to the package.
fn is_note_of(folder: &str, package: &str) -> bool {
    let mark = folder.strip_prefix(package).and_then(|rest| rest.strip_prefix('-'));
    mark.is_some_and(|mark| mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_forgets_the_packages_named_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let work = dir.path();
        fs::create_dir_all(work.join("a")).unwrap();
        fs::write(work.join("a/Cargo.toml"), "[package]\nname = \"a\"\n").unwrap();
        let notes = [
            "a-0123456789abcdef",
            "a-b-0123456789abcdef",
            "ab-0123456789abcdef",
            "a-x",
        ];
        for note in notes {
            fs::create_dir_all(work.join("target/debug/.fingerprint").join(note)).unwrap();
        }
        fs::write(work.join("target/CACHEDIR.TAG"), "").unwrap();
        fs::create_dir(work.join("fixture")).unwrap();
        fs::write(work.join("fixture/Cargo.toml"), "[[[ broken").unwrap();
        let found = fingerprints(work, &[PathBuf::from("target")]).unwrap();
        forget(work, &found, &["a", "fixture"].into()).unwrap();
        let left = notes.map(|note| work.join("target/debug/.fingerprint").join(note).exists());
        assert_eq!(left, [false, true, true, true]);
        assert!(forget(work, &found, &["gone"].into()).is_err());
    }
}
