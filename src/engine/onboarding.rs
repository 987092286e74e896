//! Sets up a repository: creates labels, and a pull request with proposed settings. Each is looked up before it is
//! made, so a second try makes nothing twice.

use crate::{
    config::{RepositorySettings, SETTINGS_FILE},
    engine::{Engine, job::EffectError, repository::DefaultBranch},
    gates::commands,
    github::{Content, NewPull, OpenedPull},
    messages,
};
use domain::ids::{InstallationId, PullNumber, RepoId};
use runners::workflows;
use std::time::Duration;
use text::shell_command::ShellCommand;

/// The branch of the proposal. It belongs to no Feature.
const BRANCH: &str = "autobuild-settings";

/// The largest workflow or settings file that is read, in bytes.
const MAX_WORKFLOW: usize = 256 * 1024;

/// The result of the set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnboardingOutcome {
    /// This pull request proposes settings.
    Proposed(PullNumber),
    /// The repository already has settings.
    HadSettings,
    /// The repository has no commit to propose settings on.
    NoCommits,
}

impl Engine {
    /// Creates the labels and proposes settings in a repository.
    pub async fn onboard(&self, installation: InstallationId, id: RepoId) -> Result<OnboardingOutcome, EffectError> {
        let repo = self.autobuild.repo(installation, id);
        for (name, color, about) in messages::LABELS {
            repo.make_label(name, color, about).await?;
            self.space().await;
        }
        let known = repo.repository().await?;
        if repo.branch_head(&known.default_branch).await?.is_none() {
            return Ok(OnboardingOutcome::NoCommits);
        }
        let default = self.fetch_default(installation, id, None).await?;
        match repo.content(SETTINGS_FILE, &default.head, MAX_WORKFLOW).await? {
            Content::Missing => {}
            Content::File(_) | Content::TooLarge | Content::NotAFile => return Ok(OnboardingOutcome::HadSettings),
        }
        if let Some(pull) = repo.find_pull(BRANCH).await? {
            return Ok(OnboardingOutcome::Proposed(pull.number));
        }
        self.propose(installation, id, &default).await
    }

    async fn propose(
        &self,
        installation: InstallationId,
        id: RepoId,
        default: &DefaultBranch,
    ) -> Result<OnboardingOutcome, EffectError> {
        let repo = self.autobuild.repo(installation, id);
        let chosen = commands::choose_at(&default.mirror, &default.head, &RepositorySettings::default()).await?;
        let workflows = started_workflows(default).await?;
        let found = messages::DetectedSettings {
            setup: chosen.setup.as_ref().map(ShellCommand::text),
            test: chosen.test.as_ref().map(ShellCommand::text),
            why: &messages::chosen_commands(&chosen.why),
            workflows: &workflows,
        };
        let pull = messages::onboarding_pull(&found);
        repo.make_branch(BRANCH, &default.head).await?;
        self.space().await;
        let head = repo.branch_head(BRANCH).await?;
        let settings = messages::proposed_settings(&found);
        let form = messages::ISSUE_FORM;
        for (path, text, why) in
            [(SETTINGS_FILE, settings.as_str(), pull.title.as_str()), (form.path, form.text, form.commit)]
        {
            let is_there = match &head {
                Some(head) => repo.content(path, head, MAX_WORKFLOW).await? != Content::Missing,
                None => false,
            };
            if !is_there {
                repo.add_file(BRANCH, path, text, why).await?;
                self.space().await;
            }
        }
        let opened = repo.create_pull(NewPull {
            title: &pull.title,
            body: &pull.body,
            head: BRANCH,
            base: &default.name,
            ready: true,
        });
        Ok(match opened.await? {
            OpenedPull::Opened(pull) | OpenedPull::Adopted(pull) => OnboardingOutcome::Proposed(pull.number),
            OpenedPull::NoCommits => OnboardingOutcome::HadSettings,
        })
    }

    /// Waits for the least time between two writes to GitHub.
    async fn space(&self) {
        let pause = u64::try_from(self.settings.write_spacing_ms).unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

/// Returns the workflows that AutoBuild's branches start, each with the events that start it.
async fn started_workflows(default: &DefaultBranch) -> Result<Vec<(String, Vec<String>)>, EffectError> {
    let mut started = Vec::new();
    for path in commands::paths(&default.mirror, &default.head).await? {
        if !workflows::is_workflow(&path) {
            continue;
        }
        if let Some(file) = default.mirror.read_file(&default.head, &path, MAX_WORKFLOW).await? {
            let events = workflows::started_by(&file.text());
            if !events.is_empty() {
                started.push((path, events));
            }
        }
    }
    Ok(started)
}

#[cfg(test)]
mod tests {
    use crate::{
        config::{Offer, RepositorySettings},
        messages,
    };
    use text::shell_command::ShellCommand;

    #[test]
    fn what_is_proposed_is_read_again_as_it_was_meant() {
        let offer = Offer { agents: Vec::new(), models: Vec::new() };
        let workflows = [("a.yml\nlabel: evil".to_owned(), vec!["push".to_owned()])];
        for (setup, test) in [(None, None), (Some("npm ci"), Some("npm test -- --grep \"a: b\" 'c\\d' # e"))] {
            let text = messages::proposed_settings(&messages::DetectedSettings {
                setup,
                test,
                why: "",
                workflows: &workflows,
            });
            let read = RepositorySettings::parse(&text, &offer).unwrap();
            assert_eq!(read.setup.as_ref().map(ShellCommand::text), setup);
            assert_eq!(read.test.as_ref().map(ShellCommand::text), test);
            let usual = RepositorySettings::default();
            assert_eq!((&read.label, read.budget, read.ci), (&usual.label, usual.budget, usual.ci));
        }
    }
}
