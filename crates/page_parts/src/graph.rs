//! Draws boxes in columns, with lines between them, as SVG.

use maud::{Markup, html};
use std::collections::BTreeMap;

/// The sizes of a box, of the gaps between boxes, and of the row of column titles, in pixels.
const WIDTH: usize = 190;
const HEIGHT: usize = 58;
const BESIDE: usize = 48;
const BELOW: usize = 16;
const TOP: usize = 26;
/// The most characters in a line of a box.
const LINE: usize = 26;

/// The graph to draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The columns, from left to right.
    pub columns: Vec<Column>,
    /// The lines, each from a box to a box, by their ids.
    pub edges: Vec<(String, String)>,
}

/// A column of boxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// The title above them.
    pub title: String,
    /// The boxes.
    pub boxes: Vec<Node>,
}

/// One box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The id by which lines name it.
    pub id: String,
    /// The first line, in bold.
    pub name: String,
    /// The second line.
    pub about: String,
    /// The third line: its state.
    pub state: String,
    /// Its colour: `pending`, `working`, `approved`, `completed`, `blocked` or `gone`.
    pub colour: String,
    /// The address that a click leads to.
    pub href: Option<String>,
}

/// Draws the graph; returns nothing if there are no boxes. The element ids of its links begin with `id`. Screen readers
/// announce it as `label`.
pub fn draw(id: &str, label: &str, graph: &Graph) -> Markup {
    let tallest = graph.columns.iter().map(|column| column.boxes.len()).max().unwrap_or(0);
    if tallest == 0 {
        return html! {};
    }
    let width = graph.columns.len() * (WIDTH + BESIDE) - BESIDE + 4;
    let height = TOP + tallest * (HEIGHT + BELOW);
    let left = |column: usize| 2 + column * (WIDTH + BESIDE);
    let mut places: BTreeMap<&str, Point> = BTreeMap::new();
    for (at, column) in graph.columns.iter().enumerate() {
        for (row, one) in column.boxes.iter().enumerate() {
            places.insert(&one.id, Point { x: left(at), y: TOP + row * (HEIGHT + BELOW) });
        }
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            svg.waves role="group" aria-label=(in_words(graph)) width=(width) height=(height)
                viewBox=(format!("0 0 {width} {height}")) {
                @for (at, column) in graph.columns.iter().enumerate() {
                    text.wave x=(left(at)) y="16" { (column.title) }
                }
                @for (from, to) in &graph.edges {
                    @if let (Some(from), Some(to)) = (places.get(from.as_str()), places.get(to.as_str())) {
                        path.edge d=(edge(*from, *to)) {}
                    }
                }
                @for one in graph.columns.iter().flat_map(|column| &column.boxes) {
                    @if let Some(place) = places.get(one.id.as_str()) { (node(id, one, *place)) }
                }
            }
        }
    }
}

/// The upper left corner of a box.
#[derive(Clone, Copy)]
struct Point {
    x: usize,
    y: usize,
}

fn node(graph: &str, one: &Node, Point { x, y }: Point) -> Markup {
    let drawn = html! {
        rect x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="6" {}
        text.id x=(x + 10) y=(y + 18) { (short(&one.name)) }
        text x=(x + 10) y=(y + 34) { (short(&one.about)) }
        text.state x=(x + 10) y=(y + 50) { (short(&one.state)) }
    };
    html! {
        @match &one.href {
            Some(href) => { a id=(format!("{graph}-{}", one.id)) href=(href) class=(one.colour) { (drawn) } }
            None => { g class=(one.colour) { (drawn) } }
        }
    }
}

fn edge(from: Point, to: Point) -> String {
    let (x1, y1, x2, y2) = (from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2);
    let middle = usize::midpoint(x1, x2);
    format!("M{x1} {y1} C{middle} {y1} {middle} {y2} {x2} {y2}")
}

fn in_words(graph: &Graph) -> String {
    let one = |one: &Node| {
        if one.state.is_empty() { one.name.clone() } else { format!("{} {}", one.name, one.state) }
    };
    let column = |column: &Column| {
        let boxes: Vec<String> = column.boxes.iter().map(one).collect();
        format!("{}: {}.", column.title, boxes.join(", "))
    };
    graph.columns.iter().map(column).collect::<Vec<_>>().join(" ")
}

fn short(name: &str) -> String {
    if name.chars().count() > LINE {
        format!("{}…", name.chars().take(LINE).collect::<String>().trim_end())
    } else {
        name.to_owned()
    }
}
