//! The parts that all pages share: the style, small elements, safe Markdown, and sessions.

pub mod events;
pub mod graph;
pub mod markdown;
mod mermaid;
pub mod session;

use maud::{Markup, html};

/// The style sheet of every page.
pub const STYLE: &str = include_str!("pages.css");

/// The script of live pages: it replaces the content of the element with `data-live` by the events from that address.
pub const SCRIPT: &str = include_str!("live.js");

/// Returns a coloured word for a state.
pub fn badge(kind: &str, text: &str) -> Markup {
    html! { span class=(format!("badge {kind}")) { (text) } }
}

/// Returns a sentence. Text between backticks becomes code.
pub fn sentence(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @match (at % 2, at + 1 == parts.len()) {
                (0, _) => { (part) },
                (_, false) => code { (part) },
                (_, true) => { "`" (part) },
            }
        }
    }
}

/// Returns a box with a head and a body, as for comments.
pub fn boxed(id: Option<&str>, kind: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        article id=[id] class=(format!("box {kind}")) {
            div.head { (head) }
            div.body { (body) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use effort::{Reader, Text, assert_linear};

    #[test]
    fn eight_times_the_text_is_eight_times_the_work() {
        let reader = |name, read, own| Reader { name, read, own };
        assert_linear(&[
            reader("sentence", &|text| drop(sentence(text)), &[]),
            reader(
                "page",
                &|text| drop(markdown::render(text)),
                &[
                    Text("", "", "- [ ] a\n"),
                    Text("", "", "<details>"),
                    Text("", "", "| a | b |\n|--|--|\n"),
                    Text("| a |\n|--|\n", "", "| b |\n"),
                    Text("", "", "# a\n"),
                    Text("", "", "```mermaid\nflowchart\n```\n"),
                    Text("", "", "~~a*b_c"),
                ],
            ),
        ]);
    }

    #[test]
    fn code_in_a_sentence_is_shown_as_code() {
        for (text, shown) in [
            ("run `git <x>` now", "run <code>git &lt;x&gt;</code> now"),
            ("`a` and `b`", "<code>a</code> and <code>b</code>"),
            ("one ` alone", "one ` alone"),
        ] {
            assert_eq!(sentence(text).0, shown);
        }
    }
}
