//! The private folder of one run: its home, its temporary files, and the files that the program needs besides its
//! prompt.

use crate::{
    agents::run::{RunError, RunSpec},
    config::Role,
};
use sandbox::{Confine, environment};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// Prefixes of service variables that lead a program to an account or change how it works. They are never passed on.
const NEVER_PASSED: [&str; 5] = ["ANTHROPIC_", "CLAUDE", "OPENAI_", "CODEX_", "AUTOBUILD_"];

/// A folder that is deleted with everything in it after the run.
#[derive(Debug)]
pub(crate) struct Private(Option<TempDir>, PathBuf);

impl Private {
    /// Makes a new folder below `runs`.
    pub(crate) fn make(runs: &Path) -> Result<Self, RunError> {
        let folder = std::fs::create_dir_all(runs)
            .and_then(|()| tempfile::Builder::new().prefix("agent-").tempdir_in(runs))
            .map_err(host("making its private folder"))?;
        let path = folder.path().to_owned();
        Ok(Self(Some(folder), path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.1
    }

    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, RunError> {
        let path = self.1.join(name);
        std::fs::create_dir_all(&path).map_err(host("making its private folder"))?;
        Ok(path)
    }

    /// Writes a file into it.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, RunError> {
        let path = self.1.join(name);
        std::fs::write(&path, content).map_err(host("preparing its environment"))?;
        Ok(path)
    }

    /// Returns the files that a run may read and change: this folder and its checkout, which only a Player may change.
    pub(crate) fn confine(&self, spec: &RunSpec) -> Confine {
        let mut confine =
            Confine { read: spec.objects.iter().cloned().collect(), write: vec![self.1.clone()], ..Confine::default() };
        match spec.role {
            Role::Player => confine.write.push(spec.checkout.clone()),
            Role::Planner | Role::Designer | Role::Coach => confine.read.push(spec.checkout.clone()),
        }
        confine
    }

    /// Returns the environment of a run: the variables that every program needs, those that the operator lists, and the
    /// run's role, task, turn and schema. `kept` decides about listed variables that lead to an account.
    pub(crate) fn environment(
        &self,
        spec: &RunSpec,
        named: &[String],
        kept: AccountVariables,
    ) -> Result<Vec<(OsString, OsString)>, RunError> {
        let schema =
            serde_json::to_vec_pretty(&spec.schema).map_err(|error| host("writing its schema")(error.into()))?;
        let schema_file = self.write("schema.json", &schema)?;
        let is_passed = |name: &&String| {
            kept == AccountVariables::AsNamed || !NEVER_PASSED.iter().any(|prefix| name.starts_with(prefix))
        };
        let named: Vec<String> = named.iter().filter(is_passed).cloned().collect();
        let mut env = environment(&self.1, &named).map_err(host("preparing its environment"))?;
        let task = spec.task.map(|task| task.to_string()).unwrap_or_default();
        env.extend([
            ("AUTOBUILD_ROLE".into(), spec.role.word().into()),
            ("AUTOBUILD_TASK".into(), task.into()),
            ("AUTOBUILD_TURN".into(), spec.turn.to_string().into()),
            ("AUTOBUILD_SCHEMA_FILE".into(), schema_file.into_os_string()),
        ]);
        Ok(env)
    }
}

/// The treatment of listed variables that lead to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccountVariables {
    /// They are passed on, because the operator decides which variables a program gets.
    AsNamed,
    /// They are dropped, because the program reaches its model only through us.
    Ours,
}

impl Drop for Private {
    fn drop(&mut self) {
        let folder = self.0.take();
        // A home may have thousands of files, so it is deleted on a thread for blocking work. Anything that remains is
        // removed at the next start.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || drop(folder))),
            Err(_) => drop(folder),
        }
    }
}

/// Returns the error for a failure of the service itself while `doing` something.
pub(crate) fn host(doing: &'static str) -> impl Fn(io::Error) -> RunError {
    move |source| RunError::Host { doing, source }
}
