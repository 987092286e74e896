//! The cost of the tests without AutoBuild: one run of the test command in a checkout that was set up and tested on the
//! parent.

use crate::{
    Outcome,
    repository::{Repository, Work},
};
use autobuild::gates::CommandChoice;
use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

/// Returns the processor time of a plain run on the head, in seconds. Its exit status does not matter.
pub fn run(repository: &Repository, work: &Work, chosen: &CommandChoice, patience: Duration) -> Outcome<f64> {
    let Some(test) = &chosen.test else { return Ok(0.0) };
    let folder = repository.check_out(&work.base)?;
    for command in chosen.setup.iter().chain([test]) {
        shell(folder, command.text(), patience)?;
    }
    let folder = repository.check_out(&work.head)?;
    let begun = processor_time();
    shell(folder, test.text(), patience)?;
    Ok(processor_time() - begun)
}

/// Runs a line as a CI file would, with a home folder beside the work tree.
fn shell(folder: &Path, line: &str, patience: Duration) -> Outcome<()> {
    let home = folder.with_extension("home");
    fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    let seconds = patience.as_secs().to_string();
    let mut command = Command::new("timeout");
    command
        .args([&seconds, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", line])
        .current_dir(folder)
        .env("HOME", &home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // rustup finds its toolchains through the home folder unless this variable names them.
    if let (Some(own), None) = (env::var_os("HOME"), env::var_os("RUSTUP_HOME")) {
        command.env("RUSTUP_HOME", Path::new(&own).join(".rustup"));
    }
    command.status().map(drop).map_err(|error| format!("{line}: {error}"))
}

/// Returns the processor time of this process and of all processes that it waited for, in seconds.
pub fn processor_time() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // Fields 14 to 17 of proc(5), in ticks. The first field after the name is the third.
    let ticks = behind_name.split_whitespace().skip(11).take(4);
    let ticks: u32 = ticks.filter_map(|field| field.parse::<u32>().ok()).sum();
    f64::from(ticks) / f64::from(TICKS)
}

/// The ticks of a second, on every Linux that Rust supports.
const TICKS: u32 = 100;
