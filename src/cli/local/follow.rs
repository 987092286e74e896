//! Follows another process that works on the repository and takes this order too.

use crate::cli::{
    local::{
        lock::{Holder, Lock, LockOutcome},
        orders::{Order, Orders},
        report::Report,
        work::Screen,
    },
    stage::{
        picture::spinner,
        stop::Stop,
        terminal::Tone,
        transcript::{is_quoted, parts},
    },
};
use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::Duration,
};

/// The time between two looks at the report and the lock.
const LOOK: Duration = Duration::from_millis(300);

pub enum Followed {
    /// The order rests.
    Rests(Box<Report>),
    /// The other process stopped: this process has the lock now.
    Free(Lock),
    /// The person ended this command; the other process goes on.
    Interrupted,
}

/// Shows the other process's work on this order until the order rests.
pub async fn follow(
    folder: &Path,
    (orders, order): (&Orders, &Order),
    (holder, command): (&Holder, &str),
    screen: &Screen,
    stop: &mut Stop,
) -> anyhow::Result<Followed> {
    let name = order.name();
    let what = if holder.agent == order.agent || holder.agent.is_empty() {
        format!("and takes {name} too; Ctrl-C leaves it to that process")
    } else {
        format!("with the agent {}; {name} waits until it is done", holder.agent)
    };
    let (process, other) = (holder.process, &holder.command);
    screen.note(&format!(
        "`autobuild {other}` (process {process}) works on this repository {what}."
    ));
    let mut tail = Tail::end_of(orders.transcript(order.number));
    let _cleared = Cleared(screen);
    for beat in 0.. {
        let report = orders.report(order.number).await?;
        if report.answers(order) {
            return Ok(Followed::Rests(Box::new(report)));
        }
        tail.show(screen);
        let (spinner, tasks) = (spinner(beat), report.approved());
        screen.below(&format!("{spinner} process {process} works; {name}: {tasks}"));
        if let LockOutcome::Taken(lock) = Lock::ask(folder, command, &order.agent)? {
            // The order may have come to rest since the last look.
            let report = orders.report(order.number).await?;
            return Ok(if report.answers(order) {
                Followed::Rests(Box::new(report))
            } else {
                Followed::Free(lock)
            });
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.requested() => return Ok(Followed::Interrupted),
        }
    }
    Ok(Followed::Interrupted)
}

/// A guard that clears the lines below the text, however following ends.
struct Cleared<'a>(&'a Screen);

impl Drop for Cleared<'_> {
    fn drop(&mut self) {
        self.0.terminal.clear();
    }
}

/// The most lines of one statement that are shown; the file holds all.
const MOST_SAID: usize = 6;

/// The reader of a growing file's end.
struct Tail {
    path: PathBuf,
    seen: u64,
    /// The lines of the current statement so far.
    said: usize,
}

impl Tail {
    fn end_of(path: PathBuf) -> Self {
        let seen = std::fs::metadata(&path).map_or(0, |file| file.len());
        Self { path, seen, said: 0 }
    }

    /// Shows new complete lines. An error in reading is ignored: the report says how the work ends.
    fn show(&mut self, screen: &Screen) {
        let mut text = String::new();
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.seen))?;
            file.read_to_string(&mut text)
        });
        let whole = text.rfind('\n').and_then(|end| text.get(..end));
        let (Ok(_), Some(lines)) = (read, whole) else { return };
        self.seen += u64::try_from(lines.len()).unwrap_or(0) + 1;
        if !screen.json && !screen.quiet {
            for line in lines.lines() {
                self.said = if is_quoted(line) { self.said + 1 } else { 0 };
                if self.said <= MOST_SAID {
                    let (lead, gutter, text) = parts(line);
                    screen.terminal.line(lead, gutter, text, Tone::Plain);
                }
            }
        }
    }
}
