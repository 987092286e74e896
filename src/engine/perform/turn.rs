//! What the commits of a Feature have in common.

use crate::engine::{job::EffectError, perform::EffectContext};
use domain::{
    blocked::Defect,
    ids::Sha,
    task::{Task, Turn},
};
use git::Author;

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

/// The open turn of a task and the commit that it looks at.
pub(super) fn open(task: &Task) -> Result<(&Turn, &Sha), EffectError> {
    let gone = || EffectError::defect(Defect::NoOpenTurn { task: task.id });
    let turn = task.last_turn().ok_or_else(gone)?;
    Ok((turn, turn.head.as_ref().ok_or_else(gone)?))
}
