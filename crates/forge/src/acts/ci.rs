//! The CI of a repository: checks that appear on every commit pushed to a branch, as an App or a service reports them.

use super::super::{
    refusal::Refusal,
    state::{Actor, CiJob, State, Status, matches},
};
use crate::acts::checks::CheckRunChange;
use serde_json::json as object;

/// What a status says, in the four words that GitHub has for it.
pub(crate) fn check_status(word: &str) -> Result<(), Refusal> {
    match ["error", "failure", "pending", "success"].contains(&word) {
        true => Ok(()),
        false => Err(Refusal::custom("Status", "state", "State is not included in the list")),
    }
}

impl State {
    /// A commit arrived on a branch: every job of the repository that looks at it reports.
    pub(crate) fn ci_reports(&mut self, by: Actor, repo: u64, branch: &str, sha: &str) -> Result<(), Refusal> {
        let jobs = self.repo(repo)?.ci.clone();
        for job in jobs.iter().filter(|job| matches(&job.branches, branch)) {
            match job.app {
                Some(app) => self.report_check(app, repo, sha, job).map(drop)?,
                None => {
                    let state = job.conclusion.as_deref().unwrap_or("pending");
                    let description = Some(job.summary.clone());
                    self.record_status(by, repo, sha, (&job.name, state), description, None)?;
                }
            }
        }
        Ok(())
    }

    /// An App reports a check run; without a conclusion it is at work.
    pub(crate) fn report_check(&mut self, app: u64, repo: u64, sha: &str, job: &CiJob) -> Result<u64, Refusal> {
        let user = self.apps.get(&app).ok_or_else(Refusal::not_found)?.bot;
        let change = CheckRunChange {
            name: Some(job.name.clone()),
            status: Some(
                if job.conclusion.is_some() {
                    "completed"
                } else {
                    "in_progress"
                }
                .to_owned(),
            ),
            conclusion: job.conclusion.clone(),
            output: Some(object!({"title": job.name, "summary": job.summary})),
            ..CheckRunChange::default()
        };
        self.new_check(Actor { user, app: Some(app) }, repo, sha, &change)
    }

    /// Someone sets a status of a context on a commit.
    pub(crate) fn record_status(
        &mut self,
        by: Actor,
        repo: u64,
        sha: &str,
        (context, state): (&str, &str),
        description: Option<String>,
        target_url: Option<String>,
    ) -> Result<Status, Refusal> {
        check_status(state)?;
        let (id, at) = (self.next_id(), self.clock.stamp());
        let one = Status {
            id,
            sha: sha.to_owned(),
            context: context.to_owned(),
            state: state.to_owned(),
            description,
            target_url,
            creator: by.user,
            created_at: at,
        };
        self.repo_mut(repo)?.statuses.push(one.clone());
        Ok(one)
    }
}
