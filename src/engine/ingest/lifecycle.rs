//! Handles changes to issues, repositories and installations.

use crate::{
    engine::{
        Engine,
        apply::Fact,
        ingest::{
            context::{InboundContext, fact, one, run_at},
            home, label,
        },
        job::{Done, EffectError},
        repository_settings::{TASK_LABEL, is_shared, last_read, same_label},
        schedule,
    },
    github::{
        model::Issue,
        webhook::{EventOrigin, InstallationEvent, IssueEvent, RepositoryEvent},
    },
    store::Scope,
};
use domain::{
    effect::Effect,
    feature::{CancelledWhy, Feature, PlanKind, State, event::Event},
    ids::{Emission, FeatureKey, InstallationId, Millis, RepoId},
};
use std::collections::BTreeSet;

pub async fn issue(context: &InboundContext<'_>, issue: &Issue, event: &IssueEvent) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let by = &origin.sender.user;
    if let IssueEvent::Labeled(label) = event {
        return match label {
            Some(label) => label::labelled(context, issue, label).await,
            None => label::labelled_without_name(context, issue).await,
        };
    }
    let at = match event {
        IssueEvent::Closed => issue.closed_at,
        IssueEvent::Unlabeled(_) => issue.updated_at,
        IssueEvent::Labeled(_) | IssueEvent::Deleted | IssueEvent::Transferred => None,
    };
    let Some(feature) = run_at(engine, origin.repo.id, issue.number, at).await? else {
        return Ok(Done::Nothing);
    };
    let run = feature.key.run;
    let (event, cause) = match event {
        IssueEvent::Unlabeled(label) => {
            let ours = label_of(&feature);
            if !is_taken_off(context, issue, label.as_deref(), &ours).await? {
                return Ok(Done::Nothing);
            }
            (Event::Cancelled(CancelledWhy::LabelRemoved(by.clone())), format!("unlabeled/{ours}/{run}"))
        }
        IssueEvent::Closed => {
            let closed = issue.closed_at.map_or(0, |at| at.0);
            let merged = match feature.pull {
                Some(number) => context.repo().pull(number).await?.is_merged().then_some(number),
                None => None,
            };
            let event = match merged {
                Some(pull) => Event::PullMerged { pull },
                None => Event::Cancelled(CancelledWhy::IssueClosed(by.clone())),
            };
            (event, format!("issue/closed/{closed}"))
        }
        IssueEvent::Deleted => (Event::Cancelled(CancelledWhy::IssueGone), "issue/deleted".to_owned()),
        IssueEvent::Transferred => (Event::Cancelled(CancelledWhy::IssueGone), "issue/transferred".to_owned()),
        // `label` handles it.
        IssueEvent::Labeled(_) => return Ok(Done::Nothing),
    };
    Ok(one(feature.key, fact(engine, event, cause, by)))
}

/// Returns `true` if the removed label is ours or, if GitHub does not name it, if the issue lacks our label now.
async fn is_taken_off(
    context: &InboundContext<'_>,
    issue: &Issue,
    named: Option<&str>,
    ours: &str,
) -> Result<bool, EffectError> {
    match named {
        Some(named) => Ok(same_label(named, ours)),
        None => {
            let now = label::current_labels(context, issue).await?;
            Ok(now.iter().all(|label| !same_label(label, ours)))
        }
    }
}

pub fn label_of(feature: &Feature) -> String {
    match feature.snapshot.wanted {
        PlanKind::Plan => last_read(feature).label,
        PlanKind::OneTask => TASK_LABEL.to_owned(),
    }
}

pub async fn repository(engine: &Engine, origin: &EventOrigin, event: RepositoryEvent) -> Result<Done, EffectError> {
    engine.doubt_settings(origin.repo.id, &origin.repo.name).await?;
    let why = match event {
        RepositoryEvent::Renamed | RepositoryEvent::Transferred | RepositoryEvent::DefaultBranchChanged => {
            engine.autobuild.forget_name(origin.repo.id);
            if let Some(coach) = &engine.coach {
                coach.forget_name(origin.repo.id);
            }
            return Ok(Done::Nothing);
        }
        RepositoryEvent::Unarchived => return show_ends(engine, &[origin.repo.id]).await,
        RepositoryEvent::Archived => "repository/archived",
        RepositoryEvent::Deleted => "repository/deleted",
    };
    let (scope, event) = (Scope::Repo(origin.repo.id), Event::Cancelled(CancelledWhy::RepositoryGone));
    all(engine, scope, &event, why, &origin.sender.user.login).await
}

/// Shows again how the Features of these repositories ended that were cancelled while nobody could write it: as the
/// repository was archived, or as the App was removed. The App may have come back as another installation.
async fn show_ends(engine: &Engine, repos: &[RepoId]) -> Result<Done, EffectError> {
    let (mut shown, now) = (Vec::new(), engine.now());
    for &repo in repos {
        let unshown = unshown(engine, repo).await?;
        if unshown.is_empty() {
            continue;
        }
        // Without one, the next installation shows them.
        let Some(home) = engine.autobuild.installation_of_id(repo).await? else {
            continue;
        };
        for Feature { key, installation, .. } in unshown {
            if installation != home {
                home::move_to(engine, key, home).await?;
            }
            let (id, living) = (format!("{key}/end/{}", now.0), Effect::Living { emission: Emission(0) });
            shown.push(schedule::row(id, &living, &key, home, Some(repo), now));
        }
    }
    Ok(Done::FollowUp(shown))
}

/// Returns the Features of a repository that were cancelled while AutoBuild could write nothing there.
async fn unshown(engine: &Engine, repo: RepoId) -> Result<Vec<Feature>, EffectError> {
    let mut unshown = Vec::new();
    for row in engine.store.cancelled(repo).await? {
        let feature = match engine.feature(&row.key).await.map_err(EffectError::from) {
            Ok(Some(feature)) => feature,
            Err(error) if error.passes() => return Err(error),
            // One that a newer version stored keeps no other from being shown.
            Ok(None) | Err(_) => continue,
        };
        let (archived, removed) = (CancelledWhy::RepositoryGone, CancelledWhy::InstallationRemoved);
        if matches!(&feature.state, State::Cancelled { why } if [archived, removed].contains(why)) {
            unshown.push(feature);
        }
    }
    Ok(unshown)
}

pub async fn installation(
    engine: &Engine,
    installation: InstallationId,
    event: &InstallationEvent,
) -> Result<Done, EffectError> {
    let scope = Scope::Installation(installation);
    doubt_settings(engine, event).await?;
    match event {
        InstallationEvent::Deleted => {
            engine.autobuild.forget_installation(installation);
            engine.store.depart(installation, engine.now()).await?;
            let rows = engine.store.unfinished(scope).await?;
            let repos: BTreeSet<RepoId> = rows.iter().map(|row| row.key.repo).collect();
            // A failure with one Feature, which a newer version may have stored, keeps no other from the event.
            let mut done = Ok(());
            for repo in repos {
                done = done.and(home::follow_installation(engine, repo).await.map(drop));
            }
            done.map(|()| Done::Nothing)
        }
        InstallationEvent::Suspended { at } => {
            engine.autobuild.forget_installation(installation);
            let mut done = Ok(());
            for row in engine.store.unfinished(scope).await? {
                done = done.and(suspended(engine, row.key, *at).await);
            }
            done.map(|()| Done::Nothing)
        }
        InstallationEvent::Unsuspended => {
            let mut done = Ok(());
            for row in engine.store.features(scope).await? {
                done = done.and(unsuspended(engine, row.key).await);
            }
            engine.store.hurry(installation, engine.now()).await?;
            done.map(|()| Done::Nothing)
        }
        InstallationEvent::RepositoriesRemoved(repos) => {
            let mut done = Ok(());
            for repo in repos {
                if !engine.store.unfinished(Scope::Repo(repo.id)).await?.is_empty() {
                    done = done.and(home::follow_installation(engine, repo.id).await.map(drop));
                }
            }
            done.map(|()| Done::Nothing)
        }
        InstallationEvent::Created(repos) | InstallationEvent::RepositoriesAdded(repos) => {
            let repos: Vec<RepoId> = repos.iter().map(|repo| repo.id).collect();
            show_ends(engine, &repos).await
        }
    }
}

/// Marks settings as possibly changed if, by the event, the App may have gained or lost an organisation's `.github`
/// repository.
async fn doubt_settings(engine: &Engine, event: &InstallationEvent) -> Result<(), EffectError> {
    match event {
        InstallationEvent::RepositoriesAdded(repos) | InstallationEvent::RepositoriesRemoved(repos) => {
            for repo in repos.iter().filter(|repo| is_shared(&repo.name)) {
                engine.doubt_settings(repo.id, &repo.name).await?;
            }
        }
        InstallationEvent::Created(_) | InstallationEvent::Deleted => {
            engine.store.doubt_all_settings(engine.now()).await?;
        }
        InstallationEvent::Suspended { .. } | InstallationEvent::Unsuspended => {}
    }
    Ok(())
}

/// Applies a suspension. Its cause names its time.
pub async fn suspended(engine: &Engine, key: FeatureKey, at: Option<Millis>) -> Result<(), EffectError> {
    let cause = format!("installation/suspended/{}", at.map_or(0, |at| at.0));
    apply(engine, key, &Event::Suspended, &cause, "installation").await
}

/// Applies the end of a suspension. Its cause names the suspension that ends.
pub async fn unsuspended(engine: &Engine, key: FeatureKey) -> Result<(), EffectError> {
    let causes = engine.store.causes(&key).await?;
    let lifted = causes.iter().rev().find_map(|cause| cause.strip_prefix("installation/suspended/"));
    let cause = format!("installation/unsuspended/{}", lifted.unwrap_or("0"));
    apply(engine, key, &Event::Unsuspended, &cause, "installation").await
}

async fn all(engine: &Engine, scope: Scope, event: &Event, cause: &str, actor: &str) -> Result<Done, EffectError> {
    let mut done = Ok(());
    for row in engine.store.unfinished(scope).await? {
        done = done.and(apply(engine, row.key, event, cause, actor).await);
    }
    done.map(|()| Done::Nothing)
}

pub async fn apply(
    engine: &Engine,
    key: FeatureKey,
    event: &Event,
    cause: &str,
    actor: &str,
) -> Result<(), EffectError> {
    let fact = Fact { event: event.clone(), cause: cause.to_owned(), actor: actor.to_owned(), at: engine.now() };
    engine.apply(&key, fact, None).await?;
    Ok(())
}
