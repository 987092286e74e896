//! Makes text that others wrote safe to show: titles, plans, reports, outputs, paths, names.
//!
//! Prose is escaped, so that it stays text; commands, names and outputs are formatted as code. Text that GitHub would
//! act on is broken. `max` is always the most characters of the result.

use crate::messages::defuse;
use std::borrow::Cow;
use text::clean::{clean, is_invisible};

/// The entity that breaks a mention or a reference in Markdown without being visible.
const BREAK: &str = "&#8203;";
/// The same as a character, for text in which Markdown has no effect.
const PLAIN_BREAK: char = '\u{200B}';
const TICKS: &str = "✅✔✓☑🗸🗹👍";
const CROSSES: &str = "❌✖✗✘❎☒🗙🗴🗵🗶🗷👎";

/// The Markdown that surrounds prose: in a table cell, a pipe ends the cell even inside code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MarkdownBlock {
    Paragraph,
    TableCell,
}

/// Returns one line of prose. Pairs of backticks stay code.
pub fn inline(text: &str, max: usize) -> String {
    within(&one_line(text, max), max, |line| prose(line, MarkdownBlock::Paragraph))
}

/// Returns one line of prose for a table cell; a dash if it is empty.
pub fn cell(text: &str, max: usize) -> String {
    match one_line(text, max) {
        line if line.is_empty() => "–".to_owned(),
        line => within(&line, max, |line| prose(line, MarkdownBlock::TableCell)),
    }
}

/// Returns one line of prose that ends like a sentence.
pub fn sentence(text: &str, max: usize) -> String {
    let text = inline(text, max.saturating_sub(1));
    if text.is_empty() || text.ends_with(['.', '!', '?', '…']) {
        text
    } else {
        format!("{text}.")
    }
}

/// Returns a command, path or name as code within a sentence.
pub fn code(text: &str, max: usize) -> String {
    within(&one_line(text, max), max, |line| span(line, MarkdownBlock::Paragraph))
}

/// Returns a command, path or name as code within a table cell.
pub fn cell_code(text: &str, max: usize) -> String {
    within(&one_line(text, max), max, |line| span(line, MarkdownBlock::TableCell))
}

/// Returns prose of several lines as a block quote, without a final line end. The caller must put it on lines of its
/// own.
pub fn quote(text: &str, max: usize) -> String {
    let lines = clean(&bounded(text, max));
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

/// Returns a fenced block whose fence is longer than any inside, without a final line end. `info` is trusted text.
pub fn fence(text: &str, info: &str, max: usize) -> String {
    let text = clean(&bounded(text, max));
    let text = text.trim_end().trim_start_matches('\n');
    let render = |text: &str| {
        let lines: Vec<String> = text.split('\n').map(without_mark).collect();
        fence_exact(&lines.join("\n"), info)
    };
    within(text, max, render)
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

/// Shortens `text` in the middle to at most `max` characters, with a note about what is missing.
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
    if text.len() > keep.saturating_mul(4) {
        Cow::Owned(shorten(text, keep))
    } else {
        Cow::Borrowed(text)
    }
}

fn one_line(text: &str, max: usize) -> String {
    let text = clean(&bounded(text, max));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Changes a line of code so that it neither gives a command nor looks like one of AutoBuild's own marks.
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
    let blank = if text.is_empty() || text.starts_with('`') || text.ends_with('`') || text.starts_with(' ') {
        " "
    } else {
        ""
    };
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
