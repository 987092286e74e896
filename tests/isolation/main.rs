//! The actions that a hostile program tries. Each must succeed without the sandbox (items planted for git: with a git
//! without precautions), since otherwise the test proves nothing. Each must be refused at every level that this machine
//! offers. The table also shows the actions that a level is known to allow, the levels that the machine does not offer,
//! and the actions that could not be tried. The table is printed: `cargo test --test isolation -- --nocapture`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::print_stdout)]

mod apart;
use support::origin;
mod planted;
mod stage;

use domain::isolation::{IsolationCause, Level, Limit, MissingIsolation, Obstacle};
use futures_util::future::join_all;
use planted::Plant;
use sandbox::{Exit, ProbeError, Sandbox, SandboxOptions, StartError};
use stage::{Stage, Way, Who};

/// An action to try, by its number in the set.
struct Item {
    number: &'static str,
    what: &'static str,
    trial: Trial,
    /// The levels that are known not to stop it.
    known: &'static [(Level, &'static str)],
}

/// How it is tried.
#[derive(Clone, Copy)]
enum Trial {
    /// By the probe.
    Probe(&'static str, Who),
    /// By the probe, which must end with this limit.
    Exhausts(&'static str, Limit),
    /// In the test's own network.
    Metadata,
    /// By the process that it leaves behind.
    Straggler,
    /// By the service's death.
    ServiceKilled,
    /// By the files that it plants for git.
    Planted(Plant),
}

const fn item(number: &'static str, what: &'static str, trial: Trial) -> Item {
    Item { number, what, trial, known: &[] }
}

const fn probe(number: &'static str, probe: &'static str, what: &'static str) -> Item {
    item(number, what, Trial::Probe(probe, Who::Player))
}

const fn exhausts(number: &'static str, (probe, limit): (&'static str, Limit), what: &'static str) -> Item {
    item(number, what, Trial::Exhausts(probe, limit))
}

const OWN_NETWORK: &str = "in a network that nobody else is in";
const PORTS_ALONE: &str = "Landlock binds ports, not addresses";
/// If the service is root, each run has its own user.
const SAME_USER: &str = "Landlock does not cover modes, and the files are the same user's";
const SAME_LIST: &str = "the machine's own list of processes";

const ITEMS: &[Item] = &[
    probe("1", "secret_file", "read a secret file"),
    probe("2", "environments", "read other processes' environments"),
    probe("3", "inherited_variable", "inherit a variable of the service"),
    probe("4", "other_process", "read or trace the service's memory"),
    probe("5", "leaked_handle", "read a leaked handle"),
    probe("6", "sibling", "read another task's checkout"),
    probe("7", "write_outside", "write outside, by path, link, rename, truncation"),
    probe("8", "mirror", "write to the mirror"),
    item("9", "TCP to 169.254.169.254, clouds' metadata", Trial::Metadata),
    probe("9", "other_address", "TCP to another address of the machine"),
    probe("10", "service_port", "TCP to the service, IPv4 and IPv6"),
    probe("11", "datagram", "UDP query and answer"),
    probe("12", "unix_sockets", "abstract and named unix sockets"),
    probe("13", "packet_and_vsock", "packet and vsock sockets"),
    probe("14", "docker", "a docker.sock"),
    probe("15", "signal_service", "signal the service"),
    probe("16", "namespaces", "make namespaces, mount"),
    probe("17", "control_groups", "make a control group"),
    probe("18", "kernel_settings", "kernel settings, block devices"),
    probe("19", "terminal", "open the terminal"),
    probe("20", "system_calls", "keyctl, io_uring, bpf, userfaultfd, perf"),
    exhausts("21", ("children", Limit::Processes(1_024)), "1,500 processes"),
    exhausts("22", ("memory", Limit::Memory(2 << 30)), "2.5 GiB of memory"),
    probe("23", "large_file", "a file of 6 GiB"),
    probe("23", "full_tmp", "1.5 GiB in /tmp"),
    item("24", "outlive its own end in another session", Trial::Straggler),
    item("25", "outlive the service that is killed", Trial::ServiceKilled),
    probe("26", "past_the_proxy", "go past the proxy"),
    probe("26", "upload_by_a_registry", "upload by a registry"),
    item("27", "write to the checkout as a Coach", Trial::Probe("write_as_coach", Who::Coach)),
    item("28", "hooks, filters, drivers, redirections for git", Trial::Planted(Plant::Programs)),
    item("29", "another repository's objects by alternates", Trial::Planted(Plant::Alternates)),
    item("30", ".GIT, nested, huge, growing, no files, links out", Trial::Planted(Plant::OddFiles)),
    item("31", "branch names that are options or paths", Trial::Planted(Plant::Names)),
    item("32", "remotes that are commands or files", Trial::Planted(Plant::Remotes)),
    probe("–", "limits_of_others", "set limits of the service"),
    probe("–", "priority_of_others", "set the priority of the service"),
    probe("–", "processors_of_others", "choose the service's processors"),
    probe("–", "fast_open", "TCP by sending, without connecting"),
    probe("–", "shared_memory", "shared memory of the service (System V)"),
    Item {
        known: &[(Level::L2, OWN_NETWORK), (Level::L3, OWN_NETWORK)],
        ..probe("–", "listening", "listen for connections")
    },
    Item {
        known: &[(Level::L1, PORTS_ALONE)],
        ..probe("–", "proxy_port_elsewhere", "the proxy's port at another address")
    },
    probe("–", "settings_beside_programs", "read a settings file in the system's folders"),
    Item { known: &[(Level::L1, SAME_USER)], ..probe("–", "modes", "change the modes of the service's files") },
    Item {
        known: &[(Level::L1, SAME_LIST), (Level::L2, SAME_LIST)],
        ..probe("–", "command_lines", "read other processes' command lines")
    },
];

const LEVELS: [Level; 3] = [Level::L1, Level::L2, Level::L3];

fn options() -> SandboxOptions {
    SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild"))
}

/// Returns the levels up to the one that the service would choose here.
async fn offered() -> Vec<Level> {
    let best = Sandbox::probe(options(), Level::L0.or_more()).await.unwrap();
    eprintln!("this machine offers {}; what is missing: {:?}", best.level(), best.missing());
    LEVELS.into_iter().filter(|level| *level <= best.level()).collect()
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// The result of trying an action one way.
enum Came {
    Possible(String),
    Refused(String),
    /// It could not be tried on this machine, and why.
    Untried(String),
}

async fn try_one(stage: &Stage, trial: Trial, way: Way) -> Came {
    let (is_possible, said) = match trial {
        Trial::Probe(probe, who) => {
            let (said, exit) = stage.tries(probe, who, way).await.unwrap();
            (said.contains("POSSIBLE"), format!("{said} {exit:?}"))
        }
        Trial::Exhausts(probe, limit) => {
            let (said, exit) = stage.tries(probe, Who::Player, way).await.unwrap();
            // Behind a wall, the user `nobody` is stopped by the system's own limit.
            let has_wall = matches!(way, Way::At(level) if level >= Level::L2);
            let by_system = !is_root() && has_wall && matches!(limit, Limit::Processes(_));
            let is_named = exit == Some(Exit::OverLimit(limit)) || by_system || way == Way::Without;
            (said.contains("POSSIBLE") || !is_named, format!("{said} {exit:?}"))
        }
        Trial::Metadata => match apart::reaches_metadata(way) {
            Ok(reached) => (reached, String::new()),
            Err(reason) => return Came::Untried(format!("no network of the test's own can be made: {reason}")),
        },
        Trial::Straggler => (leaves_somebody(stage, way).await, String::new()),
        Trial::ServiceKilled => (apart::outlives_the_service(way).await, String::new()),
        Trial::Planted(plant) => (planted::leads_anywhere(plant, way).await, String::new()),
    };
    if is_possible { Came::Possible(said) } else { Came::Refused(said) }
}

async fn leaves_somebody(stage: &Stage, way: Way) -> bool {
    stage.tries("straggler", Who::Player, way).await.unwrap();
    let left = stage::processes_with(&stage.straggler);
    stage::end(&stage.straggler);
    !left.is_empty()
}

/// A cell of the table, with its error and its remark.
type Cell = (&'static str, Option<String>, Option<String>);

fn judged(item: &Item, way: Way, came: Came) -> Cell {
    let mut known = item.known.iter().filter(|(_, why)| *why != SAME_USER || !is_root());
    let known = known.find(|(level, _)| way == Way::At(*level));
    let about = |said: &str| Some(format!("{} {} {way:?}: {said}", item.number, item.what));
    match (came, known, way) {
        (Came::Untried(reason), _, _) => ("untried", None, about(&reason)),
        (Came::Possible(_), Some((_, why)), _) => ("known", None, about(why)),
        (Came::Possible(_), None, Way::Without) => ("possible", None, None),
        (Came::Possible(said), None, Way::At(_)) => ("POSSIBLE", about(&said), None),
        (Came::Refused(said), Some(_), _) => ("refused", about(&said), None),
        // Ordinary permissions already refuse some of it to the user `nobody`.
        (Came::Refused(said), None, Way::Without) => ("refused", about(&said).filter(|_| is_root()), None),
        (Came::Refused(_), None, Way::At(_)) => ("refused", None, None),
    }
}

/// Tries every item one way. Each way has its own stage, so that they can run in parallel.
async fn column(way: Way) -> Vec<Cell> {
    let stage = Stage::new(&format!("items-{way:?}"));
    let mut cells = Vec::new();
    for item in ITEMS {
        cells.push(judged(item, way, try_one(&stage, item.trial, way).await));
    }
    cells
}

#[tokio::test]
async fn every_item_succeeds_without_the_sandbox_and_is_refused_in_it() {
    let levels = offered().await;
    let ways: Vec<Way> = std::iter::once(Way::Without).chain(levels.into_iter().map(Way::At)).collect();
    let columns = join_all(ways.iter().map(|way| column(*way))).await;
    row("", "", &["without", "L1", "L2", "L3"]);
    for (number, item) in ITEMS.iter().enumerate() {
        let mut cells: Vec<&str> = columns.iter().map(|column| column[number].0).collect();
        cells.resize(1 + LEVELS.len(), "not here");
        row(item.number, item.what, &cells);
    }
    let (wrong, remarks): (Vec<_>, Vec<_>) =
        columns.into_iter().flatten().map(|(_, wrong, remark)| (wrong, remark)).unzip();
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    let remarks: Vec<String> = remarks.into_iter().flatten().collect();
    remarks.iter().for_each(|remark| eprintln!("{remark}"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn row(number: &str, what: &str, cells: &[&str]) {
    let cells: String = cells.iter().map(|cell| format!("{cell:<10}")).collect();
    eprintln!("{number:<4}{what:<52}{cells}");
}

#[tokio::test]
#[ignore = "the table starts it: the service that is killed"]
async fn a_service_that_is_killed() {
    apart::serve().await;
}

#[tokio::test]
#[ignore = "the table starts it, in a network of its own"]
async fn a_network_with_metadata() {
    apart::with_metadata().await;
}

#[tokio::test]
async fn what_a_program_needs_still_works() {
    let stage = Stage::new("controls");
    for level in offered().await {
        let (said, exit) = stage.tries("controls", Who::Player, Way::At(level)).await.unwrap();
        assert_eq!(exit, Some(Exit::Exited(0)), "{level}: {said}");
        assert!(said.contains("WORKS"), "{level}: {said}");
    }
}

#[tokio::test]
async fn the_door_opens_to_what_is_allowed() {
    for (name, program, expected) in
        [("door", "past_the_proxy", "DOOR\n"), ("registry", "upload_by_a_registry", "OPEN\n")]
    {
        let stage = Stage::new(name);
        for level in offered().await {
            let (said, _) = stage.tries(program, Who::Player, Way::At(level)).await.unwrap();
            assert!(said.starts_with(expected), "{program}, {level}: {said}");
        }
    }
}

#[tokio::test]
async fn without_the_program_that_builds_the_wall_nothing_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let gone = SandboxOptions { bubblewrap: folder.path().join("bwrap"), ..options() };
    let mut spec = sandbox::Spec::new("touch", folder.path()).args(["started"]);
    spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec.confine.write = vec![folder.path().to_path_buf()];
    for level in [Level::L2, Level::L3] {
        let refused = Sandbox::at(gone.clone(), level).run(&spec, &tokio_util::sync::CancellationToken::new()).await;
        assert!(matches!(refused, Err(StartError::Isolation(_))), "{level}: {refused:?}");
    }
    assert!(!folder.path().join("started").exists());
    // The service notices it at its start, names the remedy, and does not accept a lower level than requested.
    let best = Sandbox::probe(gone.clone(), Level::L0.or_more()).await.unwrap();
    let lacks_bubblewrap = |missing: &[MissingIsolation]| {
        missing.iter().any(|missing| {
            matches!(missing.cause, IsolationCause::NotBuilt { obstacle: Some(Obstacle::NoBubblewrap), .. })
        })
    };
    assert!(best.level() <= Level::L1 && lacks_bubblewrap(best.missing()));
    match Sandbox::probe(gone, Level::L2.or_more()).await.unwrap_err() {
        ProbeError::TooLow { missing, .. } => assert!(lacks_bubblewrap(&missing), "{missing:?}"),
        other @ ProbeError::NoTrial(_) => panic!("{other}"),
    }
}
