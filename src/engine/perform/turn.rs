//! The author and the trailers of AutoBuild's commits, which distinguish them from people's commits.

use crate::engine::{job::EffectError, perform::context::EffectContext};
use domain::{
    blocked::Defect,
    ids::Sha,
    task::{Task, Turn},
};
use git::{Author, CommitInfo, Mirror};

/// The trailer of a commit with unfinished work.
pub(super) const PARTIAL: &str = "AutoBuild-Partial";

/// Returns the App's bot as an author, with the address that GitHub itself uses.
pub(super) async fn author(context: &EffectContext<'_>) -> Result<Author, EffectError> {
    let bot = context.engine.autobuild.bot(context.feature.installation).await?;
    let web = url::Url::parse(context.engine.autobuild.urls.web()).ok();
    let host = web.as_ref().and_then(|web| web.host_str()).unwrap_or("github.com");
    Ok(Author { name: bot.login.clone(), email: format!("{}+{}@users.noreply.{host}", bot.id, bot.login) })
}

/// Returns the trailers of a commit, which name its Feature and the effect that made it.
pub(super) fn trailers(context: &EffectContext<'_>, more: &[(&str, String)]) -> Vec<(String, String)> {
    let mut trailers = vec![("AutoBuild-Feature".to_owned(), context.feature.key.name())];
    trailers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    trailers.push(("AutoBuild-Attempt".to_owned(), context.job.effect.id.clone()));
    trailers
}

/// Returns `true` if a commit has our address and the trailer that names an effect.
pub(super) fn is_ours(info: &CommitInfo, us: &str) -> bool {
    info.author_email == us && info.trailer("AutoBuild-Attempt").is_some()
}

pub(super) fn open(task: &Task) -> Result<(&Turn, &Sha), EffectError> {
    let gone = || EffectError::defect(Defect::NoOpenTurn { task: task.id });
    let turn = task.last_turn().ok_or_else(gone)?;
    Ok((turn, turn.head.as_ref().ok_or_else(gone)?))
}

/// The most commits of a branch that are read. All turns of a task make fewer.
const MOST: usize = 300;

/// Returns the commits of people between `fork` and `head`, oldest first, each as a pair of its parent and itself.
pub(super) async fn pushes(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    fork: &Sha,
    head: &Sha,
) -> Result<Vec<(Sha, Sha)>, EffectError> {
    let us = author(context).await?.email;
    let mut pushes = Vec::new();
    for commit in mirror.grown(fork, head, MOST).await? {
        let Some(info) = mirror.commit_info(&commit).await? else {
            continue;
        };
        if let (false, Some(before)) = (is_ours(&info, &us), info.parents.first()) {
            pushes.push((before.clone(), commit));
        }
    }
    pushes.reverse();
    Ok(pushes)
}
