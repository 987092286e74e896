//! The Feature's branches: made, brought up to date, removed.

use crate::{
    engine::{
        job::{Done, Undone},
        perform::{Scene, push::moved, records, turn},
        repository::tip,
    },
    github::Rights,
    messages,
};
use domain::{
    feature::{
        Feature, Phase, Records, Then,
        event::{DefaultMerge, Event},
    },
    ids::Sha,
};
use git::{BranchName, CommitRequest, GitError, Lease, MergeOutcome, Mirror, PushError};
use std::collections::BTreeMap;

/// Makes the integration branch from the default branch's head, with the plan committed on it.
pub(super) async fn open_integration(scene: &Scene<'_>, run: u64) -> Result<Done, Undone> {
    let feature = &scene.feature;
    let folder = feature.key.branch_prefix();
    let default = scene
        .engine
        .fetch_default(feature.installation, feature.key.repo, Some(&folder))
        .await?;
    let branch = branch_name(&feature.key.integration_branch())?;
    if let Some(head) = default.mirror.rev_parse(&branch).await? {
        return adopted(scene, run, &default.mirror, &default.head, head).await;
    }
    let base = base(scene, &default.mirror, &default.head).await?;
    let head = match feature.rules.records {
        Records::WhileBuilding | Records::Keep => with_plan(scene, &default.mirror, base.clone()).await?,
        Records::None => base.clone(),
    };
    push(scene, &default.mirror, &branch, &head, &Lease::Absent).await?;
    Ok(scene.event(Event::IntegrationOpened { run, base, head }))
}

/// A commit of the plan and a page per task on top of `base`.
async fn with_plan(scene: &Scene<'_>, mirror: &Mirror, base: Sha) -> Result<Sha, Undone> {
    let files: BTreeMap<String, Option<Vec<u8>>> = messages::plan_files(&scene.feature)
        .into_iter()
        .map(|(path, text)| (path, Some(scene.engine.secrets.mask(&text).into_bytes())))
        .collect();
    let request = request(scene, vec![base], messages::plan_commit(&scene.feature)).await?;
    Ok(mirror.commit_files(files, &request).await?)
}

/// The commit that pre-flight looked at: what came after it is merged in before the next wave, and looked at then.
async fn base(scene: &Scene<'_>, mirror: &Mirror, head: &Sha) -> Result<Sha, Undone> {
    let looked_at = scene.feature.preflight.as_ref().map(|found| &found.commit);
    match looked_at {
        Some(commit) if mirror.has_commit(commit).await? && mirror.is_ancestor(commit, head).await? => {
            Ok(commit.clone())
        }
        Some(_) | None => Ok(head.clone()),
    }
}

/// A branch that an earlier try pushed. One of somebody else's making is not ours to build on; one that holds nothing but
/// the default branch's own commits is nobody's, and all that there is where no records are written.
async fn adopted(scene: &Scene<'_>, run: u64, mirror: &Mirror, default: &Sha, head: Sha) -> Result<Done, Undone> {
    if scene.feature.rules.records == Records::None && mirror.is_ancestor(&head, default).await? {
        let base = head.clone();
        return Ok(scene.event(Event::IntegrationOpened { run, base, head }));
    }
    let info = mirror.commit_info(&head).await?;
    let shown = scene.key().shown();
    let ours = info.as_ref().and_then(|info| info.trailer("AutoBuild-Feature")) == Some(shown.as_str());
    if !ours {
        let branch = scene.key().integration_branch();
        return Err(Undone::repository(format!(
            "a branch {branch} exists already and is not this run's: delete it"
        )));
    }
    let base = info
        .and_then(|info| info.parents.first().cloned())
        .unwrap_or_else(|| default.clone());
    Ok(scene.event(Event::IntegrationOpened { run, base, head }))
}

/// Merges the default branch into the integration branch, and writes down what the finished tasks went through.
pub(super) async fn merge_default(scene: &Scene<'_>, run: u64) -> Result<Done, Undone> {
    let feature = &scene.feature;
    let folder = feature.key.branch_prefix();
    let default = scene
        .engine
        .fetch_default(feature.installation, feature.key.repo, Some(&folder))
        .await?;
    let mirror = &default.mirror;
    let branch = branch_name(&feature.key.integration_branch())?;
    let stood = tip(mirror, branch.as_str()).await?;
    let ended = |outcome: DefaultMerge| Ok(scene.event(Event::DefaultMerged { run, outcome }));
    let other = default.head.clone();
    let merged = match mirror.merge(&stood, &other).await? {
        MergeOutcome::AlreadyUpToDate => stood.clone(),
        MergeOutcome::FastForward => other.clone(),
        MergeOutcome::Clean { tree } => {
            let message = messages::merge_default_commit(feature, &default.name);
            let request = request(scene, vec![stood.clone(), other.clone()], message).await?;
            mirror.commit_merge(&tree, &request).await?
        }
        MergeOutcome::Conflict { files, .. } => {
            let files = files.iter().map(ToString::to_string).collect();
            return ended(DefaultMerge::Conflict { files, other });
        }
        MergeOutcome::Unrelated => {
            return Err(Undone::repository("the branches have no common history"));
        }
    };
    // Before the pull request they are brought up to date, or taken out, when it is opened.
    let head = match records::are_written(scene) && !leads_to_pull(feature) {
        true => records::with_histories(scene, mirror, merged).await?,
        false => merged,
    };
    if head == stood {
        return ended(DefaultMerge::UpToDate { head, other });
    }
    push(scene, mirror, &branch, &head, &Lease::At(stood)).await?;
    ended(DefaultMerge::Merged { head, other })
}

/// Whether the merge is the last one before the feature pull request.
fn leads_to_pull(feature: &Feature) -> bool {
    matches!(feature.phase(), Some(Phase::MergingDefault { then: Then::Pull, .. }))
}

/// A commit of AutoBuild's own, which looks the same whenever this effect makes it again.
pub(super) async fn request(scene: &Scene<'_>, parents: Vec<Sha>, message: String) -> Result<CommitRequest, Undone> {
    Ok(CommitRequest {
        parents,
        message: scene.engine.secrets.mask(&message),
        trailers: turn::trailers(scene, &[]),
        author: turn::author(scene).await?,
        at: scene
            .feature
            .plan
            .as_ref()
            .map_or_else(|| scene.engine.now(), |plan| plan.created),
    })
}

/// Removes every branch of this run.
pub(super) async fn clean_up(scene: &Scene<'_>) -> Result<Done, Undone> {
    let feature = &scene.feature;
    let remote = scene
        .engine
        .remote(feature.installation, feature.key.repo, Rights::Push)
        .await?;
    let mirror = scene.engine.mirrors.mirror(feature.key.repo);
    let folder = format!("{}/*", feature.key.branch_prefix());
    for (name, head) in mirror.ls_remote(&remote, &[&folder]).await? {
        scene.job.may_speak()?;
        match mirror.delete_branch(&remote, &branch_name(&name)?, &head).await {
            Ok(_) => {}
            // Someone works on it, or a rule keeps it: it is theirs now.
            Err(PushError::LeaseLost { .. } | PushError::Rejected { .. }) => {
                tracing::info!(branch = %name, "the branch {name} is kept");
            }
            Err(PushError::Git(error)) => return Err(scene.engine.git_failed(feature.installation, error)),
        }
    }
    Ok(Done::Nothing)
}

/// Pushes one of our own commits; a branch that moved meanwhile is looked at again on the next try.
pub(super) async fn push(
    scene: &Scene<'_>,
    mirror: &Mirror,
    branch: &BranchName,
    head: &Sha,
    lease: &Lease,
) -> Result<(), Undone> {
    let feature = &scene.feature;
    let remote = scene
        .engine
        .remote(feature.installation, feature.key.repo, Rights::Push)
        .await?;
    scene.job.may_speak()?;
    match mirror.push(&remote, branch, head, lease).await {
        Ok(_) => Ok(()),
        Err(PushError::LeaseLost { actual: Some(actual) }) if actual == *head => Ok(()),
        Err(PushError::LeaseLost { .. }) => Err(moved(branch.as_str())),
        Err(PushError::Rejected { reason }) => Err(Undone::refused(reason)),
        Err(PushError::Git(error)) => Err(scene.engine.git_failed(feature.installation, error)),
    }
}

/// A branch name that is safe to give to git.
pub(super) fn branch_name(text: &str) -> Result<BranchName, Undone> {
    text.parse().map_err(|error| Undone::from(GitError::from(error)))
}
