//! Finds the files that commands left in a checkout and that are not part of the commit.

use crate::gates::run::context::{GateError, blocking_io, host};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

/// The file that marks a folder as a cache.
const TAG: &str = "CACHEDIR.TAG";

/// The most names of folders.
const MOST_NAMES: usize = 1_000;

/// Folders that are useless elsewhere: they record the last run, not built files.
const OF_NO_USE: [&str; 4] = [".pytest_cache", "__pycache__", ".nyc_output", "coverage"];

/// The topmost files and folders that are not part of the commit, at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct UntrackedFiles {
    pub(super) found: BTreeSet<PathBuf>,
}

impl UntrackedFiles {
    /// Searches a checkout whose commit has these paths.
    pub(crate) async fn of(work: &Path, tracked: &BTreeSet<String>) -> Result<Self, GateError> {
        let (work, tracked) = (work.to_path_buf(), tracked.clone());
        let looking = blocking_io(move || Self::look_through(&work, &tracked));
        looking.await.map_err(host("looking through a checkout"))
    }

    /// Does the same synchronously, on a thread that may block.
    pub(super) fn look_through(work: &Path, tracked: &BTreeSet<String>) -> io::Result<Self> {
        let mut found = BTreeSet::new();
        look(work, Path::new(""), tracked, &mut found)?;
        Ok(Self { found })
    }

    pub(crate) fn folder_names(&self, work: &Path) -> BTreeSet<String> {
        let folders = self.found.iter().filter(|path| work.join(path).is_dir());
        let names = folders.filter_map(|path| path.file_name());
        names.map(|name| name.to_string_lossy().into_owned()).take(MOST_NAMES).collect()
    }

    /// Returns the files from which a later run of the same turn starts: all except bytecode. Python matches bytecode
    /// with a source by time and size, which another source may share.
    pub(crate) fn for_the_turn(&self) -> Vec<PathBuf> {
        let is_bytecode = |path: &&PathBuf| path.ends_with("__pycache__");
        self.found.iter().filter(|path| !is_bytecode(path)).cloned().collect()
    }

    /// Returns the files worth caching: those of set-up, and those of tests that are marked as a cache. A later run
    /// would find other output of a test run even if its sources were gone.
    pub(crate) fn worth_keeping(setup: &Self, tests: &Self, work: &Path) -> Vec<PathBuf> {
        let is_worth = |path: &&PathBuf| {
            let by_setup = setup.found.contains(*path);
            let is_of_no_use = OF_NO_USE.iter().any(|name| path.ends_with(name));
            !is_of_no_use && (by_setup || work.join(path).join(TAG).is_file())
        };
        tests.found.iter().filter(is_worth).cloned().collect()
    }
}

fn look(work: &Path, below: &Path, tracked: &BTreeSet<String>, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(work.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if below.as_os_str().is_empty() && entry.file_name() == ".git" {
            continue;
        }
        let Some(text) = path.to_str() else { continue };
        if tracked.contains(text) {
            continue;
        }
        let folder = format!("{text}/");
        let next = tracked.range(folder.clone()..).next();
        let holds_tracked = next.is_some_and(|next| next.starts_with(&folder));
        if holds_tracked && entry.file_type()?.is_dir() {
            look(work, &path, tracked, found)?;
        } else {
            found.insert(path);
        }
    }
    Ok(())
}
