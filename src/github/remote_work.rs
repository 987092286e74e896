//! Reads GitHub's state of one issue with one call: the issue, its branches and pull requests, and people's acts there.

use super::{
    error::GithubError,
    graphql::{Problem, problems, refused},
    http::{Call, GRAPHQL, Intent, segment},
    model::{Actor, Comment, OnlyName, Review, ReviewState, account_type, review_state, sha, time},
    repo::Repo,
    rights::Rights,
};
use domain::{
    feature::{
        Feature,
        sweep::{
            Access, AccountType, RemoteAccount, RemoteIssue, RemotePull, RemoteState, RemoteWork, TimelineChange,
            TimelineEntry,
        },
    },
    ids::{CommentId, Millis, PullNumber, ReviewId, Sha, User, UserId},
};
use serde::{Deserialize, Deserializer};
use serde_json::json;

/// The prefix of branches in full names of refs.
const HEADS: &str = "refs/heads/";

const DOCUMENT: &str = "query($login: String!, $repo: String!, $issue: Int!, $branches: String!, \
    $integration: String!, $since: DateTime!) { \
    repository(owner: $login, name: $repo) { isArchived defaultBranchRef { target { oid } } \
    issue(number: $issue) { state timelineItems(last: 100, since: $since, \
    itemTypes: [CLOSED_EVENT, UNLABELED_EVENT, ISSUE_COMMENT]) { nodes { ...entry } } } \
    refs(refPrefix: $branches, first: 100) { nodes { prefix name target { oid } } } \
    tasks: pullRequests(baseRefName: $integration, last: 50) { nodes { ...pull } } \
    features: pullRequests(headRefName: $integration, last: 5) { nodes { ...pull } } } } \
    fragment pull on PullRequest { number state mergedBy { ...actor } timelineItems(last: 50, since: $since, \
    itemTypes: [CLOSED_EVENT, REOPENED_EVENT, ISSUE_COMMENT, PULL_REQUEST_REVIEW]) { nodes { ...entry } } } \
    fragment entry on Node { __typename \
    ... on ClosedEvent { createdAt actor { ...actor } } \
    ... on ReopenedEvent { createdAt actor { ...actor } } \
    ... on UnlabeledEvent { createdAt actor { ...actor } label { name } } \
    ... on IssueComment { fullDatabaseId createdAt author { ...actor } body lastEditedAt } \
    ... on PullRequestReview { fullDatabaseId createdAt author { ...actor } state } } \
    fragment actor on Actor { __typename login ... on User { databaseId } ... on Bot { databaseId } }";

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BranchMove {
    /// The tip before; `None` if the branch was new.
    #[serde(default, deserialize_with = "sha")]
    pub before: Option<Sha>,
    /// The tip after; `None` if the branch was deleted.
    #[serde(default, deserialize_with = "sha")]
    pub after: Option<Sha>,
    #[serde(rename = "activity_type")]
    pub kind: BranchMoveKind,
    /// The account that moved it; `None` for a deleted one.
    pub actor: Option<Actor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchMoveKind {
    ForcePush,
    BranchCreation,
    BranchDeletion,
    /// A push or a merge.
    #[serde(other)]
    Push,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RepositoryWire {
    is_archived: bool,
    default_branch_ref: Option<RefWire>,
    issue: Option<IssueWire>,
    refs: Option<Nodes<RefWire>>,
    tasks: Nodes<PullWire>,
    features: Nodes<PullWire>,
}

/// A connection. GitHub writes `null` for an entry that the caller may not see.
#[derive(Deserialize)]
struct Nodes<T> {
    nodes: Option<Vec<Option<T>>>,
}

impl<T> Nodes<T> {
    fn all(self) -> impl Iterator<Item = T> {
        self.nodes.into_iter().flatten().flatten()
    }
}

#[derive(Deserialize)]
struct RefWire {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    name: String,
    target: Option<TargetWire>,
}

#[derive(Deserialize)]
struct TargetWire {
    oid: Sha,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct IssueWire {
    #[serde(deserialize_with = "remote_state")]
    state: RemoteState,
    timeline_items: Nodes<EntryWire>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PullWire {
    number: PullNumber,
    #[serde(deserialize_with = "remote_state")]
    state: RemoteState,
    merged_by: Option<ActorWire>,
    timeline_items: Nodes<EntryWire>,
}

#[derive(Deserialize)]
struct ActorWire {
    #[serde(rename = "__typename", deserialize_with = "account_type")]
    kind: AccountType,
    login: String,
    #[serde(rename = "databaseId")]
    id: Option<UserId>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryWire {
    #[serde(rename = "__typename")]
    kind: String,
    #[serde(default, deserialize_with = "time")]
    created_at: Option<Millis>,
    #[serde(alias = "author")]
    actor: Option<ActorWire>,
    label: Option<OnlyName>,
    #[serde(default, deserialize_with = "big_number")]
    full_database_id: Option<u64>,
    body: Option<String>,
    #[serde(default, deserialize_with = "time")]
    last_edited_at: Option<Millis>,
    #[serde(default, deserialize_with = "review_state")]
    state: ReviewState,
}

fn remote_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RemoteState, D::Error> {
    Ok(match String::deserialize(deserializer)?.as_str() {
        "CLOSED" => RemoteState::Closed,
        "MERGED" => RemoteState::Merged,
        _ => RemoteState::Open,
    })
}

/// Reads GraphQL's `BigInt`, which is a text.
fn big_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.and_then(|text| text.parse().ok()))
}

impl From<ActorWire> for RemoteAccount {
    fn from(wire: ActorWire) -> Self {
        let user = User { id: wire.id.unwrap_or(UserId(0)), login: wire.login };
        Self { user, kind: wire.kind }
    }
}

impl EntryWire {
    /// Returns the entry; `None` for a kind that was not asked for.
    fn entry(self) -> Option<TimelineEntry> {
        let change = match self.kind.as_str() {
            "ClosedEvent" => TimelineChange::Closed,
            "ReopenedEvent" => TimelineChange::Reopened,
            "UnlabeledEvent" => TimelineChange::Unlabeled(self.label?.name),
            // An edited comment is left out, since it does not show the words that were written first.
            "IssueComment" if self.last_edited_at.is_none() => {
                TimelineChange::Commented { id: CommentId(self.full_database_id?), body: self.body.unwrap_or_default() }
            }
            "PullRequestReview" => match self.state {
                ReviewState::Dismissed => TimelineChange::Dismissed(ReviewId(self.full_database_id?)),
                ReviewState::Approved | ReviewState::ChangesRequested | ReviewState::Commented => {
                    TimelineChange::Reviewed(ReviewId(self.full_database_id?))
                }
                ReviewState::Other => return None,
            },
            _ => return None,
        };
        Some(TimelineEntry { at: self.created_at?, by: self.actor.map(RemoteAccount::from), change })
    }
}

fn entries(nodes: Nodes<EntryWire>) -> Vec<TimelineEntry> {
    nodes.all().filter_map(EntryWire::entry).collect()
}

impl From<RepositoryWire> for RemoteWork {
    fn from(wire: RepositoryWire) -> Self {
        let branch = |one: RefWire| {
            let full = format!("{}{}", one.prefix, one.name);
            Some((full.strip_prefix(HEADS)?.to_owned(), one.target?.oid))
        };
        let pull = |one: PullWire| {
            let pull = RemotePull {
                state: one.state,
                merged_by: one.merged_by.map(RemoteAccount::from),
                timeline: entries(one.timeline_items),
            };
            (one.number, pull)
        };
        Self {
            access: if wire.is_archived { Access::Archived } else { Access::Writable },
            default_head: wire.default_branch_ref.and_then(|one| Some(one.target?.oid)),
            issue: wire.issue.map(|issue| RemoteIssue { state: issue.state, timeline: entries(issue.timeline_items) }),
            branches: wire.refs.into_iter().flat_map(Nodes::all).filter_map(branch).collect(),
            pulls: wire.tasks.all().chain(wire.features.all()).map(pull).collect(),
        }
    }
}

impl Repo<'_> {
    /// Returns GitHub's state of a Feature, with the newest timeline entries since a time.
    pub async fn work(&self, feature: &Feature, since: Millis) -> Result<RemoteWork, GithubError> {
        let name = self.name().await?;
        let variables = json!({
            "login": name.owner,
            "repo": name.name,
            "issue": feature.key.issue,
            "branches": format!("{HEADS}{}/", feature.key.branch_prefix()),
            "integration": feature.integration_branch(),
            "since": since.rfc3339(),
        });
        let document = json!({"query": DOCUMENT, "variables": variables});
        let call = Call { intent: Intent::Read, ..Call::post(GRAPHQL, Some(&document)) };
        let reply = self.client.ask(self.key(Rights::Read), &call).await?;
        // An issue that is gone is an answer.
        let is_issue = |problem: &&Problem| !problem.is_absent(&["repository", "issue"]);
        if let Some(problem) = problems(&reply)?.iter().find(is_issue) {
            return Err(refused(problem, &reply, self.client.now()));
        }
        let repository: Option<RepositoryWire> = reply.at("/data/repository")?;
        Ok(repository.ok_or(GithubError::NotFound)?.into())
    }

    pub async fn comment(&self, id: CommentId) -> Result<Comment, GithubError> {
        self.get(Rights::Read, &format!("/issues/comments/{id}")).await
    }

    pub async fn review_of(&self, pull: PullNumber, id: ReviewId) -> Result<Review, GithubError> {
        self.get(Rights::Read, &format!("/pulls/{pull}/reviews/{id}")).await
    }

    /// Returns the last moves of a branch, the newest first.
    pub async fn moves(&self, branch: &str) -> Result<Vec<BranchMove>, GithubError> {
        let wanted = segment(&format!("{HEADS}{branch}"));
        self.get(Rights::Read, &format!("/activity?ref={wanted}&per_page=30")).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_with_its_gaps() {
        let answer = r#"{"isArchived": false, "defaultBranchRef": null, "issue": {"state": "CLOSED",
            "timelineItems": {"nodes": [null, {"__typename": "ClosedEvent", "createdAt": "2026-01-02T03:04:05Z",
            "actor": null}, {"__typename": "IssueComment", "fullDatabaseId": "3000000001", "body": "hello",
            "createdAt": "2026-01-02T03:04:06Z", "author": {"__typename": "User", "login": "ada", "databaseId": 7}},
            {"__typename": "NewKind", "createdAt": "2026-01-02T03:04:07Z"}]}},
            "refs": {"nodes": [{"prefix": "refs/heads/autobuild/1/", "name": "integration",
            "target": {"oid": "00112233445566778899aabbccddeeff00112233"}}]},
            "tasks": {"nodes": []}, "features": {"nodes": null}}"#;
        let answer: RepositoryWire = serde_json::from_str(answer).unwrap();
        let work = RemoteWork::from(answer);
        let issue = work.issue.unwrap();
        assert_eq!(issue.state, RemoteState::Closed);
        assert_eq!(issue.timeline.len(), 2);
        let id = CommentId(3_000_000_001);
        let body = "hello".to_owned();
        assert_eq!(issue.timeline[1].change, TimelineChange::Commented { id, body });
        assert_eq!(work.branches.keys().collect::<Vec<_>>(), ["autobuild/1/integration"]);
        assert!(work.pulls.is_empty());
    }
}
