//! Prints for people who watch: lines that stay, and a few lines below them that are redrawn. If standard output is not
//! a terminal, it only prints plain lines.

use crate::cli::stage::{
    picture::{Line, fitted, span},
    wrap,
};
use parking_lot::Mutex;
use rustix::io::Errno;
use std::{
    io,
    io::{IsTerminal, Write},
    sync::{Arc, OnceLock},
};
use unicode_width::UnicodeWidthStr;

/// The columns and rows assumed for a terminal that does not report its size.
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };

/// The width in columns below which the text before a line is shortened.
const NARROW: usize = 60;

/// Shortens the text before a line: its blanks go, and a bar stays.
fn narrow(before: &str) -> &str {
    match before.trim_start() {
        "" if before.is_empty() => "",
        "" => "  ",
        bar if bar.starts_with('│') => bar,
        _ => before.trim_start(),
    }
}

/// Turns a text that is aligned in columns into a sentence with single blanks.
fn single_spaced(text: &str) -> String {
    if text.starts_with(' ') { text.to_owned() } else { text.split_whitespace().collect::<Vec<_>>().join(" ") }
}

/// The meaning of a line, shown by its colour if there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Quiet,
    Loud,
    Good,
    Warning,
    Bad,
    /// Work in progress.
    Working,
}

impl Tone {
    /// Returns the tone's ANSI style number.
    fn style(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Quiet => Some("2"),
            Self::Loud => Some("1"),
            Self::Good => Some("32"),
            Self::Warning => Some("33"),
            Self::Bad => Some("31"),
            Self::Working => Some("36"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    On,
    Off,
}

/// The capabilities of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skills {
    /// The width is limited, so lines are wrapped to it.
    wraps: bool,
    /// Lines can be redrawn.
    moves: bool,
    colours: Colours,
}

impl Skills {
    /// The output is a file, a pipe, or JSON for programs.
    const NONE: Self = Self { wraps: false, moves: false, colours: Colours::Off };

    /// Finds the capabilities from the kind of standard output and the environment: see <https://no-color.org> and
    /// <https://bixense.com/clicolors>.
    fn of(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let said = |name: &str| variable(name).filter(|value| !value.is_empty());
        let moves = terminal && said("TERM").is_some_and(|kind| kind != "dumb");
        let wanted = moves && said("CLICOLOR").is_none_or(|value| value != "0");
        let forced = said("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        Self {
            wraps: terminal,
            moves,
            colours: if said("NO_COLOR").is_none() && (wanted || forced) { Colours::On } else { Colours::Off },
        }
    }
}

/// The part that is drawn below the lines that stay.
#[derive(Default)]
struct Area {
    picture: Vec<Line>,
    note: Option<String>,
    /// The columns of each line that is on the screen now. The cursor is in the row below them, so text that a person
    /// types, or the `^C` that a terminal shows, is erased with them.
    drawn: Vec<usize>,
}

impl Area {
    /// Returns the text that erases the area on a screen with this many columns. The screen may have been wider when
    /// the area was drawn: a line that no longer fits takes more rows.
    fn erased(&mut self, columns: usize) -> String {
        let drawn = std::mem::take(&mut self.drawn);
        let rows: usize = drawn.iter().map(|width| width.div_ceil(columns.max(1)).max(1)).sum();
        match rows {
            0 => String::new(),
            rows => format!("\r\u{1b}[{rows}A\u{1b}[J"),
        }
    }

    /// Returns the text that draws the area at the cursor.
    fn drawn(&mut self, size: Size, colours: Colours) -> String {
        let Size { columns, rows } = size;
        let note = self.note.iter().map(|note| vec![span(note.clone(), Tone::Quiet)]);
        // The last column stays free: some terminals go to the next row when it is written.
        let fit = columns.saturating_sub(1);
        let lines = self.picture.iter().cloned().chain(note).map(|line| fitted(line, fit));
        let lines: Vec<Line> = lines.take(rows.saturating_sub(2)).collect();
        let width = |line: &Line| line.iter().map(|span| span.text.width()).sum();
        self.drawn = lines.iter().map(width).collect();
        let painted = lines.iter().map(|line| format!("{}\n", painted(line, colours)));
        painted.collect()
    }
}

pub fn painted(line: &Line, colours: Colours) -> String {
    line.iter().map(|span| in_colour(&span.text, span.tone, colours)).collect()
}

fn in_colour(text: &str, tone: Tone, colours: Colours) -> String {
    match (tone.style(), colours) {
        (Some(style), Colours::On) if !text.is_empty() => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        (Some(_) | None, Colours::On | Colours::Off) => text.to_owned(),
    }
}

/// Standard output, shared by everything that prints.
#[derive(Clone)]
pub struct Terminal {
    skills: Skills,
    area: Arc<Mutex<Area>>,
}

impl Terminal {
    /// Opens standard output; if it carries JSON lines, nothing is redrawn.
    pub fn open(json: bool) -> Self {
        let skills =
            if json { Skills::NONE } else { Skills::of(io::stdout().is_terminal(), |name| std::env::var(name).ok()) };
        let area = Arc::default();
        Self { skills, area }
    }

    /// Returns the columns, if lines are wrapped to them.
    pub fn columns(&self) -> Option<usize> {
        self.skills.wraps.then(|| size().columns)
    }

    /// `true` if lines can be redrawn.
    pub fn moves(&self) -> bool {
        self.skills.moves
    }

    /// Prints a line that stays: `text` after `lead`; if it needs more than one row, the others begin with `gutter`.
    pub fn line(&self, lead: &str, gutter: &str, text: &str, tone: Tone) {
        let width = self.columns();
        let rows = match width {
            Some(width) if width < NARROW => wrap::rows(narrow(lead), narrow(gutter), &single_spaced(text), width),
            Some(width) => wrap::rows(lead, gutter, text, width),
            None => vec![format!("{lead}{text}").trim_end().to_owned()],
        };
        let painted: Vec<String> = rows.iter().map(|row| self.in_tone(row, tone)).collect();
        self.exact(&painted.join("\n"));
    }

    /// Prints a line that already fits, such as a row of a table.
    pub fn fitted(&self, line: &str, tone: Tone) {
        self.exact(&self.in_tone(line, tone));
    }

    /// Draws these lines below those that stay; `picture` gets the number of columns.
    pub fn draw(&self, picture: impl FnOnce(usize) -> Vec<Line>) {
        self.change(|area| area.picture = picture(size().columns.saturating_sub(1)));
    }

    pub fn below(&self, text: &str) {
        self.change(|area| area.note = Some(text.to_owned()));
    }

    pub fn clear(&self) {
        self.change(|area| (area.picture, area.note) = (Vec::new(), None));
    }

    /// Writes a part of the log to standard error.
    pub fn log(&self, part: &str) -> io::Result<()> {
        let mut area = self.area.lock();
        write(&area.erased(size().columns));
        let passed = io::stderr().write_all(part.as_bytes());
        if part.ends_with('\n') {
            write(&area.drawn(size(), self.skills.colours));
        }
        passed
    }

    /// Prints lines without change, for people to copy.
    pub fn exact(&self, lines: &str) {
        let mut area = self.area.lock();
        let erased = area.erased(size().columns);
        write(&format!("{erased}{lines}\n{}", area.drawn(size(), self.skills.colours)));
    }

    fn change(&self, change: impl FnOnce(&mut Area)) {
        if !self.skills.moves {
            return;
        }
        let mut area = self.area.lock();
        change(&mut area);
        let erased = area.erased(size().columns);
        let drawn = area.drawn(size(), self.skills.colours);
        if !erased.is_empty() || !drawn.is_empty() {
            write(&format!("{erased}{drawn}"));
        }
    }

    /// Returns a text with this terminal's colour codes.
    pub fn in_tone(&self, text: &str, tone: Tone) -> String {
        in_colour(text, tone, self.skills.colours)
    }
}

/// Prints a text at once. A reader that stops early, such as `head`, is no error.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// The first error in writing standard output.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Returns the error in writing standard output, unless a person closed the terminal or the pipe and wants no more
/// output.
pub fn output_error() -> Option<&'static io::Error> {
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

#[derive(Clone, Copy)]
struct Size {
    columns: usize,
    rows: usize,
}

/// Returns the terminal's current size.
fn size() -> Size {
    let reported = rustix::termios::tcgetwinsize(io::stdout());
    let (columns, rows) = reported.map_or((0, 0), |size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    let known = |reported: usize, usual: usize| if reported == 0 { usual } else { reported };
    Size { columns: known(columns, USUAL_SIZE.columns), rows: known(rows, USUAL_SIZE.rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (skills.wraps, skills.moves, skills.colours == Colours::On)
        };
        let term = ("TERM", "xterm-256color");
        assert_eq!(skills(true, &[term]), (true, true, true));
        assert_eq!(skills(true, &[term, ("NO_COLOR", "1")]), (true, true, false));
        assert_eq!(skills(true, &[term, ("NO_COLOR", "")]), (true, true, true), "empty is not set");
        assert_eq!(skills(true, &[("TERM", "dumb")]), (true, false, false));
        assert_eq!(skills(true, &[]), (true, false, false));
        assert_eq!(skills(true, &[term, ("CLICOLOR", "0")]), (true, true, false));
        assert_eq!(skills(false, &[term]), (false, false, false));
        let force = ("CLICOLOR_FORCE", "1");
        assert_eq!(skills(false, &[force]), (false, false, true));
        assert_eq!(skills(true, &[("TERM", "dumb"), force]), (true, false, true));
        assert_eq!(skills(false, &[("CLICOLOR_FORCE", "0")]), (false, false, false));
        assert_eq!(skills(false, &[force, ("NO_COLOR", "1")]), (false, false, false));
    }

    #[test]
    fn what_is_drawn_is_erased_also_on_a_screen_that_became_narrower() {
        let line = |text: &str| vec![span("⠋ ".to_owned(), Tone::Working), span(text.to_owned(), Tone::Plain)];
        let mut area = Area {
            picture: vec![line("one"), line(&"two ".repeat(30))],
            note: Some("note".to_owned()),
            drawn: Vec::new(),
        };
        assert_eq!(area.erased(80), "");
        let drawn = area.drawn(Size { columns: 80, rows: 24 }, Colours::Off);
        let rows: Vec<&str> = drawn.lines().collect();
        assert_eq!((rows[0], rows[2]), ("⠋ one", "note"));
        assert_eq!((rows[1].width(), rows[1].ends_with('…')), (79, true));
        assert_eq!(area.erased(40), "\r\u{1b}[4A\u{1b}[J", "the second line takes two rows now");
        assert_eq!(area.erased(40), "", "once");
        let coloured = area.drawn(Size { columns: 80, rows: 24 }, Colours::On);
        assert!(coloured.starts_with("\u{1b}[36m⠋ \u{1b}[0mone\n"), "{coloured:?}");
        assert!(coloured.ends_with("\u{1b}[2mnote\u{1b}[0m\n"), "{coloured:?}");
        assert_eq!(
            area.drawn(Size { columns: 80, rows: 4 }, Colours::Off).lines().count(),
            2,
            "it never fills the screen"
        );
    }
}
