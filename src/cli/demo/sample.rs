//! The input of the demo: the sample, or the repository, issue and agent that the arguments name.

use crate::{
    agents::Access,
    cli::stage::{StagePerson, issue::IssueText, repository_name},
    config::{AgentCommand, KNOWN_AGENTS, ModelSettings},
};

use anyhow::Context;
use forge::RepoSource;
use git::{NoRepository, OwnRepository};
use std::path::{Path, PathBuf};

/// The sample's files, as paths and texts.
const REPOSITORY: &[(&str, &str)] = &[
    ("README.md", include_str!("sample/repository/README.md")),
    ("bin/tally", include_str!("sample/repository/bin/tally")),
    ("tests/run.sh", include_str!("sample/repository/tests/run.sh")),
    ("tests/words_test.sh", include_str!("sample/repository/tests/words_test.sh")),
    (".github/autobuild.yml", include_str!("sample/repository/.github/autobuild.yml")),
];

const ISSUE: &str = include_str!("sample/issue.md");
const AGENTS: &str = include_str!("sample/agents.yml");

pub(super) struct Material {
    /// The repository to import; `None` for the sample's.
    pub repository: Option<PathBuf>,
    pub title: String,
    pub body: String,
    /// The agent of all roles; `None` for the sample's script.
    pub agent: Option<AgentCommand>,
    /// The way in which the agent's program reaches a model.
    pub access: Access,
}

impl Material {
    /// Reads the input that the arguments name, and takes the rest from the sample.
    pub(super) fn gather(repo: Option<&Path>, issue: Option<&Path>, agent: Option<&str>) -> anyhow::Result<Self> {
        let agent = agent.map(str::parse::<AgentCommand>).transpose().context("--agent")?;
        if agent.is_none() && (repo.is_some() || issue.is_some()) {
            anyhow::bail!("the sample's agents only know the sample: name yours with --agent {KNOWN_AGENTS}");
        }
        let repository = repo
            .map(|path| repository_at(path).with_context(|| format!("--repo {} cannot be opened", path.display())))
            .transpose()?;
        let (title, body) = match issue {
            Some(path) => IssueText::read(path).with_context(|| format!("--issue {}", path.display()))?,
            None => IssueText::of(ISSUE)?,
        }
        .parts();
        Ok(Self { repository, title, body, agent, access: Access::service(ModelSettings::default()) })
    }

    /// Refuses a repository that cannot be imported as a whole. Other problems are reported by the import itself.
    pub(super) async fn can_be_imported(&self) -> anyhow::Result<()> {
        let Some(repository) = &self.repository else {
            return Ok(());
        };
        match OwnRepository::around(repository).await {
            Ok(own) => Ok(own.can_be_copied().await?),
            // The import would wait, too.
            Err(why @ (NoRepository::Odd(_) | NoRepository::Endless(_))) => Err(why.into()),
            Err(_) => Ok(()),
        }
    }

    /// Returns the parts that the import leaves out: uncommitted changes.
    pub(super) async fn left_out(&self) -> Vec<String> {
        let Some(repository) = self.repository.as_ref().filter(|path| path.join(".git").exists()) else {
            return Vec::new();
        };
        git::uncommitted(repository).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "whether {} has uncommitted changes is not known", repository.display());
            Vec::new()
        })
    }

    /// Returns the person on the stage: the sample's, or the repository's owner.
    pub(super) async fn person(&self) -> StagePerson {
        let Some(repository) = &self.repository else {
            return StagePerson::Sample;
        };
        match OwnRepository::around(repository).await {
            Ok(own) => StagePerson::Own(own.person().await),
            Err(_) => StagePerson::Own(None),
        }
    }

    pub(super) fn name(&self) -> String {
        self.repository.as_deref().map_or_else(|| "tally".to_owned(), repository_name)
    }

    pub(super) fn source(&self) -> RepoSource<'_> {
        self.repository.as_deref().map_or(RepoSource::Files(REPOSITORY), RepoSource::Local)
    }

    /// `true` if the sample's scripted person acts too.
    pub(super) fn has_story(&self) -> bool {
        self.agent.is_none()
    }

    /// Returns the agent of all roles, and writes the sample's script into `folder` if it is used.
    pub(super) fn agent(&self, folder: &Path) -> anyhow::Result<AgentCommand> {
        if let Some(agent) = &self.agent {
            return Ok(agent.clone());
        }
        let script = folder.join("agents.yml");
        std::fs::write(&script, AGENTS).with_context(|| format!("writing {}", script.display()))?;
        Ok(AgentCommand::Scripted(script))
    }
}

/// Returns the absolute path of a repository's folder.
fn repository_at(path: &Path) -> anyhow::Result<PathBuf> {
    let path = path.canonicalize()?;
    let bare = path.join("HEAD").is_file() && path.join("objects").is_dir();
    if bare || path.join(".git").exists() {
        return Ok(path);
    }
    match path.ancestors().find(|folder| folder.join(".git").exists()) {
        Some(root) => anyhow::bail!("it is a folder inside a repository: name {}", root.display()),
        None => anyhow::bail!("it is not a git repository: `git init` and a first commit make it one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_own_repository_needs_an_own_agent() {
        let error = Material::gather(Some(Path::new("/")), None, None).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("--agent"), "{error}");
    }
}
