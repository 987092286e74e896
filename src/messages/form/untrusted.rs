//! Makes text that others wrote safe to show: titles, plans, reports, outputs, paths, names.
//!
//! Prose is escaped so that it remains text; commands, names and outputs are formatted as code. Text on which GitHub
//! would act is made ineffective. `max` is always the most characters of the result.

use crate::messages::form::defuse;
use std::borrow::Cow;
use text::clean::{clean, is_invisible};

/// The entity that breaks a mention or a reference in Markdown without being visible.
const BREAK: &str = "&#8203;";
/// The same as a character, for text in which Markdown has no effect.
const PLAIN_BREAK: char = '\u{200B}';
const TICKS: &str = "✅✔✓☑🗸🗹👍";
const CROSSES: &str = "❌✖✗✘❎☒🗙🗴🗵🗶🗷👎";

/// The medium in which a text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// GitHub and the dashboard, which render Markdown.
    Markdown,
    /// A terminal, which shows every character as it is.
    Terminal,
}

/// The space for a text, and the place where it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The most characters of the result.
    pub max: usize,
    pub medium: Medium,
}

impl From<usize> for Room {
    fn from(max: usize) -> Self {
        let medium = Medium::Markdown;
        Self { max, medium }
    }
}

impl Room {
    /// Returns room for at most `max` characters in the same place.
    pub fn at_most(self, max: usize) -> Self {
        Self { max: self.max.min(max), ..self }
    }
}

/// The first and last lines of an output that a terminal shows; the cause of a failure is mostly at the end.
const FIRST_LINES: usize = 2;
const LAST_LINES: usize = 6;

/// The Markdown that surrounds prose: in a table cell, a pipe ends the cell even inside code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkdownBlock {
    Paragraph,
    TableCell,
}

/// Returns one line of prose. Pairs of backticks stay code.
pub fn inline(text: &str, room: impl Into<Room>) -> String {
    let Room { max, medium } = room.into();
    let line = one_line(text, max);
    match medium {
        Medium::Markdown => within(&line, max, |line| prose(line, MarkdownBlock::Paragraph)),
        Medium::Terminal => shorten(&line, max),
    }
}

/// Returns one line of prose for a table cell; a dash if it is empty.
pub fn cell(text: &str, room: impl Into<Room>) -> String {
    let Room { max, medium } = room.into();
    match one_line(text, max) {
        line if line.is_empty() => "–".to_owned(),
        line if medium == Medium::Terminal => shorten(&line, max),
        line => within(&line, max, |line| prose(line, MarkdownBlock::TableCell)),
    }
}

/// Returns one line of prose that ends like a sentence.
pub fn sentence(text: &str, room: impl Into<Room>) -> String {
    let room = room.into();
    let text = inline(text, room.at_most(room.max.saturating_sub(1)));
    if text.is_empty() || text.ends_with(['.', '!', '?', '…']) { text } else { format!("{text}.") }
}

/// Returns a command, path or name as code within a sentence.
pub fn code(text: &str, room: impl Into<Room>) -> String {
    let Room { max, medium } = room.into();
    let line = one_line(text, max);
    match medium {
        Medium::Markdown => within(&line, max, |line| span(line, MarkdownBlock::Paragraph)),
        Medium::Terminal => format!("`{}`", shorten(&line, max.saturating_sub(2))),
    }
}

/// Returns a command, path or name as code within a table cell.
pub fn cell_code(text: &str, max: usize) -> String {
    within(&one_line(text, max), max, |line| span(line, MarkdownBlock::TableCell))
}

/// Returns prose of several lines as a block quote, without a final line end. The caller must put it on lines of its
/// own.
pub fn quote(text: &str, room: impl Into<Room>) -> String {
    let Room { max, medium } = room.into();
    let lines = clean(&bounded(text, max));
    if medium == Medium::Terminal {
        return shorten(lines.trim(), max);
    }
    let render = |text: &str| {
        let quoted = |line: &str| match prose(line.trim(), MarkdownBlock::Paragraph) {
            line if line.is_empty() => ">".to_owned(),
            line => format!("> {line}"),
        };
        let lines = text.trim_matches('\n').lines();
        lines.map(quoted).collect::<Vec<_>>().join("\n")
    };
    within(lines.trim(), max, render)
}

/// Returns a fenced block whose fence is longer than any inside, without a final line end. `info` is trusted text. In a
/// terminal, these are the first and the last lines, indented.
pub fn fence(text: &str, info: &str, room: impl Into<Room>) -> String {
    let Room { max, medium } = room.into();
    let text = clean(&bounded(text, max));
    let text = text.trim_end().trim_start_matches('\n');
    if medium == Medium::Terminal {
        return indented(text).join("\n");
    }
    let render = |text: &str| {
        let lines: Vec<String> = text.split('\n').map(without_mark).collect();
        fence_exact(&lines.join("\n"), info)
    };
    within(text, max, render)
}

fn indented(text: &str) -> Vec<String> {
    let lines: Vec<String> = text.lines().map(|line| format!("  {}", line.trim_end())).collect();
    let left_out = lines.len().saturating_sub(FIRST_LINES + LAST_LINES);
    if left_out <= 1 {
        return lines;
    }
    let first = lines.iter().take(FIRST_LINES).cloned();
    let last = lines.iter().skip(FIRST_LINES + left_out).cloned();
    first.chain([format!("  … {left_out} lines …")]).chain(last).collect()
}

/// Returns a fenced block with exactly this text, for a machine that reads it back or applies it.
pub fn fence_exact(text: &str, info: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{text}{end}{fence}")
}

/// Returns one line for a title or a commit, in which Markdown has no effect.
pub fn plain(text: &str, max: usize) -> String {
    let render = |line: &str| {
        let mut out = String::with_capacity(line.len());
        for_each_broken(line, |c, broken| {
            out.push(c);
            if broken {
                out.push(PLAIN_BREAK);
            }
        });
        out
    };
    within(&one_line(text, max), max, render)
}

/// Shortens `text` in the middle to at most `max` characters, with a note about the missing part.
pub fn shorten(text: &str, max: usize) -> String {
    let length = text.chars().count();
    if length <= max {
        return text.to_owned();
    }
    let note = format!(" … [{} characters left out] … ", length.saturating_sub(max));
    let Some(room) = max.checked_sub(note.chars().count()).filter(|room| *room > 0) else {
        let start: String = text.chars().take(max.saturating_sub(1)).collect();
        return if max == 0 { String::new() } else { format!("{start}…") };
    };
    let tail = room / 2;
    let start: String = text.chars().take(room - tail).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}{note}{end}")
}

/// `true` if `text` can be shown word for word: none of its characters is invisible or changes the reading direction,
/// and its lines end plainly.
pub fn is_visible(text: &str) -> bool {
    !text.chars().any(|c| c != '\n' && c != '\t' && is_invisible(c))
}

/// Renders `text`, shortened until the result has at most `max` characters.
fn within(text: &str, max: usize, render: impl Fn(&str) -> String) -> String {
    let mut keep = max;
    loop {
        let rendered = render(&shorten(text, keep));
        let length = rendered.chars().count();
        if length <= max || keep == 0 {
            return rendered;
        }
        // The kept text shrinks in proportion to the excess, and a little more.
        keep = (keep.saturating_mul(max) / length).min(keep - 1) * 15 / 16;
    }
}

fn longest_run(text: &str, of: char) -> usize {
    let runs = text.split(|c| c != of).map(|run| run.chars().count());
    runs.max().unwrap_or(0)
}

/// Returns the part of `text` that can matter if at most `max` characters are shown: start and end of a text that is
/// far too long.
fn bounded(text: &str, max: usize) -> Cow<'_, str> {
    // Cleaning drops characters, so much more than `max` is kept.
    let keep = max.saturating_mul(4).saturating_add(1_000);
    if text.len() > keep.saturating_mul(4) { Cow::Owned(shorten(text, keep)) } else { Cow::Borrowed(text) }
}

fn one_line(text: &str, max: usize) -> String {
    let text = clean(&bounded(text, max));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Changes a line of code so that it neither acts as a command nor looks like one of AutoBuild's own marks.
fn without_mark(line: &str) -> String {
    let line = line.replace("<!--", "<!\u{200B}--");
    if line.trim_start().starts_with("/autobuild") {
        line.replacen("/autobuild", "/\u{200B}autobuild", 1)
    } else {
        line
    }
}

/// Formats the text between pairs of backticks as code, and escapes the rest.
fn prose(line: &str, block: MarkdownBlock) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let paired = parts.len() % 2 == 1 && !line.contains("``");
    if !paired {
        return escaped(line);
    }
    let render = |(index, part): (usize, &&str)| match index % 2 {
        0 if index == 0 => escaped(part),
        0 => escaped_inside(part),
        _ => span(part, block),
    };
    parts.iter().enumerate().map(render).collect()
}

fn span(line: &str, block: MarkdownBlock) -> String {
    let line = line.replace("<!--", "<!\u{200B}--");
    let text = match block {
        MarkdownBlock::Paragraph => line,
        MarkdownBlock::TableCell => line.replace('|', "\\|"),
    };
    let marks = "`".repeat(longest_run(&text, '`') + 1);
    let blank =
        if text.is_empty() || text.starts_with('`') || text.ends_with('`') || text.starts_with(' ') { " " } else { "" };
    format!("{marks}{blank}{text}{blank}{marks}")
}

/// Escapes text at the start of a block, where it could begin a list, heading or number.
fn escaped(line: &str) -> String {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let mut marks = rest.chars();
    let numbered = rest.len() < line.len()
        && matches!(marks.next(), Some('.' | ')'))
        && marks.next().is_none_or(char::is_whitespace);
    match line.chars().next() {
        Some('#' | '-' | '+' | '=' | ':') => format!("\\{}", escaped_inside(line)),
        Some(_) if numbered => {
            let digits = line.get(..line.len() - rest.len()).unwrap_or_default();
            format!("{digits}\\{}", escaped_inside(rest))
        }
        Some(_) | None => escaped_inside(line),
    }
}

fn escaped_inside(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let mut out = String::with_capacity(line.len() + 16);
    let mut index = 0usize;
    for_each_broken(line, |c, broken| {
        let alphanumeric = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|c| c.is_alphanumeric());
        match c {
            '_' if alphanumeric(index.checked_sub(1)) && alphanumeric(Some(index + 1)) => out.push('_'),
            '\\' | '*' | '_' | '[' | ']' | '~' | '|' | '$' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '`' => out.push_str("&#96;"),
            c if TICKS.contains(c) => out.push_str("(tick)"),
            c if CROSSES.contains(c) => out.push_str("(cross)"),
            c => out.push(c),
        }
        if broken {
            out.push_str(BREAK);
        }
        index += 1;
    });
    out
}

/// Calls `each` with every character and whether a break follows it.
fn for_each_broken(line: &str, mut each: impl FnMut(char, bool)) {
    let breaks = defuse::breaks(line);
    let mut breaks = breaks.into_iter().peekable();
    for (at, c) in line.char_indices() {
        let broken = breaks.next_if(|at_break| *at_break == at + c.len_utf8()).is_some();
        each(c, broken);
    }
}
