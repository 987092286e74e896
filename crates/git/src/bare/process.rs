//! Starts git for a bare repository: safe flags, a minimal environment, bounded output.

use super::BareRepo;
use crate::safe::{ENVIRONMENT, SETTINGS, git_program};
use std::{ffi::OsStr, io, path::Path, process::Stdio};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::Command,
};

/// The most output that is read from one git process, in bytes.
const OUTPUT_CAP: u64 = 64 * 1024 * 1024;

/// Settings of calls on a bare repository, in addition to those of every call.
const SETTINGS_BARE: [&str; 2] = ["core.logAllRefUpdates=false", "core.quotePath=false"];

/// Why a git operation failed.
#[derive(Debug, thiserror::Error)]
pub enum BareError {
    /// The program could not be started, or its pipes failed.
    #[error("git could not be run")]
    Process(#[from] io::Error),
    /// Git ended with an error.
    #[error("git {command} failed: {stderr}")]
    Failed {
        /// The subcommand.
        command: String,
        /// Git's error output, trimmed.
        stderr: String,
    },
    /// Git's output cannot be parsed.
    #[error("git {0} answered in an unknown form")]
    Unreadable(&'static str),
    /// A ref no longer has the value that the caller saw.
    #[error("{0} has moved")]
    Moved(String),
    /// There is nothing to import.
    #[error("{0} has no commit to import: make a first one")]
    Empty(String),
    /// The repository is a shallow clone, without its whole history.
    #[error("{0} is a shallow clone: fetch the rest with `git fetch --unshallow` first")]
    Shallow(String),
}

/// The exit code and output of a finished git process.
pub(super) struct FinishedProcess {
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl FinishedProcess {
    pub(super) fn failure(self, command: &str) -> BareError {
        BareError::Failed { command: command.to_owned(), stderr: self.stderr }
    }
}

/// Builds a call of git, or of a program of git's own, in the safe environment. `hooks` is the only folder from which
/// hooks may run. Adds `settings` to those of every call.
pub(super) fn start(program: &Path, hooks: &OsStr, settings: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(ENVIRONMENT);
    for name in ["PATH", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_LITERAL_PATHSPECS", "1");
    let settings = SETTINGS.iter().chain(&SETTINGS_BARE).chain(settings).filter_map(|setting| setting.split_once('='));
    let settings = settings.map(|(name, value)| (name, OsStr::new(value))).chain([("core.hooksPath", hooks)]);
    let mut count = 0_usize;
    for (name, value) in settings {
        command.env(format!("GIT_CONFIG_KEY_{count}"), name).env(format!("GIT_CONFIG_VALUE_{count}"), value);
        count += 1;
    }
    command.env("GIT_CONFIG_COUNT", count.to_string());
    command.kill_on_drop(true).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a prepared command and feeds it `input`.
pub(super) async fn finish(mut command: Command, input: &[u8]) -> Result<FinishedProcess, BareError> {
    if !input.is_empty() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let feed = async {
        if let Some(mut pipe) = stdin {
            // Git may stop reading early; its exit code then shows the result.
            let _ = pipe.write_all(input).await;
        }
    };
    let read_out = async {
        match out {
            Some(pipe) => pipe.take(OUTPUT_CAP).read_to_end(&mut stdout).await,
            None => Ok(0),
        }
    };
    let read_err = async {
        match err {
            Some(pipe) => pipe.take(64 * 1024).read_to_end(&mut stderr).await,
            None => Ok(0),
        }
    };
    let ((), out, err) = tokio::join!(feed, read_out, read_err);
    out?;
    err?;
    let status = child.wait().await?;
    Ok(FinishedProcess { code: status.code(), stdout, stderr: String::from_utf8_lossy(&stderr).trim().to_owned() })
}

impl BareRepo {
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = start(git_program(), OsStr::new("/dev/null"), &[]);
        command.arg("--no-pager").arg("--git-dir").arg(self.dir()).args(args);
        command
    }

    /// Runs git on this repository. Any exit code except 0 is an error.
    pub(super) async fn run(&self, args: &[&str], input: &[u8]) -> Result<Vec<u8>, BareError> {
        let done = finish(self.command(args), input).await?;
        match done.code {
            Some(0) => Ok(done.stdout),
            _ => Err(done.failure(args.first().copied().unwrap_or_default())),
        }
    }

    /// Does the same as [`Self::run`], but returns the output as trimmed text.
    pub(super) async fn line(&self, args: &[&str], input: &[u8]) -> Result<String, BareError> {
        let out = self.run(args, input).await?;
        Ok(String::from_utf8_lossy(&out).trim().to_owned())
    }
}
