//! One run of git: an empty environment with the safe settings, a deadline, a cap on what it prints.

use crate::git::error::GitError;
use crate::git::remote::Remote;
use bytes::Bytes;
use rustix::process::Pid;
use rustix::process::Signal;
use secrecy::ExposeSecret;
use secrecy::SecretString;
use std::ffi::OsStr;
use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::process::Child;
use tokio::process::ChildStdin;
use tokio::process::Command;
use tokio::sync::mpsc;

/// Where a call that talks to nobody gives up.
const LOCAL_DEADLINE: Duration = Duration::from_secs(120);
/// Where a call over the network gives up.
pub(crate) const NETWORK_DEADLINE: Duration = Duration::from_secs(900);
/// What a call may print unless it says otherwise.
const DEFAULT_CAP: usize = 64 << 20;
/// What is kept of git's complaints.
const STDERR_CAP: usize = 16 << 10;
/// Time for git to take its lock files away before it is killed.
const GRACE: Duration = Duration::from_secs(2);
/// The empty tree: as the source of attributes it means that no attribute holds, so bytes land as they are stored.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Environment of every call. `PATH` is for the helpers that git itself starts.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_ADVICE", "0"),
];

/// Settings of every call, above any configuration file.
const SETTINGS: [&str; 13] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "safe.bareRepository=explicit",
    "transfer.fsckObjects=true",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.helper=",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
];

/// What a call reads on its standard input.
enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Stream(mpsc::Receiver<Bytes>),
}

/// What git printed and how it ended.
#[derive(Debug)]
pub struct GitOutput {
    /// Exit code; −1 after a signal.
    pub code: i32,
    /// Standard output, no longer than the cap.
    pub stdout: Vec<u8>,
    /// Whether git was stopped because it printed more than the cap.
    pub truncated: bool,
    /// Standard error, shortened, tokens masked.
    pub stderr: String,
}

impl GitOutput {
    /// Standard output as text without the line end.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }
}

/// One call of git on a repository of our own, built argument by argument.
pub struct GitCall {
    command: Command,
    name: String,
    input: Input,
    deadline: Duration,
    cap: usize,
    config: Vec<(String, SecretString)>,
    remote: Option<Remote>,
    protocol: &'static str,
}

impl GitCall {
    /// `git --git-dir=<git_dir> <subcommand>` with the safe environment and settings, and no protocol allowed.
    #[must_use]
    pub fn new(git_dir: &Path, subcommand: &str) -> Self {
        let mut git_dir_arg = OsString::from("--git-dir=");
        git_dir_arg.push(git_dir);
        let attributes = format!("--attr-source={EMPTY_TREE}");
        Self::with_global(&[git_dir_arg, attributes.into()], subcommand)
    }

    /// The same for a checkout that no agent has seen yet.
    pub(crate) fn in_work_tree(git_dir: &Path, work_tree: &Path, subcommand: &str) -> Self {
        let mut git_dir_arg = OsString::from("--git-dir=");
        git_dir_arg.push(git_dir);
        let mut work_tree_arg = OsString::from("--work-tree=");
        work_tree_arg.push(work_tree);
        let attributes = format!("--attr-source={EMPTY_TREE}");
        let mut call = Self::with_global(&[git_dir_arg, work_tree_arg, attributes.into()], subcommand);
        call.command.current_dir(work_tree);
        call
    }

    fn with_global(global: &[OsString], subcommand: &str) -> Self {
        let mut command = Command::new(git_program());
        command.env_clear().envs(ENVIRONMENT).current_dir("/");
        command.args(["--no-pager", "--literal-pathspecs"]);
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
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

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// Adds a variable to git's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Adds a setting that is no secret.
    #[must_use]
    pub fn config(mut self, name: &str, value: &str) -> Self {
        self.config
            .push((name.to_owned(), SecretString::from(value.to_owned())));
        self
    }

    /// Gives git these bytes on its standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.input = Input::Bytes(bytes);
        self
    }

    /// Gives git what arrives on `stream` until its sender is dropped.
    pub(crate) fn stdin_stream(mut self, stream: mpsc::Receiver<Bytes>) -> Self {
        self.input = Input::Stream(stream);
        self
    }

    /// Stops git after this time.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Keeps this many bytes of what git prints; with more, git is stopped and the output marked as truncated.
    #[must_use]
    pub fn cap(mut self, bytes: usize) -> Self {
        self.cap = bytes;
        self
    }

    /// Lets git speak to `remote`, with its protocol and token, and to nothing else. The URL is not added as argument.
    pub(crate) fn talking_to(mut self, remote: &Remote) -> Self {
        self.protocol = remote.protocol();
        self.config.extend(remote.config());
        self.remote = Some(remote.clone());
        self.deadline = NETWORK_DEADLINE;
        self
    }

    /// Lets git read another repository of ours on this disk.
    pub(crate) fn talking_to_disk(mut self) -> Self {
        self.protocol = "file";
        self
    }

    /// Runs git to its end, whatever its exit code.
    pub async fn run(mut self) -> Result<GitOutput, GitError> {
        self.command.env("GIT_ALLOW_PROTOCOL", self.protocol);
        self.command.env("GIT_CONFIG_COUNT", self.config.len().to_string());
        for (at, (name, value)) in self.config.iter().enumerate() {
            self.command.env(format!("GIT_CONFIG_KEY_{at}"), name);
            self.command
                .env(format!("GIT_CONFIG_VALUE_{at}"), value.expose_secret());
        }
        let (input, deadline) = (self.input, self.deadline);
        let stdin = if matches!(input, Input::Nothing) {
            Stdio::null()
        } else {
            Stdio::piped()
        };
        self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that a deadline also ends the helpers that git starts.
        self.command.process_group(0);
        let spawned = self.command.spawn();
        let child = spawned.map_err(GitError::io(format!("starting git {}", self.name)))?;
        let mut group = Group::of(&child);
        let mut talk = std::pin::pin!(converse(child, input, self.cap));
        let Ok(output) = tokio::time::timeout(deadline, &mut talk).await else {
            group.signal(Signal::TERM);
            let _ = tokio::time::timeout(GRACE, &mut talk).await;
            group.signal(Signal::KILL);
            return Err(GitError::TimedOut {
                command: self.name,
                after: deadline,
            });
        };
        group.ended();
        let output = output.map_err(GitError::io(format!("running git {}", self.name)))?;
        Ok(match &self.remote {
            Some(remote) => output.shown(|text| remote.mask(text)),
            None => output.shown(str::to_owned),
        })
    }

    /// Runs git and demands success and a complete output.
    pub async fn ok(self) -> Result<GitOutput, GitError> {
        let (command, cap) = (self.name.clone(), self.cap);
        let output = self.run().await?;
        match output.code {
            _ if output.truncated => Err(GitError::TooLarge { command, cap }),
            0 => Ok(output),
            code => Err(GitError::Failed {
                command,
                code,
                stderr: output.stderr,
            }),
        }
    }
}

/// What a finished child left, before masking.
struct RawOutput {
    code: i32,
    stdout: Vec<u8>,
    truncated: bool,
    stderr: Vec<u8>,
}

impl RawOutput {
    fn shown(self, mask: impl Fn(&str) -> String) -> GitOutput {
        GitOutput {
            code: self.code,
            stdout: self.stdout,
            truncated: self.truncated,
            stderr: mask(String::from_utf8_lossy(&self.stderr).trim()),
        }
    }
}

/// Feeds and reads the child until it ends, or stops it where it prints more than `cap`.
async fn converse(mut child: Child, input: Input, cap: usize) -> std::io::Result<RawOutput> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feeding = feed(stdin, input);
    let complaining = read_capped(stderr, STDERR_CAP, AtCap::Discard);
    let reading = read_capped(stdout, cap, AtCap::Stop);
    let ((), (stdout, truncated), (stderr, _)) = {
        let reading = async {
            let read = reading.await;
            if read.1 {
                // Dropped at once: this is the signal.
                drop(Group::of(&child));
            }
            read
        };
        tokio::join!(feeding, reading, complaining)
    };
    let status = child.wait().await?;
    Ok(RawOutput {
        code: status.code().unwrap_or(-1),
        stdout,
        truncated,
        stderr,
    })
}

/// Writes the input and closes it. A git that ends without reading is judged by its exit code, not by the broken pipe.
async fn feed(stdin: Option<ChildStdin>, input: Input) {
    let Some(mut stdin) = stdin else { return };
    match input {
        Input::Nothing => {}
        Input::Bytes(bytes) => {
            let _ = stdin.write_all(&bytes).await;
        }
        Input::Stream(mut chunks) => {
            while let Some(chunk) = chunks.recv().await {
                if stdin.write_all(&chunk).await.is_err() {
                    return;
                }
            }
        }
    }
    let _ = stdin.shutdown().await;
}

/// What to do with more output than is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtCap {
    Stop,
    Discard,
}

/// Reads up to `cap` bytes; says whether there were more.
async fn read_capped(source: Option<impl AsyncRead + Unpin>, cap: usize, at_cap: AtCap) -> (Vec<u8>, bool) {
    let (mut kept, mut more) = (Vec::new(), false);
    let Some(mut source) = source else { return (kept, more) };
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count) = source.read(&mut buffer).await {
        let room = cap.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
        more |= room < count;
        if count == 0 || (more && at_cap == AtCap::Stop) {
            break;
        }
    }
    (kept, more)
}

/// The process group of a running git. Dropped before its end, it tells the whole group to stop: on SIGTERM git takes its
/// lock files away.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let raw = child.id().and_then(|id| i32::try_from(id).ok());
        Self(raw.and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// The number may belong to another process from now on.
    fn ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
    }
}

/// Where git is, by the service's own `PATH`, looked up once.
fn git_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path)
            .map(|folder| folder.join("git"))
            .find(|file| file.is_file());
        found.unwrap_or_else(|| PathBuf::from("git"))
    })
}
