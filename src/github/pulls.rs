//! Pull requests: finding, opening, changing.

use super::{
    error::GithubError,
    http::segment,
    model::{OpenState, Pull},
    repo::Repo,
    rights::Rights,
};
use domain::ids::PullNumber;
use http::Method;
use serde_json::{Map, Value, json};

/// A pull request to be opened as a draft where drafts exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPull<'a> {
    /// Title.
    pub title: &'a str,
    /// Body.
    pub body: &'a str,
    /// Branch to be merged.
    pub head: &'a str,
    /// Branch to merge into.
    pub base: &'a str,
    /// Open it ready for review at once.
    pub ready: bool,
}

/// What became of a pull request to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedPull {
    /// It is open now.
    Opened(Box<Pull>),
    /// One for the same branches was open already.
    Adopted(Box<Pull>),
    /// The head branch has no commit that the base branch has not.
    NoCommits,
}

/// What to change about a pull request; `None` leaves a field as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PullChange<'a> {
    /// Open or close it.
    pub state: Option<OpenState>,
    /// New title.
    pub title: Option<&'a str>,
    /// New body.
    pub body: Option<&'a str>,
}

impl Repo<'_> {
    /// A pull request as it is now.
    pub async fn pull(&self, number: PullNumber) -> Result<Pull, GithubError> {
        self.get(Rights::Read, &format!("/pulls/{number}")).await
    }

    /// The open pull request from this branch of the repository itself.
    pub async fn find_pull(&self, head: &str) -> Result<Option<Pull>, GithubError> {
        let owner = self.name().await?.owner;
        let tail = format!("/pulls?state=open&head={}:{}", segment(&owner), segment(head));
        let found: Vec<Pull> = self.list(Rights::Read, &tail, |reply| reply.json()).await?;
        // A filter that GitHub does not understand is a filter that it ignores.
        Ok(found
            .into_iter()
            .filter(|pull| pull.head.branch == head && pull.is_from(self.id))
            .max_by_key(|pull| pull.number))
    }

    /// Opens a pull request; where one is open already for these branches, that one is returned. Call
    /// [`Repo::find_pull`] first if an earlier try may have succeeded.
    pub async fn create_pull(&self, new: NewPull<'_>) -> Result<OpenedPull, GithubError> {
        let first = self.post_pull(new, !new.ready).await;
        let second = match first {
            Err(error) if !new.ready && error.says("draft pull requests are not supported") => {
                self.post_pull(new, false).await
            }
            other => other,
        };
        match second {
            Ok(pull) => Ok(OpenedPull::Opened(Box::new(pull))),
            Err(error) if error.says("no commits between") => Ok(OpenedPull::NoCommits),
            Err(error) if error.says("pull request already exists") => match self.find_pull(new.head).await? {
                Some(pull) => Ok(OpenedPull::Adopted(Box::new(pull))),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn post_pull(&self, new: NewPull<'_>, draft: bool) -> Result<Pull, GithubError> {
        let body = json!({
            "title": new.title,
            "body": new.body,
            "head": new.head,
            "base": new.base,
            "draft": draft,
        });
        self.send(Rights::Pulls, Method::POST, "/pulls", Some(&body))
            .await?
            .json()
    }

    /// Changes title, body or state of a pull request.
    pub async fn update_pull(&self, number: PullNumber, change: PullChange<'_>) -> Result<Pull, GithubError> {
        let state = change.state.map(|state| match state {
            OpenState::Open => "open",
            OpenState::Closed => "closed",
        });
        let fields: Map<String, Value> = [("state", state), ("title", change.title), ("body", change.body)]
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| (name.to_owned(), json!(value))))
            .collect();
        let tail = format!("/pulls/{number}");
        let body = Value::Object(fields);
        self.send(Rights::Pulls, Method::PATCH, &tail, Some(&body))
            .await?
            .json()
    }
}
