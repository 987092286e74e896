//! Prepares the surroundings of the sandbox, and tries an action with and without it.

use domain::{
    isolation::Level,
    network::{HostName, HostRule},
};
use sandbox::{
    Exit, Sandbox, SandboxOptions, Spec, StartError,
    egress::{Door, Rules},
};
use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::ErrorKind,
    net::{TcpListener, UdpSocket},
    os::{
        fd::{AsRawFd, OwnedFd},
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const PROBE: &str = include_str!("probe.py");
/// A variable that the test's own process always has.
const VARIABLE: &str = "CARGO_MANIFEST_DIR";
/// The number of stages so far.
static STAGES: AtomicU32 = AtomicU32::new(0);

/// The isolation in which an action is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As a child of this process, without the sandbox.
    Without,
    /// In the sandbox at this level.
    At(Level),
}

/// The role that tries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// May change the checkout.
    Player,
    /// May read the checkout.
    Coach,
}

/// Everything around the sandbox.
pub struct Stage {
    folder: TempDir,
    /// A folder among the system's own if this user may write there, with a settings file.
    system: TempDir,
    service: Child,
    handle: OwnedFd,
    ports: BTreeMap<&'static str, String>,
    /// The number of shared memory that any process of this user may attach.
    shared: String,
    _sockets: Vec<UnixListener>,
    pub straggler: String,
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.service.kill();
        let _ = self.service.wait();
        let _ = Command::new("ipcrm").args(["-m", &self.shared]).status();
    }
}

/// Makes the folders and files.
fn plant(folder: &Path) {
    const FOLDERS: [&str; 7] =
        ["outside", "sibling", "mirror/hooks", "mirror/objects/info", "checkout", "home", "sockets"];
    const EMPTY: [&str; 4] = ["outside/f", "outside/g", "mirror/config", "mirror/objects/info/alternates"];
    for name in FOLDERS {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    for name in EMPTY {
        fs::write(folder.join(name), "").unwrap();
    }
    for name in ["secret", "sibling/file"] {
        fs::write(folder.join(name), "planted").unwrap();
    }
}

impl Stage {
    /// Prepares everything, with a name that distinguishes stages.
    pub fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let below = |path: &str| folder.path().join(path);
        plant(folder.path());
        // A link to a file outside, on the same file system.
        std::os::unix::fs::symlink(below("outside"), below("checkout/link")).unwrap();
        let init = Command::new("git").args(["init", "-q"]).arg(below("checkout")).status();
        assert!(init.unwrap().success());
        let (ports, sockets) = listeners(folder.path(), name);
        let service = Command::new("python3")
            .args(["-c", "import time; time.sleep(1000)", "canary-argument"])
            .env("CANARY", "planted")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let made = Command::new("ipcmk").args(["--shmem", "4096"]).output().unwrap();
        let shared = String::from_utf8(made.stdout).unwrap();
        // A duplicate stays open over exec, as a handle that our own parent left open would.
        let handle = rustix::io::dup(fs::File::open(below("secret")).unwrap()).unwrap();
        let system = tempfile::tempdir_in("/usr/local/share").or_else(|_| tempfile::tempdir()).unwrap();
        fs::write(system.path().join("autobuild.toml"), "planted").unwrap();
        let (process, stage) = (std::process::id(), STAGES.fetch_add(1, Ordering::Relaxed));
        Self {
            straggler: format!("120.{process}{stage:02}"),
            shared: shared.rsplit(' ').next().unwrap().trim().to_owned(),
            folder,
            system,
            service,
            handle,
            ports,
            _sockets: sockets,
        }
    }

    fn below(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn settings(&self) -> PathBuf {
        self.system.path().join("autobuild.toml")
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        for file in ["checkout/own", "checkout/spare", "mirror/objects/info/alternates"] {
            fs::write(self.below(file), "own").unwrap();
        }
        let path = |name: &str, path: &str| (OsString::from(name), self.below(path).into_os_string());
        let mut all = vec![
            path("P_SECRET", "secret"),
            path("P_SIBLING", "sibling/file"),
            path("P_OUTSIDE", "outside"),
            path("P_MIRROR", "mirror"),
            path("P_CHECKOUT", "checkout"),
            path("P_SOCKET", "sockets/service"),
            path("P_DOCKER", "sockets/docker.sock"),
            path("HOME", "home"),
            path("TMPDIR", "home"),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ("P_VARIABLE".into(), VARIABLE.into()),
            ("P_SHARED".into(), self.shared.clone().into()),
            ("P_PID".into(), self.service.id().to_string().into()),
            ("P_HANDLE".into(), self.handle.as_raw_fd().to_string().into()),
            ("P_STRAGGLER".into(), self.straggler.clone().into()),
        ];
        all.push(("P_SETTINGS".into(), self.settings().into()));
        all.extend(self.ports.iter().map(|(name, value)| ((*name).into(), value.into())));
        let host = std::env::var("PATH").unwrap_or_default();
        all.push(("PATH".into(), format!("/usr/bin:/usr/local/bin:/bin:{host}").into()));
        all
    }

    /// Tries one item; returns its output, or the reason why it could not be tried.
    pub async fn tries(&self, item: &str, who: Who, way: Way) -> Result<(String, Option<Exit>), StartError> {
        match way {
            Way::Without => Ok((self.without(item), None)),
            Way::At(level) => self.at(item, who, level).await,
        }
    }

    fn without(&self, item: &str) -> String {
        // Its own terminal, which only a session with one has.
        let program: &[&str] = match item {
            "terminal" => &["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])", "python3"],
            _ => &["python3"],
        };
        let output = Command::new(program[0])
            .args(&program[1..])
            .args(["-c", PROBE, item])
            .envs(self.variables())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    async fn at(&self, item: &str, who: Who, level: Level) -> Result<(String, Option<Exit>), StartError> {
        let options = SandboxOptions {
            hidden: vec![self.settings()],
            ..SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild"))
        };
        let mut spec = Spec::new("python3", self.below("checkout")).args(["-c", PROBE, item]);
        spec.env = self.variables();
        spec.deadline = Duration::from_secs(120);
        spec.confine.read = vec![self.below("mirror/objects")];
        spec.confine.write = vec![self.below("home")];
        match who {
            Who::Player => spec.confine.write.push(self.below("checkout")),
            Who::Coach => spec.confine.read.push(self.below("checkout")),
        }
        if ["past_the_proxy", "proxy_port_elsewhere", "upload_by_a_registry"].contains(&item) {
            let (door, elsewhere) = self.door_with_another_elsewhere().await;
            std::thread::spawn(move || elsewhere.incoming().for_each(drop));
            spec.env.retain(|(name, _)| name != "P_ELSEWHERE");
            spec.env.push(("P_ELSEWHERE".into(), door.port().to_string().into()));
            spec.env.extend(door.environment(level, &self.below("home")));
            spec.confine.door = Some(Arc::new(door));
        }
        let finished = Sandbox::at(options, level).run(&spec, &CancellationToken::new()).await?;
        let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        Ok((said, Some(finished.exit)))
    }

    /// Opens a door, and a listener at the same port on another address. The system chooses the port, which may already
    /// be in use there.
    async fn door_with_another_elsewhere(&self) -> (Door, TcpListener) {
        for _ in 0..100 {
            let door = self.door().await;
            match TcpListener::bind(("127.0.0.2", door.port())) {
                Ok(elsewhere) => return (door, elsewhere),
                Err(error) => assert_eq!(error.kind(), ErrorKind::AddrInUse, "{error}"),
            }
        }
        panic!("no port is free on both addresses");
    }

    /// Opens a door to one host, which is the planted listener.
    async fn door(&self) -> Door {
        let here = format!("127.0.0.1:{}", self.ports["P_TCP"]).parse().unwrap();
        let allowed: HostName = "allowed.test".parse().unwrap();
        let mut rules = Rules::hosts(["allowed.test"].iter().map(|host| host.parse::<HostRule>().unwrap()));
        rules.hosts.extend("localhost".parse::<HostRule>());
        rules.pinned.insert(allowed, here);
        let echo = format!("127.0.0.1:{}", self.ports["P_ECHO"]).parse().unwrap();
        rules.hosts.extend("registry.npmjs.org".parse::<HostRule>());
        for registry in ["registry.npmjs.org", "pypi.org"] {
            rules.pinned.insert(registry.parse().unwrap(), echo);
        }
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        Door::open(rules, &folder).await.unwrap()
    }
}

/// Starts all listeners, which last until this process ends.
fn listeners(folder: &Path, name: &str) -> (BTreeMap<&'static str, String>, Vec<UnixListener>) {
    let mut ports = BTreeMap::new();
    for (port, address) in
        [("P_TCP", "127.0.0.1:0"), ("P_TCP6", "[::1]:0"), ("P_EVERYWHERE", "0.0.0.0:0"), ("P_ELSEWHERE", "127.0.0.2:0")]
    {
        if let Ok(listener) = TcpListener::bind(address) {
            ports.insert(port, listener.local_addr().unwrap().port().to_string());
            std::thread::spawn(move || listener.incoming().for_each(drop));
        }
    }
    let echo = TcpListener::bind("127.0.0.1:0").unwrap();
    ports.insert("P_ECHO", echo.local_addr().unwrap().port().to_string());
    std::thread::spawn(move || {
        for mut stream in echo.incoming().flatten() {
            std::thread::spawn(move || std::io::copy(&mut stream.try_clone().unwrap(), &mut stream));
        }
    });
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    ports.insert("P_UDP", datagrams.local_addr().unwrap().port().to_string());
    std::thread::spawn(move || {
        let mut buffer = [0; 100];
        while let Ok((_, from)) = datagrams.recv_from(&mut buffer) {
            let _ = datagrams.send_to(b"answer", from);
        }
    });
    let hidden = format!("autobuild-isolation-{}-{name}", std::process::id());
    let hidden_address = SocketAddr::from_abstract_name(&hidden).unwrap();
    ports.insert("P_ABSTRACT", hidden);
    let sockets = vec![
        UnixListener::bind(folder.join("sockets/service")).unwrap(),
        UnixListener::bind(folder.join("sockets/docker.sock")).unwrap(),
        UnixListener::bind_addr(&hidden_address).unwrap(),
    ];
    (ports, sockets)
}

/// Returns the processes whose command line contains `text`.
pub fn processes_with(text: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|number: &i32| {
            let line = fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
            line.windows(text.len()).any(|window| window == text.as_bytes()) && !line.starts_with(b"python3")
        })
        .collect()
}

/// Kills the processes whose command line contains `text`, and waits for their end.
pub fn end(text: &str) {
    loop {
        let left = processes_with(text);
        for number in &left {
            let pid = rustix::process::Pid::from_raw(*number).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        if left.is_empty() {
            return;
        }
        std::thread::yield_now();
    }
}
