//! Starting the program, and what its end says of it.

use crate::{
    launcher::{find, wall},
    process_table::Process,
    protocol::{Order, Report},
};
use domain::isolation::Level;
use rustix::process::Signal;
use std::{
    fs::File,
    io::Read,
    os::unix::{net::UnixStream, process::CommandExt},
    process::Command,
};

/// What was started.
pub(super) struct Started {
    /// The process to wait for.
    pub(super) main: i32,
    /// Where the inner launcher reports, where there is one.
    control: Option<UnixStream>,
}

/// Starts the program, by way of the inner launcher where it is to be kept apart.
pub(super) fn start(order: &Order, input: File) -> Result<Started, Report> {
    if order.confinement.level != Level::L0 {
        let not_confined = |error: std::io::Error| match order.confinement.level {
            Level::L2 | Level::L3 => {
                let program = order.confinement.bubblewrap();
                Report::NotConfined(format!("{}: {error}", program.display()))
            }
            Level::L0 | Level::L1 => Report::NotConfined(error.to_string()),
        };
        let (main, control) = wall::start(order, input).map_err(not_confined)?;
        let control = Some(control);
        return Ok(Started { main, control });
    }
    let (cwd, mut program) = find::find(order)?;
    if order.confinement.own {
        program = "/proc/self/exe".into();
    }
    let mut command = Command::new(&program);
    command.arg0(order.program()).args(order.args()).current_dir(&cwd);
    command.env_clear().envs(order.env()).stdin(input).process_group(0);
    let child = command.spawn().map_err(|error| find::refused(&program, &error))?;
    let main = i32::try_from(child.id()).map_err(|error| Report::Refused(error.to_string()))?;
    Ok(Started { main, control: None })
}

impl Started {
    /// What the end of the process that was waited for says of the program: what the inner launcher said, else how the
    /// process ended, and without the inner one's word that everything was in place nothing at all.
    pub(super) fn verdict(&self, ended: Report, level: Level) -> Report {
        let Some(control) = &self.control else { return ended };
        let mut text = Vec::new();
        // All that was written is there; a process that has yet to be killed may hold the other end.
        let _ = control.set_nonblocking(true);
        let mut reading = control;
        let _ = reading.read_to_end(&mut text);
        let lines = text.split(|byte| *byte == b'\n');
        let reports: Vec<Report> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let said = reports.iter().find(|report| **report != Report::Confined);
        match (said, reports.contains(&Report::Confined), level) {
            (Some(said), _, _) => said.clone(),
            (None, false, _) => Report::NotConfined("the sandbox could not be built".to_owned()),
            (None, true, Level::L0 | Level::L1) => ended,
            // The inner launcher, and so everything behind the wall, was killed.
            (None, true, Level::L2 | Level::L3) => Report::Signalled(Signal::KILL.as_raw()),
        }
    }

    /// Our own processes between this one and the program: they stay until the program is gone.
    pub(super) fn scaffold(&self, table: &[Process], level: Level) -> Vec<i32> {
        let mut all = Vec::new();
        if level >= Level::L2 {
            all.push(self.main);
            for _ in 0..2 {
                let above = all.last().copied();
                let below = table.iter().filter(|process| Some(process.parent) == above);
                all.extend(
                    below
                        .min_by_key(|process| (process.started, process.pid))
                        .map(|first| first.pid),
                );
            }
        }
        all
    }
}
