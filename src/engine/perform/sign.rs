//! Lets GitHub sign commits, if the settings ask for it.
//!
//! GitHub signs commits that it creates itself for an App. So our commit is pushed to a ref that is not a branch, and
//! GitHub is asked to create one with the same tree, parents and message. That commit is fetched and pushed to the
//! branch, so modes, links and merges stay as git made them. An interrupted try leaves nothing on a branch.

use crate::{
    config::CommitsBy,
    engine::{
        job::EffectError,
        perform::{context::EffectContext, turn},
    },
};
use domain::{
    blocked::{Defect, RepositoryFault},
    ids::Sha,
};
use git::{BranchName, CommitInfo, Mirror, PushError, Remote};
use std::collections::BTreeMap;

/// The most commits at the tip of a branch that may need a signature. Most pushes make at most three; one that lets CI run
/// makes the whole branch again.
const MOST: usize = 1_000;

pub(super) enum SignOutcome {
    /// Push this commit.
    As(Sha),
    /// GitHub refuses the work with this message.
    Rejected(String),
}

/// Returns the commit to push to `branch`: `head` itself, or the one that GitHub signed in its place.
pub(super) async fn signed(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    remote: &Remote,
    branch: &BranchName,
    head: &Sha,
) -> Result<SignOutcome, EffectError> {
    let waiting = match context.settings().commits {
        CommitsBy::Git => Vec::new(),
        CommitsBy::Github => unsigned(context, mirror, head).await?,
    };
    if waiting.is_empty() {
        return Ok(SignOutcome::As(head.clone()));
    }
    context.job.ensure_lease()?;
    match mirror.push_aside(remote, branch, head).await {
        Ok(()) => {}
        Err(PushError::Rejected { reason }) => return Ok(SignOutcome::Rejected(reason)),
        Err(PushError::LeaseLost { .. }) => return Err(EffectError::defect(Defect::Other("a lease aside".to_owned()))),
        Err(PushError::Git(error)) => return Err(context.engine.git_failed(context.feature.installation, error)),
    }
    let mut instead: BTreeMap<Sha, Sha> = BTreeMap::new();
    for (commit, info) in waiting {
        let parent = |sha: &Sha| instead.get(sha).unwrap_or(sha).clone();
        let parents: Vec<Sha> = info.parents.iter().map(parent).collect();
        let made = remade(context, mirror, remote, &info, parents).await?;
        instead.insert(commit, made);
    }
    Ok(SignOutcome::As(instead.remove(head).unwrap_or_else(|| head.clone())))
}

/// Returns our commits up to `head` that are neither on a branch nor signed, each after its parents. They include a
/// squash of GitHub's that was made again to let CI run.
async fn unsigned(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    head: &Sha,
) -> Result<Vec<(Sha, CommitInfo)>, EffectError> {
    let us = turn::author(context).await?.email;
    let mut found = Vec::new();
    for commit in mirror.on_no_branch(head, MOST).await? {
        let info = mirror.commit_info(&commit).await?;
        found.extend(info.filter(|info| !info.is_signed && info.author_email == us).map(|info| (commit, info)));
    }
    Ok(found)
}

/// Asks GitHub to create the commit, fetches it, and fails if it differs from the request.
async fn remade(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    remote: &Remote,
    info: &CommitInfo,
    parents: Vec<Sha>,
) -> Result<Sha, EffectError> {
    context.job.ensure_lease()?;
    let repo = context.repo();
    let made = repo.create_commit(&info.tree, &parents, &info.message).await?;
    take(context, mirror, remote, &made).await?;
    let there = mirror.commit_info(&made).await?;
    let same = there.is_some_and(|there| is_same_commit(&there, info) && there.parents == parents);
    if same { Ok(made) } else { Err(EffectError::repository(RepositoryFault::OtherCommit { made })) }
}

async fn take(context: &EffectContext<'_>, mirror: &Mirror, remote: &Remote, commit: &Sha) -> Result<(), EffectError> {
    let held = format!("{}-signed", context.job.effect.id.replace('/', "-"));
    let taken = mirror.take(remote, commit, &held).await;
    taken.map_err(|error| context.engine.git_failed(context.feature.installation, error))
}

/// Returns `true` if `there`, the head of the branch, is the commit that an earlier try of this effect pushed in place
/// of `head`.
pub(super) async fn stands_for(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    remote: &Remote,
    there: &Sha,
    head: &Sha,
) -> Result<bool, EffectError> {
    if there == head || context.settings().commits == CommitsBy::Git {
        return Ok(there == head);
    }
    take(context, mirror, remote, there).await?;
    let (Some(there), Some(head)) = (mirror.commit_info(there).await?, mirror.commit_info(head).await?) else {
        return Ok(false);
    };
    Ok(there.is_signed && is_same_commit(&there, &head))
}

/// Returns `true` if the two commits have the same tree, author and message. The message names the effect that made the
/// commit.
fn is_same_commit(one: &CommitInfo, other: &CommitInfo) -> bool {
    one.tree == other.tree && one.author_email == other.author_email && one.message.trim() == other.message.trim()
}

/// Deletes the ref that [`signed`] pushed to. If the process ends before this, the ref is deleted with the run's
/// branches.
pub(super) async fn tidy(context: &EffectContext<'_>, mirror: &Mirror, remote: &Remote, branch: &BranchName) {
    if context.job.ensure_lease().is_err() {
        return;
    }
    if let Err(error) = mirror.remove_aside(remote, branch).await {
        tracing::info!(%branch, %error, "the ref beside {branch} is removed with the run's branches");
    }
}
