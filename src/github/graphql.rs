//! The calls that only GraphQL offers.

use super::{
    error::{GithubError, clip, contains, limited},
    http::{Call, GRAPHQL, Intent, Reply},
    model::time,
    repo::Repo,
    rights::Rights,
};
use domain::ids::{IssueNumber, Millis, PullNumber};
use serde::Deserialize;
use serde_json::{Value, json};

const ISSUE_EDIT: &str = "query($login: String!, $repo: String!, $issue: Int!) { \
    repository(owner: $login, name: $repo) { issue(number: $issue) { lastEditedAt editor { login } } } }";

const MARK_READY: &str = "mutation($id: ID!) { \
    markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }";

/// Messages of temporary errors. They come with status 200 and without a type.
const PASSING: [&str; 2] =
    ["something went wrong while executing your query", "couldn't respond to your request in time"];

/// The last edit of an issue's title or body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueEdit {
    pub at: Millis,
    /// The editor's login; `None` for a deleted account.
    pub editor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Problem {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    message: Option<String>,
    /// The field that it is about.
    #[serde(default)]
    path: Vec<Value>,
}

impl Problem {
    /// Returns `true` if it says that the thing at this path does not exist.
    pub(super) fn is_absent(&self, path: &[&str]) -> bool {
        self.kind.as_deref() == Some("NOT_FOUND")
            && self.path.iter().map(Value::as_str).eq(path.iter().copied().map(Some))
    }
}

#[derive(Deserialize)]
struct EditIssue {
    #[serde(rename = "lastEditedAt", default, deserialize_with = "time")]
    last_edited_at: Option<Millis>,
    editor: Option<Editor>,
}

#[derive(Deserialize)]
struct Editor {
    login: String,
}

impl Repo<'_> {
    /// Returns the last edit of an issue; `None` if it was never edited.
    pub async fn last_edit(&self, number: IssueNumber) -> Result<Option<IssueEdit>, GithubError> {
        let name = self.name().await?;
        let variables = json!({"login": name.owner, "repo": name.name, "issue": number});
        let issue = self.query(Rights::Read, ISSUE_EDIT, variables, Intent::Read).await?;
        let issue: Option<EditIssue> = issue.at("/data/repository/issue")?;
        let issue = issue.ok_or(GithubError::NotFound)?;
        Ok(issue.last_edited_at.map(|at| IssueEdit { at, editor: issue.editor.map(|editor| editor.login) }))
    }

    /// Marks a draft pull request as ready. Another one stays as it is.
    pub async fn mark_ready(&self, number: PullNumber) -> Result<(), GithubError> {
        let pull = self.pull(number).await?;
        if !pull.draft {
            return Ok(());
        }
        self.mark_draft_ready(&pull.node_id).await
    }

    /// Marks the draft with this GraphQL id as ready. Call [`Repo::mark_ready`] if it may be ready already.
    pub async fn mark_draft_ready(&self, node_id: &str) -> Result<(), GithubError> {
        let variables = json!({"id": node_id});
        self.query(Rights::Land, MARK_READY, variables, Intent::Write).await.map(drop)
    }

    /// Asks a query. GraphQL answers with status 200 even after an error, which is refused here.
    async fn query(&self, rights: Rights, query: &str, variables: Value, intent: Intent) -> Result<Reply, GithubError> {
        let document = json!({"query": query, "variables": variables});
        let call = Call {
            permit: self.permit.filter(|_| intent == Intent::Write),
            intent,
            ..Call::post(GRAPHQL, Some(&document))
        };
        let reply = self.client.ask(self.key(rights), &call).await?;
        match problems(&reply)?.first() {
            Some(problem) => Err(refused(problem, &reply, self.client.now())),
            None => Ok(reply),
        }
    }
}

/// Reads the errors of an answer. Without any, an answer has data.
pub(super) fn problems(reply: &Reply) -> Result<Vec<Problem>, GithubError> {
    let problems = reply.at::<Option<Vec<Problem>>>("/errors")?.unwrap_or_default();
    if problems.is_empty() && reply.at::<Value>("/data")?.is_null() {
        return Err(GithubError::Malformed { source: "neither data nor errors".into() });
    }
    Ok(problems)
}

/// Returns the error that GitHub's answer names.
pub(super) fn refused(problem: &Problem, reply: &Reply, now: Millis) -> GithubError {
    let text = clip(problem.message.as_deref().unwrap_or_default());
    match problem.kind.as_deref() {
        Some("RATE_LIMITED") => limited(&reply.headers, now),
        Some("FORBIDDEN") => GithubError::Forbidden { what: text },
        Some("NOT_FOUND") => GithubError::NotFound,
        // These are GitHub's messages for a time-out or an internal error.
        None if PASSING.iter().any(|words| contains(&text, words)) => {
            GithubError::Transient { source: text.into(), retry_after: None }
        }
        Some(_) | None => GithubError::Refused { status: reply.status.as_u16(), text },
    }
}
