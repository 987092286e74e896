//! Check suites: the check runs of one App on one commit, asked for by pushes and by people.

use super::super::{
    hooks::{Audience, Occasion},
    json,
    refusal::Refusal,
    site::Site,
    state::{Actor, CheckSuite, State},
};
use serde_json::json as object;
use std::collections::BTreeSet;

impl Site {
    /// Remembers what deliveries tell of a commit.
    pub(crate) async fn know_commit(&self, repo: u64, sha: &str) -> Result<(), Refusal> {
        if self.read(|state| state.repo(repo).map(|repo| repo.head_commits.contains_key(sha)))? {
            return Ok(());
        }
        let commits = self.bare(repo).commits(None, sha, 1).await?;
        self.change(|state| {
            let known = &mut state.repo_mut(repo)?.head_commits;
            known.extend(
                commits
                    .last()
                    .map(|facts| (facts.sha.clone(), json::head_commit(facts))),
            );
            Ok(())
        })
    }
}

impl State {
    /// The suite of an App on a commit, made where there is none.
    pub(super) fn suite_on(&mut self, repo: u64, app: u64, sha: &str) -> Result<u64, Refusal> {
        let known = self.repo(repo)?;
        let mut suites = known.suites.values();
        if let Some(suite) = suites.find(|suite| suite.app == app && suite.head_sha == sha) {
            return Ok(suite.id);
        }
        let branch = known.branches.iter().find(|(_, head)| *head == sha);
        let head_branch = branch.map(|(name, _)| name.clone());
        let (id, at) = (self.next_id(), self.clock.stamp());
        let suite = CheckSuite {
            id,
            app,
            head_sha: sha.to_owned(),
            head_branch,
            before: None,
            waits: false,
            created_at: at,
            updated_at: at,
        };
        self.repo_mut(repo)?.suites.insert(id, suite);
        Ok(id)
    }

    /// A branch got a head: every App that writes checks is asked for some.
    pub(super) fn suites_requested(
        &mut self,
        by: Actor,
        repo: u64,
        before: Option<&str>,
        head: &str,
    ) -> Result<(), Refusal> {
        let writes = |one: &&super::super::state::Installation| {
            one.permissions.get("checks").is_some_and(|level| level == "write") && self.covers(one, repo)
        };
        let apps: BTreeSet<u64> = self.installations.values().filter(writes).map(|one| one.app).collect();
        for app in apps {
            let id = self.suite_on(repo, app, head)?;
            if let Some(suite) = self.repo_mut(repo)?.suites.get_mut(&id) {
                suite.before = before.map(str::to_owned);
            }
            self.suite_event(by, repo, id, "requested", Audience::App(app))?;
        }
        Ok(())
    }

    /// A person, or the App itself, wants all checks of a suite again: its App is told, and it waits for it.
    pub(crate) fn rerequest_suite(&mut self, by: Actor, repo: u64, id: u64) -> Result<(), Refusal> {
        let at = self.clock.stamp();
        let suite = self
            .repo_mut(repo)?
            .suites
            .get_mut(&id)
            .ok_or_else(Refusal::not_found)?;
        (suite.waits, suite.updated_at) = (true, at);
        let app = suite.app;
        self.suite_event(by, repo, id, "rerequested", Audience::App(app))
    }

    /// A run of the suite was made or changed; `was` is what the suite was before.
    pub(super) fn suite_moved(&mut self, by: Actor, repo: u64, id: u64, was: &str) -> Result<(), Refusal> {
        let at = self.clock.stamp();
        let known = self.repo_mut(repo)?;
        if let Some(suite) = known.suites.get_mut(&id) {
            (suite.waits, suite.updated_at) = (false, at);
        }
        match known.suite_status(id) {
            "completed" if was != "completed" => self.suite_event(by, repo, id, "completed", Audience::Subscribed),
            _ => Ok(()),
        }
    }

    fn suite_event(&mut self, by: Actor, repo: u64, id: u64, action: &str, audience: Audience) -> Result<(), Refusal> {
        let known = self.repo(repo)?;
        let suite = known.suites.get(&id).ok_or_else(Refusal::not_found)?;
        let fields = object!({"check_suite": json::check_suite(self, known, suite)});
        self.emit(&Occasion {
            event: "check_suite",
            action: Some(action),
            repo: Some(repo),
            sender: by.user,
            fields,
            audience,
        });
        Ok(())
    }
}
