//! Check suites: the check runs of one App on one commit. Pushes and people request them.

use crate::{
    hooks::Audience,
    json,
    refusal::{OrNotFound, Result},
    site::Site,
    state::{Access, CheckSuite, Installation, State},
};
use serde_json::json as object;
use std::collections::BTreeSet;

impl Site {
    /// Stores the JSON that deliveries show of a commit, if it is not known yet.
    pub(crate) async fn know_commit(&self, repo: u64, sha: &str) -> Result {
        if self.read(|state| state.repo(repo).map(|repo| repo.head_commits.contains_key(sha)))? {
            return Ok(());
        }
        let commits = self.bare(repo).commits(None, sha, 1).await?;
        let head_commit = commits.last().map(|facts| (facts.sha.clone(), json::head_commit(facts)));
        self.change(|state| {
            state.repo_mut(repo)?.head_commits.extend(head_commit);
            Ok(())
        })
    }
}

impl State {
    /// Returns the suite of an App on a commit; creates it if there is none.
    pub(super) fn suite_on(&mut self, repo: u64, app: u64, sha: &str) -> Result<u64> {
        let known = self.repo(repo)?;
        let mut suites = known.suites.values();
        if let Some(suite) = suites.find(|suite| suite.app == app && suite.head_sha == sha && !suite.is_of_fork) {
            return Ok(suite.id);
        }
        let branch = known.branches.iter().find(|(_, head)| *head == sha);
        let head_branch = branch.map(|(name, _)| name.clone());
        self.new_suite(repo, CheckSuite { app, head_sha: sha.to_owned(), head_branch, ..CheckSuite::default() })
    }

    /// Creates a suite for the run of a workflow that a pull request of a fork started. Returns its id.
    pub(super) fn suite_of_fork(&mut self, repo: u64, app: u64, sha: &str) -> Result<u64> {
        let head_sha = sha.to_owned();
        self.new_suite(repo, CheckSuite { app, head_sha, is_of_fork: true, ..CheckSuite::default() })
    }

    fn new_suite(&mut self, repo: u64, suite: CheckSuite) -> Result<u64> {
        let (id, now) = (self.next_id(), self.clock.stamp());
        let suite = CheckSuite { id, created_at: now, updated_at: now, ..suite };
        self.repo_mut(repo)?.suites.insert(id, suite);
        Ok(id)
    }

    /// Requests checks of a branch's new head from every App that may write checks.
    pub(super) fn suites_requested(&mut self, at: Access, before: Option<&str>, head: &str) -> Result {
        let writes = |one: &&Installation| one.writes("checks") && self.covers(one, at.repo);
        let apps: BTreeSet<u64> = self.installations.values().filter(writes).map(|one| one.app).collect();
        for app in apps {
            let id = self.suite_on(at.repo, app, head)?;
            if let Some(suite) = self.repo_mut(at.repo)?.suites.get_mut(&id) {
                suite.before = before.map(str::to_owned);
            }
            self.suite_event(at, id, "requested", Audience::App { app, repo: at.repo })?;
        }
        Ok(())
    }

    /// Requests all checks of a suite again, for a person or the App itself. The suite waits until its App reports.
    pub(crate) fn rerequest_suite(&mut self, at: Access, id: u64) -> Result {
        let now = self.clock.stamp();
        let suite = self.repo_mut(at.repo)?.suites.get_mut(&id).or_not_found()?;
        (suite.waits, suite.updated_at) = (true, now);
        let app = suite.app;
        self.suite_event(at, id, "rerequested", Audience::App { app, repo: at.repo })
    }

    /// Updates a suite after one of its runs changed; `was` is the suite's status before.
    pub(super) fn suite_moved(&mut self, at: Access, id: u64, was: &str) -> Result {
        let now = self.clock.stamp();
        let repo = self.repo_mut(at.repo)?;
        if let Some(suite) = repo.suites.get_mut(&id) {
            (suite.waits, suite.updated_at) = (false, now);
        }
        match repo.suite_status(id) {
            "completed" if was != "completed" => {
                self.suite_event(at, id, "completed", Audience::Subscribed { repo: at.repo })
            }
            _ => Ok(()),
        }
    }

    fn suite_event(&mut self, at: Access, id: u64, action: &str, audience: Audience) -> Result {
        let repo = self.repo(at.repo)?;
        let suite = repo.suites.get(&id).or_not_found()?;
        let fields = object!({"check_suite": json::check_suite(self, repo, suite)});
        self.emit_to(audience, at.by.user, "check_suite", Some(action), fields);
        Ok(())
    }
}
