//! Which events start a workflow on AutoBuild's branches and pull requests.

use crate::exposure::entry;
use domain::exposure::Trigger;
use std::collections::BTreeSet;
use text::node::{Node, Shape};

/// The branches of a run, as the filters of workflows see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branches {
    /// The branches that AutoBuild pushes.
    pub pushed: Vec<String>,
    /// The branches into which it opens pull requests.
    pub bases: Vec<String>,
}

impl Branches {
    /// Returns the branches of a run whose branches start with `prefix`, such as `autobuild/42`.
    #[must_use]
    pub fn of_run(prefix: &str, default: &str) -> Self {
        let own = |name: &str| format!("{prefix}/{name}");
        Self {
            pushed: ["integration", "feature", "task-001-a"].map(own).to_vec(),
            bases: vec![default.to_owned(), own("integration"), own("feature")],
        }
    }
}

/// Returns the events of `on:` that AutoBuild's work causes; `None` if it is not written as GitHub's reference says.
pub(super) fn started_by(on: &Node, branches: &Branches) -> Option<BTreeSet<Trigger>> {
    let known = |name: &str| name.parse::<Trigger>().ok();
    match &on.value {
        Shape::Text(name) => Some(known(name).into_iter().collect()),
        Shape::List(names) => {
            let names: Option<Vec<&str>> = names.iter().map(Node::text).collect();
            Some(names?.into_iter().filter_map(known).collect())
        }
        Shape::Map(events) => {
            let events = events
                .iter()
                .filter_map(|(key, filter)| Some((known(&key.name)?, filter)));
            Some(
                events
                    .filter(|(trigger, filter)| passes(*trigger, filter, branches))
                    .map(|(trigger, _)| trigger)
                    .collect(),
            )
        }
        Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) => None,
    }
}

/// `true` unless the filters leave out all our branches. Filters of paths count as passed: they depend on the change.
fn passes(trigger: Trigger, filter: &Node, branches: &Branches) -> bool {
    let names = match trigger {
        Trigger::Push | Trigger::WorkflowRun => &branches.pushed,
        Trigger::PullRequest | Trigger::PullRequestTarget => &branches.bases,
        Trigger::Create
        | Trigger::MergeGroup
        | Trigger::PullRequestReview
        | Trigger::PullRequestReviewComment
        | Trigger::IssueComment
        | Trigger::CheckRun
        | Trigger::CheckSuite
        | Trigger::Status => return true,
    };
    let is_some = |wanted: &dyn Fn(&str) -> bool| names.iter().any(|name| wanted(name));
    match (patterns(filter, "branches"), patterns(filter, "branches-ignore")) {
        (Patterns::Unknown, _) | (_, Patterns::Unknown) => true,
        (Patterns::Given(wanted), _) => is_some(&|name| includes(&wanted, name)),
        (Patterns::None, Patterns::Given(ignored)) => is_some(&|name| !is_ignored(&ignored, name)),
        (Patterns::None, Patterns::None) => {
            trigger != Trigger::Push || entry(filter, "tags").is_none() && entry(filter, "tags-ignore").is_none()
        }
    }
}

enum Patterns<'n> {
    None,
    Given(Vec<&'n str>),
    Unknown,
}

fn patterns<'n>(filter: &'n Node, key: &str) -> Patterns<'n> {
    let Some(node) = entry(filter, key) else {
        return Patterns::None;
    };
    let listed = match (node.text(), node.items()) {
        (Some(one), _) => Some(vec![one]),
        (None, Some(items)) => items.iter().map(Node::text).collect(),
        (None, None) => None,
    };
    listed.map_or(Patterns::Unknown, Patterns::Given)
}

/// `true` if the patterns may include the branch: the last match decides, and a doubtful exclusion excludes nothing.
fn includes(patterns: &[&str], name: &str) -> bool {
    patterns
        .iter()
        .fold(false, |so_far, pattern| match pattern.strip_prefix('!') {
            Some(not) => so_far && fits(not, name) != Fit::Surely,
            None => so_far || fits(pattern, name) != Fit::Not,
        })
}

fn is_ignored(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, name) == Fit::Surely)
}

/// Whether a pattern matches a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    Surely,
    /// The pattern has letters of GitHub's filters beyond `*`, and the part before them matches.
    Perhaps,
    Not,
}

fn fits(pattern: &str, name: &str) -> Fit {
    let Some(special) = pattern.find(['?', '+', '[', '\\']) else {
        return if matches(pattern, name) { Fit::Surely } else { Fit::Not };
    };
    // `?` and `+` are about the letter before them.
    let plain = pattern.get(..special).unwrap_or_default();
    let plain = plain
        .char_indices()
        .next_back()
        .map_or("", |(last, _)| plain.get(..last).unwrap_or_default());
    if matches(&format!("{plain}**"), name) {
        Fit::Perhaps
    } else {
        Fit::Not
    }
}

/// Matches a pattern in which `*` stands for any text without a slash, and `**` for any text. It goes through the
/// pattern once with the set of all possible positions in the name, so a pattern of many stars is no slower.
fn matches(pattern: &str, name: &str) -> bool {
    let mut positions: BTreeSet<usize> = [0].into();
    let mut rest = pattern;
    while let Some(letter) = rest.chars().next() {
        let from = |position: &usize| name.get(*position..).unwrap_or_default();
        let slash = |position: &usize| {
            from(position)
                .find('/')
                .map_or(name.len(), |at| position.saturating_add(at))
        };
        if let Some(after) = rest.strip_prefix("**") {
            positions = positions
                .first()
                .into_iter()
                .flat_map(|first| *first..=name.len())
                .collect();
            rest = after;
        } else if let Some(after) = rest.strip_prefix('*') {
            positions = positions
                .iter()
                .flat_map(|position| *position..=slash(position))
                .collect();
            rest = after;
        } else {
            let fitting = positions.iter().filter(|position| from(position).starts_with(letter));
            positions = fitting
                .map(|position| position.saturating_add(letter.len_utf8()))
                .collect();
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    positions.contains(&name.len())
}
