//! Pushes a commit, provided that its branch still has the expected head (`--force-with-lease`).

use crate::engine::{
    job::EffectError,
    perform::{branches::branch_name, context::EffectContext, held_ci, sign, sign::SignOutcome},
};
use domain::{
    blocked::{Failure, RepositoryFault},
    ids::Sha,
    task::Task,
};
use git::{BranchName, Lease, PushError, PushOutcome};

pub(super) enum Landed {
    /// The branch has this commit, which may be the one that GitHub signed.
    OnBranch(Sha),
    /// Not pushed: the branch has this commit, which somebody else pushed.
    Overtaken(Sha),
    /// Not pushed: GitHub refused it with this message.
    Rejected(String),
}

/// Returns the error for a branch that moved. The next try makes its commit from the new head.
pub(super) fn branch_moved(branch: &str) -> EffectError {
    Failure::Repository { fault: RepositoryFault::BranchMoves { branch: branch.to_owned() } }.into()
}

/// Pushes `head` to the task's branch.
pub(super) async fn push(
    context: &EffectContext<'_>,
    task: &Task,
    head: &Sha,
    expected_head: Option<Sha>,
) -> Result<Landed, EffectError> {
    push_to(context, &branch_name(&task.branch)?, head, expected_head).await
}

/// Pushes `head`, or the commit that replaces it because CI is held or because GitHub signed it, to a branch whose
/// expected head is `expected_head`.
pub(super) async fn push_to(
    context: &EffectContext<'_>,
    branch: &BranchName,
    head: &Sha,
    expected_head: Option<Sha>,
) -> Result<Landed, EffectError> {
    let feature = &context.feature;
    let remote = context.remote_to_push().await?;
    let mirror = context.engine.mirrors.mirror(feature.key.repo);
    let head = &held_ci::commit_to_push(context, &mirror, head).await?;
    let pushed = match sign::signed(context, &mirror, &remote, branch, head).await? {
        SignOutcome::As(sha) => sha,
        SignOutcome::Rejected(reason) => return Ok(Landed::Rejected(reason)),
    };
    let lease = expected_head.map_or(Lease::Absent, Lease::At);
    context.job.ensure_lease()?;
    let landed = match mirror.push(&remote, branch, &pushed, &lease).await {
        Ok(PushOutcome::Done | PushOutcome::AlreadyThere) => Landed::OnBranch(pushed.clone()),
        Err(PushError::LeaseLost { actual: Some(actual) }) => {
            if sign::stands_for(context, &mirror, &remote, &actual, head).await? {
                Landed::OnBranch(actual)
            } else {
                Landed::Overtaken(actual)
            }
        }
        Err(PushError::LeaseLost { actual: None }) => return Err(branch_moved(branch.as_str())),
        Err(PushError::Rejected { reason }) => Landed::Rejected(reason),
        Err(PushError::Git(error)) => return Err(context.engine.git_failed(feature.installation, error)),
    };
    if pushed != *head {
        sign::tidy(context, &mirror, &remote, branch).await;
    }
    Ok(landed)
}
