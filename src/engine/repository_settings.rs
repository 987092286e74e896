//! A repository's settings, read through GitHub's contents API at a commit of the default branch and cached by that
//! commit. Nothing is cloned. A label that is not ours costs no API call unless something happened that may have
//! changed the file.

use crate::{
    config::{Allowance, Offer, RepositorySettings, SETTINGS_FILE},
    engine::{Engine, job::EffectError, repository::DefaultBranch},
    github::{Content, model::Repository},
    store::{KnownSettings, SettingsStatus, StoreError},
};
use domain::{
    excess::Excess,
    feature::{Feature, PlanKind},
    ids::{InstallationId, Millis, RepoId, RepoName, Sha},
};
use serde::{Deserialize, Serialize};
use text::mistake::SettingsMistake;

/// The largest settings file that is read, in bytes.
const MAX_SETTINGS: usize = 256 * 1024;

/// The repository whose settings apply to an organisation's repositories that have none of their own.
const SHARED: &str = ".github";

/// The label, unless the settings name another one.
const DEFAULT_LABEL: &str = "autobuild";

/// The label that asks for a Feature of one task.
pub const TASK_LABEL: &str = "autobuild-task";

/// How long a read is trusted, in milliseconds: a day. Deliveries may be lost, so older reads are checked again.
const CERTAIN_MS: i64 = 24 * 3_600_000;

/// The result of reading the path of the settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SettingsFile {
    /// Nothing is there.
    Missing,
    Text(String),
    /// A file larger than [`MAX_SETTINGS`].
    TooLarge,
    /// Something that is not a file, such as a folder.
    NoFile,
}

/// The labels that start a Feature in a repository. GitHub ignores case in label names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    plan: String,
}

impl Labels {
    /// Returns the request of the label, if it is one of ours.
    pub fn request_of_label(&self, label: &str) -> Option<PlanKind> {
        if same_label(label, &self.plan) {
            Some(PlanKind::Plan)
        } else if same_label(label, TASK_LABEL) {
            Some(PlanKind::OneTask)
        } else {
            None
        }
    }
}

/// Returns `true` if GitHub treats the two names as one label.
pub fn same_label(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// A repository's settings, just read.
pub struct Settings {
    pub settings: RepositorySettings,
    /// The settings of the file that exceed the installation's allowance.
    pub excess: Vec<Excess>,
}

/// A settings file after the read.
pub struct ReadSettings {
    /// The labels that start a Feature. They are known even if the file has mistakes.
    pub labels: Labels,
    /// The settings, or the file's mistakes.
    pub settings: Result<Settings, Vec<SettingsMistake>>,
}

/// A repository whose settings file is read.
struct SettingsSource<'a> {
    installation: InstallationId,
    repo: RepoId,
    name: &'a RepoName,
    /// The commit to read; `None` if the repository has no commits.
    commit: Option<Sha>,
}

impl Engine {
    /// Reads the settings at the current head of the default branch.
    pub async fn settings_now(
        &self,
        installation: InstallationId,
        repository: &Repository,
    ) -> Result<ReadSettings, EffectError> {
        let source = SettingsSource {
            installation,
            repo: repository.id,
            name: &repository.name,
            commit: self.default_head(installation, repository).await?,
        };
        Ok(self.read_settings(&source, &self.settings_file(&source).await?))
    }

    /// Reads the settings at the commit that was fetched.
    pub async fn settings_at(&self, branch: &DefaultBranch) -> Result<ReadSettings, EffectError> {
        let source = SettingsSource {
            installation: branch.installation,
            repo: branch.repo,
            name: &branch.repository,
            commit: Some(branch.head.clone()),
        };
        Ok(self.read_settings(&source, &self.settings_file(&source).await?))
    }

    /// Returns the labels of a repository if they are known for certain without asking GitHub.
    pub async fn certain_labels(&self, repo: RepoId) -> Result<Option<Labels>, StoreError> {
        Ok(self.certain_file(repo).await?.map(|file| self.labels(&file)))
    }

    /// Returns the labels of a repository at the last read; before the first, those of its organisation or the default
    /// ones.
    pub async fn last_labels(&self, repo: RepoId, name: &RepoName) -> Result<Labels, StoreError> {
        let known = self.store.known_settings(repo).await?;
        let (file, shared) = match known.map(|(known, _)| (decoded(&known), known.shared)) {
            Some((Some(SettingsFile::Missing), shared)) => (None, shared),
            Some((Some(file), _)) => (Some(file), None),
            Some((None, _)) | None => (None, self.store.shared_settings_of(&name.owner).await?),
        };
        let file = match (file, shared) {
            (None, Some(shared)) => {
                let shared = self.store.known_settings(shared).await?;
                shared.and_then(|(known, _)| decoded(&known))
            }
            (file, _) => file,
        };
        Ok(self.labels(&file.unwrap_or(SettingsFile::Missing)))
    }

    /// Records that the settings of this repository may have changed. For a `.github` repository, this covers all
    /// repositories of its owner.
    pub async fn doubt_settings(&self, repo: RepoId, name: &RepoName) -> Result<(), StoreError> {
        self.store.doubt_settings(repo, &name.owner, self.now()).await?;
        if is_shared(name) {
            self.store.doubt_settings_of_owner(&name.owner, self.now()).await?;
        }
        Ok(())
    }

    async fn default_head(
        &self,
        installation: InstallationId,
        repository: &Repository,
    ) -> Result<Option<Sha>, EffectError> {
        let repo = self.autobuild.repo(installation, repository.id);
        if let Some(head) = repo.branch_head(&repository.default_branch).await? {
            return Ok(Some(head));
        }
        // The payload may be older than a rename of the default branch.
        let now = repo.repository().await?.default_branch;
        if now == repository.default_branch { Ok(None) } else { Ok(repo.branch_head(&now).await?) }
    }

    /// Returns the repository's file, or that of the organisation's `.github` repository if the repository has none and
    /// the App is installed on `.github` too.
    async fn settings_file(&self, source: &SettingsSource<'_>) -> Result<SettingsFile, EffectError> {
        let asked_at = self.now();
        let own = self.own_file(source).await?;
        let shared = match own {
            SettingsFile::Missing => self.shared_file(source).await?,
            SettingsFile::Text(_) | SettingsFile::TooLarge | SettingsFile::NoFile => None,
        };
        let of = shared.as_ref().map(|(repo, _)| *repo);
        self.keep_file(source, &own, of, asked_at).await?;
        Ok(shared.map_or(own, |(_, file)| file))
    }

    async fn keep_file(
        &self,
        source: &SettingsSource<'_>,
        file: &SettingsFile,
        shared: Option<RepoId>,
        asked_at: Millis,
    ) -> Result<(), StoreError> {
        let known = KnownSettings {
            commit: source.commit.clone(),
            file: serde_json::to_string(file).unwrap_or_default(),
            shared,
            asked_at,
        };
        self.store.keep_settings(source.repo, &source.name.owner, &known).await
    }

    async fn own_file(&self, source: &SettingsSource<'_>) -> Result<SettingsFile, EffectError> {
        let Some(commit) = &source.commit else {
            return Ok(SettingsFile::Missing);
        };
        let known = self.store.known_settings(source.repo).await?;
        let same = known.filter(|(known, _)| known.commit.as_ref() == Some(commit));
        if let Some(file) = same.and_then(|(known, _)| decoded(&known)) {
            return Ok(file);
        }
        let repo = self.autobuild.repo(source.installation, source.repo);
        Ok(match repo.content(SETTINGS_FILE, commit, MAX_SETTINGS).await? {
            Content::Missing => SettingsFile::Missing,
            Content::File(bytes) => SettingsFile::Text(String::from_utf8_lossy(&bytes).into_owned()),
            Content::TooLarge => SettingsFile::TooLarge,
            Content::NotAFile => SettingsFile::NoFile,
        })
    }

    async fn shared_file(&self, source: &SettingsSource<'_>) -> Result<Option<(RepoId, SettingsFile)>, EffectError> {
        if is_shared(source.name) {
            return Ok(None);
        }
        let name = RepoName { owner: source.name.owner.clone(), name: SHARED.to_owned() };
        let Some(repository) = self.autobuild.repository_named(source.installation, &name).await? else {
            return Ok(None);
        };
        let asked_at = self.now();
        let shared = SettingsSource {
            installation: source.installation,
            repo: repository.id,
            name: &repository.name,
            commit: self.default_head(source.installation, &repository).await?,
        };
        let file = self.own_file(&shared).await?;
        self.keep_file(&shared, &file, None, asked_at).await?;
        Ok(Some((shared.repo, file)))
    }

    async fn certain_file(&self, repo: RepoId) -> Result<Option<SettingsFile>, StoreError> {
        let Some(own) = self.certain(repo).await? else {
            return Ok(None);
        };
        match (decoded(&own), own.shared) {
            (Some(SettingsFile::Missing), Some(shared)) => {
                Ok(self.certain(shared).await?.and_then(|known| decoded(&known)))
            }
            (file, _) => Ok(file),
        }
    }

    async fn certain(&self, repo: RepoId) -> Result<Option<KnownSettings>, StoreError> {
        let known = self.store.known_settings(repo).await?;
        let oldest = self.now().plus(-CERTAIN_MS);
        Ok(known
            .filter(|(known, status)| *status == SettingsStatus::Certain && known.asked_at > oldest)
            .map(|(known, _)| known))
    }

    fn labels(&self, file: &SettingsFile) -> Labels {
        let offer = self.settings.allowances.usual.offer(self.agents.names());
        labels(file, &offer)
    }

    fn read_settings(&self, source: &SettingsSource<'_>, file: &SettingsFile) -> ReadSettings {
        let allowance = self.settings.allowances.of(source.installation);
        let offer = allowance.offer(self.agents.names());
        let settings = parsed(file, &offer).map(|settings| {
            let mut settings = self.settings.overrides.above(source.repo, settings);
            let excess = clamped(allowance, file, &mut settings);
            Settings { settings, excess }
        });
        ReadSettings { labels: labels(file, &offer), settings }
    }
}

/// Limits settings to the allowance, and returns what exceeded it of what the file sets. Nobody asked for a default.
fn clamped(allowance: &Allowance, file: &SettingsFile, settings: &mut RepositorySettings) -> Vec<Excess> {
    let mut excess = allowance.clamp(settings);
    excess.retain(|one| match (one, file) {
        (Excess::Number { setting, .. }, SettingsFile::Text(text)) => RepositorySettings::sets(text, setting),
        (Excess::Hosts { .. }, SettingsFile::Text(_)) => true,
        (_, SettingsFile::Missing | SettingsFile::TooLarge | SettingsFile::NoFile) => false,
    });
    excess
}

/// Returns `true` if the settings of this repository apply to others of its owner.
pub fn is_shared(name: &RepoName) -> bool {
    name.name.eq_ignore_ascii_case(SHARED)
}

fn decoded(known: &KnownSettings) -> Option<SettingsFile> {
    serde_json::from_str(&known.file).ok()
}

/// Returns the repository's settings as the Feature last read them. What cannot be read has its defaults.
pub fn last_read(feature: &Feature) -> RepositorySettings {
    serde_json::from_value(feature.settings.clone()).unwrap_or_default()
}

fn parsed(file: &SettingsFile, offer: &Offer) -> Result<RepositorySettings, Vec<SettingsMistake>> {
    match file {
        SettingsFile::Missing => Ok(RepositorySettings::default()),
        SettingsFile::Text(text) => RepositorySettings::parse(text, offer),
        SettingsFile::TooLarge => Err(vec![SettingsMistake::TooLarge { most: MAX_SETTINGS }]),
        SettingsFile::NoFile => Err(vec![SettingsMistake::NoFile]),
    }
}

fn labels(file: &SettingsFile, offer: &Offer) -> Labels {
    let plan = match (parsed(file, offer), file) {
        (Ok(settings), _) => settings.label,
        (Err(_), SettingsFile::Text(text)) => {
            RepositorySettings::label_in(text).unwrap_or_else(|| DEFAULT_LABEL.to_owned())
        }
        (Err(_), SettingsFile::Missing | SettingsFile::TooLarge | SettingsFile::NoFile) => DEFAULT_LABEL.to_owned(),
    };
    Labels { plan }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Budget, LargestValues};

    fn request_of(text: &str, label: &str) -> Option<PlanKind> {
        let offer = Offer { agents: Vec::new(), models: Vec::new() };
        labels(&SettingsFile::Text(text.to_owned()), &offer).request_of_label(label)
    }

    #[test]
    fn labels_are_the_same_in_any_case() {
        assert_eq!(request_of("", "AutoBuild"), Some(PlanKind::Plan));
        assert_eq!(request_of("label: Bau's\n", "bAU'S"), Some(PlanKind::Plan));
        assert_eq!(request_of("label: Größe", "GRÖßE"), Some(PlanKind::Plan));
        assert_eq!(request_of("", "Autobuild-Task"), Some(PlanKind::OneTask));
        assert_eq!(request_of("label: build-me", "autobuild"), None);
        assert_eq!(request_of("", "bug"), None);
    }

    #[test]
    fn a_file_with_mistakes_still_names_its_label() {
        let text = "label: build-me\nmax_turn: 3\n";
        assert_eq!(request_of(text, "build-me"), Some(PlanKind::Plan));
        assert_eq!(request_of(text, "autobuild"), None);
        assert_eq!(request_of("label: [unclosed", "autobuild"), Some(PlanKind::Plan));
        for wrong in [String::new(), "x".repeat(51)] {
            let text = format!("label: '{wrong}'");
            assert_eq!(request_of(&text, "autobuild"), Some(PlanKind::Plan), "{text}");
        }
    }

    #[test]
    fn only_what_a_file_asks_for_exceeds_the_allowance() {
        let budget = Budget { usd_per_feature: 20.0, ..Budget::UNLIMITED };
        let few = LargestValues { tasks: 3, budget, ..LargestValues::SERVER };
        let allowance = Allowance { most: few, ..Allowance::default() };
        let text = |text: &str| SettingsFile::Text(text.to_owned());
        let table = [
            (SettingsFile::Missing, &[][..]),
            (text("plan_approval: always\nbudget: {usd_per_task: 1}"), &[]),
            (text("max_tasks: 20"), &["max_tasks"]),
            (text("budget: {usd_per_feature: 50}"), &["budget.usd_per_feature"]),
        ];
        for (file, expected) in table {
            let mut settings = RepositorySettings::default();
            let excess = clamped(&allowance, &file, &mut settings);
            let setting = |one: &Excess| match one {
                Excess::Number { setting, .. } => *setting,
                Excess::Hosts { .. } => "network.allow",
            };
            let named: Vec<&str> = excess.iter().map(setting).collect();
            assert_eq!(named, expected, "{file:?}");
            assert_eq!(settings.max_tasks, 3);
        }
    }
}
