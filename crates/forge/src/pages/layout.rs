//! The frame of every page.

use super::super::state::Moment;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The path of the script.
pub(super) const SCRIPT: &str = "/-/live.js";

pub(super) struct PageView {
    pub(super) title: String,
    pub(super) content: Markup,
    /// Boxes to write in, outside the updated part, so that nothing that is being written is lost.
    pub(super) boxes: Markup,
}

impl PageView {
    /// Returns a page without boxes.
    pub(super) fn new(title: impl Into<String>, content: Markup) -> Self {
        Self { title: title.into(), content, boxes: html! {} }
    }
}

/// Returns a whole page; `live` is the address of the stream that updates its content.
pub(super) fn whole(shown: &PageView, live: Option<&str>) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (shown.title) }
                style { (PreEscaped(page_parts::STYLE)) }
                @if live.is_some() { script src=(SCRIPT) defer {} }
            }
            body {
                a.skip href="#main" { "To the content" }
                header { a href="/" { "Local forge" } @if live.is_some() { span.live #live role="status" {} } }
                main #main {
                    div data-live=[live] { (shown.content) }
                    (shown.boxes)
                }
            }
        }
    }
}

/// Returns a page that is not updated.
pub(super) fn page(title: &str, content: Markup) -> Markup {
    whole(&PageView::new(title, content), None)
}

pub(super) fn time(at: Moment) -> Markup {
    html! { time datetime=(at.to_rfc3339()) { (at.format("%Y-%m-%d %H:%M:%S")) } }
}
