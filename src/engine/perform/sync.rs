//! Conflicts with the default branch: finds them, and pushes the resolved merge with both parents.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{
            branches::{branch_name, request},
            coach::fork_point,
            context::EffectContext,
            push::{Landed, branch_moved, push_to},
            turn,
        },
        repository::tip,
    },
    messages,
};
use domain::{
    blocked::{BlockReason, Defect, RepositoryFault},
    feature::event::Event,
    ids::{Emission, Sha},
    task,
    task::{Origin, Task},
};
use git::{Author, CommitRequest, MergeOutcome, Mirror};

/// Checks if the default branch still merges into the integration branch. No branch is changed.
pub(super) async fn compare_default(context: &EffectContext<'_>) -> Result<Done, EffectError> {
    let feature = &context.feature;
    let default = context.fetch_with_default().await?;
    let old_head = tip(&default.mirror, &feature.integration_branch()).await?;
    match default.mirror.merge(&old_head, &default.head).await? {
        MergeOutcome::Conflict { files, .. } => Ok(context.event(Event::DefaultConflicts {
            files: files.iter().map(ToString::to_string).collect(),
            other: default.head,
        })),
        MergeOutcome::AlreadyUpToDate
        | MergeOutcome::FastForward
        | MergeOutcome::Clean { .. }
        | MergeOutcome::Unrelated => Ok(Done::Nothing),
    }
}

/// Pushes the resolved merge: the integration branch moves forward to the approved head, and GitHub then shows the pull
/// request as merged. If the integration branch has moved, it is merged into the task's branch first.
pub(super) async fn land(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    let no_commit = || EffectError::defect(Defect::NoCommit { task: task.id });
    let head = task.head.clone().ok_or_else(no_commit)?;
    let mirror = context.fetch_own().await?;
    let name = context.feature.integration_branch();
    let old_head = tip(&mirror, &name).await?;
    if mirror.is_ancestor(&head, &old_head).await? {
        return Ok(context.task_event(task.id, task::Event::Merged { emission, commit: head }));
    }
    if !mirror.is_ancestor(&old_head, &head).await? {
        let event = match catch_up(context, &mirror, task, head, old_head).await? {
            CaughtUp::At(head) => task::Event::CaughtUp { emission, head },
            CaughtUp::Conflict(files) => task::Event::MergeConflict { emission, files },
            CaughtUp::Rejected(rule) => task::Event::MergeRefused { emission, rule },
        };
        return Ok(context.task_event(task.id, event));
    }
    let event = match push_to(context, &branch_name(&name)?, &head, Some(old_head)).await? {
        Landed::OnBranch(commit) => task::Event::Merged { emission, commit },
        Landed::Rejected(rule) => task::Event::MergeRefused { emission, rule },
        Landed::Overtaken(_) => return Err(branch_moved(&name)),
    };
    Ok(context.task_event(task.id, event))
}

/// Prepares a commit for its Gates if it lacks the measured commit, without which its results cannot be compared with
/// the baseline. Merges the integration branch, which contains that commit, into the task's branch. Returns `None` if
/// there is nothing to merge.
pub(super) async fn onto_measured(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    task: &Task,
    emission: Emission,
    head: &Sha,
) -> Result<Option<task::Event>, EffectError> {
    if context.stands_on_measured(mirror, head).await? {
        return Ok(None);
    }
    let mirror = context.fetch_own().await?;
    let old_head = tip(&mirror, &context.feature.integration_branch()).await?;
    // The default branch was rewritten, or the task was merged by hand: there is nothing to merge.
    if mirror.is_ancestor(&old_head, head).await? || mirror.is_ancestor(head, &old_head).await? {
        return Ok(None);
    }
    Ok(Some(match catch_up(context, &mirror, task, head.clone(), old_head).await? {
        CaughtUp::At(head) => task::Event::CaughtUp { emission, head },
        CaughtUp::Conflict(files) => task::Event::MergeConflict { emission, files },
        CaughtUp::Rejected(rule) => {
            let reason = BlockReason::BranchRule { rule };
            task::Event::Stuck { emission, reason }
        }
    }))
}

/// The result of merging the integration branch into a task's branch.
enum CaughtUp {
    /// The task's branch is at this commit. It may be the commit of a person who pushed first.
    At(Sha),
    /// These files conflict, which needs a separate turn.
    Conflict(Vec<String>),
    /// The forge refused the push, with this message.
    Rejected(String),
}

/// Merges new commits of the integration branch into the task's branch.
async fn catch_up(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    task: &Task,
    head: Sha,
    tip: Sha,
) -> Result<CaughtUp, EffectError> {
    let tree = match mirror.merge(&head, &tip).await? {
        MergeOutcome::Clean { tree } => tree,
        MergeOutcome::Conflict { files, .. } => {
            return Ok(CaughtUp::Conflict(files.iter().map(ToString::to_string).collect()));
        }
        MergeOutcome::AlreadyUpToDate | MergeOutcome::FastForward | MergeOutcome::Unrelated => {
            return Err(EffectError::repository(RepositoryFault::NoCommonHistory));
        }
    };
    let message = messages::merge_default_commit(&context.feature, &context.feature.integration_branch());
    let request = CommitRequest {
        trailers: turn::trailers(context, &[("AutoBuild-Task", task.id.to_string())]),
        ..request(context, vec![head.clone(), tip], message).await?
    };
    let merged = mirror.commit_merge(&tree, &request).await?;
    Ok(match push_to(context, &branch_name(&task.branch)?, &merged, Some(head)).await? {
        Landed::OnBranch(head) | Landed::Overtaken(head) => CaughtUp::At(head),
        Landed::Rejected(rule) => CaughtUp::Rejected(rule),
    })
}

/// Returns the commit with which a task's change is compared. For a resolved merge this is the merge as git left it,
/// with conflict markers, since the changes of either side are not the Player's work.
pub(super) async fn fork_of(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    task: &Task,
    head: &Sha,
) -> Result<Sha, EffectError> {
    let fork = fork_point(context, mirror, head).await?;
    let Origin::Sync { other } = &task.origin else {
        return Ok(fork);
    };
    let tree = match mirror.merge(&fork, other).await? {
        MergeOutcome::Clean { tree } | MergeOutcome::Conflict { tree, .. } => tree,
        MergeOutcome::AlreadyUpToDate | MergeOutcome::Unrelated => return Ok(fork),
        MergeOutcome::FastForward => return Ok(other.clone()),
    };
    let request = CommitRequest {
        parents: vec![fork, other.clone()],
        message: messages::UNRESOLVED_MERGE.to_owned(),
        trailers: Vec::new(),
        author: Author { name: "AutoBuild".to_owned(), email: "autobuild@localhost".to_owned() },
        at: domain::ids::Millis(0),
    };
    Ok(mirror.commit_merge(&tree, &request).await?)
}
