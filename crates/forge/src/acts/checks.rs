//! Check runs and statuses.

use super::super::{
    feed::{EventOutcome, Telling},
    hooks::{Audience, Occasion},
    json,
    refusal::Refusal,
    state::{Actor, CheckRun, State},
};
use serde_json::{Value, json as object};

/// GitHub's limit for summary and text.
const LONGEST_OUTPUT: usize = 65_535;
const CONCLUSIONS: [&str; 7] = [
    "action_required",
    "cancelled",
    "failure",
    "neutral",
    "success",
    "skipped",
    "timed_out",
];

/// What a request says about a check run; what is none stays.
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

fn check_length(field: &str, text: Option<&str>, most: usize) -> Result<(), Refusal> {
    match text.map_or(0, |text| text.chars().count()) {
        length if length > most => Err(refused(format!("{field} is too long (maximum is {most} characters)."))),
        _ => Ok(()),
    }
}

fn check_change(change: &CheckRunChange) -> Result<(), Refusal> {
    let known = |word: &String, list: &[&str]| list.contains(&word.as_str());
    if change
        .status
        .as_ref()
        .is_some_and(|word| !known(word, &["queued", "in_progress", "completed"]))
    {
        return Err(refused("status is not included in the list."));
    }
    if change
        .conclusion
        .as_ref()
        .is_some_and(|word| !known(word, &CONCLUSIONS))
    {
        return Err(refused("conclusion is not included in the list."));
    }
    if change.status.as_deref() == Some("completed") && change.conclusion.is_none() {
        return Err(refused("conclusion wasn't supplied."));
    }
    if let Some(output) = &change.output {
        let text = |field: &str| output.get(field).and_then(Value::as_str);
        for field in ["title", "summary"] {
            text(field).ok_or_else(|| refused(format!("\"{field}\" wasn't supplied.")))?;
        }
        check_length("title", text("title"), 255)?;
        check_length("summary", text("summary"), LONGEST_OUTPUT)?;
        check_length("text", text("text"), LONGEST_OUTPUT)?;
        if output
            .get("annotations")
            .and_then(Value::as_array)
            .is_some_and(|list| list.len() > 50)
        {
            return Err(refused("No more than 50 annotations are allowed per request."));
        }
    }
    let actions = change.actions.as_deref().unwrap_or_default();
    if actions.len() > 3 {
        return Err(refused("No more than 3 actions are allowed."));
    }
    for action in actions {
        for (field, most) in [("label", 20), ("description", 40), ("identifier", 20)] {
            let text = action.get(field).and_then(Value::as_str);
            text.ok_or_else(|| refused(format!("\"{field}\" wasn't supplied.")))?;
            check_length(field, text, most)?;
        }
    }
    Ok(())
}

impl State {
    /// Makes a check run on a commit that is known to exist; gives its id.
    pub(crate) fn new_check(
        &mut self,
        by: Actor,
        repo: u64,
        sha: &str,
        change: &CheckRunChange,
    ) -> Result<u64, Refusal> {
        let app = by
            .app
            .ok_or_else(|| Refusal::new(403, "You must authenticate via a GitHub App."))?;
        let name = change
            .name
            .clone()
            .ok_or_else(|| refused("\"name\" wasn't supplied."))?;
        check_change(change)?;
        let suite = self.suite_on(repo, app, sha)?;
        let was = self.repo(repo)?.suite_status(suite);
        let (id, at) = (self.next_id(), self.clock.stamp());
        let run = CheckRun {
            id,
            app,
            name,
            head_sha: sha.to_owned(),
            external_id: String::new(),
            details_url: None,
            status: "queued".to_owned(),
            conclusion: None,
            title: None,
            summary: None,
            text: None,
            annotations: Vec::new(),
            actions: Vec::new(),
            started_at: at,
            completed_at: None,
            suite,
        };
        self.repo_mut(repo)?.checks.insert(id, run);
        self.write_check(repo, id, change)?;
        self.check_event(by, repo, id, "created", Audience::Subscribed, object!({}))?;
        if self
            .repo(repo)?
            .checks
            .get(&id)
            .is_some_and(|run| run.conclusion.is_some())
        {
            self.check_event(by, repo, id, "completed", Audience::Subscribed, object!({}))?;
        }
        self.suite_moved(by, repo, suite, was)?;
        self.check_told(by, repo, id)?;
        Ok(id)
    }

    /// Changes a check run of the same App.
    pub(crate) fn change_check(
        &mut self,
        by: Actor,
        repo: u64,
        id: u64,
        change: &CheckRunChange,
    ) -> Result<(), Refusal> {
        let run = self.repo(repo)?.checks.get(&id).ok_or_else(Refusal::not_found)?;
        if by.app != Some(run.app) {
            let text = "Invalid app_id - check run can only be modified by the GitHub App that created it.";
            return Err(Refusal::new(403, text));
        }
        check_change(change)?;
        let before = run.clone();
        let was = self.repo(repo)?.suite_status(before.suite);
        self.write_check(repo, id, change)?;
        let after = self.repo(repo)?.checks.get(&id).ok_or_else(Refusal::not_found)?;
        let (ended, renamed) = (before.conclusion != after.conclusion, before.title != after.title);
        let moved = before.status != after.status;
        if ended {
            self.check_event(by, repo, id, "completed", Audience::Subscribed, object!({}))?;
        }
        self.suite_moved(by, repo, before.suite, was)?;
        // More annotations of the same outcome are no news.
        match ended || renamed || moved {
            true => self.check_told(by, repo, id),
            false => Ok(()),
        }
    }

    fn write_check(&mut self, repo: u64, id: u64, change: &CheckRunChange) -> Result<(), Refusal> {
        let at = self.clock.stamp();
        let run = self
            .repo_mut(repo)?
            .checks
            .get_mut(&id)
            .ok_or_else(Refusal::not_found)?;
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
            run.completed_at = Some(at);
        } else if change.status.is_some() {
            (run.conclusion, run.completed_at) = (None, None);
        }
        if let Some(output) = &change.output {
            let text = |field: &str| output.get(field).and_then(Value::as_str).map(str::to_owned);
            (run.title, run.summary) = (text("title"), text("summary"));
            run.text = text("text").or_else(|| run.text.take());
            run.annotations.extend(
                output
                    .get("annotations")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        if let Some(actions) = &change.actions {
            run.actions.clone_from(actions);
        }
        Ok(())
    }

    fn check_event(
        &mut self,
        by: Actor,
        repo: u64,
        id: u64,
        action: &str,
        audience: Audience,
        more: Value,
    ) -> Result<(), Refusal> {
        let known = self.repo(repo)?;
        let run = known.checks.get(&id).ok_or_else(Refusal::not_found)?;
        let mut shown = json::check_run(self, known, run);
        if let Some(suite) = known.suites.get(&run.suite) {
            json::put(&mut shown, "check_suite", json::simple_check_suite(self, known, suite));
        }
        let mut fields = object!({"check_run": shown});
        json::extend(&mut fields, more);
        self.emit(&Occasion {
            event: "check_run",
            action: Some(action),
            repo: Some(repo),
            sender: by.user,
            fields,
            audience,
        });
        Ok(())
    }

    fn check_told(&mut self, by: Actor, repo: u64, id: u64) -> Result<(), Refusal> {
        let known = self.repo(repo)?;
        let run = known.checks.get(&id).ok_or_else(Refusal::not_found)?;
        let state = run.conclusion.clone().unwrap_or_else(|| run.status.clone());
        let pulls = known.issues.values().filter(|issue| issue.open);
        let mut pulls = pulls.filter(|issue| issue.pull.as_ref().is_some_and(|pull| pull.head_sha == run.head_sha));
        let number = pulls.next().map(|issue| issue.number);
        let text = format!("{}: {}", run.name, run.title.clone().unwrap_or_default());
        let outcome = match run.conclusion.as_deref() {
            Some("success") => EventOutcome::Good,
            Some("failure" | "timed_out" | "action_required") => EventOutcome::Bad,
            Some(_) | None => EventOutcome::Neutral,
        };
        let telling = Telling {
            kind: "check_run",
            what: format!("reported check {state}"),
            number,
            page: number.map_or_else(|| format!("/runs/{id}"), |number| format!("/pull/{number}#check-{id}")),
            text,
            outcome,
        };
        self.tell(by, Some(repo), telling);
        Ok(())
    }

    /// A person clicks a button of a check run: `Re-run` (none), or one that its App put there.
    pub(crate) fn click_check(&mut self, by: Actor, repo: u64, id: u64, button: Option<&str>) -> Result<(), Refusal> {
        let run = self.repo(repo)?.checks.get(&id).ok_or_else(Refusal::not_found)?;
        let app = run.app;
        let (action, more) = match button {
            None => ("rerequested", object!({})),
            Some(identifier) => {
                let offered = |action: &Value| action.get("identifier").and_then(Value::as_str) == Some(identifier);
                if run.status != "completed" || !run.actions.iter().any(offered) {
                    return Err(Refusal::not_found());
                }
                (
                    "requested_action",
                    object!({"requested_action": {"identifier": identifier}}),
                )
            }
        };
        self.check_event(by, repo, id, action, Audience::App(app), more)
    }
}
