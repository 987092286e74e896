//! PostgreSQL for tests: the server at `TEST_POSTGRES_URL`, or else a throw-away cluster of the installed programs. If
//! they are missing, root installs them. If that is impossible too, the test fails: it is never skipped.
//!
//! The cluster lives as long as the test process, however that ends: a shell holds the other end of a pipe and stops
//! the server when the pipe closes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use crate::folder::memory;
use sqlx::{ConnectOptions, Connection, Executor, postgres::PgConnectOptions};
use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// Creates a new, empty database; returns its address.
pub async fn database() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let name = format!("autobuild_test_{}_{}_{number}", std::process::id(), SERVER.started);
    let options: PgConnectOptions = SERVER.url.parse().expect("TEST_POSTGRES_URL is an address");
    let mut connection = options
        .disable_statement_logging()
        .connect()
        .await
        .unwrap_or_else(|error| panic!("the test's PostgreSQL does not answer: {error}"));
    let create = format!("CREATE DATABASE {name}");
    connection.execute(sqlx::AssertSqlSafe(create)).await.expect("the test's PostgreSQL lets us create databases");
    connection.close().await.expect("the connection closes");
    with_database(&SERVER.url, &name)
}

/// Returns the address of another database on the same server.
fn with_database(url: &str, name: &str) -> String {
    let mut url = url::Url::parse(url).expect("an address");
    url.set_path(name);
    url.to_string()
}

struct Server {
    url: String,
    /// The start time in nanoseconds. It makes the names of databases differ from those of an earlier process with the
    /// same id.
    started: u128,
    /// The pipe to the shell, which the system closes when the process ends.
    _lifeline: Option<ChildStdin>,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let started = std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    match std::env::var("TEST_POSTGRES_URL") {
        Ok(url) => Server { url, started, _lifeline: None },
        Err(_) => start(started),
    }
});

/// Starts the server, which stops, and removes its files, when standard input ends. It vacuums nothing: each database
/// is small, and a process for each of them would be started every minute.
const SERVE: &str = r#"
"$1/initdb" --pgdata="$2/data" --auth=trust --username=postgres --encoding=UTF8 --locale=C --no-sync >"$2/initdb.log" 2>&1 ||
    { cat "$2/initdb.log" >&2; rm -rf "$2"; exit 1; }
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c full_page_writes=off -c max_connections=300 \
    -c wal_level=minimal -c max_wal_senders=0 -c max_wal_size=96MB -c autovacuum=off \
    -c log_min_messages=log -c lc_messages=C &
read -r _
kill -QUIT $!
wait
rm -rf "$2"
"#;

fn start(started: u128) -> Server {
    let programs = installed().unwrap_or_else(install);
    let owner = owner();
    let folder = folder(owner);
    let mut shell = as_owner(owner);
    let mut child = shell
        .args(["sh", "-c", SERVE, "postgres-for-tests"])
        .args([&programs, &folder])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("the shell starts");
    let lifeline = child.stdin.take();
    let mut log = BufReader::new(child.stderr.take().expect("standard error is a pipe"));
    let mut said = String::new();
    while !said.ends_with("database system is ready to accept connections\n") {
        let read = log.read_line(&mut said).expect("the server's log is text");
        assert!(read > 0, "the throw-away PostgreSQL did not start:\n{said}");
    }
    // The log is not needed, but the server would block on a full pipe.
    std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()).and(child.wait()));
    Server {
        url: format!("postgres://postgres@localhost/postgres?host={}", folder.display()),
        started,
        _lifeline: lifeline,
    }
}

/// Returns the folder with `initdb` and `postgres`.
fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for (parent, prefix, inner) in
        [("/usr/lib/postgresql", "", "bin"), ("/usr", "pgsql-", "bin"), ("/opt/homebrew/opt", "postgresql", "bin")]
    {
        let mut found: Vec<PathBuf> = std::fs::read_dir(parent)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
            .map(|entry| entry.path().join(inner))
            .collect();
        found.sort();
        folders.extend(found.into_iter().rev());
    }
    folders.into_iter().find(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

fn install() -> PathBuf {
    const HELP: &str = "no PostgreSQL for the tests: set TEST_POSTGRES_URL to a server, or install the programs \
                        `initdb` and `postgres` (Debian: apt-get install postgresql)";
    assert!(rustix::process::geteuid().is_root(), "{HELP}");
    for arguments in [&["update"][..], &["install", "-y", "--no-install-recommends", "postgresql"]] {
        let done = Command::new("apt-get")
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        assert!(done.is_ok_and(|status| status.success()), "{HELP}; apt-get {arguments:?} failed");
    }
    installed().expect(HELP)
}

/// Returns the user that runs the server, which refuses to run as root; `None` unless this process is root's.
fn owner() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    ["postgres", "nobody"].into_iter().find(|name| users.lines().any(|line| line.split(':').next() == Some(name)))
}

fn as_owner(owner: Option<&str>) -> Command {
    let Some(owner) = owner else {
        return Command::new("env");
    };
    let mut command = Command::new("setpriv");
    let group = Command::new("id").args(["-gn", owner]).output().expect("id runs");
    command
        .arg(format!("--reuid={owner}"))
        .arg(format!("--regid={}", String::from_utf8_lossy(&group.stdout).trim()))
        .arg("--clear-groups");
    command
}

/// Creates a folder of the server's user, with a name short enough for a socket's path. It is in memory if possible: each
/// new database is a copy of 7 MB, which on a disk takes 470 ms instead of 130. The chaos lane makes databases without end.
fn folder(owner: Option<&str>) -> PathBuf {
    let memory = memory().filter(|_| std::env::var_os("CHAOS").is_none());
    let made = tempfile::Builder::new().prefix("autobuild-pg-").tempdir_in(memory.unwrap_or("/tmp"));
    let folder = made.expect("a temporary folder").keep();
    if let Some(owner) = owner {
        give(&folder, owner);
    }
    folder
}

fn give(folder: &Path, owner: &str) {
    let done = Command::new("chown").arg(owner).arg(folder).status();
    assert!(done.is_ok_and(|status| status.success()), "chown {owner} {}", folder.display());
}
