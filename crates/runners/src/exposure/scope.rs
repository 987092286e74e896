//! Knows the values in a workflow that it says itself, so that expressions which name them hold no text of a person. A step
//! that could change one of them is not known to be harmless anyway.

use crate::exposure::entry;
use std::collections::BTreeMap;
use text::node::{Key, Node, Shape};

/// Actions with outputs that hold no text of a person: names, numbers and versions.
const PLAIN_OUTPUTS: [&str; 2] = ["actions/cache", "actions/create-github-app-token"];

/// The paths that expressions in a step can name, such as `env.label`, in lower case.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// `true` for a plain value that the workflow says itself.
    is_plain: BTreeMap<String, bool>,
}

impl Scope {
    /// Returns the scope of a job or a step inside this one.
    pub(super) fn within(&self, node: &Node) -> Self {
        let mut scope = self.clone();
        for (key, value) in entry(node, "env").and_then(Node::entries).unwrap_or_default() {
            scope.is_plain.insert(path_of("env", &key.name), is_plain(value));
        }
        let matrix = entry(node, "strategy").and_then(|strategy| entry(strategy, "matrix"));
        scope.add_matrix(matrix.and_then(Node::entries).unwrap_or_default());
        for step in entry(node, "steps").and_then(Node::items).unwrap_or_default() {
            let uses = entry(step, "uses").and_then(Node::text).unwrap_or_default().to_lowercase();
            if let Some(id) = entry(step, "id").and_then(Node::text)
                && PLAIN_OUTPUTS.contains(&uses.split('@').next().unwrap_or_default())
            {
                scope.is_plain.insert(path_of("steps", id), true);
            }
        }
        scope
    }

    /// Adds the values of a matrix. All values of a key must be plain.
    fn add_matrix(&mut self, matrix: &[(Key, Node)]) {
        let included = matrix.iter().filter(|(key, _)| key.name == "include");
        let rows = included.filter_map(|(_, rows)| rows.items()).flatten().filter_map(Node::entries).flatten();
        let lists = matrix.iter().filter(|(key, _)| !matches!(key.name.as_str(), "include" | "exclude"));
        let lists = lists.map(|(key, list)| (key, list.items().is_some_and(|items| items.iter().all(is_plain))));
        for (key, is_plain) in lists.chain(rows.map(|(key, value)| (key, is_plain(value)))) {
            let known = self.is_plain.entry(path_of("matrix", &key.name)).or_insert(true);
            *known &= is_plain;
        }
    }

    /// `true` if the path, in lower case, names a plain value or an output of a known action.
    pub(super) fn is_plain(&self, path: &str) -> bool {
        let step = path.split_once(".outputs.").map_or(path, |(step, _)| step);
        self.is_plain.get(step) == Some(&true)
    }
}

fn path_of(context: &str, name: &str) -> String {
    format!("{context}.{}", name.to_lowercase())
}

/// `true` for a value without an expression that a shell reads as one word or, between quotes, as several.
fn is_plain(value: &Node) -> bool {
    match &value.value {
        Shape::Text(text) => text.chars().all(|c| c.is_alphanumeric() || " _-./:@".contains(c)),
        Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) => true,
        Shape::List(_) | Shape::Map(_) => false,
    }
}
