//! The inner launcher: our last process before a foreign program, inside the namespaces if there are any. It gives up
//! every right that the program may not have, and starts the program.

use crate::{
    egress,
    launcher::{ending, files, find, open_numbers, priority_of_session, send_report, syscalls},
    process_table,
    protocol::{Confinement, LaunchRequest, NetworkRoute, NotConfined, Report},
    run_user::RunUser,
};
use domain::isolation::Level;
use rustix::{
    process::{Resource, Rlimit, Signal, WaitOptions},
    thread::{CapabilitySet, CapabilitySets},
};
use std::{
    fs::File,
    net::TcpListener,
    os::{
        fd::{AsFd, AsRawFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::PathBuf,
    process::{Child, Command, ExitCode},
};

/// The most file handles that a program may have open.
const MOST_FILES: u64 = 65_536;
/// Threads count as processes for this limit.
const THREADS_PER_PROCESS: u64 = 4;
/// The `oom_score_adj` value. If memory runs out, the system should kill a program rather than the service.
const ENDED_FIRST: &str = "800";

/// The `nice` value of a program.
const LOWERED: i32 = 5;

/// Runs as the inner launcher. Its arguments are the file descriptors of the request and of the program's input.
pub(super) fn main(numbers: &[String]) -> ExitCode {
    let Ok(control) = std::io::stdin().as_fd().try_clone_to_owned() else {
        return ExitCode::FAILURE;
    };
    let mut control = UnixStream::from(control);
    let report = match open_order_and_input(numbers, &control) {
        Ok((request, input)) => start(&request, input, &mut control),
        Err(error) => Report::NotConfined(NotConfined::Unreadable(error).to_string()),
    };
    send_report(&mut control, &report);
    ExitCode::SUCCESS
}

/// Opens the request and the input again, and closes every other handle except the standard ones and the control socket.
fn open_order_and_input(numbers: &[String], control: &UnixStream) -> std::io::Result<(LaunchRequest, File)> {
    let inherited = open_numbers();
    let [request, input] = numbers else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    let request = LaunchRequest::read(&mut File::open(format!("/proc/self/fd/{request}"))?)?;
    let input = File::open(format!("/proc/self/fd/{input}"))?;
    // The number of the handle that listed the folder may have been reused since.
    let kept = [control.as_raw_fd(), input.as_raw_fd()];
    for number in inherited.into_iter().filter(|number| *number > 2 && !kept.contains(number)) {
        let _ = nix::unistd::close(number);
    }
    Ok((request, input))
}

/// Returns only with a report: why nothing was started, or how the program ended.
fn start(request: &LaunchRequest, input: File, control: &mut UnixStream) -> Report {
    let (cwd, program) = match find::find(request) {
        Ok(found) => found,
        Err(report) => return after_trying(request, control, report),
    };
    let program = if request.confinement.own { PathBuf::from("/proc/self/exe") } else { program };
    let mut command = Command::new(&program);
    command.arg0(&request.program).args(&request.args).current_dir(&cwd);
    command.env_clear();
    if let Some(user) = request.confinement.user {
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        let streams = [input.as_fd(), stdout.as_fd(), stderr.as_fd()];
        if let Err(error) = streams.into_iter().try_for_each(|stream| user.own(stream)) {
            return Report::NotConfined(format!("streams of its user: {error}"));
        }
    }
    command.envs(request.env.iter().cloned()).stdin(input);
    let started = match request.confinement.level {
        Level::L0 | Level::L1 => in_this_place(request, command, control),
        Level::L2 | Level::L3 => beside(request, command, control),
    };
    match started {
        Ok(child) => wait_for(&child),
        Err(Failed::Confining(reason)) => Report::NotConfined(reason),
        Err(Failed::Starting(error)) => find::refused(&program, &error),
    }
}

/// Reports that the program was not found only if the isolation works. Otherwise reports the failed isolation.
fn after_trying(request: &LaunchRequest, control: &mut UnixStream, report: Report) -> Report {
    match limit(&request.confinement).and_then(|()| confine(&request.confinement)) {
        Ok(()) => {
            send_report(control, &Report::Confined);
            report
        }
        Err(reason) => Report::NotConfined(reason),
    }
}

enum Failed {
    Confining(String),
    Starting(std::io::Error),
}

/// Replaces this process by the program, which dies with the outer launcher. The new session keeps the two apart on
/// systems that share processors by session (autogroup).
fn in_this_place(request: &LaunchRequest, mut command: Command, control: &mut UnixStream) -> Result<Child, Failed> {
    let failed = |error: rustix::io::Errno| Failed::Confining(error.to_string());
    rustix::process::setsid().map_err(failed)?;
    priority_of_session(LOWERED);
    limit(&request.confinement).and_then(|()| confine(&request.confinement)).map_err(Failed::Confining)?;
    // A change of the user clears this setting, so it is made here.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    send_report(control, &Report::Confined);
    Err(Failed::Starting(command.exec()))
}

/// Starts the program from a thread that gave up its rights. This process stays, to report the end and run the bridge.
fn beside(request: &LaunchRequest, mut command: Command, control: &mut UnixStream) -> Result<Child, Failed> {
    let confinement = request.confinement.clone();
    command.process_group(0);
    limit(&confinement).map_err(Failed::Confining)?;
    bridge(&confinement.way).map_err(|error| Failed::Confining(format!("its way out: {error}")))?;
    let mut telling = control.try_clone().map_err(|error| Failed::Confining(error.to_string()))?;
    let starting = std::thread::Builder::new().spawn(move || {
        confine(&confinement).map_err(Failed::Confining)?;
        send_report(&mut telling, &Report::Confined);
        command.spawn().map_err(Failed::Starting)
    });
    let starting = starting.map_err(|error| Failed::Confining(error.to_string()))?;
    let lost = || Err(Failed::Confining(NotConfined::NoThread.to_string()));
    starting.join().unwrap_or_else(|_| lost())
}

/// Forwards connections at the port to the door while this process lives.
fn bridge(way: &NetworkRoute) -> std::io::Result<()> {
    let NetworkRoute::Bridge { socket, port } = way else {
        return Ok(());
    };
    let socket = PathBuf::from(socket);
    let listener = TcpListener::bind(("127.0.0.1", *port))?;
    let copying = move || egress::bridge(&listener, &socket);
    std::thread::Builder::new().spawn(copying).map(drop)
}

fn wait_for(child: &Child) -> Report {
    let main = i32::try_from(child.id()).unwrap_or_default();
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == main => return ending(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Report::Refused(error.to_string()),
        }
    }
}

/// Sets the limits of this process and everything it starts.
fn limit(confinement: &Confinement) -> Result<(), String> {
    let limits = confinement.limits;
    let processes = limits.processes.saturating_mul(THREADS_PER_PROCESS);
    let mut all = vec![
        (Resource::Core, 0),
        (Resource::Fsize, limits.file),
        (Resource::Cpu, limits.cpu.max(1)),
        (Resource::Nofile, MOST_FILES),
    ];
    // Outside namespaces the system also counts all other processes of the user, so their current number is added.
    let others = match confinement.level {
        Level::L0 | Level::L1 => process_table::count(),
        Level::L2 | Level::L3 => Some(0),
    };
    all.extend(others.map(|others| (Resource::Nproc, processes.saturating_add(others))));
    // Our own processes keep priority over the program's, however many there are.
    let _ = rustix::process::setpriority_process(None, LOWERED);
    for (resource, most) in all {
        let known = rustix::process::getrlimit(resource);
        let lower = |known: Option<u64>| Some(known.map_or(most, |known| known.min(most)));
        let limit = Rlimit { current: lower(known.current), maximum: lower(known.maximum) };
        rustix::process::setrlimit(resource, limit).map_err(|error| format!("limit of {resource:?}: {error}"))?;
    }
    // If the write fails, the system chooses by itself.
    let _ = std::fs::write("/proc/self/oom_score_adj", ENDED_FIRST);
    Ok(())
}

/// Takes every right away from this thread and everything it starts.
fn confine(confinement: &Confinement) -> Result<(), String> {
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("no new privileges: {error}"))?;
    let user = confinement.user.map(RunUser::become_user).transpose();
    let kept = user.map_err(|error| format!("its user: {error}"))?.unwrap_or(CapabilitySet::empty());
    drop_capabilities(kept).map_err(|error| format!("capabilities: {error}"))?;
    let (sockets, truncation) = files::restrict(confinement).map_err(|error| error.to_string())?;
    syscalls::restrict(confinement.level, sockets, truncation).map_err(|error| format!("seccomp: {error}"))
}

/// Gives up every capability but `kept`, which programs inherit.
fn drop_capabilities(kept: CapabilitySet) -> rustix::io::Result<()> {
    // Removing a capability from the bounding set needs a capability. A process that has none cannot gain any either.
    let _ = rustix::thread::clear_ambient_capability_set();
    let all = (0..64).map(|number| CapabilitySet::from_bits_retain(1 << number));
    for capability in all.filter(|capability| !kept.contains(*capability)) {
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: kept };
    rustix::thread::set_capabilities(None, sets)?;
    if kept.is_empty() {
        return Ok(());
    }
    rustix::thread::configure_capability_in_ambient_set(kept, true)
}
