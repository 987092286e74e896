//! Check runs: only Apps may write them.

use super::error::GithubError;
use super::http::segment;
use super::repo::Repo;
use super::rights::Rights;
use crate::domain::ids::CheckRunId;
use crate::domain::ids::Sha;
use crate::github::http::Reply;
use http::Method;
use serde::Deserialize;
use serde_json::Value;
use serde_json::json;

/// How a check run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckConclusion {
    /// Green.
    Success,
    /// Red.
    Failure,
    /// Neither.
    Neutral,
    /// Somebody has to do something.
    ActionRequired,
    /// Nobody waits for it any more.
    Cancelled,
}

impl CheckConclusion {
    fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Neutral => "neutral",
            Self::ActionRequired => "action_required",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a check run shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOutput {
    /// One line.
    pub title: String,
    /// Markdown, at most 65,535 characters.
    pub summary: String,
}

/// A button of a check run that has ended; GitHub shows three at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckAction {
    /// At most 20 characters.
    pub label: String,
    /// At most 40 characters.
    pub description: String,
    /// What comes back when it is pressed, at most 20 characters.
    pub identifier: String,
}

/// A check run as it should stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport<'a> {
    /// Its name: `AutoBuild`.
    pub name: &'a str,
    /// The commit that it stands on.
    pub head: &'a Sha,
    /// Names what it is about, so that it is found again.
    pub external_id: &'a str,
    /// How it ended; `None` while it runs.
    pub conclusion: Option<CheckConclusion>,
    /// What it shows.
    pub output: CheckOutput,
    /// Its buttons.
    pub actions: Vec<CheckAction>,
}

#[derive(Deserialize)]
struct CheckRunWire {
    id: CheckRunId,
    external_id: Option<String>,
    #[serde(default, deserialize_with = "super::model::app_id")]
    app: Option<crate::domain::ids::AppId>,
}

#[derive(Deserialize)]
struct CheckRunsWire {
    check_runs: Vec<CheckRunWire>,
}

impl Repo<'_> {
    /// Puts a check run on a commit. Call [`Repo::find_check`] first if an earlier try may have succeeded.
    pub async fn create_check(&self, report: &CheckReport<'_>) -> Result<CheckRunId, GithubError> {
        let body = body(report);
        let reply = self
            .send(Rights::Checks, Method::POST, "/check-runs", Some(&body))
            .await?;
        reply.json::<CheckRunWire>().map(|run| run.id)
    }

    /// Replaces what a check run says.
    pub async fn update_check(&self, id: CheckRunId, report: &CheckReport<'_>) -> Result<(), GithubError> {
        let tail = format!("/check-runs/{id}");
        let body = body(report);
        self.send(Rights::Checks, Method::PATCH, &tail, Some(&body))
            .await
            .map(drop)
    }

    /// Our own check run of this name and external id on a commit.
    pub async fn find_check(
        &self,
        head: &Sha,
        name: &str,
        external_id: &str,
    ) -> Result<Option<CheckRunId>, GithubError> {
        let app = self.client.app_id();
        let tail = format!(
            "/commits/{head}/check-runs?filter=all&app_id={app}&check_name={}",
            segment(name)
        );
        let page = |reply: &Reply| reply.json::<CheckRunsWire>().map(|page| page.check_runs);
        let runs = self.list(Rights::Checks, &tail, page).await?;
        let ours = |run: &CheckRunWire| run.app == Some(app) && run.external_id.as_deref() == Some(external_id);
        Ok(runs.into_iter().find(ours).map(|run| run.id))
    }
}

fn body(report: &CheckReport<'_>) -> Value {
    let actions: Vec<Value> = report
        .actions
        .iter()
        .map(|action| {
            json!({
                "label": action.label,
                "description": action.description,
                "identifier": action.identifier,
            })
        })
        .collect();
    let mut body = json!({
        "name": report.name,
        "head_sha": report.head,
        "external_id": report.external_id,
        "output": {"title": report.output.title, "summary": report.output.summary},
        "actions": actions,
    });
    // `completed` comes with its conclusion, and only with it.
    let (status, conclusion) = match report.conclusion {
        Some(conclusion) => ("completed", Some(conclusion.name())),
        None => ("in_progress", None),
    };
    if let Some(fields) = body.as_object_mut() {
        fields.insert("status".to_owned(), json!(status));
        fields.extend(conclusion.map(|name| ("conclusion".to_owned(), json!(name))));
    }
    body
}
