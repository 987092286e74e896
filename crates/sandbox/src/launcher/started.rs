//! Starts the program, and makes the report when it has ended.

use crate::{
    launcher::{find, wall},
    process_table::Process,
    protocol::{LaunchRequest, NotConfined, Report},
};
use domain::isolation::Level;
use rustix::process::Signal;
use std::{
    fs::File,
    io::Read,
    os::unix::{net::UnixStream, process::CommandExt},
    path::Path,
    process::Command,
};

pub(super) struct Started {
    pub(super) main: i32,
    /// The socket for the inner launcher's reports; `None` at L0.
    control: Option<UnixStream>,
}

/// Starts the program, through the inner launcher unless the level is L0.
pub(super) fn start(request: &LaunchRequest, input: File) -> Result<Started, Report> {
    if request.confinement.level != Level::L0 {
        let not_confined = |error: std::io::Error| match request.confinement.level {
            Level::L2 | Level::L3 => {
                let program = Path::new(&request.confinement.bubblewrap);
                Report::NotConfined(format!("{}: {error}", program.display()))
            }
            Level::L0 | Level::L1 => Report::NotConfined(error.to_string()),
        };
        let (main, control) = wall::start(request, input).map_err(not_confined)?;
        let control = Some(control);
        return Ok(Started { main, control });
    }
    let (cwd, mut program) = find::find(request)?;
    if request.confinement.own {
        program = "/proc/self/exe".into();
    }
    let mut command = Command::new(&program);
    command.arg0(&request.program).args(&request.args).current_dir(&cwd);
    command.env_clear().envs(request.env.iter().cloned());
    command.stdin(input).process_group(0);
    let child = command.spawn().map_err(|error| find::refused(&program, &error))?;
    let main = i32::try_from(child.id()).map_err(|error| Report::Refused(error.to_string()))?;
    Ok(Started { main, control: None })
}

impl Started {
    /// Returns the report to send after the main process has ended. This is the inner launcher's own report, or else
    /// how the process ended. If the inner launcher never confirmed the isolation, it is [`Report::NotConfined`].
    pub(super) fn final_report(&self, ended: Report, level: Level) -> Report {
        let Some(control) = &self.control else { return ended };
        let mut text = Vec::new();
        // All reports were written by now. A process that is still to be killed may hold the other end open, so we do
        // not wait for its end.
        let _ = control.set_nonblocking(true);
        let mut reading = control;
        let _ = reading.read_to_end(&mut text);
        let lines = text.split(|byte| *byte == b'\n');
        let reports: Vec<Report> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let said = reports.iter().find(|report| **report != Report::Confined);
        match (said, reports.contains(&Report::Confined), level) {
            (Some(said), _, _) => said.clone(),
            (None, false, _) => Report::NotConfined(NotConfined::NotBuilt.to_string()),
            (None, true, Level::L0 | Level::L1) => ended,
            // The inner launcher was killed, and with it everything inside the namespaces.
            (None, true, Level::L2 | Level::L3) => Report::Signalled(Signal::KILL.as_raw()),
        }
    }

    /// Returns the ids of our own processes between this one and the program. They stay until the program is gone.
    pub(super) fn own_processes(&self, table: &[Process], level: Level) -> Vec<i32> {
        let mut all = Vec::new();
        if level >= Level::L2 {
            all.push(self.main);
            for _ in 0..2 {
                let above = all.last().copied();
                let below = table.iter().filter(|process| Some(process.parent) == above);
                let first = below.min_by_key(|process| (process.started, process.pid));
                all.extend(first.map(|first| first.pid));
            }
        }
        all
    }
}
