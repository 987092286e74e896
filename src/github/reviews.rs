//! Reviews of pull requests.

use super::{
    error::{GithubError, contains},
    model::{Actor, LineComment, Review},
    repo::Repo,
    rights::Rights,
};
use domain::{
    ids::{PullNumber, ReviewId, Sha, User},
    inline_comment::InlineComment,
};
use http::Method;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewEvent {
    /// The change may be merged.
    Approve,
    /// The change must not be merged as it is.
    RequestChanges,
    /// No verdict.
    Comment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewReview<'a> {
    pub event: ReviewEvent,
    pub commit: &'a Sha,
    pub body: &'a str,
    pub inline: &'a [InlineComment],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostedReview {
    Posted(Review),
    /// GitHub does not accept the inline comments. Post the review again with their text in its body.
    InlineRefused {
        /// GitHub's message.
        text: String,
    },
    /// The App opened this pull request, so only [`ReviewEvent::Comment`] is allowed.
    OwnPullRequest,
}

impl Repo<'_> {
    /// Posts a review. Call [`Repo::find_reviews`] first if an earlier attempt may have succeeded.
    pub async fn create_review(&self, number: PullNumber, new: NewReview<'_>) -> Result<PostedReview, GithubError> {
        let tail = format!("/pulls/{number}/reviews");
        let body = json!({
            "event": new.event,
            "commit_id": new.commit,
            "body": new.body,
            "comments": new.inline.iter().map(inline).collect::<Vec<_>>(),
        });
        match self.post(Rights::Pulls, &tail, &body).await {
            Ok(reply) => Ok(PostedReview::Posted(reply.json()?)),
            Err(error) if new.event != ReviewEvent::Comment && error.mentions("your own pull request") => {
                Ok(PostedReview::OwnPullRequest)
            }
            Err(GithubError::Refused { status: 422, text }) if !new.inline.is_empty() && is_about_lines(&text) => {
                Ok(PostedReview::InlineRefused { text })
            }
            Err(error) => Err(error),
        }
    }

    /// Returns all reviews of a pull request, oldest first.
    pub async fn reviews(&self, number: PullNumber) -> Result<Vec<Review>, GithubError> {
        let tail = format!("/pulls/{number}/reviews");
        self.list(Rights::Pulls, &tail, |reply| reply.json()).await
    }

    /// Returns the comments on lines of a review. They are picked from all comments of the pull request, because
    /// GitHub's list of one review's comments lacks the line numbers.
    pub async fn review_comments(&self, number: PullNumber, id: ReviewId) -> Result<Vec<LineComment>, GithubError> {
        let tail = format!("/pulls/{number}/comments");
        let all: Vec<LineComment> = self.list(Rights::Pulls, &tail, |reply| reply.json()).await?;
        Ok(all.into_iter().filter(|comment| comment.review == Some(id)).collect())
    }

    /// Returns our own reviews that contain `marker`, oldest first.
    pub async fn find_reviews(&self, number: PullNumber, marker: &str) -> Result<Vec<Review>, GithubError> {
        let me = self.client.bot(self.installation).await?.id;
        let ours = |review: &Review| review.author.as_ref().is_some_and(|author| author.user.id == me);
        let mut reviews = self.reviews(number).await?;
        reviews.retain(|review| ours(review) && review.body.contains(marker));
        Ok(reviews)
    }

    /// Dismisses a review by any author; `message` says why.
    pub async fn dismiss_review(&self, number: PullNumber, id: ReviewId, message: &str) -> Result<(), GithubError> {
        let tail = format!("/pulls/{number}/reviews/{id}/dismissals");
        let body = json!({"message": message, "event": "DISMISS"});
        self.send(Rights::Land, Method::PUT, &tail, Some(&body)).await.map(drop)
    }
}

fn inline(comment: &InlineComment) -> Value {
    json!({"path": comment.path, "line": comment.line, "side": "RIGHT", "body": comment.body})
}

fn is_about_lines(text: &str) -> bool {
    const SIGNS: [&str; 7] = [
        "review thread",
        "part of the diff",
        "diff hunk",
        "start line",
        "line could not be resolved",
        "path could not be resolved",
        "line must",
    ];
    SIGNS.iter().any(|sign| contains(text, sign))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewRequest {
    /// The person is asked now, and notified.
    Requested,
    /// The person cannot be asked: they opened the pull request, are no collaborator, or are an App.
    Refused {
        /// GitHub's message.
        text: String,
    },
}

impl Repo<'_> {
    /// `true` if `person` was asked for a review and has not given it yet. Another request would not notify them.
    pub async fn is_review_requested(&self, number: PullNumber, person: &User) -> Result<bool, GithubError> {
        let users: Option<Vec<Actor>> = self.get_at(Rights::Read, &requested_reviewers(number), "/users").await?;
        Ok(includes(&users.unwrap_or_default(), person))
    }

    /// `true` if `person` has reviewed the head commit of a pull request.
    pub async fn has_reviewed(&self, number: PullNumber, person: &User) -> Result<bool, GithubError> {
        let head = self.pull(number).await?.head.sha;
        let by = |review: &Review| review.author.as_ref().is_some_and(|author| author.user.id == person.id);
        let reviews = self.reviews(number).await?;
        Ok(reviews.iter().any(|review| by(review) && review.commit.as_ref() == Some(&head)))
    }

    /// Asks `person` for a review of a pull request. GitHub's answer shows if that person cannot be asked.
    pub async fn request_review(&self, number: PullNumber, person: &User) -> Result<ReviewRequest, GithubError> {
        let (tail, body) = (requested_reviewers(number), json!({"reviewers": [person.login]}));
        match self.post(Rights::Pulls, &tail, &body).await {
            Ok(reply) => {
                let asked: Option<Vec<Actor>> = reply.at("/requested_reviewers")?;
                if includes(&asked.unwrap_or_default(), person) {
                    return Ok(ReviewRequest::Requested);
                }
                // GitHub silently leaves out people whom it cannot ask.
                Ok(ReviewRequest::Refused { text: String::new() })
            }
            Err(GithubError::Refused { text, .. } | GithubError::Forbidden { what: text }) => {
                Ok(ReviewRequest::Refused { text })
            }
            Err(error) => Err(error),
        }
    }
}

fn requested_reviewers(number: PullNumber) -> String {
    format!("/pulls/{number}/requested_reviewers")
}

fn includes(asked: &[Actor], person: &User) -> bool {
    asked.iter().any(|actor| actor.user.id == person.id)
}
