//! Finds the workflows that would run the head of AutoBuild's branches and pull requests, and what they would give to
//! it. It decides nothing: a part that cannot be judged is a grant of its own.

mod job;
mod known;
mod scope;
mod script;
mod seeking;
mod trigger;

pub use crate::exposure::trigger::RunBranches;
use crate::{
    exposure::{job::Judge, trigger::Start},
    workflows::is_workflow,
};
use domain::{
    ci_definitions::definitions,
    exposure::{Exposure, Grant, Trigger, Unjudged, WorkflowExposure},
};
use std::collections::{BTreeMap, BTreeSet};
use text::node::Node;

/// The largest file that is read, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

/// The most files that are read.
pub const MOST_FILES: usize = 300;

/// Returns the files to read: the workflows, then the definitions of local actions, at most [`MOST_FILES`].
pub fn files_to_read<'p>(paths: impl Iterator<Item = &'p str> + Clone) -> impl Iterator<Item = &'p str> {
    let workflows = paths.clone().filter(|path| is_workflow(path));
    let actions = paths.filter(|path| matches!(path.rsplit('/').next(), Some("action.yml" | "action.yaml")));
    workflows.chain(actions).take(MOST_FILES)
}

/// The workflows and local actions of a tree: the text by path, at most [`MAX_BYTES`] long; `None` if it is longer. A link
/// has an empty text, so that it is not judged.
pub type Files = BTreeMap<String, Option<String>>;

/// Returns the rights that the CI of a tree with these paths would give to the code. `files` holds what
/// [`files_to_read`] names.
pub fn exposure_of<'p>(paths: impl Iterator<Item = &'p str>, files: &Files, run_branches: &RunBranches) -> Exposure {
    let mut others = definitions(paths);
    others.truncate(MOST_FILES);
    Exposure { workflows: workflows(files, run_branches), others }
}

/// Returns the workflows that would run the head, by path.
fn workflows(files: &Files, run_branches: &RunBranches) -> Vec<WorkflowExposure> {
    let workflows = files.iter().filter(|(path, _)| is_workflow(path));
    let mut found: Vec<WorkflowExposure> =
        workflows.filter_map(|(path, text)| exposure(files, run_branches, path, text.as_deref())).collect();
    if files.len() >= MOST_FILES {
        found.push(unjudged(".github/workflows", Unjudged::TooMany));
    }
    found
}

fn unjudged(path: &str, why: Unjudged) -> WorkflowExposure {
    WorkflowExposure {
        path: path.to_owned(),
        triggers: BTreeSet::new(),
        grants: [Grant::Unknown(why)].into(),
        doubts: BTreeSet::new(),
        takes_work: false,
    }
}

fn exposure(files: &Files, run_branches: &RunBranches, path: &str, text: Option<&str>) -> Option<WorkflowExposure> {
    let Some(text) = text else {
        return Some(unjudged(path, Unjudged::TooLarge));
    };
    let Ok(workflow) = Node::from_yaml(text, MAX_BYTES) else {
        return Some(unjudged(path, Unjudged::NotYaml));
    };
    let started = entry(&workflow, "on").and_then(|on| Some((on, trigger::started_by(on, run_branches)?)));
    let Some((on, start)) = started else {
        let key = "on".to_owned();
        return Some(unjudged(path, Unjudged::NotLiteral { key }));
    };
    let mut judge = Judge::new(files, run_branches.has_hosted_runners);
    judge.workflow(path, &workflow, None);
    // Without rights or secrets it does not matter what a step does.
    let may_take_head = judge.takes_head || !judge.unknown_steps.is_empty() && !judge.grants.is_empty();
    let takes_work = judge.seeking.may_run_work_of_others() && !judge.grants.is_empty();
    let takes_unasked = |triggers| takes_work && trigger::starts_unasked(on, triggers);
    let runs = |trigger: &Trigger| trigger.starts_on_head() || may_take_head;
    let (triggers, takes_work) = match start {
        Start::By(triggers) => {
            let takes_work = takes_unasked(&triggers);
            let triggers: BTreeSet<Trigger> = triggers.into_iter().filter(runs).collect();
            (!triggers.is_empty() || takes_work).then_some((triggers, takes_work))?
        }
        Start::Unknown => (BTreeSet::new(), false),
    };
    let starts_elsewhere = !triggers.is_empty() && !triggers.iter().any(|trigger| trigger.starts_on_head());
    let is_doubtful = starts_elsewhere && !judge.takes_head && !takes_work;
    let doubts = if is_doubtful { judge.unknown_steps } else { BTreeSet::new() };
    Some(WorkflowExposure { path: path.to_owned(), triggers, grants: judge.grants, doubts, takes_work })
}

fn entry<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let (_, value) = node.entries()?.iter().find(|(key, _)| key.name == name)?;
    Some(value)
}

#[cfg(test)]
mod tests;
