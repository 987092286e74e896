//! Reads the rights that CI would give to agent-written code, from the workflows and other CI definitions of a tree,
//! and from the reporters on the default branch.

use crate::{
    engine::{
        Engine,
        job::EffectError,
        repository::{DefaultBranch, tip},
        settings::Workflows,
    },
    gates,
};
use domain::{
    ci::CiPolicy,
    exposure::Exposure,
    feature::Feature,
    ids::{FeatureKey, Sha},
};
use git::{Blob, Mirror};
use runners::exposure::{Files, MAX_BYTES, RunBranches, exposure_of, files_to_read};
use std::collections::{BTreeMap, BTreeSet};

/// Git's mode of a symbolic link.
const LINK: u32 = 0o120_000;

impl Engine {
    /// Returns the rights that CI would give to the code of a run that starts from the default branch. Other reporters
    /// are looked up only if the settings let AutoBuild decide if CI may run.
    pub(super) async fn exposure(
        &self,
        key: &FeatureKey,
        branch: &DefaultBranch,
        policy: CiPolicy,
    ) -> Result<Exposure, EffectError> {
        if self.settings.workflows == Workflows::Never {
            return Ok(Exposure::default());
        }
        let run_branches = self.run_branches(key, &branch.name);
        let exposure = of_tree(&branch.mirror, &branch.head, &run_branches).await?;
        let others = match policy {
            CiPolicy::Auto | CiPolicy::Ask => {
                let repo = self.autobuild.repo(branch.installation, branch.repo);
                repo.reporters(&branch.head, &self.own_apps()).await?
            }
            CiPolicy::Wait | CiPolicy::Ignore => Vec::new(),
        };
        Ok(exposure.with(Exposure { workflows: Vec::new(), others }))
    }

    /// Returns the parts of a Feature's work that start workflows: its branches, and the machines of this GitHub.
    pub(super) fn run_branches(&self, key: &FeatureKey, default: &str) -> RunBranches {
        let has_hosted_runners = self.autobuild.urls.has_hosted_runners();
        RunBranches::of_run(&key.branch_prefix(), default, has_hosted_runners)
    }

    /// Returns the rights that CI would give to the code of a Feature with the current default branch.
    pub(super) async fn exposure_now(&self, feature: &Feature, policy: CiPolicy) -> Result<Exposure, EffectError> {
        let (installation, repo) = (feature.installation, feature.key.repo);
        let name = self.autobuild.repo(installation, repo).repository().await?;
        let mirror = self.fetch(installation, repo, &[&name.default_branch]).await?;
        let branch = DefaultBranch {
            head: tip(&mirror, &name.default_branch).await?,
            mirror,
            name: name.default_branch,
            installation,
            repo,
            repository: name.name,
        };
        self.exposure(&feature.key, &branch, policy).await
    }
}

/// Reads the workflows of a tree.
pub(super) async fn of_tree(
    mirror: &Mirror,
    commit: &Sha,
    run_branches: &RunBranches,
) -> Result<Exposure, EffectError> {
    let listed = mirror.list_files(commit, gates::commands::MAX_PATHS).await?;
    let files = listed.entries.iter();
    let ids: BTreeMap<&str, &str> =
        files.clone().filter_map(|entry| Some((entry.path.to_str()?, entry.oid.as_str()))).collect();
    let links: BTreeSet<&str> =
        files.filter(|entry| entry.mode == LINK).filter_map(|entry| entry.path.to_str()).collect();
    let paths: Vec<&str> = files_to_read(ids.keys().copied()).collect();
    let wanted: Vec<&str> = paths.iter().filter_map(|path| ids.get(path).copied()).collect();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    let blobs = mirror.blobs(&wanted, most).await?;
    let text = |blob: Blob| match blob {
        Blob::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Blob::Large(_) => None,
        Blob::None => Some(String::new()),
    };
    let texts = paths.into_iter().zip(blobs.into_iter().map(text));
    let read =
        |(path, text): (&str, _)| (path.to_owned(), if links.contains(path) { Some(String::new()) } else { text });
    let files: Files = texts.map(read).collect();
    Ok(exposure_of(ids.keys().copied(), &files, run_branches))
}
