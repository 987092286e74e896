//! The parts that all pages share: the style, small elements, safe Markdown, and sessions.

pub mod events;
pub mod graph;
pub mod markdown;
mod mermaid;
pub mod session;

use maud::{Markup, html};

/// The style sheet of every page.
pub const STYLE: &str = include_str!("pages.css");

/// The script of live pages: it replaces the content of the element with `data-live` by what comes from that address.
pub const SCRIPT: &str = include_str!("live.js");

/// Returns a coloured word for a state.
pub fn badge(kind: &str, text: &str) -> Markup {
    html! { span class=(format!("badge {kind}")) { (text) } }
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
