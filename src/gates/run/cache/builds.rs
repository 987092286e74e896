//! What Cargo keeps of its builds: where, from which sources, and how it is made to forget a package.

use crate::gates::{cache::packages::MANIFEST, files};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The folder in which Cargo notes what is fresh.
const FINGERPRINTS: &str = ".fingerprint";

/// Folders without any such note, and with very many files.
const SKIPPED: [&str; 3] = ["incremental", "node_modules", ".git"];

/// How deep below a kept folder Cargo's notes lie.
const DEEPEST: usize = 5;

/// The largest list of sources, and manifest, that is read.
const MAX_LIST: u64 = 4 * 1024 * 1024;

/// How long the mark is that Cargo adds to a package's name.
const MARK: usize = 16;

/// What was found in the folders that are kept.
#[derive(Debug, Default)]
pub(super) struct Builds {
    /// Where Cargo notes what is fresh, from the checkout on.
    pub(super) fingerprints: BTreeSet<String>,
    /// One source of every unit that has the place it was built in within it.
    pub(super) bound: BTreeSet<String>,
}

impl Builds {
    /// Looks through folders that commands left in a checkout.
    pub(super) fn of(work: &Path, leavings: &[PathBuf]) -> io::Result<Self> {
        let mut builds = Self::default();
        for left in leavings {
            let full = work.join(left);
            if fs::symlink_metadata(&full)?.is_dir() {
                builds.look(work, left, left.parent().unwrap_or(Path::new("")), 0)?;
            }
        }
        Ok(builds)
    }

    fn look(&mut self, work: &Path, folder: &Path, above: &Path, depth: usize) -> io::Result<()> {
        for entry in fs::read_dir(work.join(folder))? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            if entry.file_type()?.is_dir() {
                if name == FINGERPRINTS {
                    self.fingerprints.extend(path.to_str().map(str::to_owned));
                } else if depth < DEEPEST && !SKIPPED.iter().any(|skipped| name == *skipped) {
                    self.look(work, &path, above, depth.saturating_add(1))?;
                }
            } else if path.extension().is_some_and(|end| end == "d")
                && let Some(text) = path.to_str()
                && let Ok(list) = files::read(work, text, MAX_LIST)
            {
                let source = bound_source(&String::from_utf8_lossy(&list), &work.to_string_lossy());
                let source = source.map(|source| above.join(source));
                self.bound
                    .extend(source.and_then(|source| source.to_str().map(str::to_owned)));
            }
        }
        Ok(())
    }
}

/// The first source in a compiler's list, if what was compiled from it has the place within it: `env!` of a folder is
/// not among the things that Cargo compares.
fn bound_source(list: &str, work: &str) -> Option<String> {
    let names_place = |line: &str| {
        line.strip_prefix("# env-dep:")
            .is_some_and(|value| value.contains(work))
    };
    if !list.lines().any(names_place) {
        return None;
    }
    let (_, sources) = list.lines().next()?.split_once(": ")?;
    // A space in a name stands behind a backslash.
    let first = sources.replace("\\ ", "\0");
    let first = first.split(' ').next()?.replace('\0', " ");
    Some(first.strip_prefix(&format!("{work}/")).unwrap_or(&first).to_owned())
}

/// Makes Cargo forget that packages in these folders were ever built.
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

/// The name of the package in a folder; a manifest that is only a workspace's, or none at all, has none.
fn name(work: &Path, folder: &str) -> io::Result<Option<String>> {
    let path = match folder {
        "" => MANIFEST.to_owned(),
        folder => format!("{folder}/{MANIFEST}"),
    };
    let bytes = files::read(work, &path, MAX_LIST).map_err(io::Error::other)?;
    // What Cargo cannot read either was never built.
    let Ok(manifest) = toml::from_str::<toml::Table>(&String::from_utf8_lossy(&bytes)) else {
        return Ok(None);
    };
    let package = manifest.get("package").or_else(|| manifest.get("project"));
    let name = package
        .and_then(|package| package.get("name"))
        .and_then(toml::Value::as_str);
    Ok(name.map(str::to_owned))
}

/// Whether a folder of notes, `<name>-<mark>`, is of the package.
fn is_note_of(folder: &str, package: &str) -> bool {
    let mark = folder.strip_prefix(package).and_then(|rest| rest.strip_prefix('-'));
    mark.is_some_and(|mark| mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_unit_that_names_its_place_is_bound_to_it() {
        let list = |dep: &str| {
            format!("/w/target/debug/deps/a-1.d: src/my\\ lib.rs src/b.rs\n\nsrc/b.rs:\n\n# env-dep:{dep}\n")
        };
        let table = [
            (list("CARGO_MANIFEST_DIR=/w"), Some("src/my lib.rs")),
            (list("OUT_DIR=/w/target/debug/build/a-1/out"), Some("src/my lib.rs")),
            (list("CARGO_PKG_VERSION=0.1.0"), None),
            (list("HOME"), None),
            ("/w/x.d: /w/src/x.rs\n# env-dep:A=/w\n".to_owned(), Some("src/x.rs")),
            ("# env-dep:A=/w".to_owned(), None),
            (String::new(), None),
        ];
        for (list, expected) in table {
            assert_eq!(bound_source(&list, "/w").as_deref(), expected, "{list}");
        }
    }

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
        let builds = Builds::of(work, &[PathBuf::from("target")]).unwrap();
        forget(work, &builds.fingerprints, &["a", "fixture"].into()).unwrap();
        let left = notes.map(|note| work.join("target/debug/.fingerprint").join(note).exists());
        assert_eq!(left, [false, true, true, true]);
        assert!(forget(work, &builds.fingerprints, &["gone"].into()).is_err());
    }
}
