//! Commits that GitHub signs, where the settings ask for it.
//!
//! GitHub signs what it makes itself for an App. So a commit of ours goes there under a ref that is no branch, GitHub is
//! asked to make one of the same tree, parents and message, and that one comes back to be pushed to the branch: modes,
//! links and merges stay what git made of them. A try that ends in between leaves nothing on a branch.

use crate::{
    config::CommitsBy,
    engine::{
        job::EffectError,
        perform::{context::EffectContext, turn},
    },
};
use domain::{blocked::Defect, ids::Sha};
use git::{BranchName, CommitInfo, Mirror, PushError, Remote};
use std::collections::BTreeMap;

/// How many commits at the tip of a branch may wait for a signature: one push makes three at most.
const MOST: usize = 20;

/// The commit to push in another's stead.
pub(super) enum Signed {
    /// This one.
    As(Sha),
    /// None: the forge does not take the work, in these words.
    Rejected(String),
}

/// `head` as it is to be pushed to `branch`: itself, or what GitHub signed in its stead.
pub(super) async fn signed(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    remote: &Remote,
    branch: &BranchName,
    head: &Sha,
) -> Result<Signed, EffectError> {
    let waiting = match context.settings().commits {
        CommitsBy::Git => Vec::new(),
        CommitsBy::Github => unsigned(context, mirror, head).await?,
    };
    if waiting.is_empty() {
        return Ok(Signed::As(head.clone()));
    }
    context.job.may_speak()?;
    match mirror.push_aside(remote, branch, head).await {
        Ok(()) => {}
        Err(PushError::Rejected { reason }) => return Ok(Signed::Rejected(reason)),
        Err(PushError::LeaseLost { .. }) => return Err(EffectError::defect(Defect::Said("a lease aside".to_owned()))),
        Err(PushError::Git(error)) => return Err(context.engine.git_failed(context.feature.installation, error)),
    }
    let mut instead: BTreeMap<Sha, Sha> = BTreeMap::new();
    for (commit, info) in waiting {
        let parent = |sha: &Sha| instead.get(sha).unwrap_or(sha).clone();
        let parents: Vec<Sha> = info.parents.iter().map(parent).collect();
        let made = remade(context, mirror, remote, &info, parents).await?;
        instead.insert(commit, made);
    }
    Ok(Signed::As(instead.remove(head).unwrap_or_else(|| head.clone())))
}

/// The commits up to `head` that are ours, on no branch yet and without a signature, each after its parents.
async fn unsigned(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    head: &Sha,
) -> Result<Vec<(Sha, CommitInfo)>, EffectError> {
    let us = turn::author(context).await?.email;
    let mut found = Vec::new();
    for commit in mirror.on_no_branch(head, MOST).await? {
        let info = mirror.commit_info(&commit).await?;
        found.extend(
            info.filter(|info| !info.is_signed && turn::is_ours(info, &us))
                .map(|info| (commit, info)),
        );
    }
    Ok(found)
}

/// Has GitHub make the commit, and takes it into the mirror if it is what was asked for.
async fn remade(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    remote: &Remote,
    info: &CommitInfo,
    parents: Vec<Sha>,
) -> Result<Sha, EffectError> {
    context.job.may_speak()?;
    let repo = context.repo();
    let made = repo.create_commit(&info.tree, &parents, &info.message).await?;
    take(context, mirror, remote, &made).await?;
    let same = mirror
        .commit_info(&made)
        .await?
        .is_some_and(|there| says_the_same(&there, info) && there.parents == parents);
    match same {
        true => Ok(made),
        false => Err(EffectError::refused(format!(
            "the commit {made}, which was to be signed, is another than was asked for"
        ))),
    }
}

async fn take(context: &EffectContext<'_>, mirror: &Mirror, remote: &Remote, commit: &Sha) -> Result<(), EffectError> {
    let held = format!("{}-signed", context.job.effect.id.replace('/', "-"));
    let taken = mirror.take(remote, commit, &held).await;
    taken.map_err(|error| context.engine.git_failed(context.feature.installation, error))
}

/// Whether `there`, where the branch stands, is what an earlier try of this effect pushed in the stead of `head`.
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
    Ok(there.is_signed && says_the_same(&there, &head))
}

/// Whether two commits have one tree, one author and one message. The message names the effect that made it.
fn says_the_same(one: &CommitInfo, other: &CommitInfo) -> bool {
    one.tree == other.tree && one.author_email == other.author_email && one.message.trim() == other.message.trim()
}

/// Removes the ref that [`signed`] pushed to. What a process that ended left is removed with the run's branches.
pub(super) async fn tidy(context: &EffectContext<'_>, mirror: &Mirror, remote: &Remote, branch: &BranchName) {
    if context.job.may_speak().is_err() {
        return;
    }
    if let Err(error) = mirror.remove_aside(remote, branch).await {
        tracing::info!(%branch, %error, "the ref beside {branch} is removed with the run's branches");
    }
}
