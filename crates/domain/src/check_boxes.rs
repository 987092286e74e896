//! Reads the check boxes of an issue: the conditions that its author names, each bound to a check or still unbound.
//! `plan` checks if these criteria make a valid task.

use crate::plan::Check;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The most boxes that are read: one more than a task may have criteria, so that an issue with too many is refused.
const MOST: usize = 51;

/// A check box that is not ticked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBox {
    /// The condition, without its binding.
    pub text: String,
    /// The check that it is bound to; `None` if it is unbound.
    pub check: Option<Check>,
}

/// Returns the unticked check boxes of `markdown`, in order, outside code, quotes and HTML comments. A code span such
/// as `` `test: auth::wired` ``, `` `file: src/auth.rs` ``, `` `command: make docs` `` or `` `human` `` binds a box.
#[expect(clippy::wildcard_enum_match_arm, reason = "Markdown has many more events than are read")]
pub fn check_boxes(markdown: &str) -> Vec<CheckBox> {
    let mut boxes = Vec::new();
    let mut open: Option<CheckBox> = None;
    let mut quotes = 0usize;
    for event in Parser::new_ext(markdown, Options::ENABLE_TASKLISTS) {
        match event {
            Event::Start(Tag::BlockQuote(_)) => quotes += 1,
            Event::End(TagEnd::BlockQuote(_)) => quotes = quotes.saturating_sub(1),
            Event::TaskListMarker(false) if quotes == 0 => {
                let text = String::new();
                open = Some(CheckBox { text, check: None });
            }
            Event::Text(text) => add(&mut open, &text),
            Event::Code(code) => code_span(&mut open, &code),
            Event::SoftBreak | Event::HardBreak => add(&mut open, " "),
            Event::Start(Tag::List(_) | Tag::CodeBlock(_))
            | Event::End(TagEnd::Item | TagEnd::Paragraph)
            | Event::TaskListMarker(_) => boxes.extend(open.take().and_then(complete_box)),
            _ => {}
        }
        if boxes.len() >= MOST {
            break;
        }
    }
    boxes
}

fn add(open: &mut Option<CheckBox>, text: &str) {
    if let Some(open) = open {
        open.text.push_str(text);
    }
}

fn code_span(open: &mut Option<CheckBox>, code: &str) {
    let Some(open) = open else { return };
    match binding(code) {
        Some(check) if open.check.is_none() => open.check = Some(check),
        Some(_) | None => open.text.push_str(&format!("`{code}`")),
    }
}

fn binding(code: &str) -> Option<Check> {
    if code.trim() == "human" {
        return Some(Check::Human);
    }
    let (kind, what) = code.split_once(':')?;
    let check = match kind.trim() {
        "test" => Check::Test,
        "file" => Check::File,
        "command" => Check::Command,
        _ => return None,
    };
    let what = what.trim();
    (!what.is_empty()).then(|| check(what.to_owned()))
}

/// Removes the empty brackets, the dash or the colon that the removed binding leaves in the text. An empty text is
/// replaced by a sentence about the check, for example "the file docs/a.md exists". `None` if there is no check either.
fn complete_box(mut open: CheckBox) -> Option<CheckBox> {
    let words: Vec<&str> = open.text.split_whitespace().collect();
    let text = words.join(" ").replace("()", "").replace("[]", "");
    let left = |c: char| c.is_whitespace() || matches!(c, '-' | '–' | '—' | ':' | ',' | ';');
    open.text = match &open.check {
        Some(_) => text.trim_matches(left).to_owned(),
        None => words.join(" "),
    };
    if open.text.is_empty() {
        open.text = match open.check.as_ref()? {
            Check::Test(name) => format!("the test {name} passes"),
            Check::Command(command) => format!("the command {command} succeeds"),
            Check::File(path) => format!("the file {path} exists"),
            Check::Human => return None,
        };
    }
    Some(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(markdown: &str) -> Vec<(String, Option<Check>)> {
        check_boxes(markdown).into_iter().map(|read| (read.text, read.check)).collect()
    }

    fn bound(text: &str, check: Check) -> (String, Option<Check>) {
        (text.to_owned(), Some(check))
    }

    #[test]
    fn each_open_box_is_read_with_what_it_is_bound_to() {
        let body = "Please:\n\n- [ ] It parses (`test: parse::empty`)\n- [ ] `file: docs/a.md`\n* [ ] Runs: `command: make run`\n\
                    - [ ] Reads well — `human`\n- [ ] uses `foo: bar` and\n  goes on\n\n1. [ ] numbered\n";
        assert_eq!(
            read(body),
            [
                bound("It parses", Check::Test("parse::empty".to_owned())),
                bound("the file docs/a.md exists", Check::File("docs/a.md".to_owned())),
                bound("Runs", Check::Command("make run".to_owned())),
                bound("Reads well", Check::Human),
                ("uses `foo: bar` and goes on".to_owned(), None),
                ("numbered".to_owned(), None),
            ]
        );
    }

    #[test]
    fn ticked_quoted_commented_and_coded_boxes_are_none() {
        let body =
            "- [x] done\n\n> - [ ] quoted\n\n<!--\n- [ ] hidden\n-->\n\n```\n- [ ] code\n```\n\n- [ ]\n- [] no box\n";
        assert_eq!(read(body), []);
    }

    #[test]
    fn nested_boxes_are_boxes_of_their_own() {
        let body = "- [ ] outer\n  - [ ] inner\n- plain\n  - [ ] deep\n";
        let texts: Vec<String> = read(body).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, ["outer", "inner", "deep"]);
    }

    #[test]
    fn no_more_boxes_are_read_than_are_needed_to_refuse_them() {
        assert_eq!(check_boxes(&"- [ ] again\n".repeat(10_000)).len(), MOST);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail(text in "[ \\n\\-*x`>:()\\[\\]atesfil<!]{0,80}") {
            let _ = check_boxes(&text);
        }
    }
}
