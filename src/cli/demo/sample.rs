//! What the demo is played with: the sample, or what the arguments name.

use crate::{
    agents::Access,
    config::{AgentCommand, ModelSettings},
};

use anyhow::Context;
use std::path::{Path, PathBuf};

/// The sample's files, as path and text.
pub(super) const REPOSITORY: &[(&str, &str)] = &[
    ("README.md", include_str!("sample/repository/README.md")),
    ("bin/tally", include_str!("sample/repository/bin/tally")),
    ("tests/run.sh", include_str!("sample/repository/tests/run.sh")),
    (
        "tests/words_test.sh",
        include_str!("sample/repository/tests/words_test.sh"),
    ),
    (
        ".github/autobuild.yml",
        include_str!("sample/repository/.github/autobuild.yml"),
    ),
];

const ISSUE: &str = include_str!("sample/issue.md");
const AGENTS: &str = include_str!("sample/agents.yml");

/// GitHub's limits for an issue, in characters.
const MAX_TITLE: usize = 256;
const MAX_BODY: usize = 65_536;

/// The largest issue file that is read, in bytes.
const MAX_ISSUE: u64 = 1 << 20;

/// What the demo is played with.
pub(super) struct Material {
    /// A repository to import; else the sample's.
    pub repository: Option<PathBuf>,
    /// The issue's title.
    pub title: String,
    /// The issue's body.
    pub body: String,
    /// The agent of all roles; else the sample's script.
    pub agent: Option<AgentCommand>,
    /// How its program reaches a model.
    pub access: Access,
}

impl Material {
    /// Reads what the arguments name and leaves the rest to the sample.
    pub(super) fn gather(repo: Option<&Path>, issue: Option<&Path>, agent: Option<&str>) -> anyhow::Result<Self> {
        let agent = agent.map(str::parse::<AgentCommand>).transpose().context("--agent")?;
        if agent.is_none() && (repo.is_some() || issue.is_some()) {
            anyhow::bail!(
                "the sample's agents only know the sample: name yours with --agent claude, codex, acp:<command>, \
                 command:<command> or scripted:<file>"
            );
        }
        let repository = repo
            .map(|path| repository_at(path).with_context(|| format!("--repo {} cannot be opened", path.display())))
            .transpose()?;
        let text = match issue {
            Some(path) => read(path).with_context(|| format!("--issue {} cannot be read", path.display()))?,
            None => ISSUE.to_owned(),
        };
        let (title, body) = title_and_body(&text).with_context(|| {
            let file = issue.unwrap_or(Path::new("?")).display();
            format!("--issue {file} has no title: begin it with a line `# Title`")
        })?;
        let fits = title.chars().count() <= MAX_TITLE && body.chars().count() <= MAX_BODY;
        anyhow::ensure!(
            fits,
            "the issue is longer than GitHub allows: its title may have {MAX_TITLE} characters, its body {MAX_BODY}"
        );
        Ok(Self {
            repository,
            title,
            body,
            agent,
            access: Access::service(ModelSettings::default()),
        })
    }

    /// What the import leaves out: changes that are not committed.
    pub(super) async fn left_out(&self) -> Vec<String> {
        let Some(repository) = self.repository.as_ref().filter(|path| path.join(".git").exists()) else {
            return Vec::new();
        };
        git::uncommitted(repository).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "whether {} has uncommitted changes is not known", repository.display());
            Vec::new()
        })
    }

    /// Whether the sample's human plays too.
    pub(super) fn has_story(&self) -> bool {
        self.agent.is_none()
    }

    /// The agent of all roles; the sample's script is written into `folder`.
    pub(super) fn agent(&self, folder: &Path) -> anyhow::Result<AgentCommand> {
        if let Some(agent) = &self.agent {
            return Ok(agent.clone());
        }
        let script = folder.join("agents.yml");
        std::fs::write(&script, AGENTS).with_context(|| format!("writing {}", script.display()))?;
        Ok(AgentCommand::Scripted(script))
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    let length = std::fs::metadata(path)?.len();
    anyhow::ensure!(length <= MAX_ISSUE, "the file is larger than {MAX_ISSUE} bytes");
    let bytes = std::fs::read(path)?;
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("the file is not UTF-8 text"))
}

/// The folder of a repository, as a whole path.
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

/// The first `# ` line is the title; what is left is the body.
fn title_and_body(text: &str) -> Option<(String, String)> {
    let mut body = Vec::new();
    let mut title = None;
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(found) if title.is_none() && !found.trim().is_empty() => title = Some(found.trim().to_owned()),
            _ => body.push(line),
        }
    }
    Some((title?, body.join("\n").trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_heading_is_the_title_and_the_rest_the_body() {
        let read = title_and_body("intro\n# Title \n\nText\n# Not the title\n").unwrap();
        assert_eq!(read, ("Title".to_owned(), "intro\n\nText\n# Not the title".to_owned()));
        assert_eq!(title_and_body("no heading"), None);
    }

    #[test]
    fn an_own_repository_needs_an_own_agent() {
        let error = Material::gather(Some(Path::new("/")), None, None)
            .map(|_| ())
            .unwrap_err();
        assert!(error.to_string().contains("--agent"), "{error}");
    }
}
