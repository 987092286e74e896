//! The person's own browser: the one program that is started outside any sandbox, with an address of ours.

use std::process::{Command, Stdio};

/// Programs that open an address in the person's browser, the desktop's own choice first.
const OPENERS: [&str; 3] = ["xdg-open", "gio", "sensible-browser"];

/// Opens an address in the browser of the desktop. Says whether there is a desktop and a program for it.
#[must_use]
pub fn open_in_browser(address: &str) -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return false;
    }
    OPENERS.iter().any(|program| {
        let mut command = Command::new(program);
        if *program == "gio" {
            command.arg("open");
        }
        let started = command
            .arg(address)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        // It goes on by itself when this command ends.
        started.is_ok()
    })
}
