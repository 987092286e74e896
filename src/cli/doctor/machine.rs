//! Checks this machine: the program, git, the settings, the data folder, isolation, agents.

use crate::{
    agents::{Access, Backend, Login, PersonLogin},
    cli::{
        assemble,
        assemble::Agents,
        doctor::{
            database,
            look::{DoctorInput, PATIENCE, SLOW_PATIENCE},
        },
        installed_git, models, service,
    },
    config::{AgentCommand, ServerMistake, ServerSettings},
    engine::{
        data_folder::{DataFolder, FoundFolder, NoDataFolder},
        disk_room::DiskRoom,
    },
    messages,
};
use domain::{
    diagnosis::{Row, RowStatus, Topic},
    isolation::Level,
};
use git::{InstalledGit, UnusableGit};
use sandbox::{ProbeError, Sandbox, SandboxOptions, Users};
use std::{
    collections::BTreeSet,
    io::ErrorKind,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
};
use uplink::UplinkError;
use url::Url;

/// The suffix that Linux adds to the path of a program whose file is gone.
const REPLACED: &str = " (deleted)";

/// Returns the row of the program itself, from the path that Linux reports for its file.
pub(super) fn program(file: &Path) -> Row {
    let version = env!("CARGO_PKG_VERSION");
    let file = file.display().to_string();
    match file.strip_suffix(REPLACED) {
        None => Row::ok(Topic::Program, format!("{version} ({file})")),
        Some(file) => {
            let found = format!("{version}, and {file} was replaced or removed since this process started");
            let remedy = "start it again: sandboxes are started from that file";
            Row::warning(Topic::Program, found, remedy)
        }
    }
}

pub(super) fn this_program() -> Row {
    program(&std::env::current_exe().unwrap_or_default())
}

pub(super) fn git(found: &Result<InstalledGit, UnusableGit>) -> Row {
    // The finding already says how to get a newer git.
    let remedy = "then start AutoBuild again";
    match found {
        Ok(git) => match installed_git::warning(git) {
            None => Row::ok(Topic::Git, format!("{} ({})", git.version, git.program.display())),
            Some(warning) => Row::warning(Topic::Git, warning, remedy),
        },
        Err(why) => Row::broken(Topic::Git, installed_git::unusable(why), remedy),
    }
}

pub(super) fn settings(read: &Result<ServerSettings, Vec<ServerMistake>>) -> Vec<Row> {
    let page = "see docs/server-settings.md";
    match read {
        Ok(_) => vec![Row::ok(Topic::Settings, "read")],
        Err(mistakes) => {
            let rest = "the rest is looked at once the settings can be read";
            let rest = Row::warning(Topic::Settings, rest, "correct them, then look again");
            let broken = |mistake: &ServerMistake| Row::broken(Topic::Settings, mistake.to_string(), page);
            mistakes.iter().map(broken).chain([rest]).collect()
        }
    }
}

fn folder(path: &Path, found: Result<FoundFolder, NoDataFolder>) -> Row {
    let path = path.display();
    match found {
        Ok(FoundFolder::Free) => Row::ok(Topic::DataFolder, format!("{path} can be written")),
        Ok(FoundFolder::InUse) => Row::ok(Topic::DataFolder, format!("{path} is in use by a running service")),
        Err(error) => Row::broken(
            Topic::DataFolder,
            format!("{:#}", anyhow::Error::from(error)),
            "let the user that runs AutoBuild write it, or name another with AUTOBUILD_DATA_DIR",
        ),
    }
}

/// Returns the folder's row, or a warning if its disk is nearly full.
fn with_room(row: Row, room: Option<DiskRoom>) -> Row {
    match room {
        Some(room) if row.status == RowStatus::Ok && !room.is_enough() => Row::warning(
            Topic::DataFolder,
            format!("{}, but its disk is nearly full: {room}", row.found),
            "make room: until then no agent and no Gates start",
        ),
        Some(_) | None => row,
    }
}

/// Returns the rows of data folder and database.
pub(super) async fn memory(input: &DoctorInput<'_>) -> Vec<Row> {
    let settings = input.settings;
    let folder = match input.running {
        Some(_) => folder(&settings.data_dir, Ok(FoundFolder::InUse)),
        None => folder(&settings.data_dir, DataFolder::look(&settings.data_dir)),
    };
    let folder = with_room(folder, DiskRoom::of(&settings.data_dir).ok());
    vec![folder, database::row(input).await]
}

/// Returns the row of the address at which the service will listen.
pub(super) fn address(address: SocketAddr) -> Row {
    match TcpListener::bind(address) {
        Ok(_) => Row::ok(Topic::Address, format!("{address} is free")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => Row::warning(
            Topic::Address,
            format!("{address} is in use"),
            "if that is not the running service, stop it, or name another address with AUTOBUILD_LISTEN",
        ),
        Err(error) => Row::broken(
            Topic::Address,
            format!("nothing can listen on {address}: {error}"),
            "name an address of this machine, and a port that its user may use, with AUTOBUILD_LISTEN",
        ),
    }
}

pub(super) async fn foreign_programs(input: &DoctorInput<'_>) -> Vec<Row> {
    let agents = service::agents(input.settings);
    let probed_now;
    let sandbox = match input.running {
        Some(engine) => &engine.sandbox,
        None => {
            let mut options = service::sandbox(input.settings.sandbox.limits, &input.settings.secret_files);
            let data_dir = &input.settings.data_dir;
            options.hidden.push(data_dir.clone());
            if data_dir.is_dir() {
                options.trial_folder.clone_from(data_dir);
            }
            probed_now = match probed(options, input.settings.sandbox.bounds).await {
                Ok(sandbox) => sandbox,
                Err(row) => return vec![row],
            };
            &probed_now
        }
    };
    let missing = messages::missing_isolation(sandbox.missing());
    let row = isolation(sandbox.level(), &missing, user(sandbox));
    let secrets = [&input.settings.data_dir].into_iter().chain(&input.settings.secret_files);
    let mut rows = vec![with_reach(row, sandbox, secrets)];
    rows.extend(check_agents(&agents, sandbox).await);
    rows
}

/// Returns the sandbox that this machine offers, or the row that says why there is none.
pub(super) async fn probed(options: SandboxOptions, bounds: domain::isolation::Bounds) -> Result<Sandbox, Row> {
    let probed = tokio::time::timeout(SLOW_PATIENCE, Sandbox::probe(options, bounds)).await;
    let remedy = "see docs/isolation.md; AUTOBUILD_SANDBOX_MIN_LEVEL is the lowest level that you accept";
    let late = || Row::broken(Topic::Isolation, "it could not be tried out within 20 seconds", remedy);
    match probed {
        Ok(Ok(sandbox)) => Ok(sandbox),
        Ok(Err(error @ ProbeError::NoTrial(_))) => Err(no_trial(&error)),
        Ok(Err(error @ ProbeError::TooLow { .. })) => {
            Err(Row::broken(Topic::Isolation, assemble::no_isolation(&error), remedy))
        }
        Err(_) => Err(late()),
    }
}

/// Returns the row for an isolation that could not be tried, for a reason that is not its own.
fn no_trial(error: &ProbeError) -> Row {
    let remedy = "make room, and let the user that runs AutoBuild write the data folder and that for temporary files";
    Row::broken(Topic::Isolation, assemble::no_isolation(error), remedy)
}

/// The user that programs run as at levels without namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    Root,
    Ordinary,
}

pub(super) fn user(sandbox: &Sandbox) -> User {
    let is_root = rustix::process::geteuid().is_root();
    if is_root && sandbox.users() == Users::OfTheService { User::Root } else { User::Ordinary }
}

pub(super) fn isolation(level: Level, missing: &str, user: User) -> Row {
    let found = format!("{level}: {}", messages::isolation_level(level));
    let more = format!("for more: {missing}");
    match level {
        Level::L0 | Level::L1 if user == User::Root => {
            let found =
                format!("{found}; programs run as root, and PostgreSQL, Chromium, Elasticsearch and others refuse to");
            Row::warning(Topic::Isolation, found, format!("run AutoBuild as an ordinary user; {more}"))
        }
        Level::L0 => Row::warning(Topic::Isolation, found, more),
        Level::L1 | Level::L2 => Row { remedy: Some(more), ..Row::ok(Topic::Isolation, found) },
        Level::L3 => Row::ok(Topic::Isolation, found),
    }
}

/// Adds the files with secrets whose modes a program could open to other users of the machine: Landlock does not cover
/// modes.
fn with_reach<'a>(row: Row, sandbox: &Sandbox, secrets: impl Iterator<Item = &'a PathBuf>) -> Row {
    match sandbox.level() {
        Level::L0 | Level::L1 if sandbox.users() == Users::OfTheService => {
            let secrets: BTreeSet<String> = secrets.map(|path| path.display().to_string()).collect();
            let secrets = secrets.into_iter().collect::<Vec<_>>().join(", ");
            let found = format!(
                "{}; programs can change the modes of files of AutoBuild's user, among them {secrets}",
                row.found
            );
            Row { found, ..row }
        }
        Level::L0 | Level::L1 | Level::L2 | Level::L3 => row,
    }
}

/// Returns the row of the organisation's proxy, if the settings name one.
pub(super) async fn proxy(settings: &ServerSettings) -> Option<Row> {
    let uplink = settings.uplink();
    let proxy = uplink.proxy()?;
    let api = &settings.github.api;
    let (host, port) = (api.host_str()?, api.port_or_known_default()?);
    if uplink.proxy_for(host).is_none() {
        let found = format!("{}; {host} is reached without it", proxy.url());
        return Some(Row::ok(Topic::Proxy, found));
    }
    let tried = tokio::time::timeout(PATIENCE, uplink.tunnel(proxy, host, port)).await;
    let tried = tried.unwrap_or(Err(UplinkError::Late));
    Some(tunnel(proxy.url(), host, tried.err().as_ref()))
}

fn tunnel(proxy: &Url, host: &str, failed: Option<&UplinkError>) -> Row {
    let Some(error) = failed else {
        return Row::ok(Topic::Proxy, format!("{proxy} connects to {host}"));
    };
    let remedy = match error {
        UplinkError::Credentials => {
            "correct AUTOBUILD_NETWORK_PROXY_CREDENTIALS, user:password for Basic authentication".to_owned()
        }
        UplinkError::Refused(_) => format!("let the proxy pass {host}:443, or name it in AUTOBUILD_NETWORK_NO_PROXY"),
        UplinkError::Unreachable(_) | UplinkError::Malformed | UplinkError::Late => {
            "correct AUTOBUILD_NETWORK_PROXY; if the proxy itself speaks https, name its authority in \
             AUTOBUILD_NETWORK_CA_FILE"
                .to_owned()
        }
        UplinkError::NoAuthorities(_) => "install the package ca-certificates".to_owned(),
    };
    Row::broken(Topic::Proxy, format!("{proxy}: {error}"), remedy)
}

async fn check_agents(agents: &Agents, sandbox: &Sandbox) -> Vec<Row> {
    // An agent that is asked for its version gets a temporary home folder.
    let home = match tempfile::tempdir() {
        Ok(home) => home,
        Err(error) => {
            let found = format!("no folder for temporary files can be made: {error}");
            let remedy = "make space, or let TMPDIR name another folder";
            return vec![Row::broken(Topic::Agent, found, remedy)];
        }
    };
    let checks = agents.offered().into_iter().map(async |command| {
        let checking = agents.check(command, sandbox, home.path());
        let checked = tokio::time::timeout(SLOW_PATIENCE, checking).await;
        agent(&command.to_string(), &checked.unwrap_or_else(|_| Err(silent())))
    });
    futures_util::future::join_all(checks).await
}

fn silent() -> anyhow::Error {
    anyhow::anyhow!("its program does not answer within 20 seconds")
}

/// Returns the row of the agent that `run` would use: with a key, or else with the log-in of the person who runs it.
pub(super) async fn own_agent(command: &AgentCommand, sandbox: &Sandbox) -> Row {
    let name = command.to_string();
    let tried = async {
        let home = tempfile::tempdir()?;
        let check = async |access: &Access| {
            let backend = Backend::new(command, sandbox, &[], home.path(), access);
            backend.check().await.map_err(anyhow::Error::msg)
        };
        let with_key = models::access(false, None)?;
        let Err(error) = check(&with_key).await else {
            return Ok(agent(&name, &Ok(())));
        };
        let own_login = Access { login: Login::Person(PersonLogin::of_process(assemble::clock)), ..with_key };
        check(&own_login).await?;
        let remedy = "set the key, or add --use-my-login to run it with your own log-in";
        anyhow::Ok(Row::warning(Topic::Agent, format!("{error:#}"), remedy).of(&name))
    };
    let row = tokio::time::timeout(SLOW_PATIENCE, tried).await;
    row.unwrap_or_else(|_| Err(silent())).unwrap_or_else(|error| agent(&name, &Err(error)))
}

pub(super) fn agent(name: &str, checked: &anyhow::Result<()>) -> Row {
    match checked {
        Ok(()) => Row::ok(Topic::Agent, "can be started, and has what it needs").of(name),
        Err(error) => {
            let remedy = "mend that, or choose another agent with AUTOBUILD_AGENT (see docs/agents.md)";
            Row::broken(Topic::Agent, format!("{error:#}"), remedy).of(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SettingSource;
    use std::path::PathBuf;

    #[test]
    #[expect(clippy::too_many_lines, reason = "one row after the other")]
    fn each_row_of_the_machine_says_how_it_stands_and_what_to_do() {
        let mistake = ServerMistake {
            source: SettingSource::Environment,
            name: "AUTOBUILD_LISTEN".to_owned(),
            problem: "no address".to_owned(),
        };
        let no_folder = NoDataFolder::InUse(PathBuf::from("/data"));
        let free = || folder(Path::new("/data"), Ok(FoundFolder::Free));
        let none = || anyhow::anyhow!("no connection");
        let at_proxy = || "http://proxy.corp:3128".parse().unwrap();
        let table = [
            (program(Path::new("/bin/autobuild")), RowStatus::Ok, None),
            (program(Path::new("/bin/autobuild (deleted)")), RowStatus::Warning, Some("start it again")),
            (git(&Err(UnusableGit::Missing)), RowStatus::Broken, Some("then start AutoBuild again")),
            (settings(&Err(vec![mistake])).remove(0), RowStatus::Broken, Some("docs/server-settings.md")),
            (free(), RowStatus::Ok, None),
            (folder(Path::new("/data"), Ok(FoundFolder::InUse)), RowStatus::Ok, None),
            (folder(Path::new("/data"), Err(no_folder)), RowStatus::Broken, Some("AUTOBUILD_DATA_DIR")),
            (with_room(free(), Some(DiskRoom { free: 9, total: 90 })), RowStatus::Ok, None),
            (with_room(free(), Some(DiskRoom { free: 8, total: 90 })), RowStatus::Warning, Some("make room")),
            (
                isolation(Level::L1, "no user namespaces", User::Root),
                RowStatus::Warning,
                Some("as an ordinary user; for more: no user namespaces"),
            ),
            (
                isolation(Level::L0, "no user namespaces", User::Ordinary),
                RowStatus::Warning,
                Some("for more: no user namespaces"),
            ),
            (isolation(Level::L2, "no cgroups", User::Root), RowStatus::Ok, Some("for more: no cgroups")),
            (isolation(Level::L3, "", User::Root), RowStatus::Ok, None),
            (tunnel(&at_proxy(), "api.github.com", None), RowStatus::Ok, None),
            (
                tunnel(&at_proxy(), "api.github.com", Some(&UplinkError::Credentials)),
                RowStatus::Broken,
                Some("AUTOBUILD_NETWORK_PROXY_CREDENTIALS"),
            ),
            (
                tunnel(&at_proxy(), "api.github.com", Some(&UplinkError::Refused(403))),
                RowStatus::Broken,
                Some("AUTOBUILD_NETWORK_NO_PROXY"),
            ),
            (agent("claude", &Ok(())), RowStatus::Ok, None),
            (agent("claude", &Err(none())), RowStatus::Broken, Some("AUTOBUILD_AGENT")),
        ];
        for (row, status, remedy) in table {
            assert_eq!(row.status, status, "{row:?}");
            let said = row.remedy.as_deref();
            assert!(said.is_some() == remedy.is_some(), "{row:?}");
            assert!(said.unwrap_or_default().contains(remedy.unwrap_or_default()), "{row:?}");
        }
    }

    #[test]
    fn an_address_that_nothing_can_listen_on_is_broken_and_one_in_use_a_warning() {
        let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let in_use = taken.local_addr().unwrap();
        assert_eq!(address(in_use).status, RowStatus::Warning);
        // A network for documentation (RFC 5737).
        assert_eq!(address(SocketAddr::from(([192, 0, 2, 1], 0))).status, RowStatus::Broken);
        assert_eq!(address(SocketAddr::from(([127, 0, 0, 1], 0))).status, RowStatus::Ok);
    }
}
