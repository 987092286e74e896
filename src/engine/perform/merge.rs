//! Merges a task's pull request into the integration branch, naming its head commit.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{context::EffectContext, sync},
        repository::tip,
    },
    github::{Merge, MergeMethod, MergeRefusal},
    messages,
    store::{EffectState, StoredEffect},
};
use domain::{
    blocked::{Defect, Failure},
    ci::{CiTreatment, held_message, without_instructions},
    effect::{Effect, TaskWork},
    ids::{Emission, PullNumber, TaskId},
    task,
    task::{Origin, Task},
};
use git::MergeOutcome;

/// The merge methods in the order of preference. All are tried in turn, because GitHub shows the allowed ones only to a
/// token that may write contents. It refuses the others.
const METHODS: [MergeMethod; 3] = [MergeMethod::Squash, MergeMethod::Merge, MergeMethod::Rebase];

/// Merges an approved task, or pushes it as a merge commit if it resolves a conflict with the default branch.
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
    let now = repo.pull(pull).await?;
    let is_landed = now.is_merged() && now.head.sha == *head;
    if let (true, false, Some(commit)) = (is_landed, context.is_fresh, now.merge_commit_sha) {
        return Ok(context.task_event(task.id, task::Event::Merged { emission, commit }));
    }
    // A person may have changed the base. GitHub does so too: it moves an open pull request to the default branch when
    // its base is merged and deleted.
    if now.base.branch != context.feature.integration_branch() {
        let rule = messages::other_base(&now.base.branch);
        return Ok(context.task_event(task.id, task::Event::MergeRefused { emission, rule }));
    }
    let text = messages::squash(&context.feature, task);
    let (title, mut body) = (without_instructions(&text.title), without_instructions(&text.body));
    if context.feature.ci_treatment() == CiTreatment::Hold {
        body = held_message(&body);
    }
    for method in METHODS {
        let event = match repo.merge_pull(pull, head, method, &title, &body).await? {
            Merge::Merged { sha } => task::Event::Merged { emission, commit: sha },
            Merge::Refused { why: MergeRefusal::Method, .. } => {
                context.may_write().await?;
                continue;
            }
            // A person pushed. The push event informs the task, unless the head is back before anybody reads it.
            Merge::Refused { why: MergeRefusal::HeadMoved, .. } if repo.pull(pull).await?.head.sha != *head => {
                return Ok(Done::Nothing);
            }
            Merge::Refused { why: MergeRefusal::Transient | MergeRefusal::HeadMoved, text } => {
                return Err(Failure::GitHubUnclear { message: text }.into());
            }
            Merge::Refused { why: MergeRefusal::Conflict, text } => {
                return conflict(context, task, emission, text).await;
            }
            Merge::Refused { why: MergeRefusal::Draft | MergeRefusal::Rule, text } => {
                task::Event::MergeRefused { emission, rule: text }
            }
        };
        return Ok(context.task_event(task.id, event));
    }
    let rule = messages::no_merge_method();
    Ok(context.task_event(task.id, task::Event::MergeRefused { emission, rule }))
}

/// Returns the merge of a pull request if an effect asked for it, was then stopped or given up, and GitHub obeyed all the
/// same. Only if there is such an effect, GitHub is asked.
pub(super) async fn find_unheard(
    context: &EffectContext<'_>,
    task: &Task,
    pull: Option<PullNumber>,
) -> Result<Option<Done>, EffectError> {
    let Some(pull) = pull else {
        return Ok(None);
    };
    let effects = context.engine.store.effects_of(&context.feature.key).await?;
    let is_merge =
        |effect: &StoredEffect| serde_json::from_str(&effect.payload).is_ok_and(|asked| is_of(&asked, task.id));
    let asked = effects.iter().rev().find(|effect| effect.fence > 0 && is_merge(effect));
    if asked.is_none_or(|effect| effect.state == EffectState::Done) {
        return Ok(None);
    }
    let now = context.repo().pull(pull).await?;
    let (Some(by), Some(commit)) = (now.merged_by, now.merge_commit_sha) else {
        return Ok(None);
    };
    // A person's merge may be one without the Coach's approval, which its own delivery tells.
    if !by.is(context.engine.autobuild.bot(context.feature.installation).await?) {
        return Ok(None);
    }
    Ok(Some(context.task_event(task.id, task::Event::Merged { emission: task.emitted, commit })))
}

fn is_of(effect: &Effect, id: TaskId) -> bool {
    matches!(effect, Effect::Task { task, work: TaskWork::Merge, .. } if *task == id)
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
