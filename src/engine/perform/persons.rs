//! What persons pushed to a task's branch: everything that AutoBuild itself did not commit.

use crate::engine::{
    job::EffectError,
    perform::{EffectContext, turn},
};
use domain::ids::Sha;
use git::{CommitInfo, Mirror};

/// How many commits of a branch are looked at: more than all turns of a task make.
const MOST: usize = 300;

/// The commits of persons between `fork` and `head`, each as the commit before it and itself, oldest first. Ours are
/// those that carry both our name and the trailer of the effect that made them.
pub(super) async fn pushes(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    fork: &Sha,
    head: &Sha,
) -> Result<Vec<(Sha, Sha)>, EffectError> {
    let us = turn::author(context).await?.email;
    let ours = |info: &CommitInfo| info.author_email == us && info.trailer("AutoBuild-Attempt").is_some();
    let mut pushes = Vec::new();
    for commit in mirror.grown(fork, head, MOST).await? {
        let Some(info) = mirror.commit_info(&commit).await? else {
            continue;
        };
        if let (false, Some(before)) = (ours(&info), info.parents.first()) {
            pushes.push((before.clone(), commit));
        }
    }
    pushes.reverse();
    Ok(pushes)
}
