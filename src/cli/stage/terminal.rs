//! Everything that is printed for people who watch: lines that stay, and one below them that moves. Where standard output
//! is no terminal there are plain lines only.

use crate::cli::stage::wrap;
use rustix::io::Errno;
use std::{
    io,
    io::{IsTerminal, Write},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// To the start of the line, and everything on it away.
const ERASE: &str = "\r\u{1b}[2K";

/// How wide a terminal is that does not say so.
const USUAL_WIDTH: usize = 80;

/// Below so many columns, what stands in front of a text leaves room for it.
const NARROW: usize = 60;

/// The same in front of a text, in fewer columns: its blanks go, and a bar stays.
fn narrow(before: &str) -> &str {
    match before.trim_start() {
        "" if before.is_empty() => "",
        "" => "  ",
        bar if bar.starts_with('│') => bar,
        _ => before.trim_start(),
    }
}

/// What was aligned in columns is a sentence.
fn single_spaced(text: &str) -> String {
    match text.starts_with(' ') {
        true => text.to_owned(),
        false => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// How a line is printed where the terminal has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Quiet,
    Loud,
    Good,
    Bad,
}

impl Tone {
    /// The number of its style.
    fn style(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Quiet => Some("2"),
            Self::Loud => Some("1"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
        }
    }
}

/// What standard output can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skills {
    /// It is as wide as it is, and lines are fitted into it.
    wraps: bool,
    /// A line can be written anew.
    moves: bool,
    colours: bool,
}

impl Skills {
    /// By what standard output is and what the environment says of it: see <https://no-color.org>.
    fn of(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let said = |name: &str| variable(name).filter(|value| !value.is_empty());
        let moves = terminal && said("TERM").is_some_and(|kind| kind != "dumb");
        Self {
            wraps: terminal,
            moves,
            colours: moves && said("NO_COLOR").is_none(),
        }
    }
}

/// Standard output, shared by all who print.
#[derive(Clone)]
pub struct Terminal {
    skills: Skills,
    moving: Arc<Mutex<String>>,
}

impl Terminal {
    /// Standard output as it is; as JSON lines go to it, nothing moves there.
    pub fn open(json: bool) -> Self {
        let terminal = io::stdout().is_terminal() && !json;
        Self {
            skills: Skills::of(terminal, |name| std::env::var(name).ok()),
            moving: Arc::default(),
        }
    }

    /// How many columns there are, where lines are fitted into them.
    pub fn columns(&self) -> Option<usize> {
        self.skills.wraps.then(width)
    }

    /// Whether there is a line that moves.
    pub fn moves(&self) -> bool {
        self.skills.moves
    }

    /// A line that stays: `text` behind `lead`, and where it does not fit into one row, further rows behind `gutter`.
    pub fn line(&self, lead: &str, gutter: &str, text: &str, tone: Tone) {
        let rows = match self.skills.wraps {
            true if width() < NARROW => wrap::rows(narrow(lead), narrow(gutter), &single_spaced(text), width()),
            true => wrap::rows(lead, gutter, text, width()),
            false => vec![format!("{lead}{text}").trim_end().to_owned()],
        };
        let painted: Vec<String> = rows.iter().map(|row| self.painted(row, tone)).collect();
        self.print(&painted.join("\n"));
    }

    /// A line that fits already, as a row of a table.
    pub fn fitted(&self, line: &str, tone: Tone) {
        self.print(&self.painted(line, tone));
    }

    /// A line that is to be copied, as it is.
    pub fn exact(&self, line: &str) {
        self.print(line);
    }

    /// The line that moves says this from now on; empty, there is none.
    pub fn moving(&self, text: &str) {
        let mut moving = self.lock();
        let text = wrap::cut(text, width().saturating_sub(1));
        if *moving == text || !self.skills.moves {
            return;
        }
        write(&format!("{ERASE}{}", self.painted(&text, Tone::Quiet)));
        *moving = text;
    }

    /// Passes a part of the log to standard error.
    pub fn log(&self, part: &str) -> io::Result<()> {
        let mut moving = self.lock();
        if !moving.is_empty() {
            write(ERASE);
            moving.clear();
        }
        io::stderr().write_all(part.as_bytes())
    }

    fn print(&self, lines: &str) {
        let moving = self.lock();
        match moving.is_empty() {
            true => write(&format!("{lines}\n")),
            false => write(&format!("{ERASE}{lines}\n{}", self.painted(&moving, Tone::Quiet))),
        }
    }

    /// A text in the colours of this terminal.
    pub fn painted(&self, text: &str, tone: Tone) -> String {
        match tone.style() {
            Some(style) if self.skills.colours && !text.is_empty() => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
            Some(_) | None => text.to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, String> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why words came nowhere, the first time.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Why standard output could not be written. Whoever closed the terminal or the pipe wants no more of it.
pub fn lost() -> Option<&'static io::Error> {
    let is_closed = |error: &io::Error| {
        error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(Errno::IO.raw_os_error())
    };
    LOST.get().filter(|error| !is_closed(error))
}

fn write(text: &str) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        let _ = LOST.set(error);
    }
}

/// The columns of the terminal as it is now.
fn width() -> usize {
    let told = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    match told {
        0 => USUAL_WIDTH,
        columns => columns,
    }
}

#[cfg(test)]
mod tests {
    use super::{Skills, narrow, single_spaced};

    #[test]
    fn a_narrow_terminal_is_left_to_the_text() {
        assert_eq!(narrow("                 │ "), "│ ");
        assert_eq!(narrow("        "), "  ");
        assert_eq!(narrow("  13.4s  "), "13.4s  ");
        assert_eq!(narrow(""), "");
        assert_eq!(single_spaced("mona       opened issue #1"), "mona opened issue #1");
    }

    #[test]
    fn what_a_terminal_is_told_is_obeyed() {
        let skills = |terminal, pairs: &[(&str, &str)]| {
            let found = |name: &str| pairs.iter().find(|(key, _)| *key == name);
            let skills = Skills::of(terminal, |name| found(name).map(|(_, value)| (*value).to_owned()));
            (skills.wraps, skills.moves, skills.colours)
        };
        let term = ("TERM", "xterm-256color");
        assert_eq!(skills(true, &[term]), (true, true, true));
        assert_eq!(skills(true, &[term, ("NO_COLOR", "1")]), (true, true, false));
        assert_eq!(
            skills(true, &[term, ("NO_COLOR", "")]),
            (true, true, true),
            "empty is not set"
        );
        assert_eq!(skills(true, &[("TERM", "dumb")]), (true, false, false));
        assert_eq!(skills(true, &[]), (true, false, false));
        assert_eq!(skills(false, &[term]), (false, false, false));
    }
}
