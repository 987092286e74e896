//! Keeps every text under GitHub's limits, whatever the input's size: first outputs get shorter, then the plan's YAML
//! is left out, then rows are.

use crate::messages::untrusted::shorten;

/// The most characters of any posted text; GitHub accepts 65,536, and the engine adds a mark.
pub const MAX_CHARS: usize = 60_000;

/// The sizes to which the parts of a text are limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    /// The most characters of one piece of prose.
    pub(super) text: usize,
    /// The most characters of one output.
    pub(super) output: usize,
    /// The most rows of one table, or entries of one list.
    pub(super) rows: usize,
    /// Whether the plan's YAML is shown.
    pub(super) yaml: Yaml,
}

/// Whether the plan's YAML is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Yaml {
    /// The YAML is in a folded block.
    Shown,
    /// A sentence says where the plan is.
    LeftOut,
}

pub(super) const MEASURES: [Measure; 5] = [
    Measure {
        text: 4_000,
        output: 8_000,
        rows: 200,
        yaml: Yaml::Shown,
    },
    Measure {
        text: 1_000,
        output: 2_000,
        rows: 200,
        yaml: Yaml::Shown,
    },
    Measure {
        text: 600,
        output: 1_000,
        rows: 200,
        yaml: Yaml::LeftOut,
    },
    Measure {
        text: 300,
        output: 600,
        rows: 40,
        yaml: Yaml::LeftOut,
    },
    Measure {
        text: 120,
        output: 300,
        rows: 12,
        yaml: Yaml::LeftOut,
    },
];

/// Returns the fullest rendering that fits.
pub(super) fn fitting(render: impl Fn(&Measure) -> String) -> String {
    fitting_within(MAX_CHARS, render)
}

/// Returns the fullest rendering of at most `max` characters.
pub(super) fn fitting_within(max: usize, render: impl Fn(&Measure) -> String) -> String {
    let mut last = String::new();
    for measure in &MEASURES {
        last = render(measure);
        if last.chars().count() <= max {
            return last;
        }
    }
    shorten(&last, max)
}

/// Renders the first `most` entries, and a line that counts the others.
pub(super) fn first<T>(
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
pub(super) fn bullets<T>(entries: &[T], most: usize, render: impl Fn(&T) -> String) -> String {
    first(
        entries,
        most,
        |entry| format!("- {}", render(entry)),
        |left| format!("- and {left} more"),
    )
    .join("\n")
}

/// Joins the sections that are not empty with a blank line between them.
pub(super) fn sections(parts: Vec<String>) -> String {
    let filled: Vec<String> = parts
        .into_iter()
        .map(|part| part.trim_end().to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    filled.join("\n\n")
}

/// Returns a heading with its section, or nothing if the section is empty.
pub(super) fn titled(title: &str, body: &str) -> String {
    match body.trim().is_empty() {
        true => String::new(),
        false => format!("{title}\n\n{body}"),
    }
}

/// Returns a folded part that a click opens. `summary` is trusted text.
pub(super) fn folded(summary: &str, body: &str) -> String {
    format!("<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>")
}
