//! Restores the commit's files after set-up: every changed file that git tracks or that the overlay wrote is restored
//! and named.

use crate::gates::run::{
    checkout::SandboxedCheckout,
    context::{GateError, blocking_io, host},
    overlay::{IntendedFile, Overlay, in_work_tree},
    stamp::{Stamp, outlive},
};
use domain::ids::Sha;
use git::{Blob, Mirror, folder_in_the_way, write_or_remove};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    io::ErrorKind,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

/// Git's mode of a symbolic link.
const LINK: u32 = 0o120_000;
/// The largest file that is restored, in bytes.
const MAX_FILE: u64 = 128 * 1024 * 1024;

#[derive(Clone, Default)]
pub(crate) struct SetUpTraces {
    pub(crate) rewritten: Vec<String>,
    /// Files that set-up made executable and that were left so.
    pub(crate) executable: Vec<PathBuf>,
}

pub(crate) struct StateBefore {
    /// `None` if there is nothing at the path.
    stamps: BTreeMap<PathBuf, Option<Stamp>>,
    laid: BTreeMap<PathBuf, IntendedFile>,
}

/// Records the state of every tracked file and every overlay file.
pub(crate) async fn note_state(place: &SandboxedCheckout, overlay: Option<&Overlay>) -> Result<StateBefore, GateError> {
    let contents = overlay.into_iter().flat_map(Overlay::contents);
    let laid: BTreeMap<PathBuf, IntendedFile> = contents.map(|(path, meant)| (path.into(), meant.clone())).collect();
    let tracked = place.tracked();
    let paths: BTreeSet<PathBuf> = tracked.into_iter().chain(laid.keys().cloned()).collect();
    let (root, home) = (place.path().to_path_buf(), place.home());
    let noting = blocking_io(move || {
        let stamped = paths.into_iter().map(|path| (path.clone(), stamp(&root.join(path))));
        let stamps: BTreeMap<PathBuf, Option<Stamp>> = stamped.collect();
        outlive(stamps.values().flatten(), &home)?;
        Ok(stamps)
    });
    let stamps = noting.await.map_err(host("noting how a checkout looks"))?;
    Ok(StateBefore { stamps, laid })
}

fn stamp(path: &Path) -> Option<Stamp> {
    fs::symlink_metadata(path).ok().as_ref().map(Stamp::of)
}

impl StateBefore {
    /// Restores every changed file and names it. Nothing may run in the checkout meanwhile.
    pub(crate) async fn put_back(self, place: &SandboxedCheckout, mirror: &Mirror) -> Result<SetUpTraces, GateError> {
        let (root, commit) = (place.path().to_path_buf(), place.head());
        let Self { stamps, mut laid } = self;
        let looking = blocking_io(move || {
            let differs = |(path, before): &(PathBuf, Option<Stamp>)| stamp(&root.join(path)) != *before;
            let touched = stamps.into_iter().filter(differs).map(|(path, _)| path);
            Ok(touched.collect::<BTreeSet<PathBuf>>())
        });
        let touched = looking.await.map_err(host("looking at a checkout after set-up"))?;
        if touched.is_empty() {
            return Ok(SetUpTraces::default());
        }
        laid.retain(|path, _| touched.contains(path));
        let of_commit = touched.into_iter().filter(|path| !laid.contains_key(path)).collect();
        let mut meant = laid;
        for (path, blob, mode) in committed(mirror, commit, &of_commit).await? {
            if let Blob::Bytes(bytes) = blob {
                meant.insert(path, Some((bytes, mode)));
            }
        }
        let meant = in_work_tree(mirror, commit, meant.into_iter()).await?;
        let root = place.path().to_path_buf();
        let putting = blocking_io(move || {
            let mut touched = SetUpTraces::default();
            for (path, meant) in meant {
                if !is_intact(&root, &path, meant.as_ref())? {
                    write_or_remove(&root, &path, meant.as_ref())
                        .map_err(|error| io::Error::other(format!("{}: {error}", path.display())))?;
                    touched.rewritten.push(path.to_string_lossy().into_owned());
                } else if meant.is_some_and(|(_, mode)| mode == 0o100_644) && is_executable(&root.join(&path)) {
                    touched.executable.push(path);
                }
            }
            touched.rewritten.sort();
            Ok(touched)
        });
        putting.await.map_err(host("putting back what set-up rewrote"))
    }
}

fn is_executable(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o100 != 0)
}

/// Makes regular files executable, even those of another user.
pub(crate) fn make_executable(root: &Path, paths: &[PathBuf]) -> io::Result<()> {
    for path in paths {
        let whole = root.join(path);
        match fs::symlink_metadata(&whole) {
            Ok(meta) if meta.is_file() && folder_in_the_way(root, path).is_none() => {
                fs::set_permissions(&whole, fs::Permissions::from_mode(meta.mode() | 0o111))?;
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Returns the files among these that the commit has, with their modes.
pub(super) async fn committed(
    mirror: &Mirror,
    commit: &Sha,
    paths: &BTreeSet<PathBuf>,
) -> Result<Vec<(PathBuf, Blob, u32)>, GateError> {
    let mut wanted = mirror.list_files(commit, usize::MAX).await?.entries;
    wanted.retain(|entry| paths.contains(entry.path.as_path()));
    let oids: Vec<&str> = wanted.iter().map(|entry| entry.oid.as_str()).collect();
    let blobs = mirror.blobs(&oids, MAX_FILE).await?;
    let files = wanted.iter().zip(blobs);
    Ok(files.map(|(entry, blob)| (entry.path.as_path().to_path_buf(), blob, entry.mode)).collect())
}

/// `true` if a touched path still has its intended content.
fn is_intact(root: &Path, path: &Path, meant: Option<&(Vec<u8>, u32)>) -> io::Result<bool> {
    if folder_in_the_way(root, path).is_some() {
        return Ok(meant.is_none());
    }
    let whole = root.join(path);
    let found = match fs::symlink_metadata(&whole) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(meant.is_none());
        }
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(false),
        Err(error) => return Err(error),
    };
    let Some((bytes, mode)) = meant else { return Ok(false) };
    if *mode == LINK {
        let target = found.is_symlink().then(|| fs::read_link(&whole)).transpose()?;
        return Ok(target.is_some_and(|target| target.as_os_str().as_bytes() == bytes));
    }
    // Set-up often makes scripts executable, so that alone is not a change.
    let can_be_run = found.mode() & 0o100 != 0;
    let is_so = found.is_file()
        && found.nlink() == 1
        && found.mode() & 0o600 == 0o600
        && (can_be_run || mode & 0o100 == 0)
        && u64::try_from(bytes.len()) == Ok(found.size());
    Ok(is_so && fs::read(&whole).is_ok_and(|found| found == *bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn file(text: &str) -> (Vec<u8>, u32) {
        (text.as_bytes().to_vec(), 0o100_644)
    }

    #[test]
    fn whatever_stands_in_its_place_a_file_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("work");
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("a"), "kept").unwrap();
        let spoil: [fn(&Path, &Path); 8] = [
            |at, _| fs::write(at, "other").unwrap(),
            |at, _| fs::remove_file(at).unwrap(),
            |at, _| fs::set_permissions(at, fs::Permissions::from_mode(0o400)).unwrap(),
            |at, _| fs::set_permissions(at, fs::Permissions::from_mode(0o000)).unwrap(),
            |at, elsewhere| {
                fs::remove_file(at).unwrap();
                symlink(elsewhere.join("a"), at).unwrap();
            },
            |at, _| {
                fs::remove_file(at).unwrap();
                fs::create_dir_all(at.join("b/c")).unwrap();
                fs::write(at.join("b/c/d"), "x").unwrap();
                fs::set_permissions(at.join("b"), fs::Permissions::from_mode(0o000)).unwrap();
            },
            |at, elsewhere| {
                fs::remove_dir_all(at.parent().unwrap()).unwrap();
                symlink(elsewhere, at.parent().unwrap()).unwrap();
            },
            |at, elsewhere| fs::hard_link(at, elsewhere.join("hard")).unwrap(),
        ];
        let path = Path::new("tests/a");
        for (number, spoil) in spoil.into_iter().enumerate() {
            write_or_remove(&root, path, None).ok();
            fs::create_dir_all(root.join("tests")).unwrap();
            fs::write(root.join(path), "true").unwrap();
            assert!(is_intact(&root, path, Some(&file("true"))).unwrap());
            spoil(&root.join(path), &elsewhere);
            assert!(!is_intact(&root, path, Some(&file("true"))).unwrap(), "{number}");
            write_or_remove(&root, path, Some(&file("true"))).unwrap();
            assert!(is_intact(&root, path, Some(&file("true"))).unwrap(), "{number}");
            assert_eq!(fs::read(elsewhere.join("a")).unwrap(), b"kept");
        }
    }

    #[test]
    fn links_and_what_was_taken_away_are_put_back_too() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let link = (b"a".to_vec(), LINK);
        fs::write(root.join("l"), "a").unwrap();
        assert!(!is_intact(root, Path::new("l"), Some(&link)).unwrap());
        write_or_remove(root, Path::new("l"), Some(&link)).unwrap();
        assert!(is_intact(root, Path::new("l"), Some(&link)).unwrap());
        fs::create_dir_all(root.join("gone")).unwrap();
        fs::write(root.join("gone/x"), "x").unwrap();
        assert!(!is_intact(root, Path::new("gone/x"), None).unwrap());
        write_or_remove(root, Path::new("gone/x"), None).unwrap();
        assert!(is_intact(root, Path::new("gone/x"), None).unwrap());
        assert!(is_intact(root, Path::new("never/was"), None).unwrap());
        fs::write(root.join("script"), "s").unwrap();
        let script = (b"s".to_vec(), 0o100_755);
        assert!(is_intact(root, Path::new("script"), Some(&file("s"))).unwrap());
        assert!(!is_intact(root, Path::new("script"), Some(&script)).unwrap());
        write_or_remove(root, Path::new("script"), Some(&script)).unwrap();
        assert!(is_intact(root, Path::new("script"), Some(&script)).unwrap());
        assert!(is_intact(root, Path::new("script"), Some(&file("s"))).unwrap());
    }
}
