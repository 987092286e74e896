//! Items that cannot be tested in this process: a service that is killed, and a network in which something answers at
//! the address of clouds' metadata. Each runs this test's own program again, with its role in an environment variable.

use crate::stage::{Stage, Way, Who, end, processes_with};
use domain::isolation::Level;
use sandbox::{Sandbox, SandboxOptions, Spec};
use std::{
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// The variable with this program's role.
const WAY: &str = "ISOLATION_WAY";
const FOLDER: &str = "ISOLATION_FOLDER";
const MARK: &str = "ISOLATION_MARK";

/// Adds the address of clouds' metadata to `lo`, then executes the program of its arguments.
const NETWORK: &str = r#"
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
    address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("169.254.169.254"))
    fcntl.ioctl(way, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
    fcntl.ioctl(way, 0x8916, struct.pack("16s16s8x", b"lo:1", address))
os.execv(sys.argv[1], sys.argv[1:])
"#;

fn number(way: Way) -> String {
    match way {
        Way::Without => "without".to_owned(),
        Way::At(level) => u8::from(level).to_string(),
    }
}

/// Returns the way that the environment names, if it does.
fn told() -> Option<Way> {
    let text = std::env::var(WAY).ok()?;
    let level = |number: u8| Level::try_from(number).unwrap();
    Some(text.parse().map_or(Way::Without, |number| Way::At(level(number))))
}

/// 25: returns `true` if a program outlives the killed service that started it.
pub async fn outlives_the_service(way: Way) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("isolation-25-{}-{}", std::process::id(), number(way));
    let mut service = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_service_that_is_killed", "--ignored", "--nocapture"])
        .envs([(WAY, number(way)), (MARK, mark.clone())])
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the program runs", || folder.path().join("up").exists()).await;
    service.kill().unwrap();
    service.wait().unwrap();
    let lives = || !processes_with(&mark).is_empty();
    if way == Way::Without {
        let lived = lives();
        end(&mark);
        return lived;
    }
    tokio::time::timeout(Duration::from_secs(30), until("it is gone", || !lives())).await.is_err()
}

async fn until(what: &str, happened: impl Fn() -> bool) {
    let waiting = async {
        while !happened() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect(what);
}

/// The service that [`outlives_the_service`] kills.
pub async fn serve() {
    let (Some(way), Some(folder)) = (told(), std::env::var_os(FOLDER)) else {
        return;
    };
    let (folder, mark) = (Path::new(&folder), std::env::var(MARK).unwrap());
    let script = "setsid sh -c 'trap \"\" TERM; : > up; while :; do sleep 1; done' $0 & wait";
    let args = ["-c", script, mark.as_str()];
    match way {
        Way::Without => {
            let mut program = Command::new("sh").args(args).current_dir(folder).spawn().unwrap();
            program.wait().unwrap();
        }
        Way::At(level) => {
            let mut spec = Spec::new("sh", folder).args(args);
            spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
            spec.confine.write = vec![folder.to_path_buf()];
            let options = SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild"));
            let sandbox = Sandbox::at(options, level);
            sandbox.run(&spec, &CancellationToken::new()).await.unwrap();
        }
    }
}

/// 9: returns `true` if clouds' metadata are reached; `Err` is the reason why no network could be made for the test.
pub fn reaches_metadata(way: Way) -> Result<bool, String> {
    let own_user = if rustix::process::getuid().is_root() { "--net" } else { "-Urn" };
    let output = Command::new("unshare")
        .args([own_user, "python3", "-c", NETWORK])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "a_network_with_metadata", "--ignored", "--nocapture"])
        .env(WAY, number(way))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    match (said.contains("METADATA POSSIBLE"), said.contains("METADATA refused")) {
        (true, false) => Ok(true),
        (false, true) => Ok(false),
        _ => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// The program that [`reaches_metadata`] starts in its own network.
pub async fn with_metadata() {
    let Some(way) = told() else { return };
    let listener = TcpListener::bind("169.254.169.254:80").unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let stage = Stage::new("metadata");
    let (said, _) = stage.tries("metadata", Who::Player, way).await.unwrap();
    println!("METADATA {}", said.trim());
}
