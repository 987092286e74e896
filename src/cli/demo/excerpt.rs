//! What a terminal shows of a text that was written in Markdown: its first sentences, and what an edit changed in it.
//! Never a character that a terminal would obey.

use crate::{cli::demo::wrap, messages::clean};
use std::collections::HashMap;

/// Lines of a text that are shown unless all are asked for, and as many of its fences.
const LINES: usize = 6;
const FENCED_FIRST: usize = 2;
const FENCED_LAST: usize = 6;

/// What messages write for characters that Markdown or GitHub would act on; a terminal does not.
const ENTITIES: [(&str, &str); 5] = [
    ("&#8203;", ""),
    ("&#96;", "`"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
];

/// Characters of a line that are shown.
const WIDTH: usize = 160;

/// The whole text, without what a terminal would obey.
pub(super) fn whole(text: &str) -> Vec<String> {
    clean(text)
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !line.starts_with("<!--"))
        .map(str::to_owned)
        .collect()
}

/// The first lines that say something, without tables, folded blocks and the marks of Markdown. What is fenced there,
/// as the output that is the reason of a block, is shown by its beginning and its end.
pub(super) fn start(text: &str) -> Vec<String> {
    shortened(text, LINES)
}

/// All lines that say something, in the same way.
pub(super) fn all(text: &str) -> Vec<String> {
    shortened(text, usize::MAX)
}

fn shortened(text: &str, most: usize) -> Vec<String> {
    let mut out = Vec::new();
    let mut said = 0_usize;
    for part in parts(&clean(text)) {
        match part {
            Part::Said(line) if line.starts_with('|') => {}
            Part::Said(_) | Part::Fence(_) if said >= most => {
                out.push("…".to_owned());
                break;
            }
            Part::Said(line) => {
                said += 1;
                out.push(cut(&plain(&line)));
            }
            Part::Fence(lines) => out.extend(fence(&lines)),
        }
    }
    out
}

/// The beginning and the end of what is fenced; the cause of a failure mostly stands last.
fn fence(lines: &[String]) -> Vec<String> {
    let left_out = lines.len().saturating_sub(FENCED_FIRST + FENCED_LAST);
    let shown = |line: &String| format!("  {}", cut(line));
    if left_out <= 1 {
        return lines.iter().map(shown).collect();
    }
    let (first, rest) = lines.split_at(FENCED_FIRST.min(lines.len()));
    let last = rest.get(left_out..).unwrap_or_default();
    let gap = format!("  … {left_out} lines …");
    first
        .iter()
        .map(shown)
        .chain([gap])
        .chain(last.iter().map(shown))
        .collect()
}

/// What one edit of a text changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// The new sentence that stands in bold at the start of a line: how things stand now.
    pub state: Option<String>,
    /// Rows of tables that changed, as the row's name and its new cells.
    pub rows: Vec<String>,
    /// Other new sentences in bold at the start of a line, each with the new ones of the list below it.
    pub notes: Vec<String>,
}

/// Remembers a text that is edited again and again.
#[derive(Debug, Default)]
pub(super) struct Edited {
    state: String,
    head: Vec<String>,
    rows: HashMap<String, Vec<String>>,
    notes: Vec<String>,
}

impl Edited {
    /// Takes the text as it is now; says what is new in it.
    pub(super) fn take(&mut self, text: &str) -> Change {
        let mut change = Change::default();
        let mut in_note = false;
        let said = parts(&clean(text)).into_iter().filter_map(|part| match part {
            Part::Said(line) => Some(line),
            Part::Fence(_) => None,
        });
        for line in said {
            let is_bold = line.starts_with("**");
            in_note = is_bold && change.state.is_some() || in_note && line.starts_with("- ");
            if in_note {
                change.notes.push(cut(&plain(&line)));
            } else if is_bold {
                change.state = Some(plain(&line));
            } else if let Some(cells) = cells(&line) {
                change.rows.extend(self.row(cells));
            }
        }
        let before = std::mem::replace(&mut self.notes, change.notes.clone());
        change.notes.retain(|note| !before.contains(note));
        change.state = change.state.filter(|state| *state != self.state);
        if let Some(state) = &change.state {
            self.state.clone_from(state);
        }
        change
    }

    /// A row seen before is news if a cell of it changed.
    fn row(&mut self, cells: Vec<String>) -> Option<String> {
        if cells.first().is_some_and(|name| name == "task") {
            self.head = cells;
            return None;
        }
        let (name, rest) = cells.split_first()?;
        let before = self.rows.insert(name.clone(), rest.to_vec())?;
        let headings = self
            .head
            .iter()
            .skip(1)
            .map(String::as_str)
            .chain(std::iter::repeat(""));
        let new: Vec<&str> = rest
            .iter()
            .zip(&before)
            .zip(headings)
            // Numbers, links and costs stand elsewhere.
            .filter(|((now, then), heading)| now != then && *heading != "cost" && now.starts_with(char::is_alphabetic))
            .map(|((now, _), _)| now.as_str())
            .collect();
        (!new.is_empty()).then(|| cut(&format!("{name}: {}", new.join(" · "))))
    }
}

/// A part of a text, as people see it.
enum Part {
    /// A line.
    Said(String),
    /// The lines of a fence.
    Fence(Vec<String>),
}

/// What is drawn from a fence rather than read.
const DRAWN: &str = "mermaid";

/// The parts of a text that are not folded away, headings of sections and marks left out.
fn parts(text: &str) -> Vec<Part> {
    let mut fence: Option<(String, String, Vec<String>)> = None;
    let mut folded = 0_usize;
    let mut parts = Vec::new();
    for whole in text.lines() {
        let line = whole.trim();
        if let Some((open, kind, mut lines)) = fence.take() {
            if line != open {
                lines.push(whole.trim_end().to_owned());
                fence = Some((open, kind, lines));
            } else if folded == 0 && kind != DRAWN {
                parts.push(Part::Fence(lines));
            }
            continue;
        }
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match line {
            _ if ticks.len() >= 3 => {
                let kind = line.trim_start_matches('`').trim().to_owned();
                fence = Some((ticks, kind, Vec::new()));
            }
            "<details>" => folded = folded.saturating_add(1),
            "</details>" => folded = folded.saturating_sub(1),
            _ if folded == 0 && !line.is_empty() && !line.starts_with("####") && !line.starts_with('<') => {
                parts.push(Part::Said(line.to_owned()));
            }
            _ => {}
        }
    }
    parts
}

/// The cells of a table's row; nothing for other lines and for the rule below a table's head.
fn cells(line: &str) -> Option<Vec<String>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    (!row.chars().all(|c| "|-: ".contains(c))).then(|| row.split(" | ").map(plain).collect())
}

/// Without marks of headings, quotes, bold, code and links.
fn plain(line: &str) -> String {
    let mut rest = line.trim_start_matches(['#', '>', ' ']);
    let mut out = String::new();
    while let Some((before, link)) = rest.split_once('[') {
        out.push_str(before);
        rest = match link.split_once("](") {
            Some((words, target)) if !words.contains(['[', ']']) && target.contains(')') => {
                out.push_str(words);
                target.split_once(')').map_or("", |(_, after)| after)
            }
            _ => {
                out.push('[');
                link
            }
        };
    }
    out.push_str(rest);
    let bare = out.replace("**", "").replace(['`', '\\'], "");
    let mut read = bare.trim().to_owned();
    for (written, shown) in ENTITIES {
        read = read.replace(written, shown);
    }
    read
}

fn cut(line: &str) -> String {
    wrap::cut(line, WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVING: &str = "## FEAT-1: Tally\n\n**State: building.** Wave 1 of 2 is at work.\n\n```mermaid\n**not this**\n```\n\
                          | task | state | cost |\n|---|---|---|\n| **TASK-001** Lines | pending | – |\n| **TASK-002** Top | pending | – |\n";

    #[test]
    fn an_edit_shows_only_what_is_new() {
        let mut edited = Edited::default();
        let first = edited.take(LIVING);
        assert_eq!(first.state.as_deref(), Some("State: building. Wave 1 of 2 is at work."));
        assert_eq!(first.rows, Vec::<String>::new());
        assert_eq!(edited.take(LIVING), Change::default());
        let second = edited.take(&LIVING.replace("Lines | pending | –", "Lines | [turn](http://f/2) 1 | unknown"));
        assert_eq!(second.state, None);
        assert_eq!(second.rows, ["TASK-001 Lines: turn 1"]);
    }

    #[test]
    fn what_is_waited_for_is_news_once_and_again_when_it_comes_back() {
        let waits = |until: &str| {
            let note =
                format!("at work.\n\n**Waiting for `it`**, for now:\n\n- TASK-001 goes on at {until}\n\n- other\n\nx");
            LIVING.replace("at work.", &note)
        };
        let mut edited = Edited::default();
        edited.take(LIVING);
        let mut notes = |text: &str| edited.take(text).notes;
        assert_eq!(
            notes(&waits("14:00")),
            ["Waiting for it, for now:", "- TASK-001 goes on at 14:00", "- other"]
        );
        assert_eq!(notes(&waits("14:00")), Vec::<String>::new());
        assert_eq!(notes(&waits("15:00")), ["- TASK-001 goes on at 15:00"]);
        assert_eq!(notes(LIVING), Vec::<String>::new());
        assert_eq!(notes(&waits("14:00")).len(), 3);
    }

    #[test]
    fn a_review_shows_its_verdict_its_summary_and_its_items() {
        let text = "### ❌ Changes requested: TASK-002\n\n> It misses [a case](http://f/x).\n\n#### Criteria\n\n| 1 | met |\n|---|---|\n\n\
                    <details>\n<summary>Output</summary>\n\n```text\nlong\n```\n\n</details>\n\n- `a.sh`, line 2: wrong\n\n<!-- mark -->";
        assert_eq!(
            start(text),
            [
                "❌ Changes requested: TASK-002",
                "It misses a case.",
                "- a.sh, line 2: wrong"
            ]
        );
    }

    #[test]
    fn what_is_fenced_is_shown_by_its_beginning_and_its_end() {
        let output: Vec<String> = (1..=20).map(|n| format!("  line {n}")).collect();
        let text = format!(
            "### Blocked: TASK-001\n\nIt could not start.\n\n````text\n{}\n```\n````\n\nAfter.\n",
            output.join("\n")
        );
        assert_eq!(
            start(&text),
            [
                "Blocked: TASK-001",
                "It could not start.",
                "    line 1",
                "    line 2",
                "  … 13 lines …",
                "    line 16",
                "    line 17",
                "    line 18",
                "    line 19",
                "    line 20",
                "  ```",
                "After."
            ]
        );
        assert_eq!(start("a\n```\none\n```\nb"), ["a", "  one", "b"]);
        assert_eq!(start("a\n```mermaid\none\n```\nb"), ["a", "b"]);
        let folded = "a\n<details>\n\n```\none\n```\n</details>\nb";
        assert_eq!(start(folded), ["a", "b"]);
        let long = "1\n\n2\n\n3\n\n4\n\n5\n\n6\n\n7\n\n8";
        assert_eq!(start(long), ["1", "2", "3", "4", "5", "6", "…"]);
        assert_eq!(all(long).len(), 8);
    }

    #[test]
    fn what_is_broken_for_github_reads_as_it_was_written() {
        assert_eq!(
            start("see .github/&#8203;autobuild.yml &lt;b&gt; &amp;amp;"),
            ["see .github/autobuild.yml <b> &amp;"]
        );
    }

    #[test]
    fn a_terminal_is_given_nothing_to_obey() {
        let hostile = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{202e} [x](javascript:y) [unclosed](\n";
        for line in start(hostile).into_iter().chain(whole(hostile)) {
            assert!(!line.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{line:?}");
        }
    }
}
