//! One short comment for the person who labelled the issue: what is waiting for them, and where.

use crate::messages::{
    form::{links::Links, untrusted, words},
    issue::living::hash8,
};
use domain::{
    feature::{Feature, Wait},
    ids::TaskId,
    task::{MergeState, State, Task},
};

/// Returns the comment on a wait; `None` if the thing that waited no longer exists.
pub fn wait(feature: &Feature, wait: &Wait, links: &Links) -> Option<String> {
    let who = mention(feature);
    let name = feature.key.name();
    Some(match wait {
        Wait::Approval { .. } => {
            let answers = format!(
                "To start it, answer `/autobuild approve {}`. For another plan, answer `/autobuild plan` and say what to \
                 change.",
                hash8(feature.plan.as_ref()?)
            );
            format!(
                "{who}, the plan of {name} waits for your approval: read {}.\n\n{}",
                living(feature, links, "the plan"),
                answers
            )
        }
        Wait::NoPlan => {
            let answers =
                "Answer `/autobuild plan` and say what to change, or give the plan itself in a fenced `yaml` block.";
            format!(
                "{who}, there is no valid plan for {name}: {} says why.\n\n{}",
                living(feature, links, "the comment on its state"),
                answers
            )
        }
        Wait::Merge { task, .. } => format!(
            "{who}, {} is approved and waits for you to merge {}.",
            words::task_name(feature.task(*task)?),
            pull(feature, *task, links)
        ),
        Wait::MergeRefused { task, .. } => {
            let task = feature.task(*task)?;
            format!(
                "{who}, {} is approved, and a rule refuses its merge: {} Merge {} yourself, or lift the rule and answer \
                 `/autobuild resume` there.",
                words::task_name(task),
                untrusted::sentence(rule(task)?, 300),
                pull(feature, task.id, links)
            )
        }
        Wait::Ci => format!(
            "{who}, {name} is built, and the repository's CI is held. To let it run, answer `/autobuild ci`; AutoBuild then \
             opens the pull request. {} says what CI gives to the code.",
            living(feature, links, "The plan")
        ),
        Wait::Review { pull } => {
            format!("{who}, {name} is built: {} waits for your review and for you to merge it.", links.pull(*pull))
        }
    })
}

/// Mentions the person who labelled the issue.
pub(crate) fn mention(feature: &Feature) -> String {
    words::person(&feature.snapshot.labelled_by)
}

fn living(feature: &Feature, links: &Links, shown: &str) -> String {
    match feature.living {
        Some(living) => links.comment(feature.key.issue, living.comment, shown),
        None => format!("{shown} on {}", links.issue(feature.key.issue)),
    }
}

fn pull(feature: &Feature, task: TaskId, links: &Links) -> String {
    links.pull_or(feature.task(task).and_then(|task| task.pull), "its pull request")
}

fn rule(task: &Task) -> Option<&str> {
    let State::Approved { merge, .. } = &task.state else {
        return None;
    };
    match merge {
        MergeState::Refused { rule } => Some(rule),
        MergeState::Due { .. } | MergeState::Person => None,
    }
}
