//! What all pages share: the frame, the style, small parts.

use super::super::state::Moment;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// A whole page.
pub(super) fn page(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { a href="/" { "Local forge" } }
                main { (body) }
            }
        }
    }
}

/// A moment, readable.
pub(super) fn time(at: Moment) -> Markup {
    html! { time datetime=(at.to_rfc3339()) { (at.format("%Y-%m-%d %H:%M:%S")) } }
}

/// A coloured word: what state something is in.
pub(super) fn badge(kind: &str, text: &str) -> Markup {
    html! { span class=(format!("badge {kind}")) { (text) } }
}

/// A box with a head and a body, as comments are shown.
pub(super) fn boxed(id: Option<&str>, kind: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        article id=[id] class=(format!("box {kind}")) {
            div.head { (head) }
            div.body { (body) }
        }
    }
}
