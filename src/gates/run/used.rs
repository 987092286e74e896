//! Restores a used checkout to its state before the use, which is cheaper than another copy of the snapshot.
//!
//! Changes are detected by each file's inode and change time, which no program can set. If more changed than can be
//! restored, the checkout is not used again.

use crate::gates::run::{
    cache::Snapshot,
    checkout::SandboxedCheckout,
    context::{GateError, blocking_io},
    overlay::{IntendedFile, Overlay, in_work_tree, lay_files},
    put_back::committed,
    stamp::{Stamp, outlive},
};
use git::{Blob, Mirror, write_or_remove};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

/// The working copy below the folder around it, and git's folder in there.
const WORK: &str = "work";
const GIT: &str = "work/.git";
/// The most files of a checkout that is used twice, and the most files that are restored.
const MOST_FILES: usize = 200_000;
const MOST_PUT_BACK: usize = 2_000;

pub(crate) struct Stamps(BTreeMap<PathBuf, Stamp>);

pub(crate) struct UsedCheckout {
    pub(crate) checkout: SandboxedCheckout,
    pub(crate) laid: Vec<PathBuf>,
    pub(crate) before: Stamps,
}

/// The steps that restore a checkout.
#[derive(Default)]
struct Repair {
    take_away: Vec<PathBuf>,
    /// Changed or deleted paths, to be restored.
    put_back: Vec<PathBuf>,
}

impl Stamps {
    /// Records the state of a checkout in which nothing runs, then waits for the file system's clock to advance, so
    /// that every later write is visible. `None` if there are too many files, or they cannot be read.
    pub(crate) async fn of(place: &SandboxedCheckout) -> Option<Self> {
        let root = place.around().to_path_buf();
        let looking = blocking_io(move || {
            let stamps = Self::look(&root)?;
            if let (Some(stamps), Some(beside)) = (&stamps, root.parent()) {
                outlive(stamps.0.values(), beside)?;
            }
            Ok(stamps)
        });
        looking.await.unwrap_or_else(|error| {
            tracing::debug!(%error, "a checkout could not be looked through");
            None
        })
    }

    fn look(root: &Path) -> io::Result<Option<Self>> {
        let mut stamps = BTreeMap::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(root.join(&folder))? {
                let entry = entry?;
                let (path, meta) = (folder.join(entry.file_name()), entry.metadata()?);
                if meta.is_dir() {
                    open.push(path.clone());
                }
                stamps.insert(path, Stamp::of(&meta));
            }
            if stamps.len() > MOST_FILES {
                return Ok(None);
            }
        }
        Ok(Some(Self(stamps)))
    }

    /// Returns the steps that undo all changes since; `None` if that is impossible.
    fn repair(&self, now: &Self) -> Option<Repair> {
        let mut repair = Repair::default();
        for (path, stamp) in &now.0 {
            match self.0.get(path) {
                Some(before) if before == stamp => {}
                Some(_) => repair.put_back.push(path.clone()),
                None if repair.take_away.last().is_some_and(|above| path.starts_with(above)) => {}
                None => repair.take_away.push(path.clone()),
            }
        }
        let gone = self.0.keys().filter(|path| !now.0.contains_key(*path));
        repair.put_back.extend(gone.cloned());
        let is_folder = |path: &PathBuf| self.0.get(path).is_some_and(Stamp::is_of_folder);
        let mut all = repair.take_away.iter().chain(&repair.put_back);
        let is_lost = repair.put_back.len() > MOST_PUT_BACK
            || repair.put_back.iter().any(is_folder)
            || all.any(|path| path.starts_with(GIT));
        (!is_lost).then_some(repair)
    }
}

impl UsedCheckout {
    /// Restores the checkout, with the overlay's files in place; `None` if that is impossible.
    pub(crate) async fn again(
        self,
        mirror: &Mirror,
        snapshot: &Snapshot,
        overlay: Option<&Overlay>,
    ) -> Result<Option<SandboxedCheckout>, GateError> {
        let Self { checkout, laid, before } = self;
        let entry = snapshot.entry.to_path_buf();
        let root = checkout.around().to_path_buf();
        let own: BTreeSet<PathBuf> = checkout.tracked().into_iter().collect();
        let undone = blocking_io(move || undo(&root, &before, &entry, &own)).await;
        let undone = undone.unwrap_or_else(|error| {
            tracing::debug!(%error, "a checkout could not be put back");
            None
        });
        let Some(mut back) = undone else { return Ok(None) };
        back.extend(laid);
        let next: BTreeSet<&Path> = overlay.into_iter().flat_map(Overlay::paths).map(Path::new).collect();
        back.retain(|path| !next.contains(path.as_path()));
        if !restore(mirror, &checkout, back).await? {
            return Ok(None);
        }
        if let Some(overlay) = overlay {
            overlay.lay(mirror, &checkout).await?;
        }
        Ok(Some(checkout))
    }
}

/// Undoes the changes; returns the commit's own files that must be rewritten, or `None` if something is lost.
fn undo(root: &Path, before: &Stamps, entry: &Path, own: &BTreeSet<PathBuf>) -> io::Result<Option<BTreeSet<PathBuf>>> {
    let Some(repair) = Stamps::look(root)?.and_then(|now| before.repair(&now)) else {
        return Ok(None);
    };
    for path in &repair.take_away {
        write_or_remove(root, path, None)?;
    }
    let mut back = BTreeSet::new();
    for path in repair.put_back {
        match path.strip_prefix(WORK) {
            Ok(tracked) if own.contains(tracked) => drop(back.insert(tracked.to_path_buf())),
            _ if Snapshot::copy_back(entry, root, &path)? => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(back))
}

/// Writes these files as the commit has them, or deletes them. Returns `false` if that failed.
async fn restore(mirror: &Mirror, checkout: &SandboxedCheckout, paths: BTreeSet<PathBuf>) -> Result<bool, GateError> {
    let commit = checkout.head();
    let there = committed(mirror, commit, &paths).await?;
    let mut meant: BTreeMap<PathBuf, IntendedFile> = paths.into_iter().map(|path| (path, None)).collect();
    for (path, blob, mode) in there {
        let Blob::Bytes(bytes) = blob else {
            return Ok(false);
        };
        meant.insert(path, Some((bytes, mode)));
    }
    let files = in_work_tree(mirror, commit, meant.into_iter()).await?;
    Ok(lay_files(checkout.path(), files).await.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a checkout with a committed file, a package and git's folder, applies `deed`, and undoes it. Returns the
    /// files to rewrite; `None` if something is lost.
    fn undone(deed: fn(&Path)) -> Option<BTreeSet<PathBuf>> {
        let folder = tempfile::tempdir().unwrap();
        let (root, entry) = (folder.path().join("place"), folder.path().join("entry"));
        let files = [
            (root.join("work/src/a.py"), "a = 1\n"),
            (root.join("work/.git/HEAD"), "x\n"),
            (root.join("work/.venv/lib/six.py"), "six\n"),
            (entry.join("checkout/.venv/lib/six.py"), "six\n"),
            (root.join("home/.cache/x"), "x\n"),
        ];
        for (path, text) in files {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let before = Stamps::look(&root).unwrap().unwrap();
        outlive(before.0.values(), folder.path()).unwrap();
        deed(&root);
        let back = undo(&root, &before, &entry, &[PathBuf::from("src/a.py")].into()).unwrap();
        if back.is_some() {
            let left = Stamps::look(&root).unwrap().unwrap().0;
            let paths = |stamps: &BTreeMap<PathBuf, Stamp>| stamps.keys().cloned().collect::<BTreeSet<_>>();
            let missing: BTreeSet<PathBuf> = paths(&before.0).difference(&paths(&left)).cloned().collect();
            assert!(paths(&left).is_subset(&paths(&before.0)), "something is left: {:?}", paths(&left));
            assert!(missing.iter().all(|path| path.ends_with("a.py")), "{missing:?}");
            assert_eq!(fs::read(root.join("work/.venv/lib/six.py")).unwrap(), b"six\n");
        }
        back
    }

    #[test]
    fn a_used_place_is_put_back_or_given_up() {
        type Row = (&'static str, fn(&Path), Option<&'static [&'static str]>);
        let table: [Row; 9] = [
            ("nothing", |_| {}, Some(&[])),
            (
                "new files and folders",
                |root| {
                    fs::create_dir_all(root.join("work/.pytest_cache/v/x")).unwrap();
                    fs::write(root.join("home/new"), "n").unwrap();
                },
                Some(&[]),
            ),
            (
                "a link out of the place",
                |root| std::os::unix::fs::symlink("/", root.join("work/out")).unwrap(),
                Some(&[]),
            ),
            (
                "a file of the commit",
                |root| fs::write(root.join("work/src/a.py"), "a = 22\n").unwrap(),
                Some(&["src/a.py"]),
            ),
            ("a file that is gone", |root| fs::remove_file(root.join("work/src/a.py")).unwrap(), Some(&["src/a.py"])),
            ("a package", |root| fs::write(root.join("work/.venv/lib/six.py"), "seven\n").unwrap(), Some(&[])),
            ("the home", |root| fs::write(root.join("home/.cache/x"), "other\n").unwrap(), None),
            ("git's folder", |root| fs::write(root.join("work/.git/config"), "").unwrap(), None),
            ("a folder that is gone", |root| fs::remove_dir_all(root.join("work/.venv/lib")).unwrap(), None),
        ];
        for (what, deed, expected) in table {
            let expected = expected.map(|paths| paths.iter().map(PathBuf::from).collect());
            assert_eq!(undone(deed), expected, "{what}");
        }
    }
}
