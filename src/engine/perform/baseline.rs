//! What was so before: found once per commit and commands, kept in the store, and made again where it is missing.

use crate::domain::evidence::Baseline;
use crate::domain::ids::Sha;
use crate::engine::job::Undone;
use crate::engine::perform::Scene;
use crate::engine::perform::commands;
use crate::gates;
use crate::gates::Chosen;
use crate::git::Mirror;
use sha2::Digest;
use sha2::Sha256;

/// The baseline of a commit, if it was found before.
pub(super) async fn known(scene: &Scene<'_>, mirror: &Mirror, commit: &Sha) -> Result<Option<Baseline>, Undone> {
    let chosen = commands::chosen(&scene.settings(), mirror, commit).await?;
    let kept = scene
        .engine
        .store
        .baseline(scene.key().repo, commit, &hash(&chosen))
        .await?;
    Ok(kept.and_then(|body| serde_json::from_str(&body).ok()))
}

/// The baseline of a commit of the default branch: from the store, else by running set-up and tests there.
pub(super) async fn baseline(scene: &Scene<'_>, mirror: &Mirror, commit: &Sha) -> Result<Baseline, Undone> {
    let settings = scene.settings();
    let chosen = commands::chosen(&settings, mirror, commit).await?;
    let named = hash(&chosen);
    let (store, repo) = (&scene.engine.store, scene.key().repo);
    let kept = store.baseline(repo, commit, &named).await?;
    if let Some(known) = kept.and_then(|body| serde_json::from_str(&body).ok()) {
        return Ok(known);
    }
    let found = gates::preflight(&scene.bench(), mirror, commit, &settings, &scene.job.cancel).await?;
    if let Ok(body) = serde_json::to_string(&found) {
        store
            .keep_baseline(repo, commit, &named, &body, scene.engine.now())
            .await?;
    }
    Ok(found)
}

/// Names the commands: other commands find another baseline on the same commit.
fn hash(chosen: &Chosen) -> String {
    let text = |command: &Option<crate::config::CommandLine>| {
        command
            .as_ref()
            .map(|command| command.text().to_owned())
            .unwrap_or_default()
    };
    let all = format!("{}\0{}", text(&chosen.setup), text(&chosen.test));
    Sha256::digest(all).iter().map(|byte| format!("{byte:02x}")).collect()
}
