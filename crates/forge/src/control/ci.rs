//! CI at work: what Apps and services report of commits.

use crate::{disk::ForgeError, forge::Forge, state::CiJob};

/// A check that appears on every commit pushed to a branch that matches.
#[derive(Clone, Copy, Debug)]
pub struct NewCiJob<'a> {
    /// The App that reports it as a check run, by slug; none: it is a commit status.
    pub app: Option<&'a str>,
    /// The branches, `*` standing for any run of characters.
    pub branches: &'a str,
    /// Its name or context.
    pub name: &'a str,
    /// How it ends at once; none: it stays at work.
    pub conclusion: Option<&'a str>,
    /// What it says.
    pub summary: &'a str,
}

impl Forge {
    /// Gives a repository this CI, in place of what it had.
    pub fn set_ci(&self, full_name: &str, jobs: &[NewCiJob<'_>]) -> Result<(), ForgeError> {
        let jobs = jobs.iter().map(|job| self.job(job)).collect::<Result<_, _>>()?;
        self.change_repo(full_name, |repo| repo.ci = jobs)
    }

    /// An App of that slug reports a check run on a commit; gives the run's id.
    pub fn report_check(&self, full_name: &str, sha: &str, job: &NewCiJob<'_>) -> Result<u64, ForgeError> {
        let repo = self.repo_id(full_name)?;
        let job = self.job(job)?;
        let app = job.app.ok_or_else(|| ForgeError::Unknown("App".to_owned()))?;
        Ok(self.site.change(|state| state.report_check(app, repo, sha, &job))?)
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
