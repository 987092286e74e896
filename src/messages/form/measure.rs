//! Keeps every text under GitHub's limits for input of any size: first outputs are shortened, then the plan's YAML is
//! left out, then rows are left out.

use crate::messages::form::untrusted::{Medium, Room, code, fence, inline, shorten};

/// The most characters of any posted text; GitHub accepts 65,536, and the engine adds a mark.
pub const MAX_CHARS: usize = 60_000;

/// The sizes to which the parts of a text are limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) text: usize,
    pub(crate) output: usize,
    /// The most rows of one table, or entries of one list.
    pub(crate) rows: usize,
    /// How the plan's YAML appears.
    pub(crate) yaml: Yaml,
    pub(crate) medium: Medium,
}

/// How the plan's YAML appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Yaml {
    /// The YAML is in a folded block.
    Shown,
    /// A sentence says where the plan is.
    LeftOut,
}

pub(crate) const MEASURES: [Measure; 5] = [
    Measure::of(4_000, 8_000, 200, Yaml::Shown),
    Measure::of(1_000, 2_000, 200, Yaml::Shown),
    Measure::of(600, 1_000, 200, Yaml::LeftOut),
    Measure::of(300, 600, 40, Yaml::LeftOut),
    Measure::of(120, 300, 12, Yaml::LeftOut),
];

impl Measure {
    const fn of(text: usize, output: usize, rows: usize, yaml: Yaml) -> Self {
        Self { text, output, rows, yaml, medium: Medium::Markdown }
    }

    /// The sizes of a text in a terminal, which should need little scrolling.
    pub(crate) const TERMINAL: Self = Self { medium: Medium::Terminal, ..Self::of(2_000, 8_000, 20, Yaml::LeftOut) };

    /// Returns room for a text of at most `max` characters.
    pub(crate) fn room(&self, max: usize) -> Room {
        Room { max: self.text.min(max), medium: self.medium }
    }

    /// Returns room for a program's output.
    pub(crate) fn output(&self) -> Room {
        Room { max: self.output, medium: self.medium }
    }

    /// Returns emphasized text; within a sentence in a terminal, the text is unchanged.
    pub(crate) fn strong(&self, text: &str) -> String {
        match self.medium {
            Medium::Markdown => format!("**{text}**"),
            Medium::Terminal => text.to_owned(),
        }
    }
}

pub(crate) fn fitting(render: impl Fn(&Measure) -> String) -> String {
    let mut last = String::new();
    for measure in &MEASURES {
        last = render(measure);
        if last.chars().count() <= MAX_CHARS {
            return last;
        }
    }
    shorten(&last, MAX_CHARS)
}

/// Renders a text for the place where it is read.
pub(crate) fn rendered(medium: Medium, render: impl Fn(&Measure) -> String) -> String {
    match medium {
        Medium::Markdown => fitting(render),
        Medium::Terminal => render(&Measure::TERMINAL),
    }
}

/// Renders the first `most` entries, and a line that counts the others.
pub(crate) fn render_first<T>(
    entries: &[T],
    most: usize,
    render: impl Fn(&T) -> String,
    more: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut lines: Vec<String> = entries.iter().take(most).map(render).collect();
    let left = entries.len().saturating_sub(most);
    if left > 0 {
        lines.push(more(left));
    }
    lines
}

/// Returns a list of the first `most` entries.
pub(crate) fn bullets<T>(entries: &[T], most: usize, render: impl Fn(&T) -> String) -> String {
    render_first(entries, most, |entry| format!("- {}", render(entry)), |left| format!("- and {left} more")).join("\n")
}

/// Returns a list of the first `most` texts of others, each of at most `max` characters.
pub(crate) fn list(texts: &[String], most: usize, room: impl Into<Room>) -> String {
    let room = room.into();
    bullets(texts, most, |text| inline(text, room))
}

/// Returns a table with this line of titles and a row for each of the first `most` entries; nothing without entries.
pub(crate) fn table<T>(titles: &str, entries: &[T], most: usize, row: impl Fn(&T) -> String) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let columns = titles.matches('|').count().saturating_sub(1);
    // A column of numbers has no room for words.
    let skipped = usize::from(titles.starts_with("| # |"));
    let cells = |count: usize| " |".repeat(count);
    let mut lines = vec![titles.to_owned(), format!("|{}", "---|".repeat(columns))];
    lines.extend(render_first(entries, most, row, |left| {
        let after = cells(columns.saturating_sub(skipped + 1));
        format!("|{} and {left} more |{after}", cells(skipped))
    }));
    lines.join("\n")
}

/// Returns the first `most` names as code, each of at most `max` characters.
pub(crate) fn codes<T: AsRef<str>>(names: &[T], most: usize, room: impl Into<Room>) -> String {
    let room = room.into();
    let shown = render_first(names, most, |name| code(name.as_ref(), room), |left| format!("and {left} more"));
    shown.join(", ")
}

/// Joins the sections that are not empty with a blank line between them.
pub(crate) fn sections(parts: Vec<String>) -> String {
    let parts = parts.iter().map(|part| part.trim_end());
    let filled: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    filled.join("\n\n")
}

/// Returns a heading with its section, or nothing if the section is empty.
pub(crate) fn titled(title: &str, body: &str) -> String {
    if body.trim().is_empty() { String::new() } else { format!("{title}\n\n{body}") }
}

/// Returns the text after introductory words, or nothing if it is empty.
pub(crate) fn introduced(words: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{words}{text}") }
}

/// Returns a folded part that a click opens, or nothing if the body is empty. `summary` is trusted text.
pub(crate) fn folded(summary: &str, body: &str) -> String {
    if body.trim().is_empty() {
        String::new()
    } else {
        format!("<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>")
    }
}

/// The form of a part: folded or open.
#[derive(Clone, Copy)]
pub(crate) enum Folding {
    Folded,
    Open,
}

/// Returns a program's output with a title, or nothing if it printed nothing.
pub(crate) fn printed(form: Folding, title: &str, output: &str, measure: &Measure) -> String {
    if output.trim().is_empty() {
        return String::new();
    }
    let output = fence(output, "text", measure.output());
    match form {
        Folding::Folded => folded(title, &output),
        Folding::Open => titled(&format!("{title}:"), &output),
    }
}
