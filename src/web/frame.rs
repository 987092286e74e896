//! The frame of every page of the service.

use maud::{DOCTYPE, Markup, html};

/// Returns a whole page with this body and, if it has one, this script.
pub(super) fn html_page(title: &str, script: Option<&str>, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href="/assets/pages.css";
                link rel="icon" href="/assets/icon.svg";
                @if let Some(script) = script { script src=(script) defer {} }
            }
            body { a.skip href="#main" { "To the content" } (body) }
        }
    };
    page.into_string()
}
