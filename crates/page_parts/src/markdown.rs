//! Renders the parts of GitHub's Markdown that readers need. Raw HTML is shown as text, except for a few harmless tags.

use crate::{graph, mermaid};
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The HTML tags that are kept, without their attributes.
const HARMLESS: [&str; 9] = ["details", "summary", "sub", "sup", "br", "kbd", "b", "i", "hr"];

/// The language of a code fence that is drawn as a graph.
const MERMAID: &str = "mermaid";

/// Renders Markdown as HTML.
pub fn render(text: &str) -> Markup {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let (mut reading, mut headings, mut tables) = (None, Headings::default(), Tables::default());
    let events = Parser::new_ext(text, options)
        .flat_map(|event| draw_graph(event, &mut reading))
        .map(|event| headings.below_the_page(event))
        .flat_map(tame)
        .map(|event| tables.label(event));
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, events);
    PreEscaped(out)
}

/// Shifts a text's headings below the page's heading: the first is of level two, and none skips a level.
#[derive(Default)]
struct Headings {
    /// The number of levels by which the first heading was raised.
    moved: usize,
    /// The level of the last heading; 0 before the first.
    last: usize,
}

impl Headings {
    fn below_the_page<'a>(&mut self, mut event: Event<'a>) -> Event<'a> {
        match &mut event {
            Event::Start(Tag::Heading { level, .. }) => *level = self.next(depth(*level)),
            Event::End(TagEnd::Heading(level)) => *level = self.level(),
            _ => {}
        }
        event
    }

    fn next(&mut self, level: usize) -> HeadingLevel {
        if self.last == 0 {
            self.moved = level.saturating_sub(2);
            self.last = 1;
        }
        self.last = level.saturating_sub(self.moved).clamp(2, 6).min(self.last + 1);
        self.level()
    }

    fn level(&self) -> HeadingLevel {
        HeadingLevel::try_from(self.last).unwrap_or(HeadingLevel::H6)
    }
}

fn depth(level: HeadingLevel) -> usize {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// Draws Mermaid graphs, as GitHub does. A graph that cannot be read is folded away as text. `reading` holds the text
/// of the graph that is being read.
fn draw_graph<'a>(event: Event<'a>, reading: &mut Option<String>) -> Vec<Event<'a>> {
    match (&event, reading.as_mut()) {
        (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))), None) if language.as_ref() == MERMAID => {
            *reading = Some(String::new());
            Vec::new()
        }
        (Event::Text(text), Some(read)) => {
            read.push_str(text);
            Vec::new()
        }
        (Event::End(TagEnd::CodeBlock), Some(read)) => {
            let text = std::mem::take(read);
            *reading = None;
            vec![Event::InlineMath(drawn(&text).into())]
        }
        _ => vec![event],
    }
}

/// Returns a graph as a picture, or its text in a fold.
fn drawn(text: &str) -> String {
    let shown = match mermaid::read(text) {
        Some(graph) => graph::draw("graph", "Graph", &graph),
        None => html! { details { summary { "Graph, as text" } pre { code { (text) } } } },
    };
    shown.0
}

/// Returns the event without anything that could act in a browser.
fn tame(event: Event<'_>) -> Vec<Event<'_>> {
    match event {
        Event::Html(raw) | Event::InlineHtml(raw) => tame_html(&raw),
        // The parser's option for math is off, so this event only carries the graphs that this crate has drawn.
        Event::InlineMath(drawn) => vec![Event::Html(drawn)],
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            vec![Event::Start(Tag::Link { dest_url: tame_address(dest_url), link_type, title, id })]
        }
        // A picture would be fetched from another server; its description stays.
        Event::Start(Tag::Image { .. }) => vec![Event::Text("[image: ".into())],
        Event::End(TagEnd::Image) => vec![Event::Text("]".into())],
        // Screen readers need the box's meaning.
        Event::TaskListMarker(done) => {
            let said = if done { " checked aria-label=\"Done\"" } else { " aria-label=\"To do\"" };
            vec![Event::Html(format!("<input type=\"checkbox\" disabled{said}>").into())]
        }
        other => vec![other],
    }
}

fn tame_address(address: CowStr<'_>) -> CowStr<'_> {
    let lower = address.trim().to_ascii_lowercase();
    let plain = !lower.contains(':') || ["http://", "https://", "mailto:"].iter().any(|start| lower.starts_with(start));
    if plain { address } else { "#".into() }
}

/// Cleans raw HTML: comments vanish, harmless tags stay, everything else becomes text.
fn tame_html(raw: &str) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    let mut rest = raw;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        events.push(Event::Text(before.to_owned().into()));
        if let Some(comment) = tag.strip_prefix("<!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some(end) = tag.find('>') else {
            rest = tag;
            break;
        };
        let (tag, after) = tag.split_at(end + 1);
        events.push(match harmless(tag) {
            Some(clean) => Event::Html(clean.into()),
            None => Event::Text(tag.to_owned().into()),
        });
        rest = after;
    }
    events.push(Event::Text(rest.to_owned().into()));
    events
}

/// Returns a harmless tag without its attributes, except for the `open` of `<details>`; `None` for any other tag.
fn harmless(tag: &str) -> Option<String> {
    let inner = tag.strip_prefix('<')?.strip_suffix('>')?.trim_end_matches('/').trim();
    let (close, inner) = inner.strip_prefix('/').map_or(("", inner), |inner| ("/", inner));
    let mut words = inner.split_ascii_whitespace();
    let name = words.next()?.to_ascii_lowercase();
    let open = name == "details" && words.any(|word| word == "open");
    HARMLESS.contains(&name.as_str()).then(|| format!("<{close}{name}{}>", if open { " open" } else { "" }))
}

/// The headings of the table that is being read, and the place in it. Each cell of the body carries the heading of its
/// column, which narrow screens show.
#[derive(Default)]
struct Tables {
    headings: Vec<String>,
    is_in_head: bool,
    /// The column of the next cell in a row of the body.
    column: usize,
}

impl Tables {
    /// Returns the event with the heading in it, if it starts a cell of the body.
    fn label<'a>(&mut self, event: Event<'a>) -> Event<'a> {
        match &event {
            Event::Start(Tag::TableHead) => (self.headings, self.is_in_head) = (Vec::new(), true),
            Event::End(TagEnd::TableHead) => self.is_in_head = false,
            Event::Start(Tag::TableRow) => self.column = 0,
            Event::Start(Tag::TableCell) if self.is_in_head => self.headings.push(String::new()),
            Event::Text(text) | Event::Code(text) if self.is_in_head => self.read(text),
            Event::Start(Tag::TableCell) => return Event::Html(self.opened().into()),
            Event::End(TagEnd::TableCell) if !self.is_in_head => return Event::Html("</td>".into()),
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
        heading.map_or_else(|| "<td>".to_owned(), |heading| format!("<td data-label=\"{}\">", html! { (heading) }.0))
    }
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn raw_html_that_could_act_is_shown_as_text() {
        let shown = render("<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> <a href='javascript:x'>y</a>").0;
        assert!(!shown.contains("<script") && !shown.contains("<img") && !shown.contains("<a "), "{shown}");
        let shown = render("[x](javascript:alert(1)) ![p](https://example.com/p.png)").0;
        assert!(!shown.contains("javascript:") && !shown.contains("<img"), "{shown}");
    }

    #[test]
    fn folds_stay_and_hidden_comments_vanish() {
        let shown =
            render("<!-- marker:1 -->\n<details onclick=x><summary>More</summary>\n\n- [x] done\n\n</details>").0;
        assert!(shown.contains("<details><summary>More</summary>"), "{shown}");
        assert!(!shown.contains("marker") && !shown.contains("onclick"), "{shown}");
        assert!(shown.contains("checkbox") && shown.contains("</details>"), "{shown}");
    }

    #[test]
    fn a_graph_is_drawn_and_nothing_in_it_acts() {
        let graph = |label: &str| {
            let text = format!("```mermaid\nflowchart LR\nsubgraph w [\"Wave 1\"]\na[\"{label}\"]:::blocked\nend\n```");
            render(&text).0
        };
        let shown = graph("TASK-001<br/>Parse");
        assert!(shown.contains("<svg") && shown.contains("class=\"blocked\"") && shown.contains("Wave 1"), "{shown}");
        assert!(!graph("<script>x</script>").contains("<script"));
        assert!(!render("$x$ <svg onload=x>").0.contains("<svg"));
    }

    #[test]
    fn headings_begin_below_the_page_and_skip_no_level() {
        let shown = render("### A\n##### B\n### C\n# D").0;
        for heading in ["<h2>A</h2>", "<h3>B</h3>", "<h2>C</h2>", "<h2>D</h2>"] {
            assert!(shown.contains(heading), "{heading}: {shown}");
        }
        assert!(render("- [x] a").0.contains("aria-label=\"Done\""));
    }

    #[test]
    fn code_is_escaped_and_tables_are_tables() {
        let shown = render("```mermaid\ngraph TD; A-->B\n```\n\n| a | b |\n|---|---|\n| <b>1</b> | 2 |").0;
        assert!(shown.contains("A--&gt;B") && shown.contains("<table>"), "{shown}");
        assert!(shown.contains("</pre></details>") && shown.matches("<details>").count() == 1, "{shown}");
    }

    #[test]
    fn each_cell_of_a_table_carries_the_heading_of_its_column() {
        let shown =
            render("| task | `a \"b\" <i>` |  |\n|---|--:|---|\n| 1 | **2** | 3 |\n\n| other |\n|---|\n| 4 |").0;
        for cell in [
            "<td data-label=\"task\">1</td>",
            "<td data-label=\"a &quot;b&quot; &lt;i&gt;\"><strong>2</strong></td>",
            "<td>3</td>",
            "<td data-label=\"other\">4</td>",
        ] {
            assert!(shown.contains(cell), "{cell}: {shown}");
        }
        assert!(shown.contains("<th>task</th>") && shown.matches("</td>").count() == 4, "{shown}");
    }
}
