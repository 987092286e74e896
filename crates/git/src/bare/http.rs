//! Runs git's own HTTP back end as a CGI process, for one request.

use super::{BareError, BareRepo, process::start};
use crate::safe::git_program;
use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::OnceLock,
};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

/// Settings of the back end, in addition to those of every call.
const SETTINGS_HTTP: [&str; 8] = [
    "transfer.fsckObjects=true",
    // GitHub accepts these too.
    "receive.fsck.badTimezone=ignore",
    "receive.fsck.zeroPaddedFilemode=ignore",
    "http.receivepack=true",
    "uploadpack.allowAnySHA1InWant=true",
    "uploadpack.allowFilter=true",
    "receive.autogc=false",
    "receive.denyCurrentBranch=ignore",
];

/// Returns the back end's program. As `git http-backend`, each request would start a second process that only waits.
fn back_end() -> Result<&'static Path, BareError> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    if let Some(program) = PROGRAM.get() {
        return Ok(program);
    }
    let output = std::process::Command::new(git_program()).arg("--exec-path").output()?;
    let folder = Path::new(OsStr::from_bytes(output.stdout.trim_ascii_end()));
    Ok(PROGRAM.get_or_init(|| folder.join("git-http-backend")))
}

/// One HTTP request, in the terms of CGI.
#[derive(Clone, Debug)]
pub struct BackendRequest<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// The rest of the path after the repository: `/info/refs`, `/git-upload-pack`, `/git-receive-pack`.
    pub service_path: &'a str,
    /// The query string, without the question mark.
    pub query: &'a str,
    /// The header `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The header `Content-Encoding`. Git itself unpacks gzip bodies.
    pub content_encoding: Option<&'a str>,
    /// The header `Git-Protocol`.
    pub protocol: Option<&'a str>,
    /// The name of the user; a push needs one.
    pub user: &'a str,
    /// The only folder from which hooks run.
    pub hooks: &'a Path,
    /// Environment variables for those hooks.
    pub hook_environment: &'a [(&'a str, String)],
}

/// A running back end. Write the request's body to `stdin` and read a CGI response from `stdout`.
#[derive(Debug)]
pub struct ServedProcess {
    /// The process; dropping it kills it.
    pub child: Child,
    /// The pipe for the request's body.
    pub stdin: ChildStdin,
    /// The pipe with the headers, an empty line and the response's body.
    pub stdout: ChildStdout,
    /// The pipe with git's error messages.
    pub stderr: ChildStderr,
}

impl BareRepo {
    /// Starts git's HTTP back end on this repository.
    pub fn serve_http(&self, request: &BackendRequest<'_>) -> Result<ServedProcess, BareError> {
        let mut command = start(back_end()?, request.hooks.as_os_str(), &SETTINGS_HTTP);
        let root = self.dir().parent().unwrap_or(Path::new("/"));
        let name = self.dir().file_name().unwrap_or(OsStr::new(""));
        command
            .env("GIT_PROJECT_ROOT", root)
            .env("PATH_INFO", format!("/{}{}", name.to_string_lossy(), request.service_path))
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("REQUEST_METHOD", request.method)
            .env("QUERY_STRING", request.query)
            .env("CONTENT_TYPE", request.content_type.unwrap_or_default())
            .env("REMOTE_USER", request.user)
            .env("REMOTE_ADDR", "127.0.0.1")
            .stdin(Stdio::piped());
        if let Some(encoding) = request.content_encoding {
            command.env("HTTP_CONTENT_ENCODING", encoding);
        }
        if let Some(protocol) = request.protocol {
            command.env("GIT_PROTOCOL", protocol);
        }
        command.envs(request.hook_environment.iter().map(|(name, value)| (*name, value)));
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok(ServedProcess { child, stdin, stdout, stderr }),
            _ => Err(BareError::Unreadable("http-backend")),
        }
    }
}
