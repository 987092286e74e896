//! The changed files that programs on a person's machine run or obey, for the texts of pull requests.

use crate::engine::{
    job::EffectError,
    perform::{context::EffectContext, sync::fork_of},
    repository::DefaultBranch,
};
use domain::{
    ids::Sha,
    obeyed::{ObeyedFile, obeyed_files},
    task::Task,
};
use git::Mirror;

/// Returns those that a task's branch changes at `head`; none without a head, or if nobody has this commit any more.
pub(super) async fn by_task(
    context: &EffectContext<'_>,
    task: &Task,
    head: Option<&Sha>,
) -> Result<Vec<ObeyedFile>, EffectError> {
    let Some(head) = head else {
        return Ok(Vec::new());
    };
    let mut mirror = context.engine.mirrors.mirror(context.feature.key.repo);
    if !mirror.has_commit(head).await? {
        mirror = context.fetch_own().await?;
        if !mirror.has_commit(head).await? {
            return Ok(Vec::new());
        }
    }
    let base = fork_of(context, &mirror, task, head).await?;
    between(&mirror, &base, head).await
}

/// Returns those that the integration branch changes. `default` was fetched with the Feature's own branches.
pub(super) async fn by_feature(
    context: &EffectContext<'_>,
    default: &DefaultBranch,
) -> Result<Vec<ObeyedFile>, EffectError> {
    let Some(integration) = &context.feature.integration else {
        return Ok(Vec::new());
    };
    let (mirror, head) = (&default.mirror, &integration.head);
    match mirror.merge_base(&default.head, head).await? {
        Some(base) => between(mirror, &base, head).await,
        None => between(mirror, &integration.base, head).await,
    }
}

async fn between(mirror: &Mirror, base: &Sha, head: &Sha) -> Result<Vec<ObeyedFile>, EffectError> {
    let changed = mirror.changed_files(base, head).await?;
    let paths: Vec<String> = changed.iter().map(|file| file.path.to_string()).collect();
    Ok(obeyed_files(paths.iter().map(String::as_str)))
}
