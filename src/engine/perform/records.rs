//! AutoBuild's records on the integration branch: the plan and a page per task, under `.autobuild/`. They are bookkeeping
//! of the work: unless the settings keep them, they are gone before the feature pull request shows its diff.

use crate::{
    engine::{
        job::EffectError,
        perform::{
            branches::{branch_name, push, request},
            context::EffectContext,
        },
        repository::tip,
    },
    messages,
};
use domain::{
    feature::{Records, event::OpenedOn},
    ids::Sha,
};
use git::{FileStatus, Mirror};
use std::collections::BTreeMap;

/// The longest file of the default branch that is put back where a record of ours took its place.
const LONGEST: usize = 16 << 20;

/// Whether records are written to the integration branch now. Once its pull request shows a diff, only those that stay.
pub(super) fn are_written(context: &EffectContext<'_>) -> bool {
    match context.feature.rules.records {
        Records::Keep => true,
        Records::WhileBuilding => context.feature.pull.is_none(),
        Records::None => false,
    }
}

/// A commit with the pages of finished tasks and the plan brought up to date, if any differs.
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
    let pages = over.map(|task| {
        (
            messages::task_file_path(feature, task.id),
            messages::task_file(feature, task),
        )
    });
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

/// Makes the integration branch what the pull request is to show: with final records, or without any. A commit that does so
/// differs from the one that the Gates ran on in records alone, so that their evidence holds for it.
pub(super) async fn settle(context: &EffectContext<'_>) -> Result<OpenedOn, EffectError> {
    let feature = &context.feature;
    let default = context.fetch_with_default().await?;
    let mirror = &default.mirror;
    let branch = branch_name(&feature.key.integration_branch())?;
    let stood = tip(mirror, branch.as_str()).await?;
    let head = match feature.rules.records {
        Records::Keep => with_pages(context, mirror, stood.clone(), messages::final_plan_file(feature)).await?,
        Records::WhileBuilding | Records::None => without(context, mirror, stood.clone(), &default.head).await?,
    };
    let head = match head == stood {
        true => head,
        false => push(context, &branch, &head, Some(stood)).await?,
    };
    let known = feature.integration.as_ref().map(|integration| integration.head.clone());
    let gated = feature.gates.last().map(|gate| gate.head.clone());
    let gated = match gated {
        Some(gated) if holds_for(context, mirror, &gated, &head).await? => Some(gated),
        Some(_) | None => None,
    };
    Ok(OpenedOn { known, head, gated })
}

/// A commit without our records, if there are any; files that the default branch has in their place are put back. The last
/// histories are written first: they stay in the branch's own history.
async fn without(context: &EffectContext<'_>, mirror: &Mirror, head: Sha, default: &Sha) -> Result<Sha, EffectError> {
    let Some(base) = mirror.merge_base(&head, default).await? else {
        return Ok(head);
    };
    if records_between(context, mirror, &base, &head).await?.is_empty() {
        return Ok(head);
    }
    let head = match are_written(context) {
        true => with_histories(context, mirror, head).await?,
        false => head,
    };
    let mut files = BTreeMap::new();
    for path in records_between(context, mirror, &base, &head).await? {
        let before = mirror.read_file(&base, &path, LONGEST).await?;
        files.insert(path, before.map(|file| file.bytes));
    }
    let request = request(context, vec![head], messages::records_out_commit(&context.feature)).await?;
    Ok(mirror.commit_files(files, &request).await?)
}

/// Records of this Feature that differ between two commits.
async fn records_between(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    base: &Sha,
    head: &Sha,
) -> Result<Vec<String>, EffectError> {
    let mut found = Vec::new();
    for file in mirror.changed_files(base, head).await? {
        let from = match &file.status {
            FileStatus::Renamed { from } => Some(from.to_string()),
            FileStatus::Added | FileStatus::Modified | FileStatus::Deleted | FileStatus::TypeChanged => None,
        };
        let paths = std::iter::once(file.path.to_string()).chain(from);
        found.extend(paths.filter(|path| messages::is_record(&context.feature, path)));
    }
    Ok(found)
}

/// Whether `head` contains `gated` and differs from it in nothing but our records.
async fn holds_for(context: &EffectContext<'_>, mirror: &Mirror, gated: &Sha, head: &Sha) -> Result<bool, EffectError> {
    if gated == head {
        return Ok(true);
    }
    if !mirror.has_commit(gated).await? || !mirror.is_ancestor(gated, head).await? {
        return Ok(false);
    }
    let changed = mirror.changed_files(gated, head).await?;
    Ok(changed.iter().all(|file| {
        let from = match &file.status {
            FileStatus::Renamed { from } => messages::is_record(&context.feature, &from.to_string()),
            FileStatus::Added | FileStatus::Modified | FileStatus::Deleted | FileStatus::TypeChanged => true,
        };
        from && messages::is_record(&context.feature, &file.path.to_string())
    }))
}
