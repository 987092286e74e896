//! The frame of every page.

use super::super::state::Moment;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A whole page.
pub(super) fn page(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(page_parts::STYLE)) }
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
