//! `run` in a real terminal (a pseudo terminal of the kernel): its drawing, which leaves nothing behind.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

use crate::own::Own;
use rustix::{
    fs::{Mode, OFlags},
    process::{Pid, Signal},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use std::{
    fs::File,
    io::Read,
    os::fd::OwnedFd,
    process::{Child, Stdio},
};

/// A person's terminal, and the bytes that arrived so far.
struct Seen {
    wire: String,
    master: File,
}

fn size(columns: u16) -> Winsize {
    Winsize { ws_row: 30, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Starts the program in a terminal with this many columns.
fn start(own: &Own, words: &[&str], columns: u16, variables: &[(&str, &str)]) -> (Child, Seen) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, size(columns)).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave: OwnedFd = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    let stream = || Stdio::from(slave.try_clone().unwrap());
    let command = own.autobuild("", words);
    let mut command = command.into_std();
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    let child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
    let seen = Seen { wire: String::new(), master: File::from(master) };
    (child, seen)
}

impl Seen {
    /// Reads until this text was written, or until the end.
    fn until(&mut self, wanted: &str) {
        let mut piece = [0; 4096];
        let mut whole = Vec::new();
        while !self.wire.contains(wanted) {
            // When the last writer closes, this is an error.
            let Ok(count @ 1..) = self.master.read(&mut piece) else {
                return;
            };
            whole.extend_from_slice(&piece[..count]);
            if let Ok(text) = std::str::from_utf8(&whole) {
                self.wire.push_str(text);
                whole.clear();
            }
        }
    }

    /// Returns the lines that a screen of unlimited width shows in the end.
    fn screen(&self) -> Vec<String> {
        let mut rows = vec![String::new()];
        let mut at = 0;
        let mut rest = self.wire.as_str();
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                '\n' => {
                    at += 1;
                    rows.resize(rows.len().max(at + 1), String::new());
                }
                // Every line is written from its start.
                '\r' => {}
                '\u{1b}' => {
                    let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap();
                    let (number, kind) = (&rest[1..end], &rest[end..=end]);
                    match kind {
                        "A" => at -= number.parse::<usize>().unwrap(),
                        "J" => {
                            rows.truncate(at);
                            rows.push(String::new());
                        }
                        _ => assert_eq!(kind, "m", "{number}"),
                    }
                    rest = &rest[end + 1..];
                }
                c => rows[at].push(c),
            }
        }
        rows
    }
}

/// `true` for a frame of the spinner or an empty cell of a bar.
fn is_drawn(text: &str) -> bool {
    text.contains(|c| ('\u{2800}'..='\u{28ff}').contains(&c) || c == '░')
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_who_is_at_work_and_keeps_nothing_of_it() {
    let own = Own::new(Some("#!/bin/sh\nsleep 1\n")).await;
    let agent = own.agent();
    let (mut child, mut seen) = start(&own, &["run", "../issue.md", "--agent", &agent], 100, &[]);
    seen.until("Pre-flight: set-up");
    assert!(seen.wire.contains("\u{1b}[36m") && is_drawn(&seen.wire), "{}", seen.wire);
    tcsetwinsize(&seen.master, size(50)).unwrap();
    seen.until("0/1 tasks");
    seen.until("no end");
    assert!(child.wait().unwrap().success(), "{}", seen.wire);
    assert!(seen.wire.contains("  waves  "), "{}", seen.wire);
    let screen = seen.screen();
    assert!(!screen.iter().any(|row| is_drawn(row)), "{screen:#?}");
    assert!(screen.iter().any(|row| row.contains("git merge --squash autobuild/notes")), "{screen:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_leaves_a_clean_line() {
    let own = Own::new(Some("#!/bin/sh\nsleep 600\n")).await;
    let agent = own.agent();
    let no_colour = [("NO_COLOR", "1")];
    let (mut child, mut seen) = start(&own, &["run", "../issue.md", "--agent", &agent], 80, &no_colour);
    seen.until("Pre-flight: set-up");
    assert!(!seen.wire.contains("\u{1b}[3"), "no colours: {}", seen.wire);
    let process = Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(process, Signal::INT).unwrap();
    seen.until("no end");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let screen = seen.screen();
    assert!(!screen.iter().any(|row| row.contains("Pre-flight: set-up")), "{screen:#?}");
    assert!(screen.iter().any(|row| row.contains("autobuild resume FEAT-1")), "{screen:#?}");
    assert_eq!(screen.last().unwrap(), "", "the prompt gets a line of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dumb_terminal_gets_plain_lines() {
    let own = Own::new(None).await;
    let agent = own.agent();
    let dumb = [("TERM", "dumb")];
    let (mut child, mut seen) = start(&own, &["run", "../issue.md", "--agent", &agent], 80, &dumb);
    seen.until("no end");
    assert!(child.wait().unwrap().success());
    assert!(!seen.wire.contains('\u{1b}') && !is_drawn(&seen.wire), "{}", seen.wire);
}
