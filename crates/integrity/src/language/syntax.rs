//! Syntax trees of untrusted files: parsed within limits, stored flat, traversed without recursion.

use crate::words::is_one_of;
use std::{
    collections::{BTreeSet, HashMap},
    ops::{ControlFlow, Range},
};
use tree_sitter::{
    ParseOptions, ParseState, Parser, Query, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator, Tree,
};

/// The largest file that is parsed, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// The most progress reports of the parser, about one per hundred steps of its work.
const MOST_STEPS: usize = 60_000;
const MOST_NODES: usize = 600_000;
/// The most progress reports of a query.
const MOST_QUERY_STEPS: usize = 200_000;
/// The deepest nesting; people's code is never deeper.
const DEEPEST: usize = 500;
/// The kinds of string literals, as the grammars call them: with quotation marks as their first and last part, and as a
/// whole.
const QUOTED: &str = "string_literal string template_string interpreted_string_literal";
const RAW: &str = "raw_string_literal";

/// A parsed file.
pub struct Syntax<'s> {
    text: &'s str,
    nodes: Vec<Node<'s>>,
    tree: Tree,
    /// The index of each node by its id in the tree.
    places: HashMap<usize, usize>,
}

/// One node. Nodes are ordered by where they begin.
struct Node<'s> {
    kind: &'s str,
    field: Option<&'s str>,
    start: usize,
    end: usize,
    line: u32,
    parent: Option<usize>,
    previous: Option<usize>,
    /// The index of the first node after all its descendants.
    next: usize,
    named: bool,
    extra: bool,
}

/// A node of a parsed file.
#[derive(Clone, Copy)]
pub struct At<'t> {
    tree: &'t Syntax<'t>,
    index: usize,
}

/// Parses `text`; `None` if it is too large, too deep or takes too long.
pub fn parse<'s>(grammar: &'s tree_sitter::Language, text: &'s str) -> Option<Syntax<'s>> {
    if text.len() > MOST_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(grammar).ok()?;
    let bytes = text.as_bytes();
    let mut steps = 0_usize;
    let mut watch = |_: &ParseState| within(MOST_STEPS, &mut steps);
    let options = ParseOptions::new().progress_callback(&mut watch);
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options))?;
    let (nodes, places) = flatten(grammar, &tree)?;
    Some(Syntax { text, nodes, tree, places })
}

/// Counts a progress report; breaks off after too many.
fn within(most: usize, steps: &mut usize) -> ControlFlow<()> {
    *steps = steps.saturating_add(1);
    if *steps > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The nodes ordered by where they begin, and the index of each by its id.
type Flat<'s> = (Vec<Node<'s>>, HashMap<usize, usize>);

fn flatten<'s>(grammar: &'s tree_sitter::Language, tree: &Tree) -> Option<Flat<'s>> {
    let mut cursor = tree.walk();
    let mut nodes: Vec<Node<'s>> = Vec::new();
    let mut places = HashMap::new();
    let mut open: Vec<usize> = Vec::new();
    let mut previous = None;
    loop {
        let node = cursor.node();
        if nodes.len() >= MOST_NODES || open.len() >= DEEPEST {
            return None;
        }
        nodes.push(Node {
            kind: grammar.node_kind_for_id(node.kind_id()).unwrap_or("ERROR"),
            field: cursor.field_id().and_then(|id| grammar.field_name_for_id(id.get())),
            start: node.start_byte(),
            end: node.end_byte(),
            line: u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1),
            parent: open.last().copied(),
            previous,
            next: 0,
            named: node.is_named(),
            extra: node.is_extra(),
        });
        let index = nodes.len().saturating_sub(1);
        places.insert(node.id(), index);
        if cursor.goto_first_child() {
            open.push(index);
            previous = None;
            continue;
        }
        close(&mut nodes, index);
        previous = Some(index);
        while !cursor.goto_next_sibling() {
            let Some(parent) = open.pop() else {
                return Some((nodes, places));
            };
            close(&mut nodes, parent);
            previous = Some(parent);
            if !cursor.goto_parent() {
                return Some((nodes, places));
            }
        }
    }
}

/// Records that a node has no further descendants.
fn close(nodes: &mut [Node<'_>], index: usize) {
    let next = nodes.len();
    if let Some(node) = nodes.get_mut(index) {
        node.next = next;
    }
}

impl Syntax<'_> {
    /// Returns the root, which spans the whole file.
    pub fn root(&self) -> At<'_> {
        At { tree: self, index: 0 }
    }

    /// Returns the matches of a query: for each, the numbers of its captures and their nodes.
    pub(crate) fn matches<'t>(&'t self, query: &Query) -> Vec<Vec<(u32, At<'t>)>> {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(10_000);
        let mut steps = 0_usize;
        let mut watch = |_: &QueryCursorState| within(MOST_QUERY_STEPS, &mut steps);
        let options = QueryCursorOptions::new().progress_callback(&mut watch);
        let mut found = cursor.matches_with_options(query, self.tree.root_node(), self.text.as_bytes(), options);
        let mut matches = Vec::new();
        while let Some(one) = found.next() {
            let captures = one.captures().iter().filter_map(|capture| {
                let index = *self.places.get(&capture.node.id())?;
                Some((capture.index, At { tree: self, index }))
            });
            matches.push(captures.collect());
        }
        matches
    }
}

impl<'t> At<'t> {
    fn node(self) -> Option<&'t Node<'t>> {
        self.tree.nodes.get(self.index)
    }

    /// Returns the grammar's name for its kind.
    pub fn kind(self) -> &'t str {
        self.node().map_or("", |node| node.kind)
    }

    /// `true` if it is named in the grammar, unlike punctuation and keywords.
    pub fn is_named(self) -> bool {
        self.node().is_some_and(|node| node.named)
    }

    /// `true` if it is of one of these kinds.
    pub fn is(self, kinds: &[&str]) -> bool {
        kinds.contains(&self.kind())
    }

    /// `true` if it is of one of these kinds, which have blanks between them.
    pub fn is_one_of(self, kinds: &str) -> bool {
        is_one_of(kinds, self.kind())
    }

    pub fn text(self) -> &'t str {
        self.tree.text.get(self.range()).unwrap_or_default()
    }

    /// Returns its byte range in the file.
    pub fn range(self) -> Range<usize> {
        self.node().map_or(0..0, |node| node.start..node.end)
    }

    /// Returns the line on which it begins; the first is 1.
    pub fn line(self) -> u32 {
        self.node().map_or(1, |node| node.line)
    }

    /// Returns its index among the nodes of the file, in text order.
    pub fn index(self) -> usize {
        self.index
    }

    /// `true` if it is the same node as another of the same tree.
    pub fn is_same(self, other: Self) -> bool {
        self.index == other.index
    }

    /// `true` if `other` is this node or a descendant.
    pub fn holds(self, other: Self) -> bool {
        self.index <= other.index && other.index < self.node().map_or(0, |node| node.next)
    }

    pub fn parent(self) -> Option<Self> {
        let index = self.node()?.parent?;
        Some(Self { index, ..self })
    }

    /// Returns its previous sibling, skipping comments.
    pub fn previous(self) -> Option<Self> {
        let before = |at: &Self| Some(Self { index: at.node()?.previous?, ..self });
        let mut above = std::iter::successors(before(&self), before);
        above.find(|at| at.node().is_some_and(|node| !node.extra))
    }

    /// Returns its next sibling, skipping comments.
    pub fn next(self) -> Option<Self> {
        let after = |at: &Self| {
            let (node, index) = (at.node()?, at.node()?.next);
            let is_sibling = self.tree.nodes.get(index)?.parent == node.parent;
            is_sibling.then_some(Self { index, ..self })
        };
        let mut below = std::iter::successors(after(&self), after);
        below.find(|at| at.node().is_some_and(|node| !node.extra))
    }

    /// Returns its ancestors, nearest first.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), |at| at.parent())
    }

    /// Returns its children without comments, but with keywords and punctuation.
    pub fn parts(self) -> impl Iterator<Item = Self> {
        self.everything().filter(|at| at.node().is_some_and(|node| !node.extra))
    }

    /// Returns its named children without comments.
    pub fn children(self) -> impl Iterator<Item = Self> {
        self.parts().filter(|at| at.node().is_some_and(|node| node.named))
    }

    /// Returns all its children, including comments.
    pub fn everything(self) -> impl Iterator<Item = Self> {
        let end = self.node().map_or(0, |node| node.next);
        let mut index = self.index.saturating_add(1);
        std::iter::from_fn(move || {
            let at = Self { index, ..self };
            let node = (index < end).then(|| at.node()).flatten()?;
            index = node.next.max(index.saturating_add(1));
            Some(at)
        })
    }

    /// Returns the child in a field of the grammar.
    pub fn field(self, name: &str) -> Option<Self> {
        self.everything().find(|at| at.node().is_some_and(|node| node.field == Some(name)))
    }

    /// Returns the text of the child in a field of the grammar; empty if there is none.
    pub fn field_text(self, name: &str) -> &'t str {
        self.field(name).map_or("", Self::text)
    }

    /// Returns itself and all descendants in text order, including comments.
    pub fn below(self) -> impl Iterator<Item = Self> {
        let end = self.node().map_or(0, |node| node.next);
        (self.index..end).map(move |index| Self { index, ..self })
    }

    /// Returns itself and those descendants that are wanted and not inside another wanted one.
    pub fn outermost(self, is_wanted: impl Fn(Self) -> bool) -> Vec<Self> {
        let mut outermost: Vec<Self> = Vec::new();
        for at in self.below() {
            if !outermost.last().is_some_and(|outer| outer.holds(at)) && is_wanted(at) {
                outermost.push(at);
            }
        }
        outermost
    }

    /// `true` if it is a leaf with a meaning: not a comment or a separator.
    fn is_word(self) -> bool {
        let leaf = self.node().is_some_and(|node| node.next == self.index.saturating_add(1) && !node.extra);
        leaf && !matches!(self.text(), "," | ";" | "(" | ")" | "")
    }

    /// Returns its words: no comments, no layout, no separators, and all quotation marks alike. The text of a literal is
    /// one word, exactly as it is written.
    pub fn words(self) -> Vec<String> {
        self.words_without(&BTreeSet::new())
    }

    /// Returns its words without those of the nodes with these indices.
    pub fn words_without(self, left_out: &BTreeSet<usize>) -> Vec<String> {
        let mut words = Vec::new();
        let mut until = self.index;
        for at in self.below() {
            if at.index < until {
                continue;
            }
            if let Some(node) = at.node().filter(|node| node.extra || left_out.contains(&at.index)) {
                until = node.next;
            } else if let Some(node) = at.node().filter(|node| is_one_of(QUOTED, node.kind)) {
                until = node.next;
                words.extend(at.literal_words(left_out));
            } else if let Some(node) = at.node().filter(|node| node.kind == RAW) {
                until = node.next;
                words.push(at.text().to_owned());
            } else if at.is_word() {
                words.push(alike(at.text().trim()).to_owned());
            }
        }
        words
    }

    /// Returns the words of a string literal: its marks, the words of the code in it, and the text between as it is.
    fn literal_words(self, left_out: &BTreeSet<usize>) -> Vec<String> {
        let parts: Vec<Self> = self.everything().collect();
        let [opening, inside @ .., closing] = parts.as_slice() else {
            return vec![self.text().to_owned()];
        };
        let mut words = vec![alike(opening.text()).to_owned()];
        let mut from = opening.range().end;
        let text = |range: Range<usize>| self.tree.text.get(range).filter(|text| !text.is_empty()).map(str::to_owned);
        let is_code = |part: &&Self| part.is(&["interpolation", "template_substitution"]);
        for code in inside.iter().filter(is_code) {
            words.extend(text(from..code.range().start));
            words.extend(code.words_without(left_out));
            from = code.range().end;
        }
        words.extend(text(from..closing.range().start));
        words.push(alike(closing.text()).to_owned());
        words
    }

    /// Returns its words joined by blanks.
    pub fn phrase(self) -> String {
        self.words().join(" ")
    }
}

/// Returns one spelling for all simple quotation marks.
fn alike(mark: &str) -> &str {
    match mark {
        "'" | "`" => "\"",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_walked_as_it_was_written() {
        let text = "fn a() { /* no */ b(1, 'x'); }\nfn c() {}\n";
        let grammar = tree_sitter_rust::LANGUAGE.into();
        let tree = parse(&grammar, text).unwrap();
        let functions: Vec<_> = tree.root().children().map(|at| (at.field_text("name"), at.line())).collect();
        assert_eq!(functions, [("a", 1), ("c", 2)]);
        let body = tree.root().children().next().and_then(|at| at.field("body")).unwrap();
        assert_eq!(body.phrase(), "{ b 1 \" x \" }".replace("\" x \"", "'x'"));
        assert!(tree.root().holds(body) && body.ancestors().count() == 2);
    }

    #[test]
    fn the_text_of_a_literal_is_compared_as_it_is() {
        let words = |grammar: tree_sitter::Language, text: &str| parse(&grammar, text).unwrap().root().words();
        let grammars: [(tree_sitter::Language, &[&str]); 4] = [
            (
                tree_sitter_rust::LANGUAGE.into(),
                &["fn a() { b(\"<>\"); }", "fn a() { b(r#\"<>\"#); }", "fn a() { b!(\"<>\"); }"],
            ),
            (tree_sitter_python::LANGUAGE.into(), &["a(\"<>\")", "a('<>')", "a(f'<>{b}<>')", "a(\"\"\"<>\"\"\")"]),
            (tree_sitter_javascript::LANGUAGE.into(), &["a(\"<>\");", "a('<>');", "a(`<>${b}<>`);"]),
            (tree_sitter_go::LANGUAGE.into(), &["package a\nvar b = \"<>\"", "package a\nvar b = `<>`"]),
        ];
        let texts = [" ", "  ", "x", " x", "x ", "x  y", "x y", ",", ";", ")", "a\\nb", "c\\nb", "a\\n b"];
        for (grammar, forms) in grammars {
            for form in forms {
                let all: BTreeSet<Vec<String>> =
                    texts.iter().map(|text| words(grammar.clone(), &form.replace("<>", text))).collect();
                assert_eq!(all.len(), texts.len(), "{form}: {all:?}");
            }
        }
        let quotes = |text: &str| words(tree_sitter_javascript::LANGUAGE.into(), text);
        assert_eq!(quotes("a('x y');"), quotes("a(  \"x y\"  );"));
    }

    #[test]
    fn what_no_person_writes_is_not_parsed() {
        let grammar = tree_sitter_rust::LANGUAGE.into();
        let deep = format!("fn a() {{ {}1{} }}", "(".repeat(5_000), ")".repeat(5_000));
        assert!(parse(&grammar, &deep).is_none());
        assert!(parse(&grammar, &" ".repeat(MOST_BYTES + 1)).is_none());
        assert!(parse(&grammar, "fn \u{fffd} ((( {{{ \0").is_some());
    }
}
