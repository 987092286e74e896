//! A run's door: two listeners, one set of rules and one token.

use crate::egress::{
    environment,
    free_bytes::FreeBytes,
    log::{Decision, Log},
    maven,
    meter::Allowance,
    models,
    refusals::Refusals,
    rules::Rules,
    serve::{Shared, serve},
    tally::Tally,
    trust::Trust,
};
use domain::{isolation::Level, network::HostName, refused_host::RefusedHost};
use rustix::fs::{Mode, OFlags};
use secrecy::{ExposeSecret, SecretString};
use std::{
    ffi::OsString,
    fs,
    fs::Permissions,
    io,
    net::{Ipv4Addr, SocketAddr},
    os::{fd::AsRawFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;
use text::hex;
use tokio::{
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use tokio_util::{
    either::Either,
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

/// The loopback port inside a sandbox's own network namespace, on which the launcher's bridge listens. It is below the
/// kernel's ephemeral ports, and no common program uses it.
pub const INSIDE_PORT: u16 = 17_443;

const SOCKET: &str = "door";
const TOKEN_BYTES: usize = 32;
/// The pause in accepting connections if the system has no file handle left.
const PAUSE: Duration = Duration::from_millis(100);

/// The only way out for one run. Dropping it closes every connection.
#[derive(Debug)]
pub struct Door {
    shared: Arc<Shared>,
    /// Contains the socket, which only this user can read. Deleted with the door.
    folder: TempDir,
    port: u16,
    _closing: DropGuard,
}

impl Door {
    /// Opens a door in a new folder below `folder`.
    ///
    /// # Errors
    ///
    /// If a route would send its key in clear text (`InvalidInput`), or the system fails.
    pub async fn open(rules: Rules, folder: &Path) -> io::Result<Self> {
        for route in &rules.models {
            route.check().map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))?;
        }
        fs::create_dir_all(folder)?;
        let folder =
            tempfile::Builder::new().prefix("door-").permissions(Permissions::from_mode(0o700)).tempdir_in(folder)?;
        let unix = listen_in(folder.path())?;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = tcp.local_addr()?.port();
        let trust = if rules.lead_to_registries() { Some(Trust::new(&rules.uplink, folder.path())?) } else { None };
        let closed = CancellationToken::new();
        let shared = Arc::new(Shared {
            allowance: Arc::new(Allowance::new(rules.caps.bytes)),
            flow: Arc::default(),
            refused: Refusals::default(),
            tally: Arc::default(),
            places: Arc::default(),
            bodies: Arc::new(Semaphore::new(usize::try_from(models::MAX_BODIES).unwrap_or(usize::MAX))),
            trust,
            free_bytes: FreeBytes::default(),
            rules,
            token: token()?,
            log: Log::default(),
            closed: closed.clone(),
            serving: TaskTracker::new(),
        });
        tokio::spawn(attend(tcp, unix, Arc::clone(&shared)));
        Ok(Self { shared, folder, port, _closing: closed.drop_guard() })
    }

    /// Returns the socket, to be bound into a sandbox with a network namespace of its own.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join(SOCKET)
    }

    /// Returns the port on the machine's loopback, for sandboxes without a network namespace of their own.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the proxy's URL for a program at `level`.
    pub fn proxy_url(&self, level: Level) -> String {
        let token = self.shared.token.expose_secret();
        format!("http://{}:{token}@{}", environment::USER, self.address(level))
    }

    /// Returns the URL of the model's API that the rules call `name`, for a program at `level`.
    pub fn model_url(&self, level: Level, name: &str) -> Option<String> {
        let route = self.shared.rules.models.iter().find(|route| route.name == name)?;
        let token = self.shared.token.expose_secret();
        Some(format!("http://{}/{token}/{}", self.address(level), route.name))
    }

    /// Returns the variables with which common programs find the proxy; `home` is the program's home as it sees it. At
    /// level 0 nothing else leads programs there: one that ignores the variables bypasses the door.
    pub fn environment(&self, level: Level, home: &Path) -> Vec<(OsString, OsString)> {
        let token = self.shared.token.expose_secret();
        let mut variables = environment::variables(&self.proxy_url(level));
        if self.leads_to_maven() {
            let trust = self.shared.trust.as_ref().map(Trust::java_options).unwrap_or_default();
            variables.extend(environment::java(token, self.address(level), home, &trust));
        }
        variables
    }

    /// Returns the file of all certificates that its programs trust, in PEM form, and the one for Java; `None` if they trust
    /// what other programs of the sandbox trust.
    pub fn certificates(&self) -> Option<[&Path; 2]> {
        let trust = self.shared.trust.as_ref()?;
        Some([&trust.file, &trust.java_file])
    }

    /// Writes the proxy into the settings of Maven in a program's home, if its registry is allowed: Maven before 3.9
    /// takes a proxy's password from nowhere else. A file of the program's own in that place stays.
    pub fn leave_settings(&self, level: Level, home: &Path) {
        if !self.leads_to_maven() {
            return;
        }
        let left = maven::leave_settings(home, self.address(level), self.shared.token.expose_secret());
        if let Err(error) = left {
            tracing::warn!(%error, "the proxy could not be named in Maven's settings");
        }
    }

    fn leads_to_maven(&self) -> bool {
        let registry = "repo.maven.apache.org".parse::<HostName>();
        registry.is_ok_and(|host| self.shared.rules.allow(&host))
    }

    /// Returns the decisions so far, ordered by when each was first made.
    pub fn log(&self) -> Vec<Decision> {
        self.shared.log.decisions()
    }

    /// Waits until a program was refused a host.
    pub(crate) async fn refused(&self) {
        self.shared.flow.refused.cancelled().await;
    }

    /// Returns when the last byte went through a connection to an allowed host.
    pub(crate) fn last_allowed(&self) -> Option<Instant> {
        self.shared.flow.allowed()
    }

    /// Returns the hosts that programs could not reach.
    pub fn refused_hosts(&self) -> Vec<RefusedHost> {
        self.shared.refused.hosts()
    }

    /// Returns what the run's calls of models used so far, and how their APIs answered.
    pub fn tally(&self) -> &Tally {
        &self.shared.tally
    }

    /// Returns `true` if it may have let the run reach any host besides the models' APIs.
    pub fn let_someone_out(&self) -> bool {
        self.shared.log.has_let_out()
    }

    /// Returns `true` if models' APIs are reached through it, so that it sees the requests.
    pub fn leads_to_models(&self) -> bool {
        !self.shared.rules.models.is_empty()
    }

    /// Closes the door, and waits until every call that went through it is counted.
    pub async fn close(&self) {
        self.shared.closed.cancel();
        self.shared.serving.close();
        self.shared.serving.wait().await;
    }

    fn address(&self, level: Level) -> SocketAddr {
        let port = match level {
            Level::L0 | Level::L1 => self.port,
            Level::L2 | Level::L3 => INSIDE_PORT,
        };
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }
}

/// Listens on a socket in a folder, even if the folder's path is longer than a socket's path may be.
fn listen_in(folder: &Path) -> io::Result<UnixListener> {
    let handle = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let listener = UnixListener::bind(format!("/proc/self/fd/{}/{SOCKET}", handle.as_raw_fd()))?;
    fs::set_permissions(folder.join(SOCKET), Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn token() -> io::Result<SecretString> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(hex::encode(&bytes).into())
}

type AcceptedStream = (Either<TcpStream, UnixStream>, OwnedSemaphorePermit);

/// Accepts connections until the door closes. Each listener has its own limit, because other programs on this machine
/// can reach the loopback port, and must not use up the socket's connections.
async fn attend(tcp: TcpListener, unix: UnixListener, shared: Arc<Shared>) {
    let most = shared.rules.caps.connections;
    let (on_tcp, on_unix) = (Arc::new(Semaphore::new(most)), Arc::new(Semaphore::new(most)));
    loop {
        let accepted = tokio::select! {
            () = shared.closed.cancelled() => return,
            accepted = accept_tcp(&tcp, &on_tcp) => accepted,
            accepted = accept_unix(&unix, &on_unix) => accepted,
        };
        match accepted {
            Ok((stream, place)) => {
                let serving = serve(stream, place, Arc::clone(&shared));
                drop(shared.serving.spawn(serving));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection at a door could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn accept_tcp(listener: &TcpListener, places: &Arc<Semaphore>) -> io::Result<AcceptedStream> {
    let permit = place(places).await?;
    let (stream, _) = listener.accept().await?;
    // Streamed events are small and should arrive when they are sent.
    let _ = stream.set_nodelay(true);
    Ok((Either::Left(stream), permit))
}

async fn accept_unix(listener: &UnixListener, places: &Arc<Semaphore>) -> io::Result<AcceptedStream> {
    let permit = place(places).await?;
    let (stream, _) = listener.accept().await?;
    Ok((Either::Right(stream), permit))
}

async fn place(places: &Arc<Semaphore>) -> io::Result<OwnedSemaphorePermit> {
    Arc::clone(places).acquire_owned().await.map_err(io::Error::other)
}
