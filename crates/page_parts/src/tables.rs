//! Tables in Markdown: each cell of the body carries the heading of its column, which narrow screens show.

use maud::html;
use pulldown_cmark::{Event, Tag, TagEnd};

/// The headings of the table that is being read, and the place in it.
#[derive(Default)]
pub(crate) struct Tables {
    headings: Vec<String>,
    part: Part,
    /// The column of the next cell in a row of the body.
    column: usize,
}

#[derive(Default, PartialEq)]
enum Part {
    #[default]
    Body,
    Head,
}

impl Tables {
    /// Returns the event with the heading in it, if it starts a cell of the body.
    pub(crate) fn label<'a>(&mut self, event: Event<'a>) -> Event<'a> {
        match &event {
            Event::Start(Tag::TableHead) => (self.headings, self.part) = (Vec::new(), Part::Head),
            Event::End(TagEnd::TableHead) => self.part = Part::Body,
            Event::Start(Tag::TableRow) => self.column = 0,
            Event::Start(Tag::TableCell) if self.part == Part::Head => self.headings.push(String::new()),
            Event::Text(text) | Event::Code(text) if self.part == Part::Head => self.read(text),
            Event::Start(Tag::TableCell) => return Event::Html(self.opened().into()),
            Event::End(TagEnd::TableCell) if self.part == Part::Body => return Event::Html("</td>".into()),
            _ => {}
        }
        event
    }

    fn read(&mut self, text: &str) {
        if let Some(heading) = self.headings.last_mut() {
            heading.push_str(text);
        }
    }

    fn opened(&mut self) -> String {
        let heading = self.headings.get(self.column).filter(|heading| !heading.is_empty());
        self.column += 1;
        heading.map_or_else(
            || "<td>".to_owned(),
            |heading| format!("<td data-label=\"{}\">", html! { (heading) }.0),
        )
    }
}
