//! Merging a task's pull request into the integration branch, by its head.

use crate::{
    engine::{
        job::{Done, Undone},
        perform::{Scene, sync},
        repository::tip,
    },
    github::{Merge, MergeMethod, MergeRefusal, model::Repository},
    messages,
};
use domain::{
    blocked::Fault,
    task,
    task::{Origin, Task},
};
use git::MergeOutcome;

/// Merges an approved task. What resolves a conflict with the default branch lands with both parents instead.
pub(super) async fn merge(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    match task.origin {
        Origin::Sync { .. } => sync::land(scene, task, run).await,
        Origin::Planned | Origin::Fix { .. } | Origin::Review { .. } => merge_pull(scene, task, run).await,
    }
}

async fn merge_pull(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    let (Some(pull), Some(head)) = (task.pull, task.head.as_ref()) else {
        return Err(Undone::defect(format!("{} has no pull request", task.id)));
    };
    let repo = scene.repo();
    scene.may_write()?;
    if !scene.job.is_fresh() {
        let now = repo.pull(pull).await?;
        if let (true, Some(commit)) = (now.is_merged(), now.merge_commit_sha) {
            return Ok(scene.task_event(task.id, task::Event::Merged { run, commit }));
        }
    }
    let repository = repo.repository().await?;
    let text = messages::squash(&scene.feature, task);
    for method in methods(&repository) {
        let event = match repo.merge_pull(pull, head, method, &text.title, &text.body).await? {
            Merge::Merged { sha } => task::Event::Merged { run, commit: sha },
            // A person pushed: the push itself tells the task, and this merge waits for nothing more.
            Merge::HeadMoved => return Ok(Done::Nothing),
            Merge::Refused {
                why: MergeRefusal::Method,
                ..
            } => {
                scene.may_write_again().await?;
                continue;
            }
            Merge::Refused {
                why: MergeRefusal::Transient,
                text,
            } => {
                return Err(Undone::later(Fault::Refused { said: text }));
            }
            Merge::Refused {
                why: MergeRefusal::Conflict,
                text,
            } => return conflict(scene, task, run, text).await,
            Merge::Refused {
                why: MergeRefusal::Draft | MergeRefusal::Rule,
                text,
            } => task::Event::MergeRefused { run, rule: text },
        };
        return Ok(scene.task_event(task.id, event));
    }
    let rule = "the repository allows no way of merging".to_owned();
    Ok(scene.task_event(task.id, task::Event::MergeRefused { run, rule }))
}

/// Squash where allowed, else merge, else rebase.
fn methods(repository: &Repository) -> Vec<MergeMethod> {
    [
        (repository.allow_squash_merge, MergeMethod::Squash),
        (repository.allow_merge_commit, MergeMethod::Merge),
        (repository.allow_rebase_merge, MergeMethod::Rebase),
    ]
    .into_iter()
    .filter(|(allowed, _)| *allowed != Some(false))
    .map(|(_, method)| method)
    .collect()
}

/// GitHub says "not mergeable" also while it computes; git says whether there is a conflict, and where.
async fn conflict(scene: &Scene<'_>, task: &Task, run: u64, text: String) -> Result<Done, Undone> {
    let feature = &scene.feature;
    let folder = format!("{}/*", feature.key.branch_prefix());
    let mirror = scene
        .engine
        .fetch(feature.installation, feature.key.repo, &[&folder])
        .await?;
    let ours = tip(&mirror, &task.branch).await?;
    let theirs = tip(&mirror, &feature.key.integration_branch()).await?;
    match mirror.merge(&ours, &theirs).await? {
        MergeOutcome::Conflict { files, .. } => {
            let files = files.iter().map(ToString::to_string).collect();
            Ok(scene.task_event(task.id, task::Event::MergeConflict { run, files }))
        }
        MergeOutcome::AlreadyUpToDate
        | MergeOutcome::FastForward
        | MergeOutcome::Clean { .. }
        | MergeOutcome::Unrelated => Err(Undone::later(Fault::Refused { said: text })),
    }
}
