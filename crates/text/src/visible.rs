//! Removes from a Markdown text all parts that GitHub does not show: comments, alt texts, titles, attributes, unused
//! definitions. So a person who approves the page has read everything that remains.
//!
//! Every remaining letter comes from a part that is shown. Between such parts only Markdown's own signs remain:
//! punctuation, digits and blanks. So even constructs that this module does not know are removed. The address of a link
//! is removed too, unless it is also the link's text: a person does not look up the address behind a link on a dot, but
//! an agent would read it.

#![expect(clippy::wildcard_enum_match_arm, reason = "Markdown has many more events than are read")]

use crate::clean::{each_hiding, hides};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// The words in the place of a picture.
const PICTURE: &str = "[image, not read]";

/// The languages of code blocks that stay. The page shows none, so any other word could be a part of an instruction.
const LANGUAGES: &str = "bash bat c c# c++ clojure cmake console cpp cs csharp css csv cuda dart diff docker dockerfile \
                         elixir elm erlang f# fish fortran fsharp gherkin glsl go golang gradle graphql groovy haskell hcl \
                         html http ini java javascript js json json5 jsonc jsx julia kotlin kt latex lisp log lua makefile \
                         markdown md nix objc ocaml patch perl php plaintext powershell proto protobuf ps1 py python r rb rs \
                         ruby rust sass scala scss sh shell sql suggestion svelte swift terraform text toml ts tsx txt \
                         typescript vue xml yaml yml";

/// Elements, and signs of Markdown, whose text is smaller than the text around them, with its size in percent
/// (<https://github.com/sindresorhus/github-markdown-css>). A ruby begins a text of normal size.
const SIZES: [(&str, u32); 17] = [
    ("#####", 87),
    ("######", 85),
    ("[^", 75),
    ("`", 85),
    (BLOCK, 85),
    ("code", 85),
    ("h5", 87),
    ("h6", 85),
    ("kbd", 85),
    ("pre", 85),
    ("rt", 50),
    ("ruby", 100),
    ("samp", 85),
    ("small", 83),
    ("sub", 75),
    ("sup", 75),
    ("tt", 85),
];
/// The sign of a code block in [`SIZES`].
const BLOCK: &str = "```";
/// The smallest size of a text that is still read, in percent.
const LEAST_SIZE: u32 = 50;
/// Elements of these that a browser continues in the next paragraph if their end is missing.
const LASTING: &str = "code h5 h6 pre small tt";
/// The most elements that may be open in a small one.
const MOST_OPEN: usize = 100;

/// The most numbers before the text of a line, as nested lists have them, and the most digits of each. More could spell
/// words.
const MOST_NUMBERS: usize = 4;
const LONGEST_NUMBER: usize = 3;

/// The languages of code blocks that GitHub draws as pictures, so that nobody sees their comments.
const DRAWN: [&str; 5] = ["geojson", "math", "mermaid", "stl", "topojson"];

/// Elements that GitHub keeps and whose text browsers do not show, or with `dir` not in reading order. GitHub removes the
/// tags of others that browsers do not show, such as `template`, and shows their content
/// (<https://github.com/gjtorikian/html-pipeline/blob/main/lib/html_pipeline/sanitization_filter.rb>).
const UNSHOWN: [&str; 3] = ["bdo", "rp", "video"];

/// The columns of a line of code that a reader surely sees: the page of an issue shows about 100 without scrolling.
const SEEN_COLUMNS: usize = 120;
const TAB_WIDTH: usize = 8;

/// Elements that have no content and no end tag.
const VOID: &str = "br hr img source track wbr";

/// Elements inside which a browser accepts the end tag of an element around them.
const INLINE: [&str; 13] = ["a", "b", "code", "del", "em", "i", "ins", "kbd", "s", "span", "strong", "sub", "sup"];

/// Elements whose tags GitHub shows as text (<https://github.github.com/gfm/#disallowed-raw-html-extension->).
const SHOWN_AS_TEXT: [&str; 9] =
    ["iframe", "noembed", "noframes", "plaintext", "script", "style", "textarea", "title", "xmp"];

/// The elements of a collapsed block, which is open without their tags.
const COLLAPSED: [&str; 2] = ["details", "summary"];

/// The elements that structure a text. Their tags are kept without attributes; the tags of others are removed.
const SHAPES: &str = "b blockquote br caption code dd del dl dt em figcaption h1 h2 h3 h4 h5 h6 hr i ins kbd li \
                      mark ol p pre q s samp strike strong sub sup table tbody td tfoot th thead tr ul";

/// The part of a text that GitHub shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibleText {
    /// Markdown of which every part is shown.
    pub text: String,
    /// The parts that were removed or opened.
    pub parts: HiddenParts,
}

/// The numbers of a text's parts that its page does not show at first sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HiddenParts {
    /// Parts that are never shown: they were removed.
    pub hidden: usize,
    /// Collapsed blocks (`<details>`): their content is part of the text.
    pub opened: usize,
}

/// Returns the text that a reader of the page sees, with the content of its collapsed blocks.
pub fn visible_text(markdown: &str) -> VisibleText {
    // Each can hide text: surplus cells, footnotes without a reference, commands in formulas.
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS | Options::ENABLE_MATH;
    let events: Vec<(Event<'_>, Range<usize>)> = Parser::new_ext(markdown, options).into_offset_iter().collect();
    let mut reader = Reader {
        source: markdown,
        footnotes: numbered(&events),
        defined: BTreeSet::new(),
        done: 0,
        link: None,
        markup: Markup::Text,
        unshown: None,
        open: Vec::new(),
        is_tiny: false,
        line: CodeLine::default(),
        parts: 0,
        visible: VisibleText::default(),
    };
    for (event, place) in events {
        reader.count_parts(&event);
        if place.end > reader.done {
            reader.event(event, place);
        }
    }
    reader.pass_to(markdown.len());
    let VisibleText { text, mut parts } = reader.visible;
    parts.hidden += usize::from(matches!(reader.markup, Markup::Tag(_)));
    let seen = without_unseen(&text);
    parts.hidden += seen.parts.hidden;
    VisibleText { text: seen.text, parts }
}

/// Returns the text without the characters that a page draws as nothing. Each run of them counts as a part.
pub fn without_unseen(text: &str) -> VisibleText {
    let (mut seen, mut was_unseen) = (VisibleText::default(), false);
    for (c, is_unseen) in each_hiding(text) {
        let is_space = matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
        if !is_unseen || is_space {
            seen.text.push(if is_unseen { ' ' } else { c });
        }
        seen.parts.hidden += usize::from(is_unseen && !was_unseen);
        was_unseen = is_unseen;
    }
    seen
}

/// Returns the length of a reference of HTML, without its `&`, if it stands for a character that is drawn as nothing.
/// Browsers read a number of any length, also without the semicolon, and of the names without one `shy`.
fn reference_to_nothing(text: &str) -> Option<usize> {
    let hexadecimal = text.strip_prefix("#x").or_else(|| text.strip_prefix("#X"));
    let (radix, digits) = match (hexadecimal, text.strip_prefix('#')) {
        (Some(digits), _) => (16, digits),
        (None, Some(digits)) => (10, digits),
        (None, None) => return named_reference_to_nothing(text),
    };
    let length = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (number, rest) = digits.split_at(length);
    let add = |code: u32, c: char| code.saturating_mul(radix).saturating_add(c.to_digit(radix).unwrap_or_default());
    let code = number.chars().fold(0, add);
    // Browsers read the range of C1 controls as the letters of Windows-1252.
    let is_letter = (0x80..0xa0).contains(&code);
    char::from_u32(code).filter(|c| !number.is_empty() && code != 0 && !is_letter && hides(*c))?;
    Some(text.len() - rest.len() + usize::from(rest.starts_with(';')))
}

fn named_reference_to_nothing(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix("shy") {
        return Some(text.len() - rest.len() + usize::from(rest.starts_with(';')));
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).filter(|end| text.as_bytes().get(*end) == Some(&b';'))?;
    let reference = format!("&{};", text.get(..end)?);
    let is_nothing = Parser::new(&reference).any(|event| matches!(event, Event::Text(text) if is_unseen(&text)));
    is_nothing.then_some(end + 1)
}

fn is_unseen(text: &str) -> bool {
    !text.is_empty() && text.chars().all(hides)
}

/// Returns the numbers that the page shows for footnotes: in the order in which the text refers to them.
fn numbered(events: &[(Event<'_>, Range<usize>)]) -> BTreeMap<String, usize> {
    let mut numbers = BTreeMap::new();
    for (event, _) in events {
        if let Event::FootnoteReference(name) = event {
            let next = numbers.len() + 1;
            numbers.entry(name.to_lowercase()).or_insert(next);
        }
    }
    numbers
}

/// The state of HTML, which is kept from one piece of it to the next: a browser treats everything between them as part
/// of a comment that has not ended.
enum Markup {
    Text,
    /// Inside a tag.
    Tag(OpenTag),
    /// Inside something that is not shown, which ends with the first of these.
    Until([&'static str; 2]),
}

/// The part of a tag that was read.
#[derive(Default)]
struct OpenTag {
    text: String,
    /// The quotation mark of the value that it ends in.
    quote: Option<char>,
}

/// An element that is not shown and has not ended.
struct UnshownElement {
    name: String,
    /// The number of such elements that are nested.
    depth: usize,
    /// The number of Markdown's parts around the outermost one.
    parts: usize,
    /// `true` once it holds other tags, with which a browser may end it later.
    has_tags: bool,
    /// `true` once it holds a block, in which a browser ignores its end.
    has_blocks: bool,
}

/// An element that has not ended.
struct OpenElement {
    name: String,
    /// Its size in percent of the text around it, if it is one of [`SIZES`].
    size: Option<u32>,
    /// The number of Markdown's parts around it.
    parts: usize,
}

/// A link whose end is not read yet.
struct OpenLink {
    /// `true` once it has visible words.
    has_words: bool,
    /// The length of the visible text before it.
    before: usize,
    is_address_shown: bool,
}

/// The part of a line of code that was read.
#[derive(Clone, Copy, Default)]
struct CodeLine {
    column: usize,
    /// The number of its columns that are blank.
    blank: usize,
    is_in_word: bool,
    /// `true` from the first word to which nobody scrolls.
    is_cut: bool,
}

impl CodeLine {
    fn pass(&mut self, c: char) {
        if matches!(c, '\n' | '\r') {
            *self = Self::default();
        } else if let Some(width) = self.blank_width(c) {
            self.column += width;
            self.blank += width;
            self.is_in_word &= width == 0;
        } else {
            let is_mostly_blank = self.blank > self.column / 2;
            self.is_cut |= !self.is_in_word && self.column > SEEN_COLUMNS && is_mostly_blank;
            self.column += 1;
            self.is_in_word = true;
        }
    }

    /// Returns the columns of a character that is drawn as a space or as nothing.
    fn blank_width(&self, c: char) -> Option<usize> {
        match c {
            '\t' => Some(TAB_WIDTH - self.column % TAB_WIDTH),
            '\u{3000}' => Some(2),
            '\u{2800}' | '\u{3164}' | '\u{ffa0}' => Some(1),
            c if hides(c) => Some(0),
            c => c.is_whitespace().then_some(1),
        }
    }
}

struct Reader<'a> {
    source: &'a str,
    /// The numbers of the footnotes to which the text refers, by their names in lower case.
    footnotes: BTreeMap<String, usize>,
    /// The footnotes whose text is read.
    defined: BTreeSet<String>,
    /// The end of the part of the source that is read.
    done: usize,
    link: Option<OpenLink>,
    markup: Markup,
    unshown: Option<UnshownElement>,
    /// The open elements of small text, and those inside them.
    open: Vec<OpenElement>,
    /// `true` if the text is too small to be read.
    is_tiny: bool,
    /// The line of code that is read.
    line: CodeLine,
    /// The number of Markdown's parts, such as paragraphs, that have not ended.
    parts: usize,
    visible: VisibleText,
}

impl Reader<'_> {
    /// Counts the parts that have not ended. As in a browser, the end of a part also ends any element in it that is not
    /// shown.
    fn count_parts(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => {}
            Event::Start(_) => self.parts += 1,
            Event::End(_) => {
                self.parts = self.parts.saturating_sub(1);
                self.open.retain(|element| element.parts <= self.parts || is_listed(LASTING, &element.name));
                self.measure();
                let ends = |unshown: &UnshownElement| unshown.parts > self.parts && !unshown.has_tags;
                if self.unshown.as_ref().is_some_and(ends) {
                    self.unshown = None;
                }
            }
            _ => {}
        }
    }

    fn event(&mut self, event: Event<'_>, place: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, place),
            Event::End(TagEnd::Link) => self.end_link(place.end),
            Event::End(_) => {}
            Event::FootnoteReference(name) => {
                self.pass_to(place.start);
                let number = self.footnotes.get(&name.to_lowercase()).copied().unwrap_or_default();
                self.show(&format!("[^{number}]"));
                self.done = place.end;
            }
            Event::Html(_) | Event::InlineHtml(_) => {
                self.pass_to(place.start);
                self.html(self.source.get(self.done..place.end).unwrap_or_default());
                self.done = place.end;
            }
            Event::InlineMath(formula) | Event::DisplayMath(formula) if formula.contains(['\\', '%']) => {
                self.picture(place);
            }
            Event::Text(text) if is_unseen(&text) && self.source.as_bytes().get(place.start) == Some(&b'&') => {
                self.pass_to(place.start);
                self.visible.parts.hidden += 1;
                self.done = place.end;
            }
            event => self.words(&event, place),
        }
    }

    fn start(&mut self, tag: Tag<'_>, place: Range<usize>) {
        if let Some(sign) = sign_of_small(&tag) {
            self.pass_to(place.start);
            self.begin(sign);
        }
        match tag {
            Tag::CodeBlock(_) if self.is_tiny => self.done = place.end,
            Tag::CodeBlock(CodeBlockKind::Fenced(info)) => self.fence(&info, place),
            Tag::Image { .. } => self.picture(place),
            Tag::FootnoteDefinition(name) => self.footnote(&name, place),
            Tag::Link { link_type, .. } => {
                self.pass_to(place.start);
                self.link = Some(OpenLink {
                    has_words: false,
                    before: self.visible.text.len(),
                    is_address_shown: matches!(link_type, LinkType::Autolink | LinkType::Email),
                });
            }
            _ => {}
        }
    }

    fn words(&mut self, event: &Event<'_>, place: Range<usize>) {
        if let (Some(link), Event::Text(text) | Event::Code(text)) = (&mut self.link, event) {
            link.has_words |= text.contains(|c: char| c.is_alphanumeric() || c.is_ascii_punctuation());
        }
        self.pass_to(place.start);
        let text = self.source.get(self.done..place.end).unwrap_or_default();
        let is_address = self.link.as_ref().is_some_and(|link| link.is_address_shown);
        match event {
            Event::Code(_) => {
                self.begin("`");
                self.show(text);
                self.end("`");
            }
            Event::InlineMath(_) | Event::DisplayMath(_) => self.show_html(text),
            _ if is_address => self.show_html(text),
            _ => self.show(text),
        }
        self.done = place.end;
    }

    /// Adds to the visible text, unless HTML hides it.
    fn show(&mut self, text: &str) {
        if !matches!(self.markup, Markup::Text) || self.unshown.is_some() || self.is_tiny {
            return;
        }
        if self.open.iter().any(|element| matches!(element.name.as_str(), BLOCK | "pre")) {
            self.show_code(text);
        } else {
            self.visible.text.push_str(text);
            self.line = CodeLine::default();
        }
    }

    /// Adds text of a code block, without the words that wide spaces push out of the page's sight.
    fn show_code(&mut self, text: &str) {
        for c in text.chars() {
            let was_cut = self.line.is_cut;
            self.line.pass(c);
            if !self.line.is_cut {
                self.visible.text.push(c);
            }
            self.visible.parts.hidden += usize::from(self.line.is_cut && !was_cut);
        }
    }

    /// Adds a tag, which takes no room in a line of code.
    fn show_tag(&mut self, end: &str, name: &str) {
        let line = std::mem::take(&mut self.line);
        self.show(&format!("<{end}{name}>"));
        self.line = if matches!(name, "br" | "pre") { CodeLine::default() } else { line };
    }

    /// Adds the source before the next part, reduced to the lines that only hold signs.
    fn pass_to(&mut self, start: usize) {
        let between = self.source.get(self.done..start).unwrap_or_default();
        self.done = self.done.max(start);
        let mut was_hidden = false;
        for line in between.split_inclusive('\n') {
            if is_signs(line) {
                self.show(line);
                was_hidden = false;
            } else {
                self.show(if line.ends_with('\n') { "\n" } else { "" });
                self.visible.parts.hidden += usize::from(!was_hidden);
                was_hidden = true;
            }
        }
    }

    fn picture(&mut self, place: Range<usize>) {
        self.pass_to(place.start);
        self.show(PICTURE);
        if let Some(link) = &mut self.link {
            link.has_words = true;
        }
        self.visible.parts.hidden += 1;
        self.done = place.end;
    }

    /// Adds the first line of a code block, which names the language, or a replacement for the picture that GitHub
    /// draws from the block.
    fn fence(&mut self, info: &str, place: Range<usize>) {
        let language = info.split_whitespace().next().unwrap_or_default();
        if DRAWN.contains(&language.to_ascii_lowercase().as_str()) {
            return self.picture(place);
        }
        self.pass_to(place.start);
        let block = self.source.get(place.clone()).unwrap_or_default();
        let line = block.split('\n').next().unwrap_or_default();
        let signs = line.trim_start_matches(['`', '~']);
        self.show(line.strip_suffix(signs).unwrap_or_default());
        let is_known = LANGUAGES.split(' ').any(|known| known.eq_ignore_ascii_case(language));
        let shown = if is_known { language } else { "" };
        self.show(shown);
        self.visible.parts.hidden += usize::from(shown != info.trim());
        self.done = place.start + line.len();
    }

    /// Adds the number of a footnote; removes the whole footnote if the text does not refer to it.
    fn footnote(&mut self, name: &str, place: Range<usize>) {
        self.pass_to(place.start);
        let name_of = name.to_lowercase();
        // Of two footnotes with the same name, GitHub shows the first.
        if let Some(number) = self.footnotes.get(&name_of).copied().filter(|_| self.defined.insert(name_of)) {
            self.show(&format!("[^{number}]:"));
            self.visible.parts.hidden += usize::from(name != number.to_string());
            let block = self.source.get(place.clone()).unwrap_or_default();
            self.done = place.start + block.find("]:").map_or(0, |at| at + 2);
        } else {
            self.visible.parts.hidden += 1;
            self.done = place.end;
        }
    }

    /// Ends a link: removes its address and title, or the whole link if it shows nothing.
    fn end_link(&mut self, end: usize) {
        let Some(link) = self.link.take() else { return };
        if !link.has_words {
            self.visible.text.truncate(link.before);
            self.visible.parts.hidden += 1;
        } else if link.is_address_shown {
            self.pass_to(end);
        } else {
            let rest = self.source.get(self.done..end).unwrap_or_default();
            self.show(rest.split(']').next().unwrap_or_default());
            self.show("](…)");
            self.visible.parts.hidden += 1;
        }
        self.done = end.max(self.done);
    }

    fn html(&mut self, html: &str) {
        let mut rest = html;
        while !rest.is_empty() {
            rest = match std::mem::replace(&mut self.markup, Markup::Text) {
                Markup::Text => self.html_text(rest),
                Markup::Tag(tag) => self.tag(tag, rest),
                Markup::Until(ends) => {
                    let after = |end: &str| Some(rest.find(end)? + end.len());
                    match ends.into_iter().filter_map(after).min() {
                        Some(at) => rest.get(at..).unwrap_or_default(),
                        None => {
                            self.markup = Markup::Until(ends);
                            ""
                        }
                    }
                }
            };
        }
    }

    /// Adds text up to the next tag or comment. Returns the rest.
    fn html_text<'h>(&mut self, html: &'h str) -> &'h str {
        let (text, rest) = html.split_at(html.find('<').unwrap_or(html.len()));
        self.show_html(text);
        let inner = rest.get(1..).unwrap_or_default();
        let named = inner.strip_prefix('/').unwrap_or(inner);
        if named.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.markup = Markup::Tag(OpenTag::default());
            inner
        } else if let Some(comment) = inner.strip_prefix(['!', '?', '/']) {
            self.visible.parts.hidden += 1;
            let ends = if comment.starts_with("--") { ["-->", "--!>"] } else { [">"; 2] };
            self.markup = Markup::Until(ends);
            comment
        } else {
            self.show(rest.get(..1).unwrap_or_default());
            inner
        }
    }

    /// Adds text of HTML without its references to characters that are drawn as nothing.
    fn show_html(&mut self, text: &str) {
        let mut pieces = text.split('&');
        self.show(pieces.next().unwrap_or_default());
        for piece in pieces {
            match reference_to_nothing(piece) {
                Some(length) => {
                    self.visible.parts.hidden += 1;
                    self.show(piece.get(length..).unwrap_or_default());
                }
                None => {
                    self.show("&");
                    self.show(piece);
                }
            }
        }
    }

    /// Continues to read a tag. Returns the rest.
    fn tag<'h>(&mut self, mut tag: OpenTag, html: &'h str) -> &'h str {
        for (at, c) in html.char_indices() {
            match (tag.quote, c) {
                (None, '>') => {
                    self.end_tag(&tag.text);
                    return html.get(at + 1..).unwrap_or_default();
                }
                (None, '"' | '\'') if tag.text.trim_end().ends_with('=') => tag.quote = Some(c),
                (Some(quote), c) if quote == c => tag.quote = None,
                (None | Some(_), _) => {}
            }
            tag.text.push(c);
        }
        self.markup = Markup::Tag(tag);
        ""
    }

    /// Begins or ends an element that is not shown.
    fn hide(&mut self, name: &str, begins: bool) {
        match &mut self.unshown {
            Some(unshown) if begins => unshown.depth += 1,
            // A browser ignores the end tag while a block is open in the element, so the whole rest is hidden.
            Some(unshown) if unshown.has_blocks || self.parts != unshown.parts => {}
            Some(unshown) => {
                unshown.depth -= 1;
                if unshown.depth == 0 {
                    self.unshown = None;
                }
            }
            None if begins => {
                self.visible.parts.hidden += 1;
                self.unshown = Some(UnshownElement {
                    name: name.to_owned(),
                    depth: 1,
                    parts: self.parts,
                    has_tags: false,
                    has_blocks: false,
                });
            }
            None => {}
        }
    }

    /// Adds the structure that a tag gives to the text.
    fn end_tag(&mut self, tag: &str) {
        let (end, named) = tag.strip_prefix('/').map_or(("", tag), |named| ("/", named));
        let name = named.split(|c: char| c.is_ascii_whitespace() || c == '/').next();
        let name = name.unwrap_or_default().to_ascii_lowercase();
        if let Some(unshown) = self.unshown.as_mut().filter(|unshown| name != unshown.name) {
            let is_void = is_listed(VOID, &name);
            unshown.has_tags |= !is_void;
            unshown.has_blocks |= !is_void && !INLINE.contains(&name.as_str());
            return;
        }
        let attributes = named.get(name.len()..).unwrap_or_default().trim_matches(['/', ' ', '\t', '\n', '\r']);
        let is_open = name == "details" && attributes.eq_ignore_ascii_case("open");
        self.visible.parts.opened += usize::from(name == "details" && end.is_empty() && !is_open);
        self.visible.parts.hidden += usize::from(!is_open && attributes.contains(char::is_alphanumeric));
        if UNSHOWN.contains(&name.as_str()) || self.unshown.is_some() {
            return self.hide(&name, end.is_empty());
        }
        if end.is_empty() {
            self.begin(&name);
        }
        if SHOWN_AS_TEXT.contains(&name.as_str()) {
            self.show(&format!("<{tag}>"));
        } else if name == "img" {
            self.show(PICTURE);
        } else if is_listed(SHAPES, &name) {
            self.show_tag(end, &name);
        } else if !COLLAPSED.contains(&name.as_str()) {
            self.visible.parts.hidden += usize::from(end.is_empty());
        }
        if !end.is_empty() {
            self.end(&name);
        }
    }

    /// Begins an element, if it is small or in a small one.
    fn begin(&mut self, name: &str) {
        let size = SIZES.iter().find(|(known, _)| *known == name).map(|(_, size)| *size);
        if is_listed(VOID, name) || size.is_none() && self.open.is_empty() {
            return;
        }
        // The start of another one ends it.
        if name == "rt" && self.open.last().is_some_and(|last| last.name == name) {
            self.open.pop();
        }
        let was_tiny = self.is_tiny;
        if self.open.len() < MOST_OPEN {
            self.open.push(OpenElement { name: name.to_owned(), size, parts: self.parts });
        }
        self.measure();
        self.visible.parts.hidden += usize::from(self.is_tiny && !was_tiny);
    }

    /// Ends an element as a browser does: without its start, or with a block between, the tag means nothing.
    fn end(&mut self, name: &str) {
        let Some(at) = self.open.iter().rposition(|element| element.name == name) else { return };
        let is_inline = |name: &str| INLINE.contains(&name) || matches!(name, "rt" | "ruby" | "samp" | "small" | "tt");
        let mut inside = self.open.split_off(at).into_iter();
        let Some(ended) = inside.next() else { return };
        let inside: Vec<OpenElement> = inside.collect();
        if is_inline(name) && inside.iter().any(|element| !is_inline(&element.name)) {
            self.open.push(ended);
            self.open.extend(inside);
        } else {
            self.open.extend(inside.into_iter().filter(|element| is_listed(LASTING, &element.name)));
        }
        self.measure();
    }

    /// Measures the text, and forgets what is open where nothing is small.
    fn measure(&mut self) {
        if self.open.iter().all(|element| element.size.is_none()) {
            self.open.clear();
        }
        let size = self.open.iter().fold(100_000, |size, element| size * element.size.unwrap_or(100) / 100);
        self.is_tiny = size < LEAST_SIZE * 1_000 || self.open.len() >= MOST_OPEN;
    }
}

/// Returns the sign in [`SIZES`] of a part of Markdown with small text.
fn sign_of_small(tag: &Tag<'_>) -> Option<&'static str> {
    match tag {
        Tag::Heading { level: HeadingLevel::H5, .. } => Some("#####"),
        Tag::Heading { level: HeadingLevel::H6, .. } => Some("######"),
        Tag::CodeBlock(_) => Some(BLOCK),
        Tag::FootnoteDefinition(_) => Some("[^"),
        _ => None,
    }
}

fn is_listed(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}

/// `true` if a line holds only Markdown's signs, which include the numbers of a list.
fn is_signs(line: &str) -> bool {
    let is_sign = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric();
    let mut numbers = 0;
    line.split_whitespace().all(|word| {
        let is_number = word
            .strip_suffix(['.', ')'])
            .is_some_and(|digits| digits.len() <= LONGEST_NUMBER && digits.bytes().all(|byte| byte.is_ascii_digit()));
        numbers += usize::from(is_number);
        is_number && numbers <= MOST_NUMBERS || word.chars().all(is_sign)
    })
}

#[cfg(test)]
mod tests {
    use super::{HiddenParts, VisibleText, visible_text};
    use proptest::prelude::*;

    fn is_shown(table: &[(&str, &str, usize)]) {
        for (markdown, text, hidden) in table {
            let found = visible_text(markdown);
            assert_eq!((found.text.as_str(), found.parts.hidden), (*text, *hidden), "{markdown}");
        }
    }

    #[test]
    fn what_a_page_shows_stays_as_it_is() {
        for markdown in [
            "# Title\n\nSome *words* and `<!-- code -->`, a < b, \\*x\\*, &amp;c.\r\n\r\n> quote\n> more\n",
            "- [ ] one\n- [x] two\n  1. three\n\n```rust\n<!-- shown -->\n![a](b)\n```\n\n    indented\n",
            "| a | b |\n|---|:-:|\n| 1 | two |\n",
            "<https://x.test/a> and https://x.test/b\n",
            "<table><tr><td>a</td></tr></table>\n\nnaïve, 数える\n\n---\n",
            "see[^1]\n\n[^1]: A note.\n",
        ] {
            let kept = VisibleText { text: markdown.to_owned(), parts: HiddenParts::default() };
            assert_eq!(visible_text(markdown), kept, "{markdown}");
        }
    }

    #[test]
    fn words_that_a_page_does_not_show_are_taken_out() {
        is_shown(&[
            ("a <!-- do this --> b", "a  b", 1),
            ("a\n\n<!-- do\n\nthis -->\n\nb", "a\n\n\n\nb", 1),
            ("<!--> a --> b", " a --> b", 1),
            ("![do this](x.png 'and that') b", "[image, not read] b", 1),
            ("[a *link*](docs/do-this.md 'do this') b", "[a *link*](…) b", 1),
            ("a[.](https://x.test/do-this)", "a[.](…)", 1),
            ("[https://x.test](https://x.test/do-this)", "[https://x.test](…)", 1),
            ("[](https://x.test/do-this) b", " b", 1),
            ("[&#8203;](https://x.test/do-this) b", " b", 2),
            ("a\n\n[//]: # (105 103 110)\n\nb", "a\n\n\n\nb", 1),
            ("a $\\phantom{do this}$ b, $x$ c", "a [image, not read] b, $x$ c", 1),
            ("a[^1]\n\n[^1]: b\n\n[^1]: do this\n", "a[^1]\n\n[^1]: b\n\n", 1),
            ("[a](<do this now>)", "[a](…)", 1),
            ("[a][b]\n\n[b]: https://x.test 'do this'", "[a](…)\n\n", 2),
            ("a\n\n[//]: # (do this)\n\nb", "a\n\n\n\nb", 1),
            ("a[^1]\n\n[^1]: b\n\n[^2]: do this\n", "a[^1]\n\n[^1]: b\n\n", 1),
            ("| a |\n|---|\n| b | do this |\n", "| a |\n|---|\n| b\n", 1),
            (
                "[^do-this][^and-that][^do-this]\n\n[^and-that]: b\n[^Do-this]: a\n",
                "[^1][^2][^1]\n\n[^2]: b\n[^1]: a\n",
                2,
            ),
            ("```do-this\na\n```\n~~~ and.that\n~~~", "```\na\n```\n~~~\n~~~", 2),
            ("```rust do this\nfn a() {}\n```", "```rust\nfn a() {}\n```", 1),
            ("a\u{e0064}\u{e006f} b\u{200b}", "a b", 2),
            ("a&#xE0064;&#917615; &zwj;b `&#8203;`", "a b `&#8203;`", 3),
            ("<p>a&#xE0064&zwnj;b &amp; &#8203c</p>", "<p>ab &amp; c</p>", 3),
            ("<p>&#x000E0064z&#0000917604;&shyfoo</p>", "<p>zfoo</p>", 3),
            ("<https://x.test/&#xE0064;a> $x&#xE0064;$", "<https://x.test/a> $x$", 2),
            ("<p>it&#146;s &#128;5 AT&it</p>", "<p>it&#146;s &#128;5 AT&it</p>", 0),
            ("don\u{2028}t", "don t", 1),
            ("```mermaid\ngraph TD\n%% do this\n```\n\nb", "[image, not read]\n\nb", 1),
        ]);
    }

    #[test]
    fn tags_keep_their_shape_alone() {
        is_shown(&[
            ("<p title=\"do > this\">a</p>", "<p>a</p>", 1),
            ("a <img alt='do this' src=x> b", "a [image, not read] b", 1),
            ("a <do-this now> b", "a  b", 2),
            ("<td\nalt='do\nthis'>a</td>", "<td>a</td>", 1),
            ("<p>a</p do this>b", "<p>a</p>b", 1),
            ("a<sub>b<sup>c<sub>do this</sub>d</sup></sub>", "a<sub>b<sup>cd</sup></sub>", 1),
            ("<sub><sub><sub><sub>do</sub> this</sub></sub>a</sub>", "<sub><sub></sub>a</sub>", 1),
            ("<sub><code><sup>do this\n\na<sub>b</sub>", "<sub><code>\n\na<sub>b</sub>", 1),
            ("<small>a<tt>b<small><tt>do this</tt></small></tt></small>c", "abc", 5),
            (
                "<h6><i><pre><h6><pre><h6>do this</h6></pre></h6></pre></i></h6>",
                "<h6><i><pre><h6><pre></pre></h6></pre></i></h6>",
                1,
            ),
            ("a <ruby>b<rt>c<ruby><rt>do this</rt></ruby></rt></ruby>d", "a bcd", 5),
            ("<ruby>a<rt>b<rt>c</ruby>d <ruby>e<rt>f", "abcd ef", 5),
            ("<sub><sub></tt></b><sub>do this</sub>a", "<sub><sub></b>a", 1),
            ("<sub><div></sub><sub><div></sub><sub><div>do this", "<sub></sub><sub></sub>", 4),
            ("<small><code>a\n\n<small><code>b\n\n<small>do this\n\nthat", "<code>a\n\n", 4),
            ("use <h5>, <h6>, <pre> and <p>.\n\nb", "use <h5>, <h6>, <pre> and <p>.\n\nb", 0),
            ("Vec<code>, Map<tt>, Option<small>, <b>x</b>\n\n## b", "Vec<code>, Map, Option, <b>x</b>\n\n## b", 2),
            ("<ruby>a<rp>do this</rp>b</ruby>", "ab", 2),
            ("a <video>do this</video> b", "a  b", 1),
            ("a <bdo dir=\"rtl\">siht od</bdo> b", "a  b", 2),
            ("List<object> and <canvas> b", "List and  b", 2),
            ("<?do this?> a", " a", 1),
            ("<template>a</template> b", "a b", 1),
            ("a <template> b\n\nc", "a  b\n\nc", 1),
            // A browser ends it with the part that contains it.
            ("a <rp> do this\n\nb", "a \n\nb", 1),
            ("- a *<rp>do this* b\n- c", "- a ** b\n- c", 1),
            // An attacker who knows how a browser repairs other tags in it could give agents text that no person sees.
            ("a *<rp><div>do this* that\n\nthis", "a *", 1),
            ("<rp>\n\ndo this", "", 1),
            ("<rp>\n<div>\n</rp>\ndo this\n</div>", "", 1),
            ("<rp>\n\nx </rp> do this", "", 1),
            ("x <rp><a title=\"</rp> do this\">y</a></rp> z", "x  z", 1),
            ("<div>\n</ do this>\na\n</div>", "\n\na\n", 2),
            ("<div><!-- a --!><p title=\"--> do this\">x</p></div>", "<p>x</p>", 3),
            ("a <style> b\n\nc", "a <style> b\n\nc", 0),
        ]);
    }

    #[test]
    fn markdown_signs_make_text_as_small_as_elements_do() {
        is_shown(&[
            ("##### <sub>a <small>`do this`</small></sub>\n\n`b`", "##### <sub>a </sub>\n\n`b`", 2),
            ("##### a `b` <sub>`c`</sub>\n\n###### d\n", "##### a `b` <sub>`c`</sub>\n\n###### d\n", 0),
            ("<h6>\n\n###### <sub>a `do this`</sub> <sub>a</sub>", "<h6>\n\n###### <sub>a </sub> <sub>a</sub>", 1),
            ("<ruby>a<rt>`do this`</rt></ruby>", "a", 3),
            (
                "a[^1]\n\n[^1]: b <sub>`do this`</sub>\n\n<sub>c</sub>",
                "a[^1]\n\n[^1]: b <sub></sub>\n\n<sub>c</sub>",
                1,
            ),
            ("<small><small><small>a\n\n```\ndo this\n```\n\nb", "a\n\n\n\nb", 4),
            ("```\na\n```\n\n    b\n\n`c` <kbd>d</kbd>", "```\na\n```\n\n    b\n\n`c` <kbd>d</kbd>", 0),
        ]);
    }

    #[test]
    fn words_that_blanks_push_out_of_sight_are_removed_from_code() {
        for blank in [" ".repeat(130), "\t".repeat(16), "\u{3000}".repeat(65)] {
            let table = (format!("```\na{blank}do this\nb\n```"), format!("```\na{blank}\nb\n```"));
            is_shown(&[(&table.0, &table.1, 1)]);
        }
        let (half, unseen) = (" ".repeat(65), "\u{2800}".repeat(130));
        is_shown(&[
            (&format!("```\na{unseen}do this\n```"), "```\na\n```", 2),
            (&format!("```\n{half}.{half}do this\n```"), &format!("```\n{half}.{half}\n```"), 1),
            (&format!("```\n{half}\u{200b}{half}do\n```"), &format!("```\n{half}{half}\n```"), 2),
            (&format!("<pre>{half}<b></b>{half}do</pre>"), &format!("<pre>{half}<b></b>{half}</pre>"), 1),
        ]);
    }

    #[test]
    fn ordinary_lines_of_code_stay_as_they_are() {
        let (tabs, wide, dots) = ("\t".repeat(8), " ".repeat(100), ".".repeat(100));
        for code in [
            format!("{dots}{wide}[ 50%]"),
            format!("{wide}^^^ a caret"),
            format!("+{tabs}a\n-{tabs}b"),
            format!("a{wide}{wide}\nb"),
        ] {
            let markdown = format!("```\n{code}\n```\n\n| a{wide}{wide}b |\n|---|\n");
            is_shown(&[(&markdown, &markdown, 0)]);
        }
        let lines = format!("<pre>{wide}a<br>{wide}b</pre>");
        is_shown(&[(&lines, &lines, 0)]);
    }

    #[test]
    fn elements_without_content_do_not_prolong_what_is_not_shown() {
        is_shown(&[
            ("a\n\n<video controls><source src=\"a.mp4\"></video>\n\nb", "a\n\n\n\nb", 2),
            ("a <video><track><br/>do this<img></video> b", "a  b", 1),
        ]);
    }

    /// The paragraphs are inside a comment or a value that a browser reads to its end.
    #[test]
    fn what_never_ends_hides_the_rest() {
        is_shown(&[
            ("a\n\n<div>\n<!-- do\n\nthis\n\n*and* that", "a\n\n\n", 2),
            ("a\n\n<p title=\"do\n\nthis\n", "a\n\n", 1),
        ]);
    }

    #[test]
    fn collapsed_blocks_are_opened_and_counted() {
        let found = visible_text(
            "<details>\n<summary>Log</summary>\n\nit *fails*\n\n</details>\n\n<details open>b</details>\n<DETAILS class='x'>c</details>",
        );
        let text = "\nLog\n\nit *fails*\n\n\n\nb\nc";
        assert_eq!(found, VisibleText { text: text.to_owned(), parts: HiddenParts { hidden: 1, opened: 2 } });
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_fail(text in "[ \n`~>#*a/<!\\[\\]()\"'=|:^\\-é]{0,80}") {
            let found = visible_text(&text);
            prop_assert!(found.text.len() <= text.len() * 20);
        }
    }
}
