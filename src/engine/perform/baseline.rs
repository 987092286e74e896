//! What was so before: found once per commit and commands, kept in the store, and made again where it is missing.

use crate::domain::evidence::Baseline;
use crate::domain::evidence::WaivedTest;
use crate::domain::feature::obstacle;
use crate::domain::ids::Sha;
use crate::engine::job::Undone;
use crate::engine::perform::Scene;
use crate::engine::perform::commands;
use crate::gates;
use crate::gates::Chosen;
use crate::git::Mirror;
use sha2::Digest;
use sha2::Sha256;

/// The baseline of a commit of the default branch: from the store, else by running set-up and tests there.
pub(super) async fn baseline(scene: &Scene<'_>, mirror: &Mirror, commit: &Sha) -> Result<Baseline, Undone> {
    let settings = scene.settings();
    let chosen = commands::chosen(&settings, mirror, commit).await?;
    let named = hash(&chosen);
    if let Some(known) = kept(scene, commit, &named).await? {
        return Ok(known);
    }
    let found = gates::preflight(&scene.bench(), mirror, commit, &settings, &scene.job.cancel).await?;
    // What could not be run is tried again the next time that someone asks.
    if obstacle(&found).is_none()
        && let Ok(body) = serde_json::to_string(&found)
    {
        let (store, repo) = (&scene.engine.store, scene.key().repo);
        store
            .keep_baseline(repo, commit, &named, &body, scene.engine.now())
            .await?;
    }
    Ok(found)
}

/// What the store has of it.
async fn kept(scene: &Scene<'_>, commit: &Sha, named: &str) -> Result<Option<Baseline>, Undone> {
    let body = scene.engine.store.baseline(scene.key().repo, commit, named).await?;
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
}

/// Names the commands: other commands find another baseline on the same commit.
fn hash(chosen: &Chosen) -> String {
    let text = |command: &Option<crate::config::CommandLine>| {
        command
            .as_ref()
            .map(|command| command.text().to_owned())
            .unwrap_or_default()
    };
    let report = chosen.report.as_deref().unwrap_or_default();
    let all = format!("{}\0{}\0{report}", text(&chosen.setup), text(&chosen.test));
    Sha256::digest(all).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Scene<'_> {
    /// What was so before on the newest commit of the default branch that the work stands on.
    pub(super) async fn baseline(&self, mirror: &Mirror) -> Result<Baseline, Undone> {
        let commit = self.measured().ok_or_else(|| Undone::Refused {
            why: "there is no integration branch".to_owned(),
        })?;
        baseline(self, mirror, commit).await
    }

    /// The same, if it was found before: nothing is run for it.
    pub(super) async fn known_baseline(&self, mirror: &Mirror) -> Result<Option<Baseline>, Undone> {
        let Some(commit) = self.measured() else { return Ok(None) };
        let chosen = commands::chosen(&self.settings(), mirror, commit).await?;
        kept(self, commit, &hash(&chosen)).await
    }

    /// The commit that pre-flight looked at, else the one that the integration branch was made from.
    fn measured(&self) -> Option<&Sha> {
        let found = self.feature.preflight.as_ref().map(|found| &found.commit);
        found.or(self.feature.integration.as_ref().map(|integration| &integration.base))
    }

    /// The failing tests that people waived, of all tasks: they belong to what was so before.
    pub(super) fn waived(&self) -> Vec<WaivedTest> {
        let waivers = self.feature.tasks.iter().flat_map(|task| &task.waived);
        waivers
            .flat_map(|waiver| {
                waiver.tests.iter().map(|test| WaivedTest {
                    test: test.clone(),
                    by: waiver.by.clone(),
                })
            })
            .collect()
    }
}
