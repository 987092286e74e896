//! Finds the events that start a workflow on AutoBuild's branches and pull requests.

use crate::exposure::entry;
use domain::exposure::Trigger;
use std::collections::BTreeSet;
use text::node::{Node, Shape};

/// The branches of a run, as the filters of workflows see them, and the machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunBranches {
    /// The branches that AutoBuild pushes, except those of tasks.
    pub pushed: Vec<String>,
    /// The prefix of the tasks' branches. The planner words the rest, without a slash.
    pub tasks: String,
    /// The branches into which it opens pull requests.
    pub bases: Vec<String>,
    /// `true` if GitHub offers machines by labels such as `ubuntu-latest`, new ones for each job. An Enterprise Server has
    /// none: there, the organisation's own machines have these labels.
    pub has_hosted_runners: bool,
}

impl RunBranches {
    /// Returns the branches of a run whose branches start with `prefix`, such as `autobuild/42`.
    pub fn of_run(prefix: &str, default: &str, has_hosted_runners: bool) -> Self {
        let own = |name: &str| format!("{prefix}/{name}");
        Self {
            pushed: ["integration", "feature"].map(own).to_vec(),
            tasks: own("task-"),
            bases: vec![default.to_owned(), own("integration"), own("feature")],
            has_hosted_runners,
        }
    }
}

/// The events that never give a workflow the head of a branch: it runs on the default branch, or on a ref that a person
/// named.
const ELSEWHERE: &str = "branch_protection_rule delete discussion discussion_comment fork gollum issues label \
                         milestone page_build project project_card project_column public registry_package release \
                         repository_dispatch schedule watch workflow_call workflow_dispatch";

/// The events by which AutoBuild's work starts a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// These; none if the set is empty.
    By(BTreeSet<Trigger>),
    /// One of them may run the head by rules that are not known here. For example, another service may deploy any
    /// branch.
    Unknown,
}

/// Returns the events of `on:` that AutoBuild's work causes; `None` if it is not written as GitHub's reference says.
pub(super) fn started_by(on: &Node, run_branches: &RunBranches) -> Option<Start> {
    let mut triggers = BTreeSet::new();
    for (name, filter) in events(on)? {
        match name.parse::<Trigger>() {
            Ok(trigger) if filter.is_none_or(|filter| passes(trigger, filter, run_branches)) => {
                triggers.insert(trigger);
            }
            Ok(_) => {}
            Err(_) if ELSEWHERE.split(' ').any(|known| known == name) => {}
            Err(_) => return Some(Start::Unknown),
        }
    }
    Some(Start::By(triggers))
}

/// `true` if an event starts the workflow that gives it no head, and that no person sends to choose what it takes: the
/// clock, a push to branches that are not ours, an issue, a release. `triggers` are those by AutoBuild's work.
pub(super) fn starts_unasked(on: &Node, triggers: &BTreeSet<Trigger>) -> bool {
    let is_unasked = |name: &str| match name.parse::<Trigger>() {
        Ok(trigger) => trigger == Trigger::Push && !triggers.contains(&trigger),
        Err(_) => !["workflow_call", "workflow_dispatch"].contains(&name),
    };
    events(on).is_some_and(|events| events.iter().any(|(name, _)| is_unasked(name)))
}

/// Returns the names of the events with their filters.
fn events(on: &Node) -> Option<Vec<(&str, Option<&Node>)>> {
    match &on.value {
        Shape::Text(name) => Some(vec![(name, None)]),
        Shape::List(names) => names.iter().map(|name| Some((name.text()?, None))).collect(),
        Shape::Map(events) => Some(events.iter().map(|(key, filter)| (key.name.as_str(), Some(filter))).collect()),
        Shape::Null | Shape::Flag(_) | Shape::Whole(_) | Shape::Number(_) => None,
    }
}

/// `true` unless the filters leave out all our branches. Filters of paths count as passed: they depend on the change.
fn passes(trigger: Trigger, filter: &Node, run_branches: &RunBranches) -> bool {
    let (names, start) = match trigger {
        Trigger::Push | Trigger::WorkflowRun => (&run_branches.pushed, Some(run_branches.tasks.as_str())),
        Trigger::PullRequest | Trigger::PullRequestTarget => (&run_branches.bases, None),
        Trigger::Create
        | Trigger::MergeGroup
        | Trigger::PullRequestReview
        | Trigger::PullRequestReviewComment
        | Trigger::IssueComment
        | Trigger::CheckRun
        | Trigger::CheckSuite
        | Trigger::Status => return true,
    };
    let whole = names.iter().map(|name| Name::Whole(name));
    let all: Vec<Name<'_>> = whole.chain(start.map(Name::Start)).collect();
    let is_some = |wanted: &dyn Fn(Name<'_>) -> bool| all.iter().any(|name| wanted(*name));
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

#[derive(Clone, Copy, Debug)]
enum Name<'n> {
    Whole(&'n str),
    /// Its start. The rest may be any text without a slash.
    Start(&'n str),
}

/// `true` if the patterns may include the branch: the last match decides, and a doubtful exclusion excludes nothing.
fn includes(patterns: &[&str], name: Name<'_>) -> bool {
    patterns.iter().fold(false, |so_far, pattern| match pattern.strip_prefix('!') {
        Some(not) => so_far && fits(not, name) != PatternMatch::Surely,
        None => so_far || fits(pattern, name) != PatternMatch::Not,
    })
}

fn is_ignored(patterns: &[&str], name: Name<'_>) -> bool {
    patterns.iter().any(|pattern| fits(pattern, name) == PatternMatch::Surely)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternMatch {
    Surely,
    /// The pattern has special characters besides `*` and its part before them matches, or some rest of the name would
    /// match.
    Perhaps,
    Not,
}

fn fits(pattern: &str, name: Name<'_>) -> PatternMatch {
    let Some(special) = pattern.find(['?', '+', '[', '\\']) else {
        let without_folders = pattern.strip_prefix("**/");
        return match (matches(pattern, name), without_folders) {
            // In GitHub's filters, `/**` may also match no folder at all.
            (PatternMatch::Not, Some(last)) if matches(last, name) != PatternMatch::Not => PatternMatch::Perhaps,
            (fit, _) => fit,
        };
    };
    // `?` and `+` are about the letter before them.
    let plain = pattern.get(..special).unwrap_or_default();
    let plain = plain.char_indices().next_back().map_or("", |(last, _)| plain.get(..last).unwrap_or_default());
    match matches(&format!("{plain}**"), name) {
        PatternMatch::Surely | PatternMatch::Perhaps => PatternMatch::Perhaps,
        PatternMatch::Not => PatternMatch::Not,
    }
}

/// Matches a pattern in which `*` stands for any text without a slash, and `**` for any text. It goes through the
/// pattern once with the set of all possible positions in the name, so a pattern of many stars is no slower.
fn matches(pattern: &str, name: Name<'_>) -> PatternMatch {
    let (name, is_open) = match name {
        Name::Whole(name) => (name, false),
        Name::Start(start) => (start, true),
    };
    let mut positions: BTreeSet<usize> = [0].into();
    let mut rest = pattern;
    let mut perhaps = false;
    while let Some(letter) = rest.chars().next() {
        // The planner may choose any words, so the rest of the pattern may match.
        perhaps |= is_open && positions.contains(&name.len()) && !rest.contains('/');
        let from = |position: &usize| name.get(*position..).unwrap_or_default();
        let slash = |position: &usize| from(position).find('/').map_or(name.len(), |at| position.saturating_add(at));
        if let Some(after) = rest.strip_prefix("**") {
            positions = positions.first().into_iter().flat_map(|first| *first..=name.len()).collect();
            rest = after;
        } else if let Some(after) = rest.strip_prefix('*') {
            positions = positions.iter().flat_map(|position| *position..=slash(position)).collect();
            rest = after;
        } else {
            let fitting = positions.iter().filter(|position| from(position).starts_with(letter));
            positions = fitting.map(|position| position.saturating_add(letter.len_utf8())).collect();
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        }
    }
    let is_reached = positions.contains(&name.len());
    if is_reached && (!is_open || pattern.ends_with('*')) {
        PatternMatch::Surely
    } else if is_reached || perhaps {
        PatternMatch::Perhaps
    } else {
        PatternMatch::Not
    }
}
