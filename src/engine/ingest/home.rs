//! Finds the installation that gives access to a repository now; after a transfer it is another one.

use crate::{
    engine::{Engine, ingest::lifecycle::apply, job::EffectError},
    github::GithubError,
    store::Scope,
};
use domain::{
    feature::{CancelledWhy, event::Event},
    ids::{FeatureKey, InstallationId, RepoId},
};

/// Lets the unfinished Features of a repository use the installation that has it now, or cancels them if none has it.
/// Returns how many Features changed.
pub async fn follow_installation(engine: &Engine, repo: RepoId) -> Result<u64, EffectError> {
    let home = engine.autobuild.installation_of_id(repo).await?;
    settle(engine, repo, home).await
}

/// Returns `true` if a Feature left the installation that an effect had, which GitHub refuses: its repository was
/// transferred, or the App was installed anew. GitHub is asked each time. An ended Feature leaves it too, since the effect
/// is an answer to somebody or shows the end.
pub async fn has_left(engine: &Engine, key: &FeatureKey, refused: InstallationId) -> Result<bool, EffectError> {
    let installation = async || {
        let stored = engine.store.feature(key).await?;
        Ok::<_, EffectError>(stored.map(|stored| stored.row.installation))
    };
    let before = installation().await?;
    let home = engine.autobuild.installation_of_id(key.repo).await?;
    settle(engine, key.repo, home).await?;
    let Some(now) = installation().await? else {
        return Ok(false);
    };
    let now = match home {
        Some(home) if home != now => {
            move_to(engine, *key, home).await?;
            home
        }
        Some(_) | None => now,
    };
    // An effect with another installation than its Feature would be given back for ever.
    engine.store.move_effects(key, now).await?;
    Ok(now != refused || before != Some(now))
}

async fn settle(engine: &Engine, repo: RepoId, home: Option<InstallationId>) -> Result<u64, EffectError> {
    let (mut changed, mut done) = (0_u64, Ok(()));
    for row in engine.store.unfinished(Scope::Repo(repo)).await? {
        // A Feature that a newer version stored waits for that version, but keeps no other here.
        let applied = match home {
            Some(home) if home == row.installation => continue,
            Some(home) => move_to(engine, row.key, home).await,
            // Nothing is cancelled on one answer: the installation itself must not reach the repository either.
            None if reaches(engine, row.installation, repo).await? => continue,
            None => {
                let event = Event::Cancelled(CancelledWhy::InstallationRemoved);
                apply(engine, row.key, &event, "installation/repository_removed", "installation").await
            }
        };
        changed = changed.saturating_add(u64::from(applied.is_ok()));
        done = done.and(applied);
    }
    done.map(|()| changed)
}

/// Lets a Feature and its effects use the installation `home`.
pub async fn move_to(engine: &Engine, key: FeatureKey, home: InstallationId) -> Result<(), EffectError> {
    let event = Event::InstallationChanged { installation: home };
    let cause = format!("installation/{home}/{}", engine.store.causes(&key).await?.len());
    // The waiting effects move first: if the process dies in between, the Feature still has the old installation, and
    // the next try moves them.
    engine.autobuild.forget_name(key.repo);
    engine.store.move_effects(&key, home).await?;
    apply(engine, key, &event, &cause, "installation").await?;
    Ok(engine.store.move_effects(&key, home).await?)
}

/// Returns the installation for a delivery about a repository that names `named`. They differ if the repository was
/// transferred since the delivery was sent, or since the Feature was begun.
pub async fn of_delivery(engine: &Engine, repo: RepoId, named: InstallationId) -> Result<InstallationId, EffectError> {
    let rows = engine.store.unfinished(Scope::Repo(repo)).await?;
    if rows.iter().all(|row| row.installation == named) {
        return Ok(named);
    }
    let home = engine.autobuild.installation_of_id(repo).await?;
    // A Feature that cannot move now, such as one of a newer version, keeps no delivery from the others. The sweep moves it.
    if let Err(error) = settle(engine, repo, home).await {
        tracing::warn!(%error, "a Feature of repository {repo} did not follow it to another installation");
    }
    Ok(home.unwrap_or(named))
}

async fn reaches(engine: &Engine, installation: InstallationId, repo: RepoId) -> Result<bool, EffectError> {
    engine.autobuild.forget_name(repo);
    match engine.autobuild.repo(installation, repo).name().await {
        Ok(_) => Ok(true),
        Err(error) if may_have_moved(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// `true` if the installation may no longer have the repository.
pub fn may_have_moved(error: &GithubError) -> bool {
    matches!(
        error,
        GithubError::NotFound
            | GithubError::Gone
            | GithubError::Uninstalled
            | GithubError::Forbidden { .. }
            | GithubError::Refused { .. }
    )
}
