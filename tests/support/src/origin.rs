//! A forge with one repository, `o/r`. git's own `http-backend` serves it to clients that send the token.

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::StatusCode,
    response::Response,
};
use base64::Engine as _;
use domain::ids::{Millis, RepoId, Sha};
use git::{Author, CommitRequest, ForgeAccess, Mirror, Mirrors, Remote};
use secrecy::SecretString;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

pub const TOKEN: &str = "ghs_theTokenOfThisTest0123456789abcdefgh";

/// The forge, and a service with one mirror of its repository.
pub struct World {
    folder: TempDir,
    pub mirrors: Mirrors,
    pub mirror: Mirror,
    pub remote: Remote,
}

impl World {
    /// Creates a repository whose `main` holds `files` (path, content).
    pub async fn with(files: &[(&str, &str)]) -> Self {
        let folder = crate::folder::folder("autobuild-origin-");
        let bare = folder.path().join("forge/o/r.git");
        fs::create_dir_all(&bare).unwrap();
        git(&bare, &["init", "-q", "--bare", "-b", "main"]);
        let work = folder.path().join("people");
        git(folder.path(), &["init", "-q", "-b", "main", "people"]);
        git(&work, &["remote", "add", "origin", bare.to_str().unwrap()]);
        let address = serve(folder.path().join("forge")).await;
        let mirrors = Mirrors::new(&folder.path().join("data"), ForgeAccess::new(&address).unwrap(), None).unwrap();
        let remote = mirrors.remote(&"o/r".parse().unwrap(), Some(SecretString::from(TOKEN.to_owned())));
        let world = Self { mirror: mirrors.mirror(RepoId(7)), mirrors, folder, remote };
        world.people_push("main", files);
        world.fetch().await;
        world
    }

    pub async fn fetch(&self) {
        self.mirror.fetch(&self.remote, &["main", "autobuild/*"]).await.unwrap();
    }

    pub async fn main(&self) -> Sha {
        self.mirror.rev_parse(&"main".parse().unwrap()).await.unwrap().unwrap()
    }

    /// Returns the folder of this test alone.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the path of the forge's repository on disk.
    pub fn forge_repository(&self) -> PathBuf {
        self.folder.path().join("forge/o/r.git")
    }

    /// Returns the clone in which people (and tests) use git as they please.
    pub fn people(&self) -> PathBuf {
        self.folder.path().join("people")
    }

    /// Commits these files on a branch as a person and pushes it; returns the commit.
    pub fn people_push(&self, branch: &str, files: &[(&str, &str)]) -> Sha {
        let work = self.people();
        git(&work, &["checkout", "-q", "-B", branch]);
        for (path, content) in files {
            write(&work, path, content.as_bytes());
        }
        git(&work, &["add", "-A", "-f"]);
        git(&work, &["commit", "-q", "--allow-empty", "-m", "by hand"]);
        git(&work, &["push", "-q", "-f", "origin", branch]);
        git(&work, &["rev-parse", "HEAD"]).parse().unwrap()
    }

    /// Returns the forge's head of `branch`.
    pub fn forge_tip(&self, branch: &str) -> String {
        git(&self.forge_repository(), &["for-each-ref", "--format=%(objectname)", &format!("refs/heads/{branch}")])
    }

    /// Returns the paths that a commit changes.
    pub fn changed(&self, sha: &Sha) -> Vec<String> {
        let shown = ["diff-tree", "--no-commit-id", "--name-only", "-r", sha.as_str()];
        git(self.mirror.dir(), &shown).lines().map(str::to_owned).collect()
    }

    /// Returns the mirror's files at a commit, each as `<mode> <path>`.
    pub fn tree(&self, sha: &Sha) -> Vec<String> {
        let listing = git(self.mirror.dir(), &["-c", "core.quotePath=true", "ls-tree", "-r", sha.as_str()]);
        let lines = listing.lines().filter_map(|line| line.split_once('\t'));
        lines.map(|(head, path)| format!("{} {path}", head.split(' ').next().unwrap())).collect()
    }
}

/// Returns a commit request with these parents and a fixed time.
pub fn request(parents: &[&Sha]) -> CommitRequest {
    CommitRequest {
        parents: parents.iter().map(|sha| (*sha).clone()).collect(),
        message: "Do the task\n\nWith a body.".to_owned(),
        trailers: vec![("AutoBuild-Task".to_owned(), "TASK-001".to_owned())],
        author: Author { name: "AutoBuild".to_owned(), email: "autobuild@example.invalid".to_owned() },
        at: Millis(1_700_000_000_000),
    }
}

/// Writes a file below `root` and creates its folders.
pub fn write(root: &Path, path: &str, content: &[u8]) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, content).unwrap();
}

/// Runs git as people do, to set up and to look; panics unless it succeeds. Returns its output.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let output = careless(folder).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Returns a git command without any of the product's precautions.
pub fn careless(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "A Person").env(format!("GIT_{role}_EMAIL"), "p@example.invalid");
    }
    command
}

async fn serve(root: PathBuf) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let app = axum::Router::new().fallback(move |request: Request| backend(root.clone(), request));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn backend(root: PathBuf, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let token = base64::engine::general_purpose::STANDARD.encode(format!("x-access-token:{TOKEN}"));
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    if header("authorization") != format!("Basic {token}") {
        let refused = Response::builder().status(StatusCode::UNAUTHORIZED).header("www-authenticate", "Basic");
        return refused.body(Body::from("Invalid username or token.")).unwrap();
    }
    if head.uri.path().starts_with("/o/broken") {
        return Response::builder().status(StatusCode::SERVICE_UNAVAILABLE).body(Body::empty()).unwrap();
    }
    let mut command = Command::new("git");
    command.arg("http-backend").stdin(Stdio::piped()).stdout(Stdio::piped());
    command.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1").env("PATH_INFO", head.uri.path());
    command.env("QUERY_STRING", head.uri.query().unwrap_or("")).env("REQUEST_METHOD", head.method.as_str());
    command.env("CONTENT_TYPE", header("content-type")).env("HTTP_CONTENT_ENCODING", header("content-encoding"));
    command.env("GIT_PROTOCOL", header("git-protocol")).env("REMOTE_USER", "someone");
    let body = to_bytes(body, usize::MAX).await.unwrap();
    tokio::task::spawn_blocking(move || cgi(command, &body)).await.unwrap()
}

fn cgi(mut command: Command, body: &[u8]) -> Response {
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(body);
    let output = child.wait_with_output().unwrap().stdout;
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let mut response = Response::builder();
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        let (name, value) = line.split_once(": ").unwrap();
        response = match name {
            "Status" => response.status(value[..3].parse::<u16>().unwrap()),
            _ => response.header(name, value),
        };
    }
    response.body(Body::from(output[end + 4..].to_vec())).unwrap()
}
