//! Finds reasons not to push a commit, as items for the Player. An item never contains a secret's value.

use crate::{
    config::RepositorySettings,
    engine::{
        job::EffectError,
        perform::{context::EffectContext, ground::Ground},
    },
};
use domain::problem::{Problem, ReviewItem, Uncommitted};
use git::{ForbiddenChange, NotEncoded, Prepared, RepoPath, TreeFinding, rule_or_file};
use std::collections::BTreeSet;
use text::secret::Secrets;

/// The most bytes of a file that are searched for conflict markers.
const MAX_MARKED: usize = 4 << 20;

/// Returns the findings in the commit itself, which is already in the mirror.
pub(super) async fn findings(
    context: &EffectContext<'_>,
    settings: &RepositorySettings,
    prepared: &Prepared,
    ground: &Ground,
) -> Result<Vec<ReviewItem>, EffectError> {
    let found = context.policy(settings)?.check(prepared).await?;
    let own = own_paths(prepared, ground).await?;
    let is_own = |finding: &&ForbiddenChange| match (&own, &finding.path) {
        (Some(own), Some(path)) => own.contains(path),
        (None, _) | (_, None) => true,
    };
    let mut items: Vec<ReviewItem> = found.iter().filter(is_own).map(item).collect();
    items.extend(open_conflicts(prepared, ground).await?);
    Ok(items)
}

/// Returns the paths that differ from the other side of a merge too. Changes of that side are not the Player's work.
async fn own_paths(prepared: &Prepared, ground: &Ground) -> Result<Option<BTreeSet<RepoPath>>, EffectError> {
    let Some(other) = &ground.other else { return Ok(None) };
    let changed = ground.mirror.changed_files(other, prepared.sha()).await?;
    Ok(Some(changed.into_iter().map(|file| file.path).collect()))
}

fn item(finding: &ForbiddenChange) -> ReviewItem {
    ReviewItem {
        file: finding.path.as_ref().map(ToString::to_string),
        line: finding.line,
        ..ReviewItem::must_fix(Problem::Forbidden(finding.why.clone()))
    }
}

/// Returns the findings in the working copy that make it impossible to commit. Files that are only skipped do not
/// count.
pub(super) fn refused(findings: &[TreeFinding], secrets: &Secrets) -> Vec<ReviewItem> {
    let rejected = findings.iter().filter_map(|finding| uncommitted(finding, secrets));
    rejected.map(|why| ReviewItem::must_fix(Problem::Uncommitted(why))).collect()
}

fn uncommitted(finding: &TreeFinding, secrets: &Secrets) -> Option<Uncommitted> {
    let masked = |path: &RepoPath| secrets.mask(&path.to_string());
    Some(match finding {
        TreeFinding::Special { .. } => return None,
        TreeFinding::Unreadable { path } => Uncommitted::Unreadable(masked(path)),
        TreeFinding::RefusedName { path } => Uncommitted::RefusedName(masked(path)),
        TreeFinding::TooDeep { path } => Uncommitted::TooDeep(masked(path)),
        TreeFinding::FileTooLarge { path, size, limit } => {
            Uncommitted::FileTooLarge { path: masked(path), size: *size, limit: *limit }
        }
        TreeFinding::TotalTooLarge { size, limit } => Uncommitted::TotalTooLarge { size: *size, limit: *limit },
        TreeFinding::TooManyFiles { limit } => Uncommitted::TooManyFiles(*limit),
        TreeFinding::CheckoutGone => Uncommitted::CheckoutGone,
    })
}

/// Returns the item for a file that git could not store.
pub(super) fn not_encoded(file: &NotEncoded) -> ReviewItem {
    let (encoding, rule) = (file.encoding.clone(), rule_or_file(file.rule.as_ref()));
    ReviewItem {
        file: Some(file.path.to_string()),
        ..ReviewItem::must_fix(Problem::Uncommitted(Uncommitted::NotEncoded { encoding, rule }))
    }
}

/// Returns the files of a merge that still contain conflict markers. They are read from git's objects.
async fn open_conflicts(prepared: &Prepared, ground: &Ground) -> Result<Vec<ReviewItem>, EffectError> {
    let mut items = Vec::new();
    for path in &ground.conflicts {
        let file = ground.mirror.read_file(prepared.sha(), path, MAX_MARKED).await?;
        let marked =
            file.is_some_and(|file| file.bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"<<<<<<< ")));
        if marked {
            items.push(ReviewItem { file: Some(path.clone()), ..ReviewItem::must_fix(Problem::ConflictMarkers) });
        }
    }
    Ok(items)
}
