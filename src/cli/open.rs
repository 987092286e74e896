//! Opens an address in the person's browser.

use std::{
    io,
    process::{ExitStatus, Stdio},
};
use tokio::process::Command;

/// The program that knows which browser the person uses.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens it beside everything else; what prevents it is said, and stops nothing.
pub(super) fn open(address: &str) {
    let mut command = Command::new(OPENER);
    command.arg(address);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    tokio::spawn(async move {
        if let Some(why) = failure(command.status().await) {
            eprintln!("The browser was not opened ({why}): open the dashboard's address yourself.");
        }
    });
}

fn failure(ended: io::Result<ExitStatus>) -> Option<String> {
    match ended {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("{OPENER} ended with {status}")),
        Err(error) => Some(format!("{OPENER}: {error}")),
    }
}
