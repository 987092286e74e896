//! Merges a task's pull request into the integration branch, naming its head commit.

use crate::{
    engine::{
        Engine,
        job::{Done, EffectError},
        perform::{context::EffectContext, sync},
        repository::tip,
    },
    github::{Merge, MergeMethod, MergeRefusal, model::Repository},
    messages,
};
use domain::{
    blocked::{Defect, Failure},
    ci::{CiTreatment, held_message, without_instructions},
    ids::Emission,
    task,
    task::{Origin, Task},
};
use git::MergeOutcome;

/// Merges an approved task. A task that resolves a conflict with the default branch is pushed as a merge commit with
/// both parents instead.
pub(super) async fn merge(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    match task.origin {
        Origin::Sync { .. } => sync::land(context, task, emission).await,
        Origin::Planned | Origin::Fix { .. } | Origin::Review { .. } => merge_pull(context, task, emission).await,
    }
}

async fn merge_pull(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    let (Some(pull), Some(head)) = (task.pull, task.head.as_ref()) else {
        return Err(EffectError::defect(Defect::NoPullRequest { task: task.id }));
    };
    let repo = context.repo();
    context.may_write().await?;
    if !context.job.is_fresh() {
        let now = repo.pull(pull).await?;
        if let (true, Some(commit)) = (now.is_merged(), now.merge_commit_sha) {
            return Ok(context.task_event(task.id, task::Event::Merged { emission, commit }));
        }
    }
    let text = messages::squash(&context.feature, task);
    let (title, mut body) = (without_instructions(&text.title), without_instructions(&text.body));
    if context.feature.ci_treatment() == CiTreatment::Hold {
        body = held_message(&body);
    }
    let remembered = context.engine.merge_methods.find(&context.key().repo);
    let methods = match &remembered {
        Some(methods) => methods.clone(),
        None => context.engine.learn_merge_methods(&repo.repository().await?),
    };
    for method in methods {
        let event = match repo.merge_pull(pull, head, method, &title, &body).await? {
            Merge::Merged { sha } => task::Event::Merged { emission, commit: sha },
            // A person pushed. The push event informs the task, so this merge reports nothing.
            Merge::HeadMoved => return Ok(Done::Nothing),
            Merge::Refused {
                why: MergeRefusal::Method,
                text,
            } => {
                context.engine.merge_methods.forget(&context.key().repo);
                if remembered.is_some() {
                    // The settings changed since they were read. The next try reads them.
                    return Err(Failure::GitHubUnclear { message: text }.into());
                }
                context.may_write().await?;
                continue;
            }
            Merge::Refused {
                why: MergeRefusal::Transient,
                text,
            } => {
                return Err(Failure::GitHubUnclear { message: text }.into());
            }
            Merge::Refused {
                why: MergeRefusal::Conflict,
                text,
            } => return conflict(context, task, emission, text).await,
            Merge::Refused {
                why: MergeRefusal::Draft | MergeRefusal::Rule,
                text,
            } => task::Event::MergeRefused { emission, rule: text },
        };
        return Ok(context.task_event(task.id, event));
    }
    let rule = messages::no_merge_method();
    Ok(context.task_event(task.id, task::Event::MergeRefused { emission, rule }))
}

impl Engine {
    /// Remembers and returns the merge methods that the repository allows, in the order of preference: squash, merge,
    /// rebase.
    pub(in crate::engine) fn learn_merge_methods(&self, repository: &Repository) -> Vec<MergeMethod> {
        let allowed: Vec<MergeMethod> = [
            (repository.allow_squash_merge, MergeMethod::Squash),
            (repository.allow_merge_commit, MergeMethod::Merge),
            (repository.allow_rebase_merge, MergeMethod::Rebase),
        ]
        .into_iter()
        .filter(|(allowed, _)| *allowed != Some(false))
        .map(|(_, method)| method)
        .collect();
        self.merge_methods.remember(repository.id, allowed.clone());
        allowed
    }
}

/// Handles GitHub's "not mergeable", which GitHub also says while it still computes. Git finds out whether there is a
/// conflict, and in which files.
async fn conflict(
    context: &EffectContext<'_>,
    task: &Task,
    emission: Emission,
    text: String,
) -> Result<Done, EffectError> {
    let mirror = context.fetch_own().await?;
    let ours = tip(&mirror, &task.branch).await?;
    let theirs = tip(&mirror, &context.feature.integration_branch()).await?;
    match mirror.merge(&ours, &theirs).await? {
        MergeOutcome::Conflict { files, .. } => {
            let files = files.iter().map(ToString::to_string).collect();
            Ok(context.task_event(task.id, task::Event::MergeConflict { emission, files }))
        }
        MergeOutcome::AlreadyUpToDate
        | MergeOutcome::FastForward
        | MergeOutcome::Clean { .. }
        | MergeOutcome::Unrelated => Err(Failure::GitHubUnclear { message: text }.into()),
    }
}
