//! Remembers the step of a script that each run took, so that a run that is repeated after a crash takes the same one.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::File,
    io,
    io::Write,
    path::{Path, PathBuf},
};
use text::hex;

/// The step that each run took, by the run's key.
#[derive(Default, Serialize, Deserialize)]
struct TakenSteps {
    steps: BTreeMap<String, usize>,
}

/// Takes a step for the run `key`. This is the step that it took before, or else the first of `fitting` that no run
/// took, or else the last of `fitting` that an earlier attempt at the same `request` took.
///
/// The choice is on disk before this returns, and only one process at a time chooses.
pub(crate) fn take(
    state_dir: &Path,
    script: &Path,
    request: &str,
    key: &str,
    fitting: &[usize],
) -> io::Result<Option<usize>> {
    std::fs::create_dir_all(state_dir)?;
    let file = state_file(state_dir, script);
    let lock = File::create(file.with_extension("lock"))?;
    lock.lock()?;
    let mut taken = load(&file)?;
    if let Some(step) = taken.steps.get(key) {
        return Ok(Some(*step));
    }
    let free = |step: &&usize| !taken.steps.values().any(|used| used == *step);
    let Some(step) = fitting.iter().find(free).copied() else {
        let ours = |key: &str| key.strip_prefix(request).is_some_and(|rest| rest.starts_with(['/', '#']));
        let steps = taken.steps.iter();
        let tried = steps.filter(|(key, step)| ours(key) && fitting.contains(step));
        return Ok(tried.map(|(_, step)| *step).max());
    };
    taken.steps.insert(key.to_owned(), step);
    save(state_dir, &file, &taken)?;
    Ok(Some(step))
}

fn state_file(state_dir: &Path, script: &Path) -> PathBuf {
    let digest = Sha256::digest(script.as_os_str().as_encoded_bytes());
    let name = hex::encode(digest.iter().take(8));
    state_dir.join(format!("script-{name}.json"))
}

fn load(file: &Path) -> io::Result<TakenSteps> {
    match std::fs::read(file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(TakenSteps::default()),
        Err(error) => Err(error),
    }
}

fn save(state_dir: &Path, file: &Path, taken: &TakenSteps) -> io::Result<()> {
    let mut new = tempfile::NamedTempFile::new_in(state_dir)?;
    new.write_all(&serde_json::to_vec(taken).map_err(io::Error::other)?)?;
    new.as_file().sync_all()?;
    new.persist(file).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::take;
    use std::path::Path;

    #[test]
    fn a_run_done_again_takes_the_same_step_and_another_run_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let take = |key: &str, fitting: &[usize]| {
            let request = key.split('/').next().unwrap();
            take(&state, Path::new("/x/steps.yaml"), request, key, fitting).unwrap()
        };
        assert_eq!(take("run 1", &[0, 2]), Some(0));
        assert_eq!(take("run 1", &[0, 2]), Some(0));
        assert_eq!(take("run 2/0", &[0, 2]), Some(2));
        assert_eq!(take("run 3", &[0, 2]), None);
        assert_eq!(take("run 2/0", &[0, 2]), Some(2));
        assert_eq!(take("run 2/1", &[0, 2]), Some(2), "another try plays what there is");
        let other = super::take(&state, Path::new("/y/steps.yaml"), "run 3", "run 3", &[0]).unwrap();
        assert_eq!(other, Some(0), "scripts are told apart");
    }

    #[test]
    fn runs_at_the_same_time_take_different_steps() {
        let dir = tempfile::tempdir().unwrap();
        let fitting: Vec<usize> = (0..8).collect();
        let mut taken: Vec<usize> = std::thread::scope(|scope| {
            let runs: Vec<_> = (0..8)
                .map(|k| {
                    let (dir, fitting) = (dir.path(), &fitting);
                    scope.spawn(move || {
                        let key = format!("run {k}");
                        take(dir, Path::new("s"), &key, &key, fitting).unwrap().unwrap()
                    })
                })
                .collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        taken.sort_unstable();
        assert_eq!(taken, fitting);
    }

    #[test]
    fn a_broken_memory_is_an_error_not_a_fresh_start() {
        let dir = tempfile::tempdir().unwrap();
        take(dir.path(), Path::new("s"), "run 1", "run 1", &[0]).unwrap();
        let file = super::state_file(dir.path(), Path::new("s"));
        std::fs::write(file, "{").unwrap();
        assert!(take(dir.path(), Path::new("s"), "run 1", "run 1", &[0]).is_err());
    }
}
