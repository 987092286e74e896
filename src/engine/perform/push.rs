//! Pushing a commit with a lease on where its branch stood.

use crate::{
    engine::{
        job::EffectError,
        perform::{EffectContext, branches::branch_name},
    },
    github::Rights,
};
use domain::{
    blocked::{Fault, RepositoryFault},
    ids::Sha,
    task::Task,
};
use git::{BranchName, Lease, PushError, Pushed};

/// Where a pushed commit came down.
pub(super) enum Landed {
    /// On the branch.
    There,
    /// Nowhere: the branch stands at this commit of somebody else's.
    Overtaken(Sha),
    /// Nowhere: the forge refused it, in these words.
    Rejected(String),
}

/// The branch is not where it was: what is to be pushed is made again from where it is.
pub(super) fn moved(branch: &str) -> EffectError {
    EffectError::later(Fault::Repository {
        what: RepositoryFault::BranchMoves {
            branch: branch.to_owned(),
        },
    })
}

/// Pushes `head` to the task's branch.
pub(super) async fn push(
    context: &EffectContext<'_>,
    task: &Task,
    head: &Sha,
    stood: Option<Sha>,
) -> Result<Landed, EffectError> {
    push_to(context, &branch_name(&task.branch)?, head, stood).await
}

/// Pushes `head` to a branch that stands where it is said to stand.
pub(super) async fn push_to(
    context: &EffectContext<'_>,
    branch: &BranchName,
    head: &Sha,
    stood: Option<Sha>,
) -> Result<Landed, EffectError> {
    let feature = &context.feature;
    let remote = context
        .engine
        .remote(feature.installation, feature.key.repo, Rights::Push)
        .await?;
    let mirror = context.engine.mirrors.mirror(feature.key.repo);
    let lease = stood.map_or(Lease::Absent, Lease::At);
    context.job.may_speak()?;
    match mirror.push(&remote, branch, head, &lease).await {
        Ok(Pushed::Done | Pushed::AlreadyThere) => Ok(Landed::There),
        Err(PushError::LeaseLost { actual: Some(actual) }) if actual == *head => Ok(Landed::There),
        Err(PushError::LeaseLost { actual: Some(actual) }) => Ok(Landed::Overtaken(actual)),
        Err(PushError::LeaseLost { actual: None }) => Err(moved(branch.as_str())),
        Err(PushError::Rejected { reason }) => Ok(Landed::Rejected(reason)),
        Err(PushError::Git(error)) => Err(context.engine.git_failed(feature.installation, error)),
    }
}
