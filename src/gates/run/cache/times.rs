//! Sets the times of files, by which Cargo detects changes since a snapshot was built.
//!
//! A fresh checkout makes every file new, so Cargo would build every package of the repository again. Therefore all files
//! of a fresh checkout are old, and the packages that differ from the snapshot become as new as the checkout.

use crate::gates::run::{
    checkout::SandboxedCheckout,
    context::{GateError, blocking_io, host},
};
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use std::{
    collections::BTreeSet,
    fs,
    fs::Metadata,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// A time in seconds and nanoseconds.
pub(super) type Time = (i64, i64);

/// The time of unchanged files. It is older than any build, but later than the earliest time that archives support.
const OLD: Time = (1_000_000_000, 0);

/// The file that makes a folder a package, and Cargo's lock file, which it compares by content.
const MANIFEST: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";

/// Folders whose files are only read when tests are built or run.
const OF_TESTS: [&str; 2] = ["tests", "snapshots"];

/// Returns the time when a file was last written.
pub(super) fn modified(meta: &Metadata) -> Time {
    (meta.mtime(), meta.mtime_nsec())
}

/// Sets the times of the last access and the last write.
pub(super) fn set(path: &Path, accessed: Time, modified: Time) -> io::Result<()> {
    let time = |(tv_sec, tv_nsec)| Timespec { tv_sec, tv_nsec };
    let times = Timestamps { last_access: time(accessed), last_modification: time(modified) };
    Ok(rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// Makes all files and folders of a fresh checkout old, if Cargo builds any of them.
pub(crate) async fn age(place: &SandboxedCheckout) -> Result<(), GateError> {
    let (work, tracked) = (place.path().to_path_buf(), place.tracked());
    let aging = blocking_io(move || {
        if has_packages(&tracked) { date(&work, tracked.iter().map(PathBuf::as_path), OLD) } else { Ok(()) }
    });
    aging.await.map_err(host("setting times in a checkout"))
}

/// Makes the packages with these differing paths as new as the checkout. Everything that was built must be older: its
/// latest time is `built`.
pub(super) fn renew(
    work: &Path,
    tracked: &[PathBuf],
    differing: Option<&BTreeSet<PathBuf>>,
    built: Time,
) -> io::Result<()> {
    if !has_packages(tracked) {
        return Ok(());
    }
    let now = checkout_time(work)?;
    if built >= now {
        return Err(io::Error::other("what was built is newer than the checkout"));
    }
    date(work, newer(tracked, differing).into_iter(), now)
}

/// Returns the files that commands rewrote in a checkout since it was made.
pub(super) fn rewritten(work: &Path, tracked: &[PathBuf]) -> io::Result<BTreeSet<PathBuf>> {
    if !has_packages(tracked) {
        return Ok(BTreeSet::new());
    }
    let made = checkout_time(work)?;
    let is_rewritten = |path: &&PathBuf| {
        let time = fs::symlink_metadata(work.join(path)).map(|meta| modified(&meta)).ok();
        time != Some(OLD) && time != Some(made) && !path.ends_with(LOCK)
    };
    Ok(tracked.iter().filter(is_rewritten).cloned().collect())
}

fn date<'a>(work: &Path, files: impl Iterator<Item = &'a Path>, time: Time) -> io::Result<()> {
    let above = |path: &'a Path| path.ancestors().filter(|above| !above.as_os_str().is_empty());
    let paths: BTreeSet<&Path> = files.flat_map(above).collect();
    paths.into_iter().try_for_each(|path| match set(&work.join(path), time, time) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    })
}

/// Returns the time when this checkout was made, by the file system's clock.
fn checkout_time(work: &Path) -> io::Result<Time> {
    fs::symlink_metadata(work.join(".git/HEAD")).map(|meta| modified(&meta))
}

/// `true` if Cargo may build there: it relies on times that only a fresh checkout has.
pub(crate) fn matter(place: &SandboxedCheckout) -> bool {
    has_packages(&place.tracked())
}

fn has_packages(tracked: &[PathBuf]) -> bool {
    tracked.iter().any(|path| path.ends_with(MANIFEST))
}

/// Returns the files that must be new if these paths differ; `None` means that the difference is unknown.
///
/// The compiler records which sources it read, so a changed source makes its own package new, and its dependents follow. A
/// build script or macro of any package may read any other file without a record, so such a change makes all files new.
fn newer<'a>(tracked: &'a [PathBuf], differing: Option<&BTreeSet<PathBuf>>) -> BTreeSet<&'a Path> {
    let manifests = tracked.iter().filter(|path| path.ends_with(MANIFEST));
    let packages: BTreeSet<&Path> = manifests.filter_map(|path| path.parent()).collect();
    let package = |path: &Path| path.ancestors().skip(1).find_map(|above| packages.get(above).copied());
    let own = |path: &PathBuf| package(path).filter(|_| stays_inside(path));
    let renewed: Option<BTreeSet<&Path>> = differing.and_then(|paths| paths.iter().map(own).collect());
    let is_newer = |path: &&Path| match (&renewed, package(path)) {
        (Some(renewed), Some(package)) => renewed.contains(package),
        (Some(_), None) => false,
        (None, _) => true,
    };
    tracked.iter().map(PathBuf::as_path).filter(is_newer).collect()
}

/// `true` if a change of this file affects only its own package and the packages that depend on it.
fn stays_inside(path: &Path) -> bool {
    let is_source = path.extension().is_some_and(|ending| ending == "rs" || ending == "md");
    let folders = path.parent().into_iter().flat_map(Path::iter);
    is_source || folders.into_iter().any(|folder| OF_TESTS.iter().any(|name| folder == *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 8] = [
        "Cargo.toml",
        "README.md",
        "migrations/1.sql",
        "src/lib.rs",
        "heavy/Cargo.toml",
        "heavy/src/lib.rs",
        "heavy/src/deep/mod.rs",
        "heavy/tests/data/in.json",
    ];

    fn tracked(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_changed_source_makes_its_own_package_new_and_any_other_file_makes_all_new() {
        let (own, heavy) = (&PATHS[..4], &PATHS[4..]);
        let table: [(&[&str], &[&str]); 14] = [
            (&[], &[]),
            (&["src/lib.rs"], own),
            (&["src/new.rs", "README.md"], own),
            (&["tests/it.rs"], own),
            (&["heavy/src/deep/mod.rs"], heavy),
            (&["heavy/tests/data/in.json"], heavy),
            (&["heavy/src/lib.rs", "src/gone.rs"], &PATHS),
            (&["migrations/1.sql"], &PATHS),
            (&["heavy/Cargo.toml"], &PATHS),
            (&[".cargo/config.toml"], &PATHS),
            (&[".gitattributes"], &PATHS),
            (&["heavy/schema.json"], &PATHS),
            (&["build.sh"], &PATHS),
            (&["Cargo.lock"], &PATHS),
        ];
        let all = tracked(&PATHS);
        for (changed, expected) in table {
            let differing = tracked(changed).into_iter().collect();
            let found = newer(&all, Some(&differing));
            assert_eq!(found, expected.iter().map(Path::new).collect(), "{changed:?}");
        }
        assert_eq!(newer(&all, None).len(), PATHS.len());
        let inner = tracked(&["a/Cargo.toml", "a/lib.rs"]);
        let outside = ["shared.rs".into()].into();
        assert_eq!(newer(&inner, Some(&outside)).len(), inner.len());
    }

    #[test]
    fn what_a_snapshot_was_built_from_is_old_and_the_rest_is_as_new_as_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path();
        let all = tracked(&["a/Cargo.toml", "a/src/lib.rs", "b/Cargo.toml", "b/src/lib.rs", "gone.rs"]);
        for path in all.iter().chain([&PathBuf::from(".git/HEAD")]) {
            fs::create_dir_all(work.join(path).parent().unwrap()).unwrap();
            fs::write(work.join(path), "x").unwrap();
        }
        fs::remove_file(work.join("gone.rs")).unwrap();
        date(work, all.iter().map(PathBuf::as_path), OLD).unwrap();
        let now = checkout_time(work).unwrap();
        let differing = ["a/src/lib.rs".into()].into();
        assert!(renew(work, &all, Some(&differing), now).is_err());
        renew(work, &all, Some(&differing), OLD).unwrap();
        let time = |path: &str| modified(&fs::symlink_metadata(work.join(path)).unwrap());
        let paths = ["a/Cargo.toml", "a/src", "a/src/lib.rs", "b/src/lib.rs", "b/src"];
        assert_eq!(paths.map(time), [now, now, now, OLD, OLD]);
        set(&work.join("b/src/lib.rs"), OLD, (now.0 + 1, 0)).unwrap();
        let rewritten = rewritten(work, &all).unwrap();
        assert_eq!(rewritten, tracked(&["b/src/lib.rs", "gone.rs"]).into_iter().collect());
    }
}
