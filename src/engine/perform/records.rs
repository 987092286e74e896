//! AutoBuild's records on the integration branch: the plan and a page per task, under `.autobuild/`. Unless the
//! settings keep them, they are removed before the feature pull request shows its diff.

use crate::{
    engine::{
        job::EffectError,
        perform::{
            branches::{branch_name, push, request},
            context::EffectContext,
        },
        repository::{DefaultBranch, tip},
    },
    messages,
};
use domain::{
    feature::{Records, event::OpenedOn},
    ids::Sha,
};
use git::{ChangedFile, FileStatus, Mirror};
use std::collections::BTreeMap;

/// The largest file of the default branch that is restored if one of our records replaced it, in bytes.
const LONGEST: usize = 16 << 20;

/// Returns `true` if records are written to the integration branch now; in review, only permanent ones are.
pub(super) fn are_written(context: &EffectContext<'_>) -> bool {
    match context.feature.rules.records {
        Records::Keep => true,
        Records::WhileBuilding => context.feature.pull.is_none(),
        Records::None => false,
    }
}

/// Returns a commit with the plan and the pages of finished tasks updated, or `head` if nothing differs.
pub(super) async fn with_histories(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    head: Sha,
) -> Result<Sha, EffectError> {
    let plan = messages::whole_plan_file(&context.feature);
    with_pages(context, mirror, head, plan).await
}

async fn with_pages(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    head: Sha,
    plan: Option<String>,
) -> Result<Sha, EffectError> {
    let feature = &context.feature;
    let mut files = BTreeMap::new();
    let over = feature.tasks.iter().filter(|task| task.is_over());
    let pages = over.map(|task| (messages::task_file_path(feature, task.id), messages::task_file(feature, task)));
    let plan = plan.map(|text| (messages::plan_file_path(feature), text));
    for (path, text) in pages.chain(plan) {
        let text = context.engine.secrets.mask(&text).into_bytes();
        let there = mirror.read_file(&head, &path, text.len().saturating_add(1)).await?;
        if there.is_none_or(|there| there.bytes != text) {
            files.insert(path, Some(text));
        }
    }
    if files.is_empty() {
        return Ok(head);
    }
    let request = request(context, vec![head], messages::histories_commit(feature)).await?;
    Ok(mirror.commit_files(files, &request).await?)
}

/// Prepares the integration branch for the feature pull request: with final records, or without any. The new commit
/// differs only in records from the one that the Gates checked, so their evidence still applies.
pub(super) async fn settle(context: &EffectContext<'_>, default: &DefaultBranch) -> Result<OpenedOn, EffectError> {
    let feature = &context.feature;
    let mirror = &default.mirror;
    let branch = branch_name(&feature.integration_branch())?;
    let old_head = tip(mirror, branch.as_str()).await?;
    let head = match feature.rules.records {
        Records::Keep => with_pages(context, mirror, old_head.clone(), messages::final_plan_file(feature)).await?,
        Records::WhileBuilding | Records::None => without(context, mirror, old_head.clone(), &default.head).await?,
    };
    let head = if head == old_head { head } else { push(context, &branch, &head, Some(old_head)).await? };
    let known = feature.integration.as_ref().map(|integration| integration.head.clone());
    let gated = feature.gates.last().map(|gate| gate.head.clone());
    let gated = match gated {
        Some(gated) if holds_for(context, mirror, &gated, &head).await? => Some(gated),
        Some(_) | None => None,
    };
    Ok(OpenedOn { known, head, gated, branch: None })
}

/// Returns a commit without our records, or `head` if there are none. Files of the default branch that they replaced
/// are restored. The final pages are committed first, so that they stay in the branch's history.
async fn without(context: &EffectContext<'_>, mirror: &Mirror, head: Sha, default: &Sha) -> Result<Sha, EffectError> {
    let Some(base) = mirror.merge_base(&head, default).await? else {
        return Ok(head);
    };
    if records_between(context, mirror, &base, &head).await?.is_empty() {
        return Ok(head);
    }
    let head = if are_written(context) { with_histories(context, mirror, head).await? } else { head };
    let mut files = BTreeMap::new();
    for path in records_between(context, mirror, &base, &head).await? {
        let before = mirror.read_file(&base, &path, LONGEST).await?;
        files.insert(path, before.map(|file| file.bytes));
    }
    let request = request(context, vec![head], messages::records_out_commit(&context.feature)).await?;
    Ok(mirror.commit_files(files, &request).await?)
}

/// Returns the records of this Feature that differ between two commits.
async fn records_between(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    base: &Sha,
    head: &Sha,
) -> Result<Vec<String>, EffectError> {
    let mut found = Vec::new();
    for file in mirror.changed_files(base, head).await? {
        found.extend(paths(&file).filter(|path| messages::is_record(&context.feature, path)));
    }
    Ok(found)
}

/// Returns `true` if `head` contains `gated` and differs from it only in our records.
async fn holds_for(context: &EffectContext<'_>, mirror: &Mirror, gated: &Sha, head: &Sha) -> Result<bool, EffectError> {
    if gated == head {
        return Ok(true);
    }
    if !mirror.has_commit(gated).await? || !mirror.is_ancestor(gated, head).await? {
        return Ok(false);
    }
    let changed = mirror.changed_files(gated, head).await?;
    let mut paths = changed.iter().flat_map(paths);
    Ok(paths.all(|path| messages::is_record(&context.feature, &path)))
}

/// Returns the path of a changed file, and the earlier one if it was renamed.
fn paths(file: &ChangedFile) -> impl Iterator<Item = String> {
    let from = match &file.status {
        FileStatus::Renamed { from } => Some(from.to_string()),
        FileStatus::Added | FileStatus::Modified | FileStatus::Deleted | FileStatus::TypeChanged => None,
    };
    std::iter::once(file.path.to_string()).chain(from)
}
