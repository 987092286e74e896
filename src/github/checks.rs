//! Check runs, which only Apps can write.

pub use domain::ci::CheckConclusion;

use super::{error::GithubError, http::segment, repo::Repo, rights::Rights};
use crate::github::http::Reply;
use domain::ids::{AppId, CheckRunId, Sha};
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The most annotations that GitHub accepts in one request.
pub const MOST_ANNOTATIONS: usize = 50;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckOutput {
    pub title: String,
    /// Markdown, at most 65,535 characters.
    pub summary: String,
}

/// A remark on lines of a file in a check run's commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckAnnotation {
    /// The file, relative to the root.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    pub level: AnnotationLevel,
    pub title: String,
    /// Plain text, at most 64 KB.
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AnnotationLevel {
    /// Red.
    Failure,
    /// Yellow.
    Warning,
    /// Grey.
    Notice,
}

/// A button of a finished check run. GitHub shows at most three.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckAction {
    pub label: String,
    pub description: String,
    /// The text that GitHub sends back after a click, at most 20 characters.
    pub identifier: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport<'a> {
    /// The name: `AutoBuild`.
    pub name: &'a str,
    pub head: &'a Sha,
    /// An id for its subject, by which it is found again.
    pub external_id: &'a str,
    pub conclusion: CheckConclusion,
    pub output: CheckOutput,
    pub actions: Vec<CheckAction>,
}

#[derive(Deserialize)]
struct CheckRunWire {
    id: CheckRunId,
    external_id: Option<String>,
    #[serde(default, deserialize_with = "super::model::id_of")]
    app: Option<AppId>,
}

impl Repo<'_> {
    /// Adds a check run to a commit. Call [`Repo::find_check`] first if an earlier attempt may have succeeded.
    pub async fn create_check(&self, report: &CheckReport<'_>) -> Result<CheckRunId, GithubError> {
        let body = json!({
            "name": report.name,
            "head_sha": report.head,
            "external_id": report.external_id,
            "output": report.output,
            "actions": report.actions,
            "status": "completed",
            "conclusion": report.conclusion.word(),
        });
        self.post(Rights::Checks, "/check-runs", &body).await?.at("/id")
    }

    /// Adds annotations to a check run, at most [`MOST_ANNOTATIONS`]. GitHub keeps the existing ones.
    pub async fn annotate_check(
        &self,
        id: CheckRunId,
        output: &CheckOutput,
        annotations: &[CheckAnnotation],
    ) -> Result<(), GithubError> {
        let tail = format!("/check-runs/{id}");
        let body = json!({"output": {
            "title": output.title,
            "summary": output.summary,
            "annotations": annotations.iter().map(annotation).collect::<Vec<Value>>(),
        }});
        self.send(Rights::Checks, Method::PATCH, &tail, Some(&body)).await.map(drop)
    }

    pub async fn annotations_of_check(&self, id: CheckRunId) -> Result<usize, GithubError> {
        let tail = format!("/check-runs/{id}");
        self.get_at(Rights::Checks, &tail, "/output/annotations_count").await
    }

    /// Returns our own check run with this name and external id on a commit.
    pub async fn find_check(
        &self,
        head: &Sha,
        name: &str,
        external_id: &str,
    ) -> Result<Option<CheckRunId>, GithubError> {
        let app = self.client.id;
        let tail = format!("/commits/{head}/check-runs?filter=all&app_id={app}&check_name={}", segment(name));
        let page = |reply: &Reply| reply.at("/check_runs");
        let runs: Vec<CheckRunWire> = self.list(Rights::Checks, &tail, page).await?;
        let ours = |run: &CheckRunWire| run.app == Some(app) && run.external_id.as_deref() == Some(external_id);
        Ok(runs.into_iter().find(ours).map(|run| run.id))
    }
}

fn annotation(annotation: &CheckAnnotation) -> Value {
    json!({
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
    })
}
