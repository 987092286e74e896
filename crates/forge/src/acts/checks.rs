//! Check runs and statuses, including those of a repository's simulated CI.

use crate::{
    feed::{EventOutcome, FeedEvent},
    hooks::Audience,
    json,
    refusal::{OrNotFound, Refusal, Result},
    state::{Access, Actor, CheckRun, CiJob, State, Status, matches},
};
use serde_json::{Value, json as object};

/// GitHub's limit for summary and text, in characters.
const LONGEST_OUTPUT: usize = 65_535;
const STATUSES: &[&str] = &["queued", "in_progress", "completed"];
const CONCLUSIONS: &[&str] = &["action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"];

/// The changes that a request makes to a check run; `None` keeps a field.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckRunChange {
    pub(crate) name: Option<String>,
    pub(crate) external_id: Option<String>,
    pub(crate) details_url: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) conclusion: Option<String>,
    pub(crate) output: Option<Value>,
    pub(crate) actions: Option<Vec<Value>>,
}

fn refused(text: impl std::fmt::Display) -> Refusal {
    Refusal::new(422, format!("Invalid request.\n\n{text}"))
}

fn check_word(field: &str, word: Option<&String>, known: &[&str]) -> Result {
    match word {
        Some(word) if !known.contains(&word.as_str()) => Err(refused(format!("{field} is not included in the list."))),
        _ => Ok(()),
    }
}

/// Refuses a text field of `object` that is missing or longer than `most` characters.
fn check_text(object: &Value, field: &str, most: usize) -> Result {
    match object.get(field).and_then(Value::as_str) {
        None => Err(refused(format!("\"{field}\" wasn't supplied."))),
        Some(text) if text.chars().count() > most => {
            Err(refused(format!("{field} is too long (maximum is {most} characters).")))
        }
        Some(_) => Ok(()),
    }
}

fn check_change(change: &CheckRunChange) -> Result {
    check_word("status", change.status.as_ref(), STATUSES)?;
    check_word("conclusion", change.conclusion.as_ref(), CONCLUSIONS)?;
    if change.status.as_deref() == Some("completed") && change.conclusion.is_none() {
        return Err(refused("conclusion wasn't supplied."));
    }
    if let Some(output) = &change.output {
        check_text(output, "title", 255)?;
        check_text(output, "summary", LONGEST_OUTPUT)?;
        if output.get("text").is_some_and(Value::is_string) {
            check_text(output, "text", LONGEST_OUTPUT)?;
        }
        if annotations(output).count() > 50 {
            return Err(refused("No more than 50 annotations are allowed per request."));
        }
    }
    let actions = change.actions.as_deref().unwrap_or_default();
    if actions.len() > 3 {
        return Err(refused("No more than 3 actions are allowed."));
    }
    for action in actions {
        check_text(action, "label", 20)?;
        check_text(action, "description", 40)?;
        check_text(action, "identifier", 20)?;
    }
    Ok(())
}

fn annotations(output: &Value) -> impl Iterator<Item = &Value> {
    let list = output.get("annotations").and_then(Value::as_array);
    list.into_iter().flatten()
}

impl State {
    /// Creates a check run on a commit, which the caller has checked to exist. Returns its id.
    pub(crate) fn new_check(&mut self, at: Access, sha: &str, change: &CheckRunChange) -> Result<u64> {
        let no_app = || Refusal::new(403, "You must authenticate via a GitHub App.");
        let app = at.by.app.ok_or_else(no_app)?;
        if change.name.is_none() {
            return Err(refused("\"name\" wasn't supplied."));
        }
        check_change(change)?;
        let suite = self.suite_on(at.repo, app, sha)?;
        self.new_check_in(suite, app, at, sha, change)
    }

    fn new_check_in(&mut self, suite: u64, app: u64, at: Access, sha: &str, change: &CheckRunChange) -> Result<u64> {
        let was = self.repo(at.repo)?.suite_status(suite);
        let (id, now) = (self.next_id(), self.clock.stamp());
        let run = CheckRun {
            id,
            app,
            head_sha: sha.to_owned(),
            status: "queued".to_owned(),
            started_at: now,
            suite,
            ..CheckRun::default()
        };
        self.repo_mut(at.repo)?.checks.insert(id, run);
        let run = self.write_check(at.repo, id, change)?;
        let subscribed = Audience::Subscribed { repo: at.repo };
        self.check_event(at, &run, "created", subscribed, object!({}))?;
        if run.conclusion.is_some() {
            self.check_event(at, &run, "completed", subscribed, object!({}))?;
        }
        self.suite_moved(at, suite, was)?;
        self.record_check(at, &run)?;
        Ok(id)
    }

    /// Changes a check run of the same App.
    pub(crate) fn change_check(&mut self, at: Access, id: u64, change: &CheckRunChange) -> Result {
        let before = self.repo(at.repo)?.checks.get(&id).cloned().or_not_found()?;
        if at.by.app != Some(before.app) {
            let text = "Invalid app_id - check run can only be modified by the GitHub App that created it.";
            return Err(Refusal::new(403, text));
        }
        check_change(change)?;
        let was = self.repo(at.repo)?.suite_status(before.suite);
        let after = self.write_check(at.repo, id, change)?;
        let ended = before.conclusion != after.conclusion;
        if ended {
            let subscribed = Audience::Subscribed { repo: at.repo };
            self.check_event(at, &after, "completed", subscribed, object!({}))?;
        }
        self.suite_moved(at, before.suite, was)?;
        // A change that only adds annotations is not worth a feed event.
        if ended || before.title != after.title || before.status != after.status {
            self.record_check(at, &after)?;
        }
        Ok(())
    }

    /// Applies the change; returns the changed run.
    fn write_check(&mut self, repo: u64, id: u64, change: &CheckRunChange) -> Result<CheckRun> {
        let now = self.clock.stamp();
        let run = self.repo_mut(repo)?.checks.get_mut(&id).or_not_found()?;
        let put = |to: &mut String, from: &Option<String>| from.iter().for_each(|text| to.clone_from(text));
        put(&mut run.name, &change.name);
        put(&mut run.external_id, &change.external_id);
        put(&mut run.status, &change.status);
        if change.details_url.is_some() {
            run.details_url.clone_from(&change.details_url);
        }
        if let Some(conclusion) = &change.conclusion {
            run.conclusion = Some(conclusion.clone());
            "completed".clone_into(&mut run.status);
            run.completed_at = Some(now);
        } else if change.status.is_some() {
            (run.conclusion, run.completed_at) = (None, None);
        }
        if let Some(output) = &change.output {
            let text = |field: &str| output.get(field).and_then(Value::as_str).map(str::to_owned);
            (run.title, run.summary) = (text("title"), text("summary"));
            run.text = text("text").or_else(|| run.text.take());
            run.annotations.extend(annotations(output).cloned());
        }
        if let Some(actions) = &change.actions {
            run.actions.clone_from(actions);
        }
        Ok(run.clone())
    }

    fn check_event(&mut self, at: Access, run: &CheckRun, action: &str, audience: Audience, more: Value) -> Result {
        let repo = self.repo(at.repo)?;
        let mut shown = json::check_run(self, repo, run);
        if let Some(suite) = repo.suites.get(&run.suite) {
            json::put(&mut shown, "check_suite", json::simple_check_suite(self, repo, suite));
        }
        let mut fields = object!({"check_run": shown});
        json::extend(&mut fields, more);
        self.emit_to(audience, at.by.user, "check_run", Some(action), fields);
        Ok(())
    }

    fn record_check(&mut self, at: Access, run: &CheckRun) -> Result {
        let mut pulls = self.repo(at.repo)?.open_pulls();
        let number = pulls.find(|(_, pull)| pull.head_sha == run.head_sha);
        let number = number.map(|(issue, _)| issue.number);
        drop(pulls);
        let what = format!("reported check {}", run.conclusion.as_ref().unwrap_or(&run.status));
        let text = format!("{}: {}", run.name, run.title.as_deref().unwrap_or_default());
        let mut news = FeedEvent::new("check_run", what, text);
        news.outcome = match run.conclusion.as_deref() {
            Some("success") => EventOutcome::Good,
            Some("failure" | "timed_out" | "action_required") => EventOutcome::Bad,
            Some(_) | None => EventOutcome::Neutral,
        };
        if let Some(number) = number {
            news.url = format!("#check-{}", run.id);
            self.record_on(at, number, news);
        } else {
            news.url = format!("/runs/{}", run.id);
            self.record_event(at.by, Some(at.repo), news);
        }
        Ok(())
    }

    /// Clicks a button of a check run: `Re-run` (`None`), or one that its App offers.
    pub(crate) fn click_check(&mut self, at: Access, id: u64, button: Option<&str>) -> Result {
        let run = self.repo(at.repo)?.checks.get(&id).cloned().or_not_found()?;
        let (app, repo) = (run.app, at.repo);
        let its_app = Audience::App { app, repo };
        let Some(identifier) = button else {
            return self.check_event(at, &run, "rerequested", its_app, object!({}));
        };
        let offered = |action: &Value| action.get("identifier").and_then(Value::as_str) == Some(identifier);
        if run.status != "completed" || !run.actions.iter().any(offered) {
            return Err(Refusal::not_found());
        }
        let more = object!({"requested_action": {"identifier": identifier}});
        self.check_event(at, &run, "requested_action", its_app, more)
    }

    /// Makes every CI job for this branch report on a commit that arrived there.
    pub(crate) fn ci_reports(&mut self, at: Access, branch: &str, sha: &str) -> Result {
        let jobs = self.repo(at.repo)?.ci.clone();
        for job in jobs.iter().filter(|job| matches(&job.branches, branch)) {
            if let Some(app) = job.app {
                self.report_check(app, at.repo, sha, job)?;
                continue;
            }
            let status = Status {
                id: self.next_id(),
                sha: sha.to_owned(),
                context: job.name.clone(),
                state: job.conclusion.clone().unwrap_or_else(|| "pending".to_owned()),
                description: Some(job.summary.clone()),
                creator: at.by.user,
                created_at: self.clock.stamp(),
            };
            self.repo_mut(at.repo)?.statuses.push(status);
        }
        Ok(())
    }

    /// Reports a check run as an App; without a conclusion it is in progress.
    pub(crate) fn report_check(&mut self, app: u64, repo: u64, sha: &str, job: &CiJob) -> Result<u64> {
        let (by, change) = self.report(app, job)?;
        self.new_check(Access { repo, by }, sha, &change)
    }

    /// Reports a check run of a workflow that a pull request of a fork started.
    pub(crate) fn report_check_of_fork(&mut self, app: u64, repo: u64, sha: &str, job: &CiJob) -> Result<u64> {
        let (by, change) = self.report(app, job)?;
        let suite = self.suite_of_fork(repo, app, sha)?;
        self.new_check_in(suite, app, Access { repo, by }, sha, &change)
    }

    fn report(&self, app: u64, job: &CiJob) -> Result<(Actor, CheckRunChange)> {
        let user = self.apps.get(&app).or_not_found()?.bot;
        let status = job.conclusion.as_ref().map_or("in_progress", |_| "completed");
        let change = CheckRunChange {
            name: Some(job.name.clone()),
            status: Some(status.to_owned()),
            conclusion: job.conclusion.clone(),
            output: Some(object!({"title": job.name, "summary": job.summary})),
            ..CheckRunChange::default()
        };
        Ok((Actor { user, app: Some(app) }, change))
    }
}
