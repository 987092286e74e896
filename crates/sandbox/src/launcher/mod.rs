//! The launcher: a process of its own between the service and a foreign program. It reads one request from its lifeline,
//! starts the program, adopts every process that the program leaves behind, and ends only when none of them is left.

mod canary;
mod family;
mod files;
mod find;
mod identity;
mod inner;
mod started;
mod syscalls;
mod usage;
mod wall;

pub(crate) use canary::CanaryReport;

use crate::{
    launcher::{
        family::{ask_everything_to_end, kill_everything, stop_growing},
        started::{Started, start},
    },
    process_table::Family,
    protocol::{Confinement, LaunchRequest, Report, ServiceMessage},
};
use domain::isolation::{Level, Limit};
use rustix::{
    fs::MemfdFlags,
    process::{Resource, Rlimit, WaitOptions, WaitStatus},
};
use std::{
    fs,
    fs::File,
    io::{Read, Seek, Write},
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    path::PathBuf,
    process::ExitCode,
    sync::mpsc,
    time::{Duration, Instant},
};

/// The hidden subcommand of our own binary that runs the launcher.
pub const LAUNCHER_COMMAND: &str = "sandbox-exec";

/// The argument that selects the inner launcher.
const INNER: &str = "inner";

/// The argument that selects the canary.
pub(crate) const CANARY: &str = "canary";

/// The first and the longest pause between two rounds of killing the remaining processes. At L2 and L3 the system
/// itself ends everything inside the namespaces, but takes a while to remove them.
const SWEEP_PAUSES: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(50)];

/// The `nice` value of a launcher that counts processes, if the system allows it.
const RAISED: i32 = -20;

/// Runs as the launcher. `main` calls it before anything else, while the process has one thread.
pub fn launcher_main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(2).map(|argument| argument.to_string_lossy().into_owned()).collect();
    match arguments.split_first() {
        Some((first, rest)) if first == INNER => return inner::main(rest),
        Some((first, rest)) if first == CANARY => return canary::main(rest),
        _ => {}
    }
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> std::io::Result<()> {
    close_leaked_files();
    let mut lifeline = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let request = LaunchRequest::read(&mut lifeline)?;
    let (input, feed) = if request.talking {
        fed_input(&mut lifeline, request.stdin_length)?
    } else {
        (input(&mut lifeline, request.stdin_length)?, None)
    };
    confine(request.confinement.level)?;
    let started = match start(&request, input) {
        Ok(started) => started,
        Err(report) => {
            send_report(&mut lifeline, &report);
            send_report(&mut lifeline, &Report::Swept);
            return Ok(());
        }
    };
    let (events, heard) = mpsc::channel();
    listen(lifeline.try_clone()?, feed, events.clone())?;
    reap(started.main, events.clone())?;
    limit(&request.confinement, events)?;
    if let Some(user) = request.confinement.user {
        // Otherwise a machine that hides the processes of other users would hide those that are to be killed.
        user.watch()?;
    }
    watch(&mut lifeline, &heard, &request, &started);
    send_report(&mut lifeline, &Report::Swept);
    Ok(())
}

/// Closes every handle that the service's own parent may have left open. Our own handles are closed on exec anyway.
fn close_leaked_files() {
    for number in open_numbers().into_iter().filter(|number| *number > 2) {
        let _ = nix::unistd::close(number);
    }
}

fn open_numbers() -> Vec<i32> {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Copies the program's input into a file in memory, so that a program that never reads it blocks nobody.
fn input(lifeline: &mut UnixStream, length: u64) -> std::io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    let copied = std::io::copy(&mut lifeline.take(length), &mut file)?;
    if copied < length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    file.rewind()?;
    Ok(file)
}

/// Returns the program's input as a pipe, and a sender for the pieces after the first one. A thread of its own writes
/// them, so that a program that does not read cannot keep the launcher from reading the order to stop.
fn fed_input(lifeline: &mut UnixStream, length: u64) -> std::io::Result<(File, Option<mpsc::Sender<Vec<u8>>>)> {
    let (reading, mut writing) = std::io::pipe()?;
    let mut first = Vec::new();
    lifeline.take(length).read_to_end(&mut first)?;
    let (feed, pieces) = mpsc::channel::<Vec<u8>>();
    let writer = move || {
        for piece in std::iter::once(first).chain(pieces) {
            if writing.write_all(&piece).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().spawn(writer)?;
    Ok((File::from(OwnedFd::from(reading)), Some(feed)))
}

/// Prepares this process: a session without a terminal, adoption of orphans, no new rights through set-uid programs, no
/// core files.
fn confine(level: Level) -> std::io::Result<()> {
    if level != Level::L0 {
        // A program that floods the machine with processes must not keep this one from counting them. The inner
        // launcher lowers its priority again.
        let _ = rustix::process::setpriority_process(None, RAISED);
    }
    rustix::process::setsid()?;
    if level != Level::L0 {
        priority_of_session(RAISED);
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    rustix::thread::set_no_new_privs(true)?;
    let none = Some(0);
    let no_core_files = Rlimit { current: none, maximum: none };
    Ok(rustix::process::setrlimit(Resource::Core, no_core_files)?)
}

/// Sets the priority of this session, on systems that share processors by session (autogroup).
fn priority_of_session(priority: i32) {
    let _ = fs::write("/proc/self/autogroup", priority.to_string());
}

/// An event while the program runs.
enum Event {
    /// The service ordered the end, or is gone.
    Stop,
    /// The main process ended.
    MainEnded(Report),
    /// A limit was exceeded.
    OverLimit(Limit),
    /// No child is left.
    AllGone,
}

/// Turns the service's messages into input for the program and events.
fn listen(
    mut lifeline: UnixStream,
    mut feed: Option<mpsc::Sender<Vec<u8>>>,
    events: mpsc::Sender<Event>,
) -> std::io::Result<()> {
    let listening = move || {
        // Any message except input is the order to stop. The end of the socket or an error means that nobody waits for
        // us any more.
        while let Ok(said) = ServiceMessage::read(&mut lifeline) {
            match said {
                // A program that closed its input does not get the piece.
                ServiceMessage::Input(piece) => drop(feed.as_ref().map(|feed| feed.send(piece))),
                ServiceMessage::InputEnd => feed = None,
                ServiceMessage::Stop => break,
            }
        }
        let _ = events.send(Event::Stop);
    };
    std::thread::Builder::new().spawn(listening).map(drop)
}

/// Collects every child that ends, adopted ones too, until there is none.
fn reap(main: i32, events: mpsc::Sender<Event>) -> std::io::Result<()> {
    let reaping = move || {
        loop {
            match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == main => {
                    let _ = events.send(Event::MainEnded(ending(status)));
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        let _ = events.send(Event::AllGone);
    };
    std::thread::Builder::new().spawn(reaping).map(drop)
}

/// Watches the limits in threads of their own. Without isolation there are none.
fn limit(confinement: &Confinement, events: mpsc::Sender<Event>) -> std::io::Result<()> {
    if confinement.level == Level::L0 {
        return Ok(());
    }
    let (level, limits) = (confinement.level, confinement.limits);
    let user = confinement.user;
    let folders: Vec<PathBuf> = confinement.changeable().map(PathBuf::from).collect();
    let passed = events.clone();
    let counting = move || passed.send(Event::OverLimit(usage::of_processes(limits, user)));
    std::thread::Builder::new().spawn(counting)?;
    let looking = move || events.send(Event::OverLimit(usage::of_files(level, limits, &folders, user)));
    std::thread::Builder::new().spawn(looking).map(drop)
}

fn ending(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, signal) => Report::Signalled(signal.unwrap_or_default()),
    }
}

/// Waits for the end. After an order to stop, asks every process to end and kills them after the grace. After the
/// program's own end, kills what it left behind at once.
fn watch(lifeline: &mut UnixStream, heard: &mpsc::Receiver<Event>, request: &LaunchRequest, started: &Started) {
    let (grace, level) = (Duration::from_millis(request.grace_ms), request.confinement.level);
    let mut kill_from: Option<Instant> = None;
    let mut family = Family::below(rustix::process::getpid().as_raw_nonzero().get());
    let [mut pause, longest] = SWEEP_PAUSES;
    loop {
        let wait = match kill_from {
            None => heard.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            Some(from) => heard.recv_timeout(from.saturating_duration_since(Instant::now()).max(pause)),
        };
        match wait {
            Ok(Event::Stop) if kill_from.is_none() => {
                ask_everything_to_end(started, level);
                kill_from = Instant::now().checked_add(grace);
            }
            Ok(Event::Stop) => {}
            Ok(Event::MainEnded(report)) => {
                send_report(lifeline, &started.final_report(report, level));
                kill_from = Some(Instant::now());
            }
            Ok(Event::OverLimit(limit)) => {
                send_report(lifeline, &Report::OverLimit(limit));
                kill_everything(started, level, &mut family);
                if level < Level::L2 {
                    stop_growing(&mut family);
                    kill_everything(started, level, &mut family);
                }
                kill_from = Some(Instant::now());
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                kill_everything(started, level, &mut family);
                pause = match level {
                    Level::L0 | Level::L1 => pause,
                    Level::L2 | Level::L3 => (pause * 2).min(longest),
                };
            }
            Ok(Event::AllGone) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Sends a report to the service, if it still listens.
fn send_report(lifeline: &mut UnixStream, report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = lifeline.write_all(&line);
    }
}
