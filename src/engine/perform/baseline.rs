//! The baseline: the results on a commit of the default branch before the Feature. It is made once for each commit and
//! its commands, stored, and made again if it is missing. The results on the commit from which a task's work starts are
//! stored in the same way.

use crate::{
    config::{RECORDS_FOLDER, RepositorySettings},
    engine::{
        job::EffectError,
        perform::{coach::fork_point, context::EffectContext},
    },
    gates,
    gates::CommandChoice,
};
use domain::{
    blocked::Defect,
    evidence::{Baseline, WaivedTest},
    feature::obstacle,
    ids::Sha,
};
use git::{Mirror, RepoPath};
use sha2::{Digest, Sha256};
use text::{hex, shell_command::ShellCommand};

/// Returns the baseline of a commit of the default branch, from the store or by running set-up and tests there.
pub(super) async fn baseline(
    context: &EffectContext<'_>,
    mirror: &Mirror,
    commit: &Sha,
    settings: &RepositorySettings,
) -> Result<Baseline, EffectError> {
    let chosen = gates::commands::choose_at(mirror, commit, settings).await?;
    let named = hash(&chosen, settings);
    if let Some(known) = load_stored(context, commit, &named).await? {
        return Ok(known);
    }
    let found = gates::preflight(&context.gate_context(), mirror, commit, settings, &context.job.cancel).await?;
    keep(context, &found, &named).await?;
    Ok(found)
}

/// Stores a baseline. One that could not be made is not stored, so that the next request tries again.
async fn keep(context: &EffectContext<'_>, found: &Baseline, named: &str) -> Result<(), EffectError> {
    if obstacle(found).is_some() {
        return Ok(());
    }
    if let Ok(body) = serde_json::to_string(found) {
        let (store, repo) = (&context.engine.store, context.feature.key.repo);
        let at = context.engine.now();
        store.keep_baseline(repo, &found.commit, named, &body, at).await?;
    }
    Ok(())
}

/// Returns the stored baseline, if it exists and this version can read it.
async fn load_stored(context: &EffectContext<'_>, commit: &Sha, named: &str) -> Result<Option<Baseline>, EffectError> {
    let body = context.engine.store.baseline(context.feature.key.repo, commit, named).await?;
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()))
}

/// The version of the baseline's format. Changing it makes every baseline be made again.
const FORM: u32 = 5;

/// Hashes everything besides the commit that the result depends on: the commands, the report and coverage files, the
/// allowed hosts, and the version of AutoBuild, which reads output.
fn hash(chosen: &CommandChoice, settings: &RepositorySettings) -> String {
    let text = |command: &Option<ShellCommand>| command.as_ref().map(ShellCommand::text).unwrap_or_default().to_owned();
    let all = (
        (env!("CARGO_PKG_VERSION"), FORM),
        (text(&chosen.setup), text(&chosen.test), &chosen.test_line.naming()),
        (&chosen.report, &settings.coverage.file),
        &settings.network.allow,
    );
    let all = serde_json::to_vec(&all).unwrap_or_default();
    hex::encode(&Sha256::digest(all))
}

impl EffectContext<'_> {
    /// Returns the baseline of the newest commit of the default branch that the work is based on.
    pub(super) async fn baseline(&self, mirror: &Mirror) -> Result<Baseline, EffectError> {
        let commit = self.measured().ok_or_else(|| EffectError::defect(Defect::NoIntegrationBranch))?;
        baseline(self, mirror, commit, &self.settings()).await
    }

    /// Returns the results on the commit of the integration branch from which the work on `head` starts. They are those
    /// of the baseline if only records were added since, or if nothing can run there.
    pub(super) async fn before(
        &self,
        mirror: &Mirror,
        head: &Sha,
        baseline: &Baseline,
    ) -> Result<Baseline, EffectError> {
        let start = fork_point(self, mirror, head).await?;
        let changes = mirror.diff_raw(&baseline.commit, &start).await?;
        let is_record = |path: &RepoPath| path.as_bytes().starts_with(RECORDS_FOLDER.as_bytes());
        if changes.iter().all(|change| is_record(&change.path)) {
            return Ok(baseline.clone());
        }
        let settings = self.settings();
        let named = hash(&gates::commands::choose_at(mirror, &start, &settings).await?, &settings);
        if let Some(known) = load_stored(self, &start, &named).await? {
            return Ok(known);
        }
        let cancel = &self.job.cancel;
        let found = gates::results_at_start(&self.gate_context(), mirror, &start, &settings, baseline, cancel).await?;
        if obstacle(&found).is_some() {
            return Ok(baseline.clone());
        }
        keep(self, &found, &named).await?;
        Ok(found)
    }

    /// Returns the stored baseline of that commit. Nothing is run for it.
    pub(super) async fn known_baseline(&self, mirror: &Mirror) -> Result<Option<Baseline>, EffectError> {
        let Some(commit) = self.measured() else { return Ok(None) };
        let settings = self.settings();
        let chosen = gates::commands::choose_at(mirror, commit, &settings).await?;
        load_stored(self, commit, &hash(&chosen, &settings)).await
    }

    /// Returns the commit that pre-flight checked, else the one from which the integration branch was made.
    pub(super) fn measured(&self) -> Option<&Sha> {
        let found = self.feature.preflight.as_ref().map(|found| &found.commit);
        found.or(self.feature.integration.as_ref().map(|integration| &integration.base))
    }

    /// `true` if a commit contains the measured commit, so that its results can be compared with the baseline.
    pub(super) async fn stands_on_measured(&self, mirror: &Mirror, commit: &Sha) -> Result<bool, EffectError> {
        match self.measured() {
            Some(measured) => Ok(mirror.is_ancestor(measured, commit).await?),
            None => Ok(true),
        }
    }

    /// Returns the failing tests that people waived, of all tasks. They count like tests that failed in the baseline.
    pub(super) fn waived(&self) -> Vec<WaivedTest> {
        let waivers = self.feature.tasks.iter().flat_map(|task| &task.waived);
        waivers
            .flat_map(|waiver| {
                let tests = waiver.tests().chain(waiver.changed_tests());
                tests.map(|test| WaivedTest { test: test.clone(), by: waiver.by.clone() })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Offer;
    use runners::detect::Repository;

    #[test]
    fn whatever_changes_what_pre_flight_finds_asks_for_another_baseline() {
        let named = |text: &str| {
            let settings = RepositorySettings::parse(text, &Offer::default()).unwrap();
            let repository = Repository::new(&[], &|_| None);
            hash(&gates::choose(&settings, &repository), &settings)
        };
        let texts = [
            "test: a b",
            "test: a",
            "test: a\nsetup: b",
            "test: a\ntest_report: b",
            "test: a\ncoverage:\n  file: b",
            "test: a\nnetwork:\n  allow: [b.example]",
        ];
        let all: std::collections::BTreeSet<String> = texts.into_iter().map(named).collect();
        assert_eq!(all.len(), texts.len());
        assert_eq!(named("test: a\nmax_turns: 3\nmode: standard"), named("test: a"));
    }
}
