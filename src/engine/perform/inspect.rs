//! Finds reasons not to push a commit, as items for the Player. An item never contains a secret's value.

use crate::{
    config::RepositorySettings,
    engine::{
        job::EffectError,
        perform::{context::EffectContext, ground::Ground},
    },
};
use domain::decision::Issue;
use git::{NotEncoded, PolicyFinding, Prepared, RepoPath, TreeFinding};
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
) -> Result<Vec<Issue>, EffectError> {
    let found = context.policy(settings)?.check(prepared).await?;
    let own = own_paths(prepared, ground).await?;
    let is_own = |finding: &&PolicyFinding| {
        own.as_ref()
            .is_none_or(|own| place(finding).is_none_or(|path| own.contains(path)))
    };
    let mut items: Vec<Issue> = found.iter().filter(is_own).map(item).collect();
    items.extend(open_conflicts(prepared, ground).await?);
    Ok(items)
}

/// Returns the paths that differ from the other side of a merge too. Whatever that side brought in is not the Player's
/// work.
async fn own_paths(prepared: &Prepared, ground: &Ground) -> Result<Option<BTreeSet<RepoPath>>, EffectError> {
    let Some(other) = &ground.other else { return Ok(None) };
    let changed = ground.mirror.changed_files(other, prepared.sha()).await?;
    Ok(Some(changed.into_iter().map(|file| file.path).collect()))
}

fn place(finding: &PolicyFinding) -> Option<&RepoPath> {
    match finding {
        PolicyFinding::Protected { path, .. }
        | PolicyFinding::EscapingLink { path }
        | PolicyFinding::Submodule { path }
        | PolicyFinding::Filtered { path, .. }
        | PolicyFinding::Secret { path, .. } => Some(path),
        PolicyFinding::SecretName { .. } => None,
    }
}

fn item(finding: &PolicyFinding) -> Issue {
    let (category, line) = match finding {
        PolicyFinding::Protected { .. } => ("protected_path", None),
        PolicyFinding::EscapingLink { .. } => ("escaping_link", None),
        PolicyFinding::Submodule { .. } => ("submodule", None),
        PolicyFinding::Filtered { .. } => ("filtered_file", None),
        PolicyFinding::Secret { line, .. } => ("secret", u32::try_from(*line).ok()),
        PolicyFinding::SecretName { .. } => ("secret", None),
    };
    let text = format!("The commit was not pushed: {finding}. Take this out of your change.");
    Issue {
        file: place(finding).map(ToString::to_string),
        line,
        ..Issue::must_fix(category, &text)
    }
}

/// Returns the findings in the working copy that make it impossible to commit. Files that are only skipped do not
/// count.
pub(super) fn refused(findings: &[TreeFinding], secrets: &Secrets) -> Vec<Issue> {
    let rejected = findings.iter().filter(|finding| finding.rejects());
    let said = rejected.map(|finding| secrets.mask(&format!("The work was not taken: {finding}.")));
    said.map(|said| Issue::must_fix("unusable_file", &said)).collect()
}

/// Returns the item for a file that git could not store.
pub(super) fn not_encoded(file: &NotEncoded) -> Issue {
    let text = format!("The work was not taken: {file}. Write the file in this encoding.");
    Issue {
        file: Some(file.path.to_string()),
        ..Issue::must_fix("encoding", &text)
    }
}

/// Returns the files of a merge that still contain conflict markers. They are read from git's objects, never from the
/// agent's folder.
async fn open_conflicts(prepared: &Prepared, ground: &Ground) -> Result<Vec<Issue>, EffectError> {
    let mut items = Vec::new();
    for path in &ground.conflicts {
        let file = ground.mirror.read_file(prepared.sha(), path, MAX_MARKED).await?;
        let marked = file.is_some_and(|file| {
            file.bytes
                .split(|byte| *byte == b'\n')
                .any(|line| line.starts_with(b"<<<<<<< "))
        });
        if marked {
            let text = "The conflict markers are still in the file: resolve the merge.";
            items.push(Issue {
                file: Some(path.clone()),
                ..Issue::must_fix("merge_conflict", text)
            });
        }
    }
    Ok(items)
}
