//! Knows the values in a workflow that it says itself, so that expressions which name them hold no text of a person. A step
//! that could change one of them is not known to be harmless anyway.

use crate::exposure::entry;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use text::node::{Key, Node, Shape};

/// Actions with outputs that hold no text of a person: names, numbers and versions.
const PLAIN_OUTPUTS: [&str; 2] = ["actions/cache", "actions/create-github-app-token"];

/// The values that expressions in a step can name, and the shell that reads its script.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The paths of each part around the step, such as `env.label`, in lower case, the outermost first: `true` for a
    /// plain value that the workflow says itself. They are shared, because steps are many.
    levels: Vec<Rc<BTreeMap<String, bool>>>,
    /// The paths of the steps with plain outputs. A composite action sees only its own.
    steps: Rc<BTreeSet<String>>,
    shell: Shell,
}

/// The program that runs the scripts of a part of a workflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shell {
    /// The machine's own, which is bash.
    #[default]
    Usual,
    /// The machine's own, where it may be Windows, whose shell is PowerShell.
    OfMachine,
    /// A shell that the workflow names: bash or sh.
    Known,
    /// Another one that it names.
    Other,
}

impl Scope {
    /// Returns the scope of a job or a step inside this one.
    pub(super) fn within(&self, node: &Node) -> Self {
        let mut scope = self.clone();
        let mut level = BTreeMap::new();
        for (key, value) in entry(node, "env").and_then(Node::entries).unwrap_or_default() {
            // Names may differ only in case.
            *level.entry(path_of("env", &key.name)).or_insert(true) &= is_plain(value);
        }
        let matrix = entry(node, "strategy").and_then(|strategy| entry(strategy, "matrix"));
        add_matrix(&mut level, matrix.and_then(Node::entries).unwrap_or_default());
        if !level.is_empty() {
            scope.levels.push(Rc::new(level));
        }
        if let Some(steps) = entry(node, "steps").and_then(Node::items) {
            scope.steps = Rc::new(steps.iter().filter_map(with_plain_outputs).collect());
        }
        let of_run = || entry(entry(entry(node, "defaults")?, "run")?, "shell");
        if let Some(shell) = entry(node, "shell").or_else(of_run) {
            scope.shell = if matches!(shell.text(), Some("bash" | "sh")) { Shell::Known } else { Shell::Other };
        }
        let may_be_windows = entry(node, "runs-on").is_some_and(|runner| !has_unix(runner));
        if scope.shell == Shell::Usual && may_be_windows {
            scope.shell = Shell::OfMachine;
        }
        scope
    }

    /// `true` if the shell in force may be one whose commands are not known.
    pub(super) fn has_other_shell(&self) -> bool {
        matches!(self.shell, Shell::OfMachine | Shell::Other)
    }

    /// `true` if the path, in lower case, names a plain value or an output of a known action.
    pub(super) fn is_plain(&self, path: &str) -> bool {
        let step = path.split_once(".outputs.").map_or(path, |(step, _)| step);
        self.steps.contains(step) || self.levels.iter().rev().find_map(|level| level.get(path)) == Some(&true)
    }
}

/// `true` if a label names a system with bash. A machine has all labels of a list, and GitHub labels each with its system.
fn has_unix(runner: &Node) -> bool {
    let runner = entry(runner, "labels").unwrap_or(runner);
    let labels = runner.items().unwrap_or(std::slice::from_ref(runner));
    labels
        .iter()
        .filter_map(Node::text)
        .map(str::to_lowercase)
        .any(|label| label == "linux" || ["ubuntu", "macos"].iter().any(|system| label.starts_with(system)))
}

/// Returns the path of a step whose outputs hold no text of a person.
fn with_plain_outputs(step: &Node) -> Option<String> {
    let uses = entry(step, "uses")?.text()?.to_lowercase();
    let is_known = PLAIN_OUTPUTS.contains(&uses.split('@').next().unwrap_or_default());
    entry(step, "id").and_then(Node::text).filter(|_| is_known).map(|id| path_of("steps", id))
}

/// Adds the values of a matrix. All values of a key must be plain. A part that is computed may set any key, so that no
/// key is known.
fn add_matrix(level: &mut BTreeMap<String, bool>, matrix: &[(Key, Node)]) {
    let included = matrix.iter().find(|(key, _)| key.name == "include");
    let rows = included.map_or(Some(&[][..]), |(_, rows)| rows.items());
    let rows: Option<Vec<_>> = rows.and_then(|rows| rows.iter().map(Node::entries).collect());
    let Some(rows) = rows else { return };
    let lists = matrix.iter().filter(|(key, _)| !matches!(key.name.as_str(), "include" | "exclude"));
    let lists = lists.map(|(key, list)| (key, list.items().is_some_and(|items| items.iter().all(is_plain))));
    let rows = rows.into_iter().flatten().map(|(key, value)| (key, is_plain(value)));
    for (key, is_plain) in lists.chain(rows) {
        *level.entry(path_of("matrix", &key.name)).or_insert(true) &= is_plain;
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
