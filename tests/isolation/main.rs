//! The set of things that a hostile program tries: each must succeed without the sandbox, or trying it proves nothing,
//! and must be refused at every level that this machine offers. What a level is known to let through is said in the
//! table, not hidden. The table is printed: `cargo test --test isolation -- --nocapture`.
//!
//! 28 to 32, which are about git, never run in a sandbox: `tests/git` has them, and `tests/egress` the proxy's own rules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod stage;

use autobuild::domain::isolation::Level;
use autobuild::sandbox::Exit;
use autobuild::sandbox::Sandbox;
use autobuild::sandbox::SandboxOptions;
use autobuild::sandbox::StartError;
use stage::Stage;
use stage::Way;
use stage::Who;

/// A thing to try, by its number in the set.
struct Item {
    number: &'static str,
    probe: &'static str,
    what: &'static str,
    who: Who,
    /// The levels that are known not to stop it.
    known: &'static [(Level, &'static str)],
}

const fn item(number: &'static str, probe: &'static str, what: &'static str) -> Item {
    Item {
        number,
        probe,
        what,
        who: Who::Player,
        known: &[],
    }
}

const SAME_LIST: &str = "the machine's own list of processes";

const ITEMS: &[Item] = &[
    item("1", "secret_file", "read a secret file"),
    item("2", "environments", "read other processes' environments"),
    item("3", "inherited_variable", "inherit a variable of the service"),
    item("4", "other_process", "read or trace the service's memory"),
    item("5", "leaked_handle", "read a leaked handle"),
    item("6", "sibling", "read another task's checkout"),
    item("7", "write_outside", "write outside, by path, link, rename, truncation"),
    item("8", "mirror", "write to the mirror"),
    item("9", "other_address", "TCP to another address of the machine"),
    item("10", "service_port", "TCP to the service, IPv4 and IPv6"),
    item("11", "datagram", "UDP query and answer"),
    item("12", "unix_sockets", "abstract and named unix sockets"),
    item("13", "packet_and_vsock", "packet and vsock sockets"),
    item("14", "docker", "a docker.sock"),
    item("15", "signal_service", "signal the service"),
    item("16", "namespaces", "make namespaces, mount"),
    item("17", "control_groups", "make a control group"),
    item("18", "kernel_settings", "kernel settings, block devices"),
    item("19", "terminal", "open the terminal"),
    item("20", "system_calls", "keyctl, io_uring, bpf, userfaultfd, perf"),
    item("21", "children", "1,500 processes"),
    item("22", "memory", "2.5 GiB of memory"),
    item("23a", "large_file", "a file of 6 GiB"),
    item("23b", "full_tmp", "1.5 GiB in /tmp"),
    item("26", "past_the_proxy", "go past the proxy"),
    Item {
        who: Who::Coach,
        ..item("27", "write_as_coach", "write to the checkout as a Coach")
    },
    Item {
        known: &[(Level::L1, SAME_LIST), (Level::L2, SAME_LIST)],
        ..item("–", "command_lines", "read other processes' command lines")
    },
];

const LEVELS: [Level; 3] = [Level::L1, Level::L2, Level::L3];

fn options() -> SandboxOptions {
    SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild"))
}

/// The levels up to the one that the service would choose here.
async fn offered() -> Vec<Level> {
    let best = Sandbox::probe(options(), Level::L0.or_more()).await.unwrap();
    eprintln!("this machine offers {} ({})", best.level(), best.missing());
    LEVELS.into_iter().filter(|level| *level <= best.level()).collect()
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

#[tokio::test]
async fn every_item_succeeds_without_the_sandbox_and_is_refused_in_it() {
    let levels = offered().await;
    let stage = Stage::new("items");
    let mut wrong = Vec::new();
    eprintln!(
        "{:<4}{:<52}{:<10}{}",
        "",
        "",
        "without",
        levels
            .iter()
            .map(|level| format!("{:<10}", level.to_string()))
            .collect::<String>()
    );
    for item in ITEMS {
        let (said, _) = stage.tries(item.probe, item.who, Way::Without).await.unwrap();
        let mut cells = vec![if said.contains("POSSIBLE") {
            "possible"
        } else {
            "refused"
        }];
        // Who is nobody is refused some of it by ordinary permissions already.
        if !said.contains("POSSIBLE") && is_root() {
            wrong.push(format!(
                "{} {}: refused without the sandbox: {said}",
                item.number, item.what
            ));
        }
        for level in &levels {
            let known = item.known.iter().any(|(known, _)| known == level);
            let outcome = stage.tries(item.probe, item.who, Way::At(*level)).await;
            let possible = match &outcome {
                Ok((said, _)) => said.contains("POSSIBLE"),
                Err(error) => panic!("{level}: {error}"),
            };
            if possible != known {
                wrong.push(format!("{} {} at {level}: {outcome:?}", item.number, item.what));
            }
            cells.push(match (possible, known) {
                (false, _) => "refused",
                (true, true) => "known",
                (true, false) => "POSSIBLE",
            });
        }
        let cells: String = cells.iter().map(|cell| format!("{cell:<10}")).collect();
        eprintln!("{:<4}{:<52}{cells}", item.number, item.what);
        for (level, why) in item.known {
            eprintln!("{:<4}  {level}: {why}", "");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
    let stage = Stage::new("door");
    for level in offered().await {
        let (said, _) = stage
            .tries("past_the_proxy", Who::Player, Way::At(level))
            .await
            .unwrap();
        assert!(said.starts_with("DOOR\n"), "{level}: {said}");
    }
}

/// 24 of the set.
#[tokio::test]
async fn a_straggler_outlives_its_parent_only_without_the_sandbox() {
    let stage = Stage::new("straggler");
    stage.tries("straggler", Who::Player, Way::Without).await.unwrap();
    let left = stage::processes_with(&stage.straggler);
    assert!(!left.is_empty(), "nothing was left to be found");
    for number in left {
        let pid = rustix::process::Pid::from_raw(number).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    while !stage::processes_with(&stage.straggler).is_empty() {
        tokio::task::yield_now().await;
    }
    for level in offered().await {
        stage.tries("straggler", Who::Player, Way::At(level)).await.unwrap();
        assert_eq!(stage::processes_with(&stage.straggler), Vec::<i32>::new(), "{level}");
    }
}

#[tokio::test]
async fn what_uses_too_much_ends_with_the_limit_by_name() {
    use autobuild::sandbox::Limit;
    let stage = Stage::new("limits");
    for level in offered().await {
        let (_, exit) = stage.tries("children", Who::Player, Way::At(level)).await.unwrap();
        // Who is nobody is stopped by the system's own limit where there is a wall.
        let by_system = !is_root() && level >= Level::L2;
        assert!(
            exit == Some(Exit::OverLimit(Limit::Processes(1_024))) || by_system,
            "{level}: {exit:?}"
        );
        let (_, exit) = stage.tries("memory", Who::Player, Way::At(level)).await.unwrap();
        assert_eq!(exit, Some(Exit::OverLimit(Limit::Memory(2 << 30))), "{level}");
    }
}

#[tokio::test]
async fn without_the_program_that_builds_the_wall_nothing_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let gone = SandboxOptions {
        bubblewrap: folder.path().join("bwrap"),
        ..options()
    };
    let mut spec = autobuild::sandbox::Spec::new("touch", folder.path()).args(["started"]);
    spec.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec.confine.write = vec![folder.path().to_path_buf()];
    for level in [Level::L2, Level::L3] {
        let refused = Sandbox::at(gone.clone(), level)
            .run(&spec, &tokio_util::sync::CancellationToken::new())
            .await;
        assert!(matches!(refused, Err(StartError::Isolation(_))), "{level}: {refused:?}");
    }
    assert!(!folder.path().join("started").exists());
    // The service sees it at its start, says what to do, and takes no less than was asked for.
    let best = Sandbox::probe(gone.clone(), Level::L0.or_more()).await.unwrap();
    assert!(best.level() <= Level::L1 && best.missing().contains("apt-get install bubblewrap"));
    let refused = Sandbox::probe(gone, Level::L2.or_more()).await.unwrap_err().to_string();
    assert!(
        refused.contains("AUTOBUILD_SANDBOX_MIN_LEVEL") && refused.contains("bubblewrap"),
        "{refused}"
    );
}
