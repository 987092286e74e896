//! GitHub Actions: the workflows that the events so far would have started, and the rights and secrets of their jobs.
//! Nothing is run.

use crate::{disk::ForgeError, forge::Forge, state::WorkflowEvent};
use git::bare::BareRepo;
use serde_json::Value;
use std::collections::BTreeMap;

const FOLDER: &str = ".github/workflows";

/// The instructions that GitHub obeys in the message of a head commit, only on `push` and `pull_request`.
const SKIPPING: [&str; 5] = ["[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]"];

/// `true` if GitHub obeys an instruction in a message in lower case: one of [`SKIPPING`], or the trailer.
fn skips(message: &str) -> bool {
    let is_trailer = |line: &str| line.strip_prefix("skip-checks:").is_some_and(|value| value.trim() == "true");
    SKIPPING.iter().any(|words| message.contains(words)) || message.lines().any(is_trailer)
}

/// A job that GitHub would have started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedJob {
    /// The name of the workflow's file.
    pub workflow: String,
    /// The event that started it.
    pub event: String,
    /// The head branch.
    pub branch: String,
    /// The head commit.
    pub head: String,
    /// The job's id.
    pub job: String,
    /// Its `permissions:`, as JSON; `default` if none are written.
    pub permissions: String,
    /// The secrets that it gets, with their values.
    pub secrets: BTreeMap<String, String>,
    /// `true` if it has the head's code.
    pub has_head: bool,
}

impl Forge {
    /// Sets a secret of a repository.
    pub fn set_secret(&self, full_name: &str, name: &str, value: &str) -> Result<(), ForgeError> {
        self.change_repo(full_name, |repo| {
            repo.secrets.insert(name.to_owned(), value.to_owned());
        })
    }

    /// Puts a pull request into the merge queue, whose branch runs the code that it would merge. Nothing is merged.
    pub fn queue(&self, full_name: &str, number: u64) -> Result<(), ForgeError> {
        self.change_repo(full_name, |repo| {
            let Some(pull) = repo.issues.get(&number).and_then(|issue| issue.pull.as_ref()) else {
                return;
            };
            repo.workflow_events.push(WorkflowEvent {
                event: "merge_group".to_owned(),
                branch: format!("gh-readonly-queue/{}/pr-{number}", pull.base),
                base: Some(pull.base.clone()),
                sha: pull.head_sha.clone(),
                head: pull.head_sha.clone(),
            });
        })
    }

    /// Returns the jobs that the events so far would have started, oldest first.
    pub async fn started_jobs(&self, full_name: &str) -> Result<Vec<StartedJob>, ForgeError> {
        let id = self.repo_id(full_name)?;
        let (events, secrets, default) = self.site.read(|state| {
            let repo = state.repos.get(&id);
            let default = repo.and_then(|repo| repo.branches.get(&repo.default_branch).cloned());
            let known =
                repo.map(|repo| (repo.workflow_events.clone(), repo.secrets.clone(), default.unwrap_or_default()));
            known.unwrap_or_default()
        });
        let bare = self.site.bare(id);
        let mut started = Vec::new();
        for event in events {
            let jobs = started_by(&bare, &event, &secrets).await;
            let is_run = !jobs.is_empty();
            started.extend(jobs);
            if is_run {
                // The end of a run starts workflows of the default branch, but not again at their end.
                let ended =
                    WorkflowEvent { event: "workflow_run".to_owned(), sha: default.clone(), base: None, ..event };
                started.extend(started_by(&bare, &ended, &secrets).await);
            }
        }
        Ok(started)
    }
}

async fn started_by(bare: &BareRepo, event: &WorkflowEvent, secrets: &BTreeMap<String, String>) -> Vec<StartedJob> {
    let message = bare.commit(&event.head).await.ok().flatten().map(|commit| commit.message.to_lowercase());
    let obeys = matches!(event.event.as_str(), "push" | "pull_request");
    if obeys && message.is_some_and(|message| skips(&message)) {
        return Vec::new();
    }
    let files = bare.folder(&event.sha, FOLDER).await.ok().flatten().unwrap_or_default();
    let mut started = Vec::new();
    let names = files.into_iter().map(|entry| entry.path);
    for name in names.filter(|name| name.ends_with(".yml") || name.ends_with(".yaml")) {
        let text = bare.file(&event.sha, &format!("{FOLDER}/{name}")).await.ok().flatten().unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let workflow: Value = serde_saphyr::from_str(&text).unwrap_or_default();
        if hears(&workflow, event) {
            let jobs = workflow.get("jobs").and_then(Value::as_object);
            started
                .extend(jobs.into_iter().flatten().map(|(id, job)| job_of(&name, &workflow, event, id, job, secrets)));
        }
    }
    started
}

fn job_of(
    name: &str,
    workflow: &Value,
    event: &WorkflowEvent,
    id: &str,
    job: &Value,
    secrets: &BTreeMap<String, String>,
) -> StartedJob {
    let permissions = job.get("permissions").or_else(|| workflow.get("permissions"));
    let shown = format!("{job}{}", workflow.get("env").unwrap_or(&Value::Null));
    let inherits = job.get("secrets").and_then(Value::as_str) == Some("inherit");
    let is_given = |name: &str| inherits || shown.contains(&format!("secrets.{name}"));
    StartedJob {
        workflow: name.to_owned(),
        event: event.event.clone(),
        branch: event.branch.clone(),
        head: event.head.clone(),
        job: id.to_owned(),
        permissions: permissions.map_or_else(|| "default".to_owned(), Value::to_string),
        secrets: secrets
            .iter()
            .filter(|(name, _)| is_given(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        has_head: event.sha == event.head || shown.contains(".head.sha") || shown.contains(".head_sha"),
    }
}

/// `true` if the workflow's `on:` names the event and its filters include the branch.
fn hears(workflow: &Value, event: &WorkflowEvent) -> bool {
    let named = |name: &Value| name.as_str() == Some(event.event.as_str());
    let filter = match workflow.get("on") {
        Some(Value::Array(names)) => return names.iter().any(named),
        Some(Value::Object(events)) => events.get(&event.event),
        Some(one) => return named(one),
        None => None,
    };
    let name = event.base.as_ref().unwrap_or(&event.branch);
    let listed = |filter: &Value, key: &str| {
        let patterns = filter.get(key)?.as_array()?.clone();
        Some(patterns.iter().filter_map(Value::as_str).any(|pattern| fits(pattern, name)))
    };
    filter.is_some_and(|filter| match (listed(filter, "branches"), listed(filter, "branches-ignore")) {
        (Some(is_wanted), _) => is_wanted,
        (None, Some(is_ignored)) => !is_ignored,
        (None, None) => filter.get("tags").is_none() || event.event != "push",
    })
}

/// `true` if `name` matches a filter in which `*` is any text without a slash and `**` any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let (tail, may_cross) = tail.strip_prefix('*').map_or((tail, false), |tail| (tail, true));
    let Some(rest) = name.strip_prefix(head) else {
        return false;
    };
    let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    let is_reached = |at: &usize| may_cross || !rest.get(..*at).unwrap_or_default().contains('/');
    ends.filter(is_reached).any(|at| rest.get(at..).is_some_and(|rest| fits(tail, rest)))
}
