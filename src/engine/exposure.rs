//! Reads what CI would give to agent-written code: from the workflows of a tree, and from those who report on the default
//! branch.

use crate::{
    engine::{
        Engine,
        job::EffectError,
        repository::{DefaultBranch, tip},
        settings::Workflows,
    },
    gates,
    github::{Repo, SeenApp},
};
use domain::{
    ci::CiPolicy,
    exposure::Exposure,
    feature::Feature,
    ids::{AppId, FeatureKey, Sha},
};
use git::{Blob, Mirror};
use runners::exposure::{Branches, Files, MAX_BYTES, wanted, workflows};
use std::collections::{BTreeMap, BTreeSet};

/// The most other Apps and services that are named.
const MOST_OTHERS: usize = 20;

impl Engine {
    /// Returns what CI would give to the code of a run that starts from the default branch. Others who report there are
    /// asked for only if the settings leave it to AutoBuild whether CI may run.
    pub(super) async fn exposure(
        &self,
        key: &FeatureKey,
        branch: &DefaultBranch,
        policy: CiPolicy,
    ) -> Result<Exposure, EffectError> {
        if self.settings.workflows == Workflows::Never {
            return Ok(Exposure::default());
        }
        let others = match policy {
            CiPolicy::Auto | CiPolicy::Ask => {
                let repo = self.autobuild.repo(branch.installation, branch.repo);
                others(&repo, &branch.head, &self.own_apps()).await?
            }
            CiPolicy::Wait | CiPolicy::Ignore => Vec::new(),
        };
        Ok(Exposure {
            others,
            ..of_tree(&branch.mirror, &branch.head, key, &branch.name).await?
        })
    }

    /// Returns the same for the default branch as it is now.
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
    key: &FeatureKey,
    default: &str,
) -> Result<Exposure, EffectError> {
    let listed = mirror.list_files(commit, gates::commands::MAX_PATHS).await?;
    let files = listed.entries.iter();
    let ids: BTreeMap<&str, &str> = files
        .filter_map(|entry| Some((entry.path.to_str()?, entry.oid.as_str())))
        .collect();
    let paths: Vec<&str> = wanted(ids.keys().copied()).collect();
    let wanted: Vec<&str> = paths.iter().filter_map(|path| ids.get(path).copied()).collect();
    let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
    let blobs = mirror.blobs(&wanted, most).await?;
    let text = |blob: Blob| match blob {
        Blob::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Blob::Large(_) | Blob::None => None,
    };
    let paths = paths.into_iter().map(str::to_owned);
    let files: Files = paths.zip(blobs.into_iter().map(text)).collect();
    Ok(Exposure {
        workflows: workflows(&files, &Branches::of_run(&key.branch_prefix(), default)),
        others: Vec::new(),
    })
}

/// Returns the names of others who report on a commit: Apps that are not GitHub Actions, and the contexts of statuses.
async fn others(repo: &Repo<'_>, commit: &Sha, ours: &[AppId]) -> Result<Vec<String>, EffectError> {
    let checks = repo.seen_checks(commit).await?;
    let apps = checks.into_iter().filter_map(|check| check.app);
    let foreign = apps.filter(|app| !app.is_actions() && !ours.contains(&AppId(app.id)));
    let statuses = repo.seen_statuses(commit).await?;
    let contexts = statuses.into_iter().map(|status| status.context);
    let names: BTreeSet<String> = foreign.map(|app: SeenApp| app.slug).chain(contexts).collect();
    Ok(names.into_iter().take(MOST_OTHERS).collect())
}
