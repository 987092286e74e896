//! Access to a repository: its current name, its branches in the mirror, and the rules that follow from its settings.

use crate::{
    config::{Inquiring, RepositorySettings},
    engine::{Engine, job::EffectError},
    github::Rights,
};
use domain::{
    blocked::RepositoryFault,
    feature::{Commands, Rules},
    ids::{InstallationId, RepoId, RepoName, Sha},
    inquiry::InquiryPolicy,
    isolation::Level,
};
use git::{BranchName, GitError, Mirror, Remote};

pub struct DefaultBranch {
    pub mirror: Mirror,
    pub name: String,
    pub head: Sha,
    pub(super) installation: InstallationId,
    pub(super) repo: RepoId,
    pub(super) repository: RepoName,
}

impl Engine {
    /// Returns the remote for git, with a token that has these rights.
    pub async fn remote(
        &self,
        installation: InstallationId,
        repo: RepoId,
        rights: Rights,
    ) -> Result<Remote, EffectError> {
        let name = self.autobuild.repo(installation, repo).name().await?;
        let token = self.autobuild.token(installation, repo, rights).await?;
        Ok(self.mirrors.remote(&name, Some(token)))
    }

    /// Fetches branches into the mirror. A branch is a name, or a pattern such as `autobuild/7/*`. A mirror that is new on
    /// this machine gets the tags too, because results of commands may depend on them.
    pub async fn fetch(
        &self,
        installation: InstallationId,
        repo: RepoId,
        branches: &[&str],
    ) -> Result<Mirror, EffectError> {
        let (mirror, remote) = self.fetch_branches(installation, repo, branches).await?;
        if !mirror.has_tags() {
            let repository = self.autobuild.repo(installation, repo).repository().await?;
            self.fetch_tags(installation, &mirror, &remote, &repository.default_branch).await?;
        }
        Ok(mirror)
    }

    async fn fetch_branches(
        &self,
        installation: InstallationId,
        repo: RepoId,
        branches: &[&str],
    ) -> Result<(Mirror, Remote), EffectError> {
        let remote = self.remote(installation, repo, Rights::Fetch).await?;
        let mirror = self.mirrors.mirror(repo);
        let fetched = mirror.fetch(&remote, branches).await;
        fetched.map_err(|error| self.git_failed(installation, error))?;
        Ok((mirror, remote))
    }

    async fn fetch_tags(
        &self,
        installation: InstallationId,
        mirror: &Mirror,
        remote: &Remote,
        default: &str,
    ) -> Result<(), EffectError> {
        let fetched = mirror.fetch_tags(remote, &default.parse().map_err(GitError::from)?).await;
        fetched.map_err(|error| self.git_failed(installation, error))
    }

    /// Converts a failure of git. If git was denied access, the token is forgotten, so that the next try gets a new
    /// one.
    pub fn git_failed(&self, installation: InstallationId, error: GitError) -> EffectError {
        if matches!(error, GitError::Denied(_) | GitError::NoCredentials) {
            self.autobuild.forget_installation(installation);
        }
        error.into()
    }

    /// Fetches the default branch into the mirror. With `folder`, the branches of that folder come along; without it, the
    /// tags, which are thus current for each plan and each pre-flight, and the same for everything that follows them.
    pub async fn fetch_default(
        &self,
        installation: InstallationId,
        repo: RepoId,
        folder: Option<&str>,
    ) -> Result<DefaultBranch, EffectError> {
        let repository = self.autobuild.repo(installation, repo).repository().await?;
        let name = repository.default_branch.clone();
        let pattern = folder.map(|folder| format!("{folder}/*"));
        let branches: Vec<&str> = std::iter::once(name.as_str()).chain(pattern.as_deref()).collect();
        let (mirror, remote) = self.fetch_branches(installation, repo, &branches).await?;
        if folder.is_none() || !mirror.has_tags() {
            self.fetch_tags(installation, &mirror, &remote, &name).await?;
        }
        let head = tip(&mirror, &name).await?;
        Ok(DefaultBranch { mirror, name, head, installation, repo, repository: repository.name })
    }
}

pub async fn tip(mirror: &Mirror, branch: &str) -> Result<Sha, EffectError> {
    let name: BranchName = branch.parse().map_err(GitError::from)?;
    let tip = mirror.rev_parse(&name).await?;
    tip.ok_or_else(|| EffectError::repository(RepositoryFault::NoBranch { branch: branch.to_owned() }))
}

/// Returns the rules that follow from the settings and from the isolation level of programs.
pub fn rules(settings: &RepositorySettings, level: Level) -> Rules {
    Rules {
        commands: match level {
            Level::L0 => Commands::Bare,
            Level::L1 | Level::L2 | Level::L3 => Commands::Isolated,
        },
        max_turns: settings.max_turns,
        max_parallel_tasks: settings.max_parallel_tasks,
        merge: settings.merge,
        plan_approval: settings.plan_approval,
        inquiries: match settings.inquiries {
            None => InquiryPolicy::ByAuthor,
            Some(Inquiring::Ask) => InquiryPolicy::Ask,
            Some(Inquiring::Default) => InquiryPolicy::Default,
        },
        mode: settings.mode,
        records: settings.records,
        titles: settings.titles.clone(),
        waived: settings.waived,
        ci: settings.ci,
    }
}
