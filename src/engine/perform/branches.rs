//! Creates, updates and deletes the Feature's branches.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{
            context::EffectContext,
            push::{Landed, branch_moved, push_to},
            records, sign, turn,
        },
        repository::{DefaultBranch, tip},
    },
    github::Rights,
    messages,
};
use domain::{
    blocked::RepositoryFault,
    ci::without_instructions,
    feature::{
        Continuation, Feature, Phase, Records,
        event::{DefaultMerge, Event},
    },
    ids::{Emission, Sha},
};
use git::{BranchName, CommitInfo, CommitRequest, GitError, MergeOutcome, Mirror, PushError};
use std::collections::{BTreeMap, BTreeSet};

/// Creates the integration branch from a commit of the default branch, with the plan committed on it if records are
/// written.
pub(super) async fn open_integration(context: &EffectContext<'_>, emission: Emission) -> Result<Done, EffectError> {
    let feature = &context.feature;
    let default = context.fetch_with_default().await?;
    let branch = branch_name(&feature.integration_branch())?;
    if let Some(head) = default.mirror.rev_parse(&branch).await? {
        return adopted(context, emission, &default.mirror, &default.head, head).await;
    }
    let base = base(context, &default.mirror, &default.head).await?;
    let head = match feature.rules.records {
        Records::WhileBuilding | Records::Keep => with_plan(context, &default.mirror, base.clone()).await?,
        Records::None => base.clone(),
    };
    let head = push(context, &branch, &head, None).await?;
    Ok(context.event(Event::IntegrationOpened { emission, base, head }))
}

/// Commits the plan and a page per task on top of `base`.
async fn with_plan(context: &EffectContext<'_>, mirror: &Mirror, base: Sha) -> Result<Sha, EffectError> {
    let masked = |text: String| context.engine.secrets.mask(&text).into_bytes();
    let files = messages::plan_files(&context.feature).into_iter();
    let files: BTreeMap<_, _> = files.map(|(path, text)| (path, Some(masked(text)))).collect();
    let request = request(context, vec![base], messages::plan_commit(&context.feature)).await?;
    Ok(mirror.commit_files(files, &request).await?)
}

/// Returns the commit that the integration branch starts from: the one that pre-flight checked. Newer commits are
/// merged in before the next wave and checked then.
async fn base(context: &EffectContext<'_>, mirror: &Mirror, head: &Sha) -> Result<Sha, EffectError> {
    let looked_at = context.feature.preflight.as_ref().map(|found| &found.commit);
    match looked_at {
        Some(commit) if mirror.has_commit(commit).await? && mirror.is_ancestor(commit, head).await? => {
            Ok(commit.clone())
        }
        Some(_) | None => Ok(head.clone()),
    }
}

/// Adopts an integration branch that an earlier try pushed. A branch that somebody else made is refused. Without
/// records, our branch has no commit of its own, so a branch with only commits of the default branch is adopted too.
async fn adopted(
    context: &EffectContext<'_>,
    emission: Emission,
    mirror: &Mirror,
    default: &Sha,
    head: Sha,
) -> Result<Done, EffectError> {
    if context.feature.rules.records == Records::None && mirror.is_ancestor(&head, default).await? {
        let base = head.clone();
        return Ok(context.event(Event::IntegrationOpened { emission, base, head }));
    }
    let info = mirror.commit_info(&head).await?;
    if !is_ours(context, info.as_ref()) {
        let branch = context.feature.integration_branch();
        return Err(EffectError::repository(RepositoryFault::ForeignBranch { branch }));
    }
    let base = info.and_then(|info| info.parents.first().cloned()).unwrap_or_else(|| default.clone());
    Ok(context.event(Event::IntegrationOpened { emission, base, head }))
}

/// `true` if this run made a commit.
fn is_ours(context: &EffectContext<'_>, commit: Option<&CommitInfo>) -> bool {
    let shown = context.feature.key.name();
    commit.and_then(|info| info.trailer("AutoBuild-Feature")) == Some(shown.as_str())
}

/// Returns a branch of somebody else that keeps this run from creating its branches. Git stores branches as paths: a
/// branch `autobuild` excludes every branch `autobuild/…`, and the reverse.
pub(super) async fn in_the_way(
    context: &EffectContext<'_>,
    default: &DefaultBranch,
) -> Result<Option<String>, EffectError> {
    let feature = &context.feature;
    if feature.integration.is_some() {
        return Ok(None);
    }
    let integration = feature.integration_branch();
    let tasks = feature.tasks.iter().map(|task| task.branch.clone());
    let released = feature.key.released_branch();
    let own: Vec<String> = [integration.clone(), released].into_iter().chain(tasks).collect();
    let (above, below): (BTreeSet<&str>, Vec<String>) =
        (own.iter().flat_map(|name| above(name)).collect(), own.iter().map(|name| format!("{name}/*")).collect());
    let wanted: Vec<&str> = above.into_iter().chain(own.iter().chain(&below).map(String::as_str)).collect();
    let remote = context.engine.remote(feature.installation, feature.key.repo, Rights::Fetch).await?;
    let listed = default.mirror.ls_remote(&remote, &wanted).await;
    let found = listed.map_err(|error| context.engine.git_failed(feature.installation, error))?;
    let other = found.keys().find(|name| **name != integration);
    if other.is_some() || !found.contains_key(&integration) {
        return Ok(other.cloned());
    }
    let mirror = context.fetch_own().await?;
    let head = tip(&mirror, &integration).await?;
    let adopts = feature.rules.records == Records::None && mirror.is_ancestor(&head, &default.head).await?;
    let ours = adopts || is_ours(context, mirror.commit_info(&head).await?.as_ref());
    Ok((!ours).then_some(integration))
}

/// Returns the folders of a branch's name: `a` and `a/b` for `a/b/c`.
fn above(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').filter_map(|(at, _)| name.get(..at))
}

/// Merges the default branch into the integration branch, and updates the records of finished tasks.
pub(super) async fn merge_default(context: &EffectContext<'_>, emission: Emission) -> Result<Done, EffectError> {
    let feature = &context.feature;
    let default = context.fetch_with_default().await?;
    let mirror = &default.mirror;
    let branch = branch_name(&feature.integration_branch())?;
    let expected_head = tip(mirror, branch.as_str()).await?;
    let ended = |outcome: DefaultMerge| Ok(context.event(Event::DefaultMerged { emission, outcome }));
    let other = default.head.clone();
    let merged = match mirror.merge(&expected_head, &other).await? {
        MergeOutcome::AlreadyUpToDate => expected_head.clone(),
        MergeOutcome::FastForward => other.clone(),
        MergeOutcome::Clean { tree } => {
            let message = messages::merge_default_commit(feature, &default.name);
            let request = request(context, vec![expected_head.clone(), other.clone()], message).await?;
            mirror.commit_merge(&tree, &request).await?
        }
        MergeOutcome::Conflict { files, .. } => {
            let files = files.iter().map(ToString::to_string).collect();
            return ended(DefaultMerge::Conflict { files, other });
        }
        MergeOutcome::Unrelated => {
            return Err(EffectError::repository(RepositoryFault::NoCommonHistory));
        }
    };
    // Before the pull request opens, its own effect updates or removes the records.
    let head = if records::are_written(context) && !leads_to_pull(feature) {
        records::with_histories(context, mirror, merged).await?
    } else {
        merged
    };
    if head == expected_head {
        return ended(DefaultMerge::UpToDate { head, other });
    }
    let head = push(context, &branch, &head, Some(expected_head)).await?;
    ended(DefaultMerge::Merged { head, other })
}

/// Returns `true` if this is the last merge before the feature pull request.
fn leads_to_pull(feature: &Feature) -> bool {
    matches!(feature.phase(), Some(Phase::MergingDefault { then: Continuation::Pull, .. }))
}

/// Builds a commit of AutoBuild's own. Its time is that of the plan, so that a repeat of this effect makes the same
/// commit.
pub(super) async fn request(
    context: &EffectContext<'_>,
    parents: Vec<Sha>,
    message: String,
) -> Result<CommitRequest, EffectError> {
    Ok(CommitRequest {
        parents,
        message: without_instructions(&context.engine.secrets.mask(&message)),
        trailers: turn::trailers(context, &[]),
        author: turn::author(context).await?,
        at: context.feature.plan.as_ref().map_or_else(|| context.engine.now(), |plan| plan.created),
    })
}

/// Deletes every branch of this run.
pub(super) async fn clean_up(context: &EffectContext<'_>) -> Result<Done, EffectError> {
    let feature = &context.feature;
    let remote = context.remote_to_push().await?;
    let mirror = context.engine.mirrors.mirror(feature.key.repo);
    let folder = format!("{}/*", feature.key.branch_prefix());
    for (name, head) in mirror.ls_remote(&remote, &[&folder]).await? {
        context.job.ensure_lease()?;
        match mirror.delete_branch(&remote, &branch_name(&name)?, &head).await {
            Ok(_) => {}
            // A person works on the branch, or a rule protects it, so it is kept.
            Err(PushError::LeaseLost { .. } | PushError::Rejected { .. }) => {
                tracing::info!(branch = %name, "the branch {name} is kept");
            }
            Err(PushError::Git(error)) => return Err(context.engine.git_failed(feature.installation, error)),
        }
    }
    for name in mirror.list_aside(&remote, &folder).await? {
        sign::tidy(context, &mirror, &remote, &branch_name(&name)?).await;
    }
    Ok(Done::Nothing)
}

/// Pushes one of our own commits and returns the commit on the branch, which GitHub may have signed. If the branch
/// moved meanwhile, the effect is tried again.
pub(super) async fn push(
    context: &EffectContext<'_>,
    branch: &BranchName,
    head: &Sha,
    expected_head: Option<Sha>,
) -> Result<Sha, EffectError> {
    match push_to(context, branch, head, expected_head).await? {
        Landed::OnBranch(head) => Ok(head),
        Landed::Overtaken(_) => Err(branch_moved(branch.as_str())),
        Landed::Rejected(reason) => Err(EffectError::refused(reason)),
    }
}

/// Parses a branch name that is safe to pass to git.
pub(super) fn branch_name(text: &str) -> Result<BranchName, EffectError> {
    text.parse().map_err(|error| EffectError::from(GitError::from(error)))
}
