//! CI: the reports of Apps and services about commits.

use crate::{disk::ForgeError, forge::Forge, state::CiJob};

/// A CI job that reports a check or status on every commit pushed to a matching branch.
#[derive(Clone, Copy, Debug)]
pub struct NewCiJob<'a> {
    /// The slug of the App that reports it as a check run; `None` for a commit status.
    pub app: Option<&'a str>,
    /// The branches; `*` matches any characters.
    pub branches: &'a str,
    /// The check's name or the status's context.
    pub name: &'a str,
    /// Its conclusion, reported at once; `None`: it stays in progress.
    pub conclusion: Option<&'a str>,
    /// Its summary.
    pub summary: &'a str,
}

impl Forge {
    /// Replaces a repository's CI jobs.
    pub fn set_ci(&self, full_name: &str, jobs: &[NewCiJob<'_>]) -> Result<(), ForgeError> {
        let jobs = jobs.iter().map(|job| self.job(job)).collect::<Result<_, _>>()?;
        self.change_repo(full_name, |repo| repo.ci = jobs)
    }

    /// Reports a check run on a commit as the job's App. Returns the run's id.
    pub fn report_check(&self, full_name: &str, sha: &str, job: &NewCiJob<'_>) -> Result<u64, ForgeError> {
        let repo = self.repo_id(full_name)?;
        let job = self.job(job)?;
        let app = job.app.ok_or_else(|| ForgeError::Unknown("App".to_owned()))?;
        Ok(self.site.change(|state| state.report_check(app, repo, sha, &job))?)
    }

    /// Reports a check run on a commit that a pull request of a fork has too, as the job's App. Returns the run's id.
    pub fn report_check_of_fork(&self, full_name: &str, sha: &str, job: &NewCiJob<'_>) -> Result<u64, ForgeError> {
        let repo = self.repo_id(full_name)?;
        let job = self.job(job)?;
        let app = job.app.ok_or_else(|| ForgeError::Unknown("App".to_owned()))?;
        Ok(self.site.change(|state| state.report_check_of_fork(app, repo, sha, &job))?)
    }

    fn job(&self, job: &NewCiJob<'_>) -> Result<CiJob, ForgeError> {
        let app_id = |slug: &str| {
            let found = self.site.read(|state| state.app_named(slug).map(|app| app.id));
            found.ok_or_else(|| ForgeError::Unknown(format!("App {slug}")))
        };
        Ok(CiJob {
            app: job.app.map(app_id).transpose()?,
            branches: job.branches.to_owned(),
            name: job.name.to_owned(),
            conclusion: job.conclusion.map(str::to_owned),
            summary: job.summary.to_owned(),
        })
    }
}
