//! Shortens Markdown for a terminal: the first sentences of a text, or what an edit changed in it. The result never
//! holds a character that controls a terminal.

use crate::{cli::stage::wrap, messages::clean};
use domain::ids::TaskId;
use forge::LineRemark;
use std::collections::HashMap;

/// The first and last lines of a fenced block that are shown.
const FENCED_FIRST: usize = 2;
const FENCED_LAST: usize = 6;

/// The entities that messages write for characters with a meaning in Markdown or on GitHub, and the characters that a
/// terminal shows for them.
const ENTITIES: [(&str, &str); 5] = [
    ("&#8203;", ""),
    ("&#96;", "`"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
];

/// The columns of a line that are shown, and those of one row in a usual terminal.
const WIDTH: usize = 600;
const ROW: usize = 80;

/// The space for a text: it ends with the line that reaches one of both limits.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    lines: usize,
    rows: usize,
}

impl Room {
    /// The space for the start of a text.
    pub const START: Self = Self { lines: 6, rows: 12 };
    /// A screen, for a text that sends work back.
    pub const SCREEN: Self = Self { lines: 20, rows: 20 };
    /// The space for one remark on a line of a diff.
    const REMARK: Self = Self { lines: 3, rows: 6 };
    /// The rows for all remarks of a review.
    const REMARKS: usize = 12;
    const ALL: Self = Self {
        lines: usize::MAX,
        rows: usize::MAX,
    };
}

/// Returns the whole text without characters that control a terminal.
pub fn whole(text: &str) -> Vec<String> {
    let text = clean(text);
    let lines = text.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("<!--") && !FOLD.contains(line))
        .map(|line| summary(line).map_or_else(|| line.to_owned(), |title| format!("▸ {title}")))
        .collect()
}

/// Returns the first lines of prose, without tables, folded blocks and Markdown's marks. A fenced block, such as the
/// output that caused a block, is shortened to its beginning and end.
pub fn start(text: &str, room: Room) -> Vec<String> {
    let mut out = Vec::new();
    let (mut said, mut rows) = (0_usize, 0_usize);
    for part in parts(&clean(text)) {
        match part {
            Part::Said(line) if line.starts_with('|') => {}
            Part::Said(_) | Part::Fence(_) if said >= room.lines || rows >= room.rows => {
                out.push("…".to_owned());
                break;
            }
            Part::Said(line) => {
                let line = cut(&plain(&line));
                said += 1;
                rows = rows.saturating_add(rows_of(&line));
                out.push(line);
            }
            Part::Fence(lines) => out.extend(fence(&lines)),
        }
    }
    out
}

/// Returns all lines of prose, in the same form.
pub fn all(text: &str) -> Vec<String> {
    start(text, Room::ALL)
}

/// Returns a review's first remarks on lines of the diff, and the number of further ones.
pub fn remarks(remarks: &[LineRemark]) -> Vec<String> {
    let (mut out, mut rows) = (Vec::new(), 0);
    for (number, remark) in remarks.iter().enumerate() {
        if rows >= Room::REMARKS {
            out.push(format!("… and {} more on lines of the diff", remarks.len() - number));
            break;
        }
        let said = placed(remark, start(&remark.text, Room::REMARK));
        rows += said.iter().map(|line| rows_of(line)).sum::<usize>();
        out.extend(said);
    }
    out
}

/// Returns all of a review's remarks on lines of the diff.
pub fn whole_remarks(remarks: &[LineRemark]) -> Vec<String> {
    let placed = |remark: &LineRemark| placed(remark, whole(&remark.text));
    remarks.iter().flat_map(placed).collect()
}

fn placed(remark: &LineRemark, said: Vec<String>) -> Vec<String> {
    let line = remark.line.map_or_else(String::new, |line| format!(", line {line}"));
    let place = clean(&format!("- {}{line}: ", remark.path)).replace('\n', " ");
    let mut said = said.into_iter();
    let first = format!("{place}{}", said.next().unwrap_or_default());
    std::iter::once(first)
        .chain(said.map(|line| format!("  {line}")))
        .collect()
}

fn rows_of(line: &str) -> usize {
    line.chars().count() / ROW + 1
}

/// Returns the beginning and the end of a fenced block; the cause of a failure is mostly at the end.
fn fence(lines: &[String]) -> Vec<String> {
    let left_out = lines.len().saturating_sub(FENCED_FIRST + FENCED_LAST);
    let shown = |line: &String| format!("  {}", cut(line));
    if left_out <= 1 {
        return lines.iter().map(shown).collect();
    }
    let (first, rest) = lines.split_at(FENCED_FIRST.min(lines.len()));
    let last = rest.get(left_out..).unwrap_or_default();
    let gap = format!("  … {left_out} lines …");
    let last = last.iter().map(shown);
    first.iter().map(shown).chain([gap]).chain(last).collect()
}

/// The changes that one edit made to a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The new sentence in bold at the start of a line: the current state.
    pub state: Option<String>,
    pub rows: Vec<Row>,
    /// The other new sentences in bold at the start of a line, each with the new items of the list below it.
    pub notes: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    /// The first cell.
    pub name: String,
    /// The new contents of cells.
    pub now: String,
}

/// The parts of the last version of a text that is edited again and again.
#[derive(Debug, Default)]
pub struct Edited {
    state: String,
    head: Vec<String>,
    rows: HashMap<String, Vec<String>>,
    notes: Vec<String>,
}

impl Edited {
    /// Takes the current version of the text and returns what is new in it.
    pub fn take(&mut self, text: &str) -> Change {
        let mut change = Change::default();
        let mut in_note = false;
        // The first version is shown as a comment, so its tasks are not news.
        let is_edit = !self.state.is_empty();
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
                change.rows.extend(self.row(cells, is_edit));
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

    /// Returns a row that is news: a new task, or a known row in which a cell changed.
    fn row(&mut self, cells: Vec<String>, is_edit: bool) -> Option<Row> {
        if cells.first().is_some_and(|name| name == "task") {
            self.head = cells;
            return None;
        }
        let (name, rest) = cells.split_first()?;
        let Some(before) = self.rows.insert(name.clone(), rest.to_vec()) else {
            return self.task(name, rest).filter(|_| is_edit);
        };
        let headings = self
            .head
            .iter()
            .skip(1)
            .map(String::as_str)
            .chain(std::iter::repeat(""));
        let cells = rest.iter().zip(&before).zip(headings);
        // Numbers, links and costs are shown elsewhere.
        let news = cells
            .filter(|((now, then), heading)| now != then && *heading != "cost" && now.starts_with(char::is_alphabetic));
        let new: Vec<&str> = news.map(|((now, _), _)| now.as_str()).collect();
        (!new.is_empty()).then(|| Row {
            name: name.clone(),
            now: cut(&new.join(" · ")),
        })
    }

    fn task(&self, name: &str, rest: &[String]) -> Option<Row> {
        name.split(' ').next()?.parse::<TaskId>().ok()?;
        let at = self.head.iter().position(|heading| heading == "state")?;
        let now = rest.get(at.checked_sub(1)?)?.clone();
        Some(Row {
            name: name.to_owned(),
            now,
        })
    }
}

/// A part of a text that people see.
enum Part {
    /// A line of prose.
    Said(String),
    /// The lines of a fenced block.
    Fence(Vec<String>),
}

/// The language of a fenced block that is a diagram, which is left out.
const DRAWN: &str = "mermaid";

/// The language of a fenced block that holds a program's output.
const OUTPUT: &str = "text";

/// The tags of a folded block.
const FOLD: [&str; 2] = ["<details>", "</details>"];

/// Returns the title of a folded block.
fn summary(line: &str) -> Option<&str> {
    line.trim().strip_prefix("<summary>")?.strip_suffix("</summary>")
}

/// A folded block that is being read.
#[derive(Default)]
struct Fold {
    title: String,
    outputs: Vec<Vec<String>>,
    has_more: bool,
}

impl Fold {
    /// Returns the output in the folded block, if the block holds nothing else.
    fn output(self) -> Vec<Part> {
        match <[Vec<String>; 1]>::try_from(self.outputs) {
            Ok([lines]) if !self.has_more => vec![Part::Said(format!("{}:", self.title)), Part::Fence(lines)],
            Ok(_) | Err(_) => Vec::new(),
        }
    }
}

/// Returns the parts of a text that are not folded away, without section headings and marks. A folded block that holds
/// only output is included, since it is mostly the reason.
fn parts(text: &str) -> Vec<Part> {
    let mut fence: Option<(String, String, Vec<String>)> = None;
    let mut folded = 0_usize;
    let mut fold = Fold::default();
    let mut parts = Vec::new();
    for whole in text.lines() {
        let line = whole.trim();
        if let Some((open, kind, mut lines)) = fence.take() {
            if line != open {
                lines.push(whole.trim_end().to_owned());
                fence = Some((open, kind, lines));
            } else if folded == 0 && kind != DRAWN {
                parts.push(Part::Fence(lines));
            } else if folded == 1 && kind == OUTPUT {
                fold.outputs.push(lines);
            } else {
                fold.has_more = true;
            }
            continue;
        }
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match line {
            _ if ticks.len() >= 3 => {
                let kind = line.trim_start_matches('`').trim().to_owned();
                fence = Some((ticks, kind, Vec::new()));
            }
            "<details>" => {
                fold.has_more = folded > 0;
                folded = folded.saturating_add(1);
            }
            "</details>" => {
                folded = folded.saturating_sub(1);
                if folded == 0 {
                    parts.extend(std::mem::take(&mut fold).output());
                }
            }
            _ if folded == 1 && summary(line).is_some() => {
                summary(line).unwrap_or_default().clone_into(&mut fold.title)
            }
            _ if folded > 0 => fold.has_more = fold.has_more || !line.is_empty(),
            _ if !line.is_empty() && !line.starts_with("####") && !line.starts_with('<') => {
                parts.push(Part::Said(line.to_owned()));
            }
            _ => {}
        }
    }
    parts
}

/// Returns the cells of a table's row; `None` for other lines and for the rule below a table's head.
fn cells(line: &str) -> Option<Vec<String>> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    (!row.chars().all(|c| "|-: ".contains(c))).then(|| row.split(" | ").map(plain).collect())
}

/// Removes the marks of headings, quotes, bold, code and links. Text inside code stays as it is.
fn plain(line: &str) -> String {
    unmarked(line.trim_start_matches(['#', '>', ' ']))
}

fn unmarked(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, from)) = rest.split_once(['`', '[']) {
        out.push_str(&without_marks(before));
        let opened = rest.get(before.len()..).unwrap_or_default();
        rest = match (code(opened), link(opened)) {
            (Some((code, after)), _) => {
                out.push_str(code);
                after
            }
            (None, Some((words, after))) => {
                out.push_str(&unmarked(words));
                after
            }
            (None, None) if opened.starts_with('`') => from,
            (None, None) => {
                out.push('[');
                from
            }
        };
    }
    out.push_str(&without_marks(rest));
    ENTITIES.iter().fold(out.trim().to_owned(), |read, (written, shown)| {
        read.replace(written, shown)
    })
}

fn without_marks(text: &str) -> String {
    text.replace("**", "").replace('\\', "")
}

fn code(text: &str) -> Option<(&str, &str)> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let (fence, inside) = text.split_at_checked(ticks).filter(|(fence, _)| !fence.is_empty())?;
    let (code, after) = inside.split_once(fence)?;
    let padded = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
    Some((padded.filter(|code| !code.is_empty()).unwrap_or(code), after))
}

/// Returns the words of the link at the beginning of a text, and the rest. The address may hold pairs of parentheses.
fn link(text: &str) -> Option<(&str, &str)> {
    let (words, target) = text.strip_prefix('[')?.split_once("](")?;
    let mut depth = 1_usize;
    let end = target.char_indices().find_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let after = target.get(end + 1..)?;
    (!words.contains(['[', ']'])).then_some((words, after))
}

fn cut(line: &str) -> String {
    wrap::cut_at_word(line, WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brief(text: &str) -> Vec<String> {
        start(text, Room::START)
    }

    const LIVING: &str = "## FEAT-1: Tally\n\n**State: building.** Wave 1 of 2 is at work.\n\n```mermaid\n**not this**\n```\n\
                          | task | state | cost |\n|---|---|---|\n| **TASK-001** Lines | pending | – |\n| **TASK-002** Top | pending | – |\n";

    #[test]
    fn an_edit_shows_only_what_is_new() {
        let mut edited = Edited::default();
        let first = edited.take(LIVING);
        assert_eq!(first.state.as_deref(), Some("State: building. Wave 1 of 2 is at work."));
        assert_eq!(first.rows, []);
        assert_eq!(edited.take(LIVING), Change::default());
        let second = edited.take(&LIVING.replace("Lines | pending | –", "Lines | [turn](http://f/2) 1 | unknown"));
        assert_eq!(second.state, None);
        let row = Row {
            name: "TASK-001 Lines".to_owned(),
            now: "turn 1".to_owned(),
        };
        assert_eq!(second.rows, [row]);
    }

    #[test]
    fn the_tasks_of_a_plan_that_comes_later_are_news() {
        let mut edited = Edited::default();
        edited.take("## FEAT-1: Tally\n\n**State: planning.** AutoBuild is making the plan.\n");
        let rows = edited.take(LIVING).rows;
        let told: Vec<(&str, &str)> = rows.iter().map(|row| (row.name.as_str(), row.now.as_str())).collect();
        assert_eq!(told, [("TASK-001 Lines", "pending"), ("TASK-002 Top", "pending")]);
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
                    <details>\n<summary>Output</summary>\n\nof all:\n\n```text\nlong\n```\n\n</details>\n\n- `a.sh`, line 2: wrong\n\n<!-- mark -->";
        assert_eq!(
            brief(text),
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
            brief(&text),
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
        assert_eq!(brief("a\n```\none\n```\nb"), ["a", "  one", "b"]);
        assert_eq!(brief("a\n```mermaid\none\n```\nb"), ["a", "b"]);
        let folded = "a\n<details>\n\n```\none\n```\n</details>\nb";
        assert_eq!(brief(folded), ["a", "b"]);
        let long = "1\n\n2\n\n3\n\n4\n\n5\n\n6\n\n7\n\n8";
        assert_eq!(brief(long), ["1", "2", "3", "4", "5", "6", "…"]);
        assert_eq!(all(long).len(), 8);
    }

    #[test]
    fn what_is_broken_for_github_reads_as_it_was_written() {
        assert_eq!(
            brief("see .github/&#8203;autobuild.yml &lt;b&gt; &amp;amp;"),
            ["see .github/autobuild.yml <b> &amp;"]
        );
    }

    #[test]
    fn a_terminal_is_given_nothing_to_obey() {
        let hostile = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{202e} [x](javascript:y) [unclosed](\n";
        for line in brief(hostile).into_iter().chain(whole(hostile)) {
            assert!(!line.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{line:?}");
        }
    }

    #[test]
    fn why_work_is_sent_back_is_shown_as_far_as_a_screen_goes() {
        let item = format!("- [test] {}", "tests failed, ".repeat(20));
        let text = format!(
            "### Changes requested\n\nfacts\n\n> words\n\n**must_fix**\n\n{}",
            format!("{item}\n").repeat(30)
        );
        let shown = start(&text, Room::SCREEN);
        let rows: usize = shown.iter().map(|line| rows_of(line)).sum();
        assert!((15..=30).contains(&rows), "{rows}");
        assert_eq!(shown[4], item.trim_end(), "the reason is whole");
        assert_eq!(shown.last().unwrap(), "…");
    }

    #[test]
    fn a_fold_that_is_nothing_but_output_is_shown() {
        let fold =
            |inside: &str| format!("a\n\n<details>\n<summary>Printed last</summary>\n\n{inside}\n\n</details>\n\nb");
        let output = "```text\nno such file\n```";
        assert_eq!(brief(&fold(output)), ["a", "Printed last:", "  no such file", "b"]);
        let others = [
            format!("words\n\n{output}"),
            format!("{output}\n\n{output}"),
            "```yaml\na: b\n```".to_owned(),
            format!("<details>\n<summary>x</summary>\n\n{output}\n\n</details>"),
            format!("{output}\n\n<details>\n<summary>x</summary>\n\n{output}\n\n</details>"),
        ];
        for other in others {
            assert_eq!(brief(&fold(&other)), ["a", "b"], "{other}");
        }
        assert_eq!(
            whole(&fold(output)),
            ["a", "▸ Printed last", "```text", "no such file", "```", "b"]
        );
    }

    #[test]
    fn what_stands_on_lines_of_the_diff_is_shown() {
        let remark = |line: u64| LineRemark {
            path: "src/a.rs".to_owned(),
            line: Some(line),
            text: "**must_fix** [correctness] it greets nobody\n\nSuggestion:\n\n> say a name".to_owned(),
        };
        let said = [
            "- src/a.rs, line 3: must_fix [correctness] it greets nobody",
            "  Suggestion:",
            "  say a name",
        ];
        assert_eq!(remarks(&[remark(3)]), said);
        assert!(
            whole_remarks(&[remark(3)])
                .concat()
                .contains("**must_fix** [correctness]")
        );
        let many: Vec<LineRemark> = (1..=9).map(remark).collect();
        let shown = remarks(&many);
        assert_eq!(shown.len(), 13);
        assert_eq!(shown.last().unwrap(), "… and 5 more on lines of the diff");
    }

    #[test]
    fn code_and_parentheses_stay_as_they_are_written() {
        for (written, shown) in [
            (
                "It calls `handlers[name](event)` twice.",
                "It calls handlers[name](event) twice.",
            ),
            (
                "See [the page](http://f/Rust_(language)) (again).",
                "See the page (again).",
            ),
            (
                "`a\\b` and `**not bold**`, **bold** and a\\_b",
                "a\\b and **not bold**, bold and a_b",
            ),
            (
                "[x] is no link, nor [1] (here), nor [2](open",
                "[x] is no link, nor [1] (here), nor [2](open",
            ),
            ("``a ` b`` and a lone ` tick", "a ` b and a lone  tick"),
            ("[`code`](http://f/2) first", "code first"),
        ] {
            assert_eq!(plain(written), shown, "{written}");
        }
    }
}
