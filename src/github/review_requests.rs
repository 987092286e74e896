//! Asking people for a review.

use super::{error::GithubError, model::Actor, repo::Repo, rights::Rights};
use domain::ids::{PullNumber, User};
use http::Method;
use serde::Deserialize;
use serde_json::json;

/// What became of a request for a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewRequest {
    /// They are asked now, and told so.
    Requested,
    /// They were asked before and did not review yet: GitHub tells them nothing new.
    StoodBefore,
    /// They cannot be asked: they opened the pull request, are no collaborator, or an App.
    Refused {
        /// GitHub's words.
        text: String,
    },
}

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    users: Vec<Actor>,
}

#[derive(Deserialize)]
struct Pull {
    #[serde(default)]
    requested_reviewers: Vec<Actor>,
}

impl Repo<'_> {
    /// Asks `person` for a review of a pull request. Who may not be asked is told by the answer.
    pub async fn request_review(&self, number: PullNumber, person: &User) -> Result<ReviewRequest, GithubError> {
        let is_asked = |list: &[Actor]| list.iter().any(|actor| actor.user.id == person.id);
        let tail = format!("/pulls/{number}/requested_reviewers");
        let before: Asked = self.get(Rights::Read, &tail).await?;
        if is_asked(&before.users) {
            return Ok(ReviewRequest::StoodBefore);
        }
        let body = json!({"reviewers": [person.login]});
        match self.send(Rights::Pulls, Method::POST, &tail, Some(&body)).await {
            Ok(reply) if is_asked(&reply.json::<Pull>()?.requested_reviewers) => Ok(ReviewRequest::Requested),
            // GitHub leaves out whom it cannot ask, and says nothing.
            Ok(_) => Ok(ReviewRequest::Refused { text: String::new() }),
            Err(GithubError::Refused { text, .. } | GithubError::Forbidden { what: text }) => {
                Ok(ReviewRequest::Refused { text })
            }
            Err(error) => Err(error),
        }
    }
}
