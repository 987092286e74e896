//! One run of git, with a minimal environment, safe settings, a deadline and a limit on its output.

use crate::{
    error::{CallReach, GitError},
    failure::local_failure,
    remote::Remote,
    safe::{EMPTY_TREE, ENVIRONMENT, SETTINGS, SETTINGS_OUTSIDE, git_program},
    talk::{Group, Input, RawOutput, converse},
};
use bytes::Bytes;
use rustix::process::Signal;
use secrecy::{ExposeSecret, SecretString};
use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::Stdio,
    time::Duration,
};
use tokio::{process::Command, sync::mpsc};

/// The time limit of a call that uses no network.
const LOCAL_DEADLINE: Duration = Duration::from_secs(120);
/// The time limit of a call over the network.
pub(crate) const NETWORK_DEADLINE: Duration = Duration::from_secs(900);
/// The default limit on a call's output, in bytes.
const DEFAULT_CAP: usize = 64 << 20;
/// The time that git gets to remove its lock files before it is killed.
const GRACE: Duration = Duration::from_secs(2);
#[derive(Debug)]
pub(crate) struct GitOutput {
    /// The exit code; −1 after a signal.
    pub(crate) code: i32,
    /// The standard output, cut off at the cap.
    pub(crate) stdout: Vec<u8>,
    /// `true` if git was stopped because it printed more than the cap.
    pub(crate) truncated: bool,
    /// The standard error, shortened, with tokens masked.
    pub(crate) stderr: String,
}

impl GitOutput {
    fn of(raw: RawOutput, remote: Option<&Remote>) -> Self {
        let stderr = String::from_utf8_lossy(&raw.stderr);
        let stderr = remote.map_or_else(|| stderr.to_string(), |remote| remote.mask(&stderr));
        Self { code: raw.code, stdout: raw.stdout, truncated: raw.truncated, stderr: stderr.trim().to_owned() }
    }

    /// Returns the whole standard output; a failure or a truncated output is an error.
    pub(crate) fn whole(&self, command: &str) -> Result<&[u8], GitError> {
        match self.code {
            _ if self.truncated => Err(GitError::TooLarge { command: command.to_owned(), cap: self.stdout.len() }),
            0 => Ok(&self.stdout),
            _ => Err(local_failure(command, self)),
        }
    }

    /// Returns the standard output as text without trailing white space.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }
}

/// One call of git, built argument by argument.
pub(crate) struct GitCall {
    command: Command,
    name: String,
    input: Input,
    deadline: Duration,
    cap: usize,
    config: Vec<(String, SecretString)>,
    remote: Option<Remote>,
    protocol: &'static str,
}

fn join_option(option: &str, folder: &Path) -> OsString {
    let mut whole = OsString::from(option);
    whole.push(folder);
    whole
}

impl GitCall {
    /// Builds `git --git-dir=<git_dir> <subcommand>` with the safe environment and settings, and no protocol allowed.
    pub(crate) fn new(git_dir: &Path, subcommand: &str) -> Self {
        Self::with_attributes(git_dir, EMPTY_TREE, subcommand)
    }

    /// Builds the same for a folder that no agent has touched, without attributes.
    pub(crate) fn in_work_tree(git_dir: &Path, work_tree: &Path, subcommand: &str) -> Self {
        Self::converting(git_dir, work_tree, EMPTY_TREE, subcommand)
    }

    /// Builds the same for a repository of ours; `source`, a commit or a tree, gives the attributes.
    pub(crate) fn with_attributes(git_dir: &Path, source: &str, subcommand: &str) -> Self {
        let attributes = format!("--attr-source={source}");
        Self::with_global(&[join_option("--git-dir=", git_dir), attributes.into()], subcommand)
    }

    /// Builds the same for a folder that no agent has touched, in which git converts files as these attributes ask.
    pub(crate) fn converting(git_dir: &Path, work_tree: &Path, source: &str, subcommand: &str) -> Self {
        let attributes = format!("--attr-source={source}");
        let folders = [join_option("--git-dir=", git_dir), join_option("--work-tree=", work_tree), attributes.into()];
        let mut call = Self::with_global(&folders, subcommand);
        call.command.current_dir(work_tree);
        // A warning about line ends is no reason to refuse a file.
        call.config("core.safecrlf", "false")
    }

    /// Builds `git -C <folder> <subcommand>` for a repository that a person works in.
    pub(crate) fn in_folder(folder: &Path, subcommand: &str) -> Self {
        Self::with_global(&["-C".into(), folder.into()], subcommand)
    }

    /// Builds `git <global> <subcommand>`.
    pub(crate) fn with_global(global: &[OsString], subcommand: &str) -> Self {
        let mut command = Command::new(git_program());
        command.env_clear().envs(ENVIRONMENT).current_dir("/");
        command.args(["--no-pager", "--literal-pathspecs"]);
        let settings = SETTINGS.iter().chain(&SETTINGS_OUTSIDE);
        command.args(settings.flat_map(|setting| ["-c", setting]));
        command.args(global).arg(subcommand);
        Self {
            command,
            name: subcommand.to_owned(),
            input: Input::Nothing,
            deadline: LOCAL_DEADLINE,
            cap: DEFAULT_CAP,
            config: Vec::new(),
            remote: None,
            protocol: "",
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Adds a variable to git's environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds a setting that is not secret.
    pub(crate) fn config(mut self, name: &str, value: &str) -> Self {
        self.config.push((name.to_owned(), SecretString::from(value.to_owned())));
        self
    }

    /// Gives git these bytes on its standard input.
    pub(crate) fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.input = Input::Bytes(bytes);
        self
    }

    /// Writes the chunks that arrive on `stream` to git's standard input until the sender is dropped.
    pub(crate) fn stdin_stream(mut self, stream: mpsc::Receiver<Bytes>) -> Self {
        self.input = Input::Stream(stream);
        self
    }

    /// Stops git after this time.
    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Keeps at most this many bytes of standard output. If git prints more, it is stopped and the output marked as
    /// truncated.
    pub(crate) fn cap(mut self, bytes: usize) -> Self {
        self.cap = bytes;
        self
    }

    /// Allows git to connect to `remote`, with its protocol and token, and to nothing else. Does not add the URL as an
    /// argument.
    pub(crate) fn talking_to(mut self, remote: &Remote) -> Self {
        self.protocol = remote.protocol;
        self.config.extend(remote.config());
        self.remote = Some(remote.clone());
        self.deadline = NETWORK_DEADLINE;
        self
    }

    /// Allows git to read another repository of ours on this disk.
    pub(crate) fn talking_to_disk(mut self) -> Self {
        self.protocol = "file";
        self
    }

    /// Runs git to its end, whatever its exit code.
    pub(crate) async fn run(mut self) -> Result<GitOutput, GitError> {
        self.command.env("GIT_ALLOW_PROTOCOL", self.protocol);
        self.command.env("GIT_CONFIG_COUNT", self.config.len().to_string());
        for (at, (name, value)) in self.config.iter().enumerate() {
            self.command.env(format!("GIT_CONFIG_KEY_{at}"), name);
            self.command.env(format!("GIT_CONFIG_VALUE_{at}"), value.expose_secret());
        }
        let (input, deadline) = (self.input, self.deadline);
        let stdin = if matches!(input, Input::Nothing) { Stdio::null() } else { Stdio::piped() };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A process group of its own, so that the deadline also ends the helpers that git starts.
        self.command.process_group(0);
        let spawned = self.command.spawn();
        let child = spawned.map_err(|source| GitError::NotStarted { source })?;
        let mut group = Group::of(&child);
        let mut talk = std::pin::pin!(converse(child, input, self.cap));
        let Ok(output) = tokio::time::timeout(deadline, &mut talk).await else {
            group.signal(Signal::TERM);
            let _ = tokio::time::timeout(GRACE, &mut talk).await;
            group.signal(Signal::KILL);
            return Err(GitError::TimedOut {
                command: self.name,
                reach: match self.remote {
                    Some(_) => CallReach::Network,
                    None => CallReach::Disk,
                },
                after: deadline,
            });
        };
        group.forget();
        let output = output.map_err(GitError::io(format!("running git {}", self.name)))?;
        Ok(GitOutput::of(output, self.remote.as_ref()))
    }

    /// Runs git; a failure or a truncated output is an error.
    pub(crate) async fn ok(self) -> Result<GitOutput, GitError> {
        let command = self.name.clone();
        let output = self.run().await?;
        output.whole(&command)?;
        Ok(output)
    }
}
