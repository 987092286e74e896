//! The launcher: a process of its own between the service and a foreign program. It takes one order over its lifeline,
//! starts the program, adopts every process that the program leaves behind, and ends only when none of them is left.

use crate::sandbox::process_table;
use crate::sandbox::protocol::Order;
use crate::sandbox::protocol::Report;
use crate::sandbox::protocol::Said;
use rustix::fs::MemfdFlags;
use rustix::process::Resource;
use rustix::process::Rlimit;
use rustix::process::Signal;
use rustix::process::WaitOptions;
use rustix::process::WaitStatus;
use std::fs;
use std::fs::File;
use std::io::Read;
use std::io::Seek;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

/// The hidden subcommand of our own binary that is the launcher.
pub const LAUNCHER_COMMAND: &str = "sandbox-exec";

/// How long the launcher waits between two looks at what still runs while it kills.
const SWEEP_PAUSE: Duration = Duration::from_millis(2);

/// Runs as the launcher. Called by `main` before anything else, in a process with one thread.
#[must_use]
pub fn launcher_main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> std::io::Result<()> {
    close_leaked_files();
    let mut lifeline = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let order = Order::read(&mut lifeline)?;
    let (input, feed) = match order.talking {
        true => fed_input(&mut lifeline, order.stdin_length)?,
        false => (input(&mut lifeline, order.stdin_length)?, None),
    };
    confine()?;
    let main = match start(&order, input) {
        Ok(pid) => pid,
        Err(report) => {
            say(&mut lifeline, &report);
            say(&mut lifeline, &Report::Swept);
            return Ok(());
        }
    };
    let (events, heard) = mpsc::channel();
    listen(lifeline.try_clone()?, feed, events.clone())?;
    reap(main, events)?;
    watch(&mut lifeline, &heard, Duration::from_millis(order.grace_ms));
    say(&mut lifeline, &Report::Swept);
    Ok(())
}

/// Closes every handle that the service's own parent may have left open; ours are closed on exec anyway.
fn close_leaked_files() {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers: Vec<i32> = open
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        let _ = nix::unistd::close(number);
    }
}

/// The program's input as a file in memory: a program that never reads it holds nobody up.
fn input(lifeline: &mut UnixStream, length: u64) -> std::io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    let copied = std::io::copy(&mut lifeline.take(length), &mut file)?;
    if copied < length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    file.rewind()?;
    Ok(file)
}

/// The program's input as a pipe, and where the pieces go that follow the first one. A thread of its own writes them, so
/// that a program that does not read keeps nobody from hearing the order to stop.
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

/// A session without a terminal, adoption of orphans, no new rights through set-uid programs, no core files.
fn confine() -> std::io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    rustix::thread::set_no_new_privs(true)?;
    rustix::process::setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    )?;
    Ok(())
}

/// Starts the program in a group of its own; gives its number.
fn start(order: &Order, input: File) -> Result<i32, Report> {
    let cwd = order.cwd();
    if !cwd.is_dir() {
        return Err(Report::NoFolder(cwd.display().to_string()));
    }
    let program = find(order, &cwd)?;
    let mut command = Command::new(&program);
    command
        .arg0(order.program())
        .args(order.args())
        .current_dir(&cwd)
        .env_clear()
        .envs(order.env());
    command.stdin(input).process_group(0);
    let child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => Report::NotExecutable(program.display().to_string()),
        _ => Report::Refused(format!("{}: {error}", program.display())),
    })?;
    i32::try_from(child.id()).map_err(|error| Report::Refused(error.to_string()))
}

/// The file to execute: a name with a slash is a path, any other is looked for along `PATH`.
fn find(order: &Order, cwd: &Path) -> Result<PathBuf, Report> {
    let program = order.program();
    let shown = program.to_string_lossy().into_owned();
    let candidates: Vec<PathBuf> = if program.as_bytes().contains(&b'/') {
        vec![cwd.join(&program)]
    } else {
        let path = order
            .env()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value)
            .unwrap_or_default();
        std::env::split_paths(&path)
            .map(|folder| cwd.join(folder).join(&program))
            .collect()
    };
    let files: Vec<PathBuf> = candidates.into_iter().filter(|file| file.is_file()).collect();
    let executable = |file: &&PathBuf| fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    match files.iter().find(executable) {
        _ if program.is_empty() => Err(Report::NotFound(shown)),
        Some(file) => Ok(file.clone()),
        None if files.is_empty() => Err(Report::NotFound(shown)),
        None => Err(Report::NotExecutable(shown)),
    }
}

/// What can happen while the program runs.
enum Event {
    /// The service ordered the end, or is gone.
    Stop,
    /// The program itself ended.
    MainEnded(Report),
    /// No child is left.
    AllGone,
}

/// Turns what comes over the lifeline into input for the program and events.
fn listen(
    mut lifeline: UnixStream,
    mut feed: Option<mpsc::Sender<Vec<u8>>>,
    events: mpsc::Sender<Event>,
) -> std::io::Result<()> {
    let listening = move || {
        // Anything but input is the order to stop; the end of the socket or an error means that nobody waits for us any
        // more.
        while let Ok(said) = Said::read(&mut lifeline) {
            match said {
                // A program that closed its input does not get it.
                Said::Input(piece) => drop(feed.as_ref().map(|feed| feed.send(piece))),
                Said::InputEnd => feed = None,
                Said::Stop => break,
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

fn ending(status: WaitStatus) -> Report {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exited(code),
        (None, signal) => Report::Signalled(signal.unwrap_or_default()),
    }
}

/// Waits for the end. After an order to stop everything is asked to end, then killed once the grace is over; after the
/// program's own end what it left behind is killed at once.
fn watch(lifeline: &mut UnixStream, heard: &mpsc::Receiver<Event>, grace: Duration) {
    let mut kill_from: Option<Instant> = None;
    loop {
        let wait = match kill_from {
            None => heard.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected),
            Some(from) => heard.recv_timeout(from.saturating_duration_since(Instant::now()).max(SWEEP_PAUSE)),
        };
        match wait {
            Ok(Event::Stop) if kill_from.is_none() => {
                signal_everything(Signal::TERM);
                kill_from = Instant::now().checked_add(grace);
            }
            Ok(Event::Stop) => {}
            Ok(Event::MainEnded(report)) => {
                say(lifeline, &report);
                kill_from = Some(Instant::now());
            }
            Err(mpsc::RecvTimeoutError::Timeout) => signal_everything(Signal::KILL),
            Ok(Event::AllGone) | Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Signals every process below this one, wherever it moved: a new session or a second fork does not leave the family.
fn signal_everything(signal: Signal) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    for process in process_table::descendants(&process_table::all(), &[own]) {
        process.signal(signal);
    }
}

/// Tells the service, if it still listens.
fn say(lifeline: &mut UnixStream, report: &Report) {
    if let Ok(mut line) = serde_json::to_vec(report) {
        line.push(b'\n');
        let _ = lifeline.write_all(&line);
    }
}
