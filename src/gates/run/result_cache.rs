//! Caches results: if the same commands already ran on the same files in the same environment, and nothing counted
//! against the change, they do not run again. So a wave of one task, a commit that only adds records, and a resumed
//! turn need no run.
//!
//! It stores no result that counts against the change, no missing evidence, and nothing from commands with network
//! access. Only the service writes here, and no command sees the folder.

use crate::{
    config::{RECORDS_FOLDER, RepositorySettings},
    gates::{
        commands::{CommandChoice, Reach},
        compare,
        coverage::Measurement,
        run::{
            context::{GateContext, GateError},
            overlay::Overlay,
            ready::Ready,
        },
    },
};
use domain::{evidence::Evidence, ids::Sha};
use git::Mirror;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// The most results that are kept.
const MOST: usize = 256;
/// The most test names of a result that is kept.
const MOST_NAMES: usize = 50_000;
/// The most files of a commit whose results are cached.
const MOST_FILES: usize = 50_000;

#[derive(Serialize, Deserialize)]
pub(crate) struct Tested {
    pub(crate) setup: Option<Evidence>,
    /// Files of the commit that set-up rewrote and that were restored.
    pub(crate) rewritten: Vec<String>,
    pub(crate) tests: Evidence,
    pub(crate) coverage: Option<Measurement>,
    pub(super) took: Duration,
    #[serde(skip)]
    pub(crate) origin: Origin,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    Now,
    /// The result is cached, from an earlier run of the same files.
    #[default]
    Kept,
}

impl Tested {
    pub(super) fn now(ready: &Ready<'_>, tests: Evidence, coverage: Option<Measurement>, took: Duration) -> Self {
        Self {
            setup: ready.setup.clone(),
            rewritten: ready.touched.rewritten.clone(),
            tests,
            coverage,
            took,
            origin: Origin::Now,
        }
    }

    pub(super) fn of_command(found: Evidence) -> Self {
        Self {
            setup: None,
            rewritten: Vec::new(),
            tests: found,
            coverage: None,
            took: Duration::ZERO,
            origin: Origin::Now,
        }
    }

    fn is_small(&self) -> bool {
        let names = compare::names(&self.tests);
        names.is_none_or(|names| names.passed.len() + names.failed.len() + names.skipped.len() <= MOST_NAMES)
            && self.coverage.as_ref().is_none_or(Measurement::is_small)
    }
}

/// The result that supports the change if tests run on files other than the commit's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    Green,
    Red,
    /// Red, because the code is broken on purpose.
    Noticed,
}

impl Expected {
    pub(crate) fn is_met_by(self, found: &Evidence) -> bool {
        match self {
            Self::Green => matches!(found, Evidence::Passed(_)),
            // A run that a signal or a limit ended does not count as a test failure.
            Self::Red | Self::Noticed => matches!(found, Evidence::Failed(finding) if !compare::is_stopped(finding)),
        }
    }

    /// `true` if the tests ran and gave the opposite result.
    pub(crate) fn is_denied_by(self, found: &Evidence) -> bool {
        match self {
            Self::Green => matches!(found, Evidence::Failed(_)),
            Self::Red | Self::Noticed => matches!(found, Evidence::Passed(_)),
        }
    }

    /// `true` if a run of selected tests need not show a result of each: a run of all tests would show no more.
    pub(crate) fn suffices(self, found: &Evidence) -> bool {
        match self {
            Self::Green => false,
            // If code cannot be loaded, the run fails and its tests have no results.
            Self::Red => compare::names(found).is_some_and(|names| !names.failed.is_empty()),
            // A test without a result did not pass.
            Self::Noticed => !matches!(found, Evidence::Absent(_)),
        }
    }
}

/// The cached results of one repository and its commands.
pub(super) struct ResultCache<'a> {
    pub(super) context: &'a GateContext,
    pub(super) mirror: &'a Mirror,
    pub(super) settings: &'a RepositorySettings,
    pub(super) chosen: &'a CommandChoice,
    pub(super) setup_reaches: &'a Reach,
    pub(super) versions: &'a str,
}

/// The place of one result in the cache; `None` if the result cannot be kept.
pub(super) struct Slot(Option<PathBuf>);

impl Slot {
    pub(super) fn load(&self) -> Option<Tested> {
        serde_json::from_slice(&fs::read(self.0.as_ref()?).ok()?).ok()
    }

    /// Stores a result. A failure only costs another run.
    pub(super) fn keep(&self, tested: &Tested) {
        if let Some(path) = self.0.as_ref().filter(|_| tested.is_small())
            && let Err(error) = write(path, tested)
        {
            tracing::warn!(%error, "the result of a run could not be kept");
        }
    }
}

fn write(path: &Path, tested: &Tested) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let file = tempfile::Builder::new().prefix(".making-").tempfile_in(folder)?;
    serde_json::to_writer(&file, tested)?;
    file.persist(path)?;
    make_room(folder, MOST)
}

impl ResultCache<'_> {
    /// Returns the place for the result of a line on `commit` with the overlay, after set-up of the commit `set_up`.
    /// Results are not kept if commands may use the network, or there are too many files.
    pub(super) async fn slot(
        &self,
        set_up: &Sha,
        commit: &Sha,
        overlay: Option<&Overlay>,
        line: &str,
    ) -> Result<Slot, GateError> {
        let (mirror, chosen) = (self.mirror, self.chosen);
        if !chosen.reaches.hosts.is_empty() {
            return Ok(Slot(None));
        }
        let Some(files) = self.files(commit, overlay).await? else {
            return Ok(Slot(None));
        };
        let mut digest = Sha256::new();
        digest.update(format!("{}\0{chosen:?}\0{line}\0", mirror.dir().display()));
        digest.update(format!("{:?}\0{:?}\0", self.setup_reaches, self.settings.coverage));
        digest.update(self.environment());
        // Some builds take their version from the newest tag.
        digest.update(mirror.tags());
        digest.update(files);
        if set_up != commit && chosen.setup.is_some() {
            digest.update(self.files(set_up, None).await?.unwrap_or_default());
        }
        let name = format!("{:x}", digest.finalize());
        Ok(Slot(Some(self.context.caches.join("results").join(name))))
    }

    /// Returns a digest of a commit's files with the overlay; `None` if there are too many.
    async fn files(&self, commit: &Sha, overlay: Option<&Overlay>) -> Result<Option<Vec<u8>>, GateError> {
        let listed = self.mirror.list_files(commit, MOST_FILES).await?;
        if listed.truncated {
            return Ok(None);
        }
        let own = listed.entries.iter();
        let own = own.map(|entry| (entry.path.as_bytes(), (entry.mode, entry.oid.as_str())));
        let mut files: BTreeMap<&[u8], (u32, &str)> = own.collect();
        for (path, laid) in overlay.into_iter().flat_map(Overlay::versions) {
            match laid {
                Some(version) => files.insert(path.as_bytes(), version),
                None => files.remove(path.as_bytes()),
            };
        }
        let mut digest = Sha256::new();
        for (path, (mode, version)) in files {
            if !path.starts_with(RECORDS_FOLDER.as_bytes()) {
                digest.update(path);
                digest.update(format!("\0{mode:o} {version}\0"));
            }
        }
        Ok(Some(digest.finalize().to_vec()))
    }

    /// Returns the part of the key that does not depend on files: this build of AutoBuild, the isolation level, `PATH`,
    /// and the programs' versions.
    fn environment(&self) -> String {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let level = self.context.sandbox.level();
        let build = fs::metadata("/proc/self/exe").map(|meta| (meta.len(), meta.modified().ok())).ok();
        format!("{build:?}\0{level:?}\0{}\0{}\0", path.display(), self.versions)
    }
}

fn make_room(folder: &Path, most: usize) -> io::Result<()> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        all.push((entry.metadata()?.modified()?, entry.path()));
    }
    all.sort();
    let old = all.len().saturating_sub(most);
    let mut old = all.iter().take(old);
    old.try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::evidence::{Absence, Counts, Finding, TestNames};

    #[test]
    fn the_oldest_results_make_room() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            let file = fs::File::create(folder.path().join(name)).unwrap();
            let seconds = u64::from(name.as_bytes()[0]);
            file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
        make_room(folder.path(), 2).unwrap();
        let left = ["a", "b", "c"].map(|name| folder.path().join(name).exists());
        assert_eq!(left, [false, true, true]);
    }

    #[test]
    fn what_a_signal_or_a_limit_ended_is_not_red() {
        let failed = |exit_code| {
            Evidence::Failed(Finding {
                command: "t".to_owned(),
                exit_code,
                counts: Counts::Unknown,
                failing: Vec::new(),
                output: String::new(),
                ..Finding::default()
            })
        };
        assert!(Expected::Red.is_met_by(&failed(Some(1))));
        assert!(!Expected::Red.is_met_by(&failed(None)) && !Expected::Red.is_denied_by(&failed(None)));
        assert!(Expected::Green.is_denied_by(&failed(None)));
    }

    #[test]
    fn a_run_without_all_selected_tests_suffices_if_no_other_run_would_show_more() {
        let failed = |failed: &[&str]| {
            let names =
                TestNames { failed: failed.iter().map(|name| (*name).to_owned()).collect(), ..TestNames::default() };
            Evidence::Failed(Finding { exit_code: Some(1), names: Some(names), ..Finding::default() })
        };
        let table = [
            (Expected::Green, failed(&["a"]), false),
            (Expected::Red, failed(&["a"]), true),
            (Expected::Red, failed(&[]), false),
            (Expected::Noticed, failed(&[]), true),
            (Expected::Noticed, Evidence::Passed(Finding::default()), true),
            (Expected::Noticed, Evidence::Absent(Absence::NotReached), false),
        ];
        for (expected, found, suffices) in table {
            assert_eq!(expected.suffices(&found), suffices, "{expected:?} {found:?}");
        }
    }

    #[test]
    fn what_could_not_be_run_speaks_for_nobody_and_against_nobody() {
        let absent = Evidence::Absent(Absence::NotReached);
        for expected in [Expected::Green, Expected::Red, Expected::Noticed] {
            assert!(!expected.is_met_by(&absent) && !expected.is_denied_by(&absent));
        }
    }
}
