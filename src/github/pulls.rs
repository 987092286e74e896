//! Pull requests: finds, opens and changes them.

use super::{
    error::GithubError,
    http::segment,
    model::{OpenState, Pull},
    repo::Repo,
    rights::Rights,
};
use domain::{
    ci::without_instructions,
    ids::{PullNumber, Sha},
};
use http::Method;
use serde_json::{Map, Value, json};

/// A pull request to open, as a draft if the repository supports drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewPull<'a> {
    pub title: &'a str,
    pub body: &'a str,
    pub head: &'a str,
    /// The branch to merge into.
    pub base: &'a str,
    /// `true` to open it ready for review, not as a draft.
    pub ready: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenedPull {
    Opened(Box<Pull>),
    /// One for the same branches was already open.
    Adopted(Box<Pull>),
    /// The head branch has no commit that the base branch lacks.
    NoCommits,
}

/// The changes to a pull request; `None` leaves a field as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PullChange<'a> {
    /// The state to give it.
    pub state: Option<OpenState>,
    pub title: Option<&'a str>,
    pub body: Option<&'a str>,
}

impl Repo<'_> {
    /// Returns the current state of a pull request.
    pub async fn pull(&self, number: PullNumber) -> Result<Pull, GithubError> {
        self.get(Rights::Read, &format!("/pulls/{number}")).await
    }

    /// Returns the open pull request from this branch of the repository itself.
    pub async fn find_pull(&self, head: &str) -> Result<Option<Pull>, GithubError> {
        let pulls = self.pulls_from(head, "open").await?;
        Ok(pulls.into_iter().max_by_key(|pull| pull.number))
    }

    /// Returns the open pull request from this branch of the repository itself, or else the one that was merged with this
    /// commit as its head.
    pub async fn find_pull_of(&self, head: &str, commit: &Sha) -> Result<Option<Pull>, GithubError> {
        let pulls = self.pulls_from(head, "all").await?.into_iter();
        let fits = |pull: &Pull| pull.state == OpenState::Open || pull.is_merged() && pull.head.sha == *commit;
        Ok(pulls.filter(fits).max_by_key(|pull| (pull.state == OpenState::Open, pull.number)))
    }

    async fn pulls_from(&self, head: &str, state: &str) -> Result<Vec<Pull>, GithubError> {
        let owner = self.name().await?.owner;
        let tail = format!("/pulls?state={state}&head={}:{}", segment(&owner), segment(head));
        let mut found: Vec<Pull> = self.list(Rights::Read, &tail, |reply| reply.json()).await?;
        // GitHub ignores a filter that it does not understand, so the result is filtered again.
        found.retain(|pull| pull.head.branch == head && pull.is_from(self.id));
        Ok(found)
    }

    /// Opens a pull request. If one is already open for these branches, returns that one. Call [`Repo::find_pull`]
    /// first if an earlier attempt may have succeeded.
    pub async fn create_pull(&self, new: NewPull<'_>) -> Result<OpenedPull, GithubError> {
        let first = self.post_pull(new, !new.ready).await;
        let second = match first {
            Err(error) if !new.ready && error.mentions("draft pull requests are not supported") => {
                self.post_pull(new, false).await
            }
            other => other,
        };
        match second {
            Ok(pull) => Ok(OpenedPull::Opened(Box::new(pull))),
            Err(error) if error.mentions("no commits between") => Ok(OpenedPull::NoCommits),
            Err(error) if error.mentions("pull request already exists") => match self.find_pull(new.head).await? {
                Some(pull) => Ok(OpenedPull::Adopted(Box::new(pull))),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    async fn post_pull(&self, new: NewPull<'_>, draft: bool) -> Result<Pull, GithubError> {
        let body = json!({
            "title": without_instructions(new.title),
            "body": without_instructions(new.body),
            "head": new.head,
            "base": new.base,
            "draft": draft,
        });
        self.post(Rights::Pulls, "/pulls", &body).await?.json()
    }

    /// Changes the title, body or state of a pull request.
    pub async fn update_pull(&self, number: PullNumber, change: PullChange<'_>) -> Result<Pull, GithubError> {
        let state = change.state.map(|state| match state {
            OpenState::Open => "open",
            OpenState::Closed => "closed",
        });
        let (title, body) = (change.title.map(without_instructions), change.body.map(without_instructions));
        let fields: Map<String, Value> = [("state", state), ("title", title.as_deref()), ("body", body.as_deref())]
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| (name.to_owned(), json!(value))))
            .collect();
        let tail = format!("/pulls/{number}");
        let body = Value::Object(fields);
        self.send(Rights::Pulls, Method::PATCH, &tail, Some(&body)).await?.json()
    }
}
