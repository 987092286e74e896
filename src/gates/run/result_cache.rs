//! What tests of the same files said before: where the very same files were run by the very same commands, and that spoke
//! for the work, they are not run again. A turn that changes the code alone need not show again that its tests were red.
//!
//! What speaks against the work is never remembered, nor what could not be run, nor what a network was part of.

use crate::gates::{
    bench::GateError,
    commands::Chosen,
    compare,
    overlay::Overlay,
    stand::{From, Stand},
    verify::Run,
};
use domain::{evidence::Evidence, ids::Sha};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

/// The most results that are kept.
const MOST: usize = 64;
/// A result of more tests than this is not kept.
const MOST_NAMES: usize = 5_000;
/// Commits with more files are not compared.
const MOST_FILES: usize = 50_000;

/// A digest of files and commands.
type Key = [u8; 32];

/// Results that spoke for the work, the one that was asked for last at the end. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Remembered(Arc<Mutex<VecDeque<(Key, Evidence)>>>);

/// What speaks for the work where tests are run on files of two commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hope {
    Green,
    Red,
}

impl Hope {
    fn is_met_by(self, found: &Evidence) -> bool {
        match self {
            Self::Green => matches!(found, Evidence::Passed(_)),
            Self::Red => matches!(found, Evidence::Failed(_)),
        }
    }
}

impl Remembered {
    fn known(&self, key: &Key) -> Option<Evidence> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(other, _)| other == key)?;
        let known = all.remove(at)?;
        all.push_back(known.clone());
        Some(known.1)
    }

    fn keep(&self, key: Key, found: &Evidence) {
        let names = compare::names(found);
        if names.is_some_and(|names| names.passed.len() + names.failed.len() + names.skipped.len() > MOST_NAMES) {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(other, _)| *other != key);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back((key, found.clone()));
    }
}

/// The tests of `commit` with some files in place of its own, on a fresh checkout or as they are remembered.
pub(crate) async fn tests(
    run: &Run<'_>,
    chosen: &Chosen,
    (commit, overlay): (&Sha, &Overlay),
    hope: Hope,
) -> Result<Evidence, GateError> {
    let (bench, subject) = (run.bench, run.subject);
    let key = key(run, chosen, (commit, overlay)).await?;
    let known = key.and_then(|key| bench.remembered.known(&key));
    if let Some(known) = known.filter(|known| hope.is_met_by(known)) {
        return Ok(known);
    }
    let stand = Stand::with(
        bench,
        (subject.mirror, commit),
        subject.settings,
        (chosen.clone(), From::Cache),
        Some(overlay),
        run.cancel,
    )
    .await?;
    let found = stand.tests().await?;
    if let Some(key) = key.filter(|_| hope.is_met_by(&found)) {
        bench.remembered.keep(key, &found);
    }
    Ok(found)
}

/// A digest of everything that the result follows from; none where that is more than files and commands.
async fn key(run: &Run<'_>, chosen: &Chosen, (commit, overlay): (&Sha, &Overlay)) -> Result<Option<Key>, GateError> {
    let mirror = run.subject.mirror;
    let listed = mirror.list_files(commit, MOST_FILES).await?;
    if listed.truncated || !chosen.reaches.is_empty() {
        return Ok(None);
    }
    let own = listed
        .entries
        .iter()
        .map(|entry| (entry.path.as_bytes(), (entry.mode, entry.oid.as_str())));
    let mut files: BTreeMap<&[u8], (u32, &str)> = own.collect();
    for (path, laid) in overlay.versions() {
        match laid {
            Some(version) => files.insert(path.as_bytes(), version),
            None => files.remove(path.as_bytes()),
        };
    }
    let mut digest = Sha256::new();
    digest.update(format!("{}\0{chosen:?}\0", mirror.dir().display()));
    for (path, (mode, version)) in files {
        digest.update(path);
        digest.update(format!("\0{mode:o} {version}\0"));
    }
    Ok(Some(digest.finalize().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::evidence::Absence;

    fn unfinished(what: &str) -> Evidence {
        Evidence::Absent(Absence::Unfinished { what: what.to_owned() })
    }

    #[test]
    fn what_was_asked_for_last_is_kept_longest() {
        let remembered = Remembered::default();
        let key = |number: usize| Key::from(Sha256::digest(number.to_string()));
        for number in 0..MOST {
            remembered.keep(key(number), &unfinished(&number.to_string()));
        }
        assert_eq!(remembered.known(&key(0)), Some(unfinished("0")));
        remembered.keep(key(MOST), &unfinished("new"));
        assert_eq!(remembered.known(&key(1)), None);
        assert_eq!(remembered.known(&key(0)), Some(unfinished("0")));
        assert_eq!(remembered.known(&key(MOST)), Some(unfinished("new")));
    }

    #[test]
    fn what_could_not_be_run_speaks_for_nobody() {
        assert!(!Hope::Green.is_met_by(&unfinished("")) && !Hope::Red.is_met_by(&unfinished("")));
    }
}
