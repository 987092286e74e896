//! What the commits of a Feature have in common, and which of them are persons'.

use crate::engine::{job::EffectError, perform::context::EffectContext};
use domain::{
    blocked::Defect,
    ids::Sha,
    task::{Task, Turn},
};
use git::{Author, CommitInfo, Mirror};

/// The App's bot as author, as GitHub itself writes it.
pub(super) async fn author(context: &EffectContext<'_>) -> Result<Author, EffectError> {
    let bot = context.engine.autobuild.bot(context.feature.installation).await?;
    let host = url::Url::parse(context.engine.autobuild.urls().web())
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
        .unwrap_or_else(|| "github.com".to_owned());
    Ok(Author {
        name: bot.login.clone(),
        email: format!("{}+{}@users.noreply.{host}", bot.id, bot.login),
    })
}

/// The trailers of a commit: whose it is, and which effect made it.
pub(super) fn trailers(context: &EffectContext<'_>, more: &[(&str, String)]) -> Vec<(String, String)> {
    let mut trailers = vec![("AutoBuild-Feature".to_owned(), context.key().shown())];
    trailers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    trailers.push(("AutoBuild-Attempt".to_owned(), context.job.effect.id.clone()));
    trailers
}

/// Whether a commit carries both our address and the trailer of the effect that made it.
pub(super) fn is_ours(info: &CommitInfo, us: &str) -> bool {
    info.author_email == us && info.trailer("AutoBuild-Attempt").is_some()
}

/// The open turn of a task and the commit that it looks at.
pub(super) fn open(task: &Task) -> Result<(&Turn, &Sha), EffectError> {
    let gone = || EffectError::defect(Defect::NoOpenTurn { task: task.id });
    let turn = task.last_turn().ok_or_else(gone)?;
    Ok((turn, turn.head.as_ref().ok_or_else(gone)?))
}

/// How many commits of a branch are looked at: more than all turns of a task make.
const MOST: usize = 300;

/// The commits of persons between `fork` and `head`, each as the commit before it and itself, oldest first.
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
