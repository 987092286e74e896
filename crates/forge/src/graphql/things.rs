//! The objects of the schema, and what their fields hold.

use super::{
    super::{
        json,
        state::{Actor, Comment, Edit, Issue, Label, Moment, Pull, Repo, State, UserKind},
    },
    Failure, Served,
    values::Variables,
};
use serde_json::{Value, json as object};

/// An object of the schema.
#[derive(Clone, Copy)]
pub(super) enum Thing<'a> {
    Query,
    /// What a mutation of a pull request gives.
    Payload(&'a Repo, &'a Issue),
    Repo(&'a Repo),
    Issue(&'a Repo, &'a Issue),
    Comment(&'a Repo, &'a Issue, &'a Comment),
    Label(&'a Label),
    /// The edit of a text, with the number it has among them.
    Edit(usize, &'a Edit),
    Account(u64),
}

/// What a field holds.
pub(super) enum Held<'a> {
    Value(Value),
    Thing(Thing<'a>),
    Things(Vec<Option<Thing<'a>>>),
    /// A connection: of this type, all of it, and the field's arguments.
    Pages(&'static str, Vec<Thing<'a>>, Variables),
}

impl<'a> From<Value> for Held<'a> {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

fn maybe(thing: Option<Thing<'_>>) -> Held<'_> {
    thing.map_or(Held::Value(Value::Null), Held::Thing)
}

impl<'a> Thing<'a> {
    pub(super) fn type_name(self, state: &State) -> &'static str {
        match self {
            Self::Query => "Query",
            Self::Payload(..) => "PullRequestPayload",
            Self::Repo(_) => "Repository",
            Self::Issue(_, issue) if issue.is_pull() => "PullRequest",
            Self::Issue(..) => "Issue",
            Self::Comment(..) => "IssueComment",
            Self::Label(_) => "Label",
            Self::Edit(..) => "UserContentEdit",
            Self::Account(id) => match state.user(id).map(|user| user.kind) {
                Some(UserKind::Bot) => "Bot",
                Some(UserKind::Organization) => "Organization",
                Some(UserKind::User) | None => "User",
            },
        }
    }

    /// What a field holds; the document was checked, so that the type has it.
    pub(super) fn field(self, served: &Served<'a>, name: &str, given: &Variables) -> Result<Held<'a>, Failure> {
        match self {
            Self::Query => served.query(name, given),
            Self::Payload(repo, issue) => Ok(match name {
                "pullRequest" => Held::Thing(Thing::Issue(repo, issue)),
                _ => Value::Null.into(),
            }),
            Self::Repo(repo) => repository(served, repo, name, given),
            Self::Issue(repo, issue) => Ok(issue_field(served.state, repo, issue, name, given)),
            Self::Comment(repo, issue, comment) => Ok(comment_field(served.state, (repo, issue, comment), name, given)),
            Self::Label(label) => Ok(label_field(label, name).into()),
            Self::Edit(at, edit) => Ok(edit_field(at, edit, name)),
            Self::Account(id) => Ok(account(served.state, id, name).into()),
        }
    }
}

fn repository<'a>(served: &Served<'a>, repo: &'a Repo, name: &str, given: &Variables) -> Result<Held<'a>, Failure> {
    let state = served.state;
    let numbered = |kinds: &str, fits: fn(&Issue) -> bool| {
        let number = given.get("number").and_then(Value::as_u64).unwrap_or_default();
        let _: Actor = served.enter(repo.id)?;
        match repo.issues.get(&number).filter(|issue| fits(issue)) {
            Some(issue) => Ok(Held::Thing(Thing::Issue(repo, issue))),
            None => Err(Failure::missing(format!(
                "Could not resolve to {kinds} with the number of {number}."
            ))),
        }
    };
    Ok(match name {
        "issue" => return numbered("an Issue", |issue| !issue.is_pull()),
        "pullRequest" => return numbered("a PullRequest", Issue::is_pull),
        "issueOrPullRequest" => return numbered("an issue or pull request", |_| true),
        "owner" => Held::Thing(Thing::Account(repo.owner)),
        "databaseId" => object!(repo.id).into(),
        "id" => object!(format!("R_{}", repo.id)).into(),
        "isArchived" => object!(repo.archived).into(),
        "isPrivate" => object!(repo.settings.private).into(),
        "name" => object!(repo.name).into(),
        "nameWithOwner" => object!(state.full_name(repo)).into(),
        "url" => object!(state.repo_page(repo)).into(),
        _ => Value::Null.into(),
    })
}

fn issue_field<'a>(state: &'a State, repo: &'a Repo, issue: &'a Issue, name: &str, given: &Variables) -> Held<'a> {
    let folder = if issue.is_pull() { "pull" } else { "issues" };
    let pages = |kind, things| Held::Pages(kind, things, given.clone());
    if let Some(held) = text_field(repo, (issue.user, &issue.edits), name, given) {
        return held;
    }
    if let Some(held) = issue.pull.as_ref().and_then(|pull| pull_field(issue, pull, name)) {
        return held.into();
    }
    match name {
        "comments" => {
            let comments = issue.comments.iter().map(|one| Thing::Comment(repo, issue, one));
            pages("IssueCommentConnection", comments.collect())
        }
        "labels" => {
            let labels = issue
                .labels
                .iter()
                .filter_map(|name| repo.labels.get(&name.to_lowercase()));
            pages("LabelConnection", labels.map(Thing::Label).collect())
        }
        "body" => object!(issue.body.clone().unwrap_or_default()).into(),
        "closed" => object!(!issue.open).into(),
        "closedAt" => json::time_or_null(issue.closed_at).into(),
        "createdAt" => json::time(issue.created_at).into(),
        "updatedAt" => json::time(issue.updated_at).into(),
        "databaseId" => object!(issue.id).into(),
        "fullDatabaseId" => object!(issue.id.to_string()).into(),
        "id" => object!(format!("I_{}", issue.id)).into(),
        "locked" => object!(issue.locked).into(),
        "number" => object!(issue.number).into(),
        "state" => object!(if issue.open { "OPEN" } else { "CLOSED" }).into(),
        "title" => object!(issue.title).into(),
        "url" => object!(format!("{}/{folder}/{}", state.repo_page(repo), issue.number)).into(),
        _ => Value::Null.into(),
    }
}

/// The fields in which a pull request is no issue.
fn pull_field(issue: &Issue, pull: &Pull, name: &str) -> Option<Value> {
    Some(match name {
        "databaseId" => object!(pull.id),
        "fullDatabaseId" => object!(pull.id.to_string()),
        "id" => object!(format!("PR_{}", pull.id)),
        "baseRefName" => object!(pull.base),
        "baseRefOid" => object!(pull.base_sha),
        "headRefName" => object!(pull.head),
        "headRefOid" => object!(pull.head_sha),
        "isDraft" => object!(pull.draft),
        "merged" => object!(pull.merged.is_some()),
        "mergedAt" => json::time_or_null(pull.merged.as_ref().map(|merge| merge.at)),
        "state" if pull.merged.is_some() => object!("MERGED"),
        "state" => object!(if issue.open { "OPEN" } else { "CLOSED" }),
        _ => return None,
    })
}

/// The fields of everything that somebody wrote and may have edited.
fn text_field<'a>(
    repo: &'a Repo,
    (author, edits): (u64, &'a [Edit]),
    name: &str,
    given: &Variables,
) -> Option<Held<'a>> {
    let last = edits.last();
    Some(match name {
        "author" => Held::Thing(Thing::Account(author)),
        "editor" => maybe(last.map(|edit| Thing::Account(edit.editor))),
        "includesCreatedEdit" => object!(last.is_some()).into(),
        "lastEditedAt" => last.map_or(Value::Null, |edit| json::time(edit.at)).into(),
        "repository" => Held::Thing(Thing::Repo(repo)),
        "userContentEdits" => {
            let newest_first = edits.iter().enumerate().rev().map(|(at, edit)| Thing::Edit(at, edit));
            Held::Pages("UserContentEditConnection", newest_first.collect(), given.clone())
        }
        _ => return None,
    })
}

fn comment_field<'a>(
    state: &'a State,
    (repo, issue, comment): (&'a Repo, &'a Issue, &'a Comment),
    name: &str,
    given: &Variables,
) -> Held<'a> {
    if let Some(held) = text_field(repo, (comment.user, &comment.edits), name, given) {
        return held;
    }
    let folder = if issue.is_pull() { "pull" } else { "issues" };
    let at = |moment: Moment| json::time(moment);
    let value = match name {
        "body" => object!(comment.body),
        "createdAt" => at(comment.created_at),
        "updatedAt" => at(comment.updated_at),
        "databaseId" => object!(comment.id),
        "fullDatabaseId" => object!(comment.id.to_string()),
        "id" => object!(format!("IC_{}", comment.id)),
        "url" => {
            let page = state.repo_page(repo);
            object!(format!("{page}/{folder}/{}#issuecomment-{}", issue.number, comment.id))
        }
        _ => Value::Null,
    };
    value.into()
}

fn label_field(label: &Label, name: &str) -> Value {
    match name {
        "color" => object!(label.color),
        "description" => object!(label.description),
        "id" => object!(format!("LA_{}", label.id)),
        "name" => object!(label.name),
        _ => Value::Null,
    }
}

fn edit_field<'a>(at: usize, edit: &Edit, name: &str) -> Held<'a> {
    match name {
        "editor" => Held::Thing(Thing::Account(edit.editor)),
        "createdAt" | "editedAt" | "updatedAt" => json::time(edit.at).into(),
        "diff" => object!(edit.text).into(),
        "id" => object!(format!("UCE_{at}_{}", edit.at.timestamp())).into(),
        _ => Value::Null.into(),
    }
}

/// REST shows an App's bot with `[bot]` at the end of its login, GraphQL without.
fn account(state: &State, id: u64, name: &str) -> Value {
    let rest = |field: &str| state.user_json(id).get(field).cloned().unwrap_or_default();
    match name {
        "databaseId" => object!(id),
        "id" => rest("node_id"),
        "login" => object!(state.login(id).trim_end_matches("[bot]")),
        "url" => rest("html_url"),
        _ => Value::Null,
    }
}
