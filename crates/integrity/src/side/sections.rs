//! A settings file as sections of keys, each with its own text, and the merge of two of them.

/// A part of a file under one header. The text before the first header is a section without one.
#[derive(Debug)]
pub(super) struct Section<'t> {
    pub(super) path: Vec<String>,
    /// The number of earlier sections with the same path.
    nth: usize,
    header: &'t str,
    entries: Vec<Entry<'t>>,
}

/// A key and its value, with the comments above.
#[derive(Debug)]
struct Entry<'t> {
    /// The names of the section and of the key.
    path: Vec<String>,
    text: &'t str,
}

pub(super) enum Line {
    /// It begins a section.
    Header(Vec<String>),
    /// It begins a key; the names are those inside its section.
    Key(Vec<String>),
    /// It goes on with the key above.
    Continued,
    /// It is empty or a comment.
    Comment,
}

/// The most sections of a file that people write.
const MOST: usize = 2_000;

/// Splits a text into sections; `None` if it has too many, or a line cannot be read. `read` is given each line with its place in the text.
pub(super) fn sections<'t>(
    text: &'t str,
    mut read: impl FnMut(usize, &'t str) -> Option<Line>,
) -> Option<Vec<Section<'t>>> {
    let mut starts: Vec<(usize, Line)> = Vec::new();
    let (mut at, mut comments) = (0_usize, None);
    for line in text.split_inclusive('\n') {
        match read(at, line)? {
            Line::Comment => comments = comments.or(Some(at)),
            Line::Continued => comments = None,
            begins @ (Line::Header(_) | Line::Key(_)) => starts.push((comments.take().unwrap_or(at), begins)),
        }
        at = at.saturating_add(line.len());
    }
    starts.extend(comments.map(|from| (from, Line::Comment)));
    let headers = starts.iter().filter(|(_, line)| matches!(line, Line::Header(_))).count();
    (headers <= MOST).then(|| collect(text, starts))
}

fn collect(text: &str, starts: Vec<(usize, Line)>) -> Vec<Section<'_>> {
    let ends: Vec<usize> = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]).collect();
    let mut sections: Vec<Section<'_>> = vec![Section { path: Vec::new(), nth: 0, header: "", entries: Vec::new() }];
    for ((start, line), end) in starts.into_iter().zip(ends) {
        let text = text.get(start..end).unwrap_or_default();
        let (names, section) = match (line, sections.last_mut()) {
            (Line::Header(path), _) => {
                let nth = sections.iter().filter(|section| section.path == path).count();
                sections.push(Section { path, nth, header: text, entries: Vec::new() });
                continue;
            }
            (Line::Key(names), Some(section)) => (names, section),
            (Line::Comment | Line::Continued, Some(section)) => (Vec::new(), section),
            (_, None) => continue,
        };
        let path = section.path.iter().cloned().chain(names).collect();
        section.entries.push(Entry { path, text });
    }
    sections
}

/// Returns the product's text with its tests' keys replaced by those of the other version.
pub(super) fn merged(
    product: &[Section<'_>],
    tests: &[Section<'_>],
    is_of_tests: &dyn Fn(&[String]) -> bool,
) -> String {
    let is_whole = |section: &&Section<'_>| !section.path.is_empty() && is_of_tests(&section.path);
    let mut whole = tests.iter().filter(is_whole).peekable();
    let mut text = Text::default();
    for section in product {
        if is_whole(&section) {
            whole.by_ref().for_each(|section| text.section(section, |_| true));
            continue;
        }
        let twin = tests.iter().find(|other| (&other.path, other.nth) == (&section.path, section.nth));
        let mut put = twin.into_iter().flat_map(|twin| &twin.entries).filter(|entry| is_of_tests(&entry.path));
        text.push(section.header);
        let end = section.entries.last().filter(|entry| entry.path == section.path);
        for entry in &section.entries {
            if is_of_tests(&entry.path) || end.is_some_and(|end| std::ptr::eq(end, entry)) {
                put.by_ref().for_each(|entry| text.push(entry.text));
            }
            if !is_of_tests(&entry.path) {
                text.push(entry.text);
            }
        }
        put.for_each(|entry| text.push(entry.text));
    }
    let is_here =
        |section: &Section<'_>| product.iter().any(|own| (&own.path, own.nth) == (&section.path, section.nth));
    let has_some = |section: &Section<'_>| section.entries.iter().any(|entry| is_of_tests(&entry.path));
    for section in tests.iter().filter(|section| !is_whole(section) && !is_here(section) && has_some(section)) {
        text.section(section, |entry| is_of_tests(&entry.path));
    }
    whole.for_each(|section| text.section(section, |_| true));
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn push(&mut self, part: &str) {
        if !part.is_empty() && !self.0.is_empty() && !self.0.ends_with('\n') {
            self.0.push('\n');
        }
        self.0.push_str(part);
    }

    fn section(&mut self, section: &Section<'_>, is_wanted: impl Fn(&Entry<'_>) -> bool) {
        self.push(section.header);
        let wanted = section.entries.iter().filter(|entry| is_wanted(entry));
        wanted.for_each(|entry| self.push(entry.text));
    }
}
