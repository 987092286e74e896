//! Comments on issues and pull requests, and reactions.

use super::{app::PER_PAGE, error::GithubError, model::Comment, repo::Repo, rights::Rights};
use domain::{
    effect::{Reaction, ReactionTarget},
    ids::{CommentId, IssueNumber},
};
use http::Method;
use serde_json::json;

impl Repo<'_> {
    /// Writes a comment under an issue or pull request.
    pub async fn create_comment(&self, issue: IssueNumber, body: &str) -> Result<Comment, GithubError> {
        let tail = format!("/issues/{issue}/comments");
        let body = json!({"body": body});
        self.post(Rights::Converse, &tail, &body).await?.json()
    }

    pub fn comment_pages(&self, comments: u64) -> u64 {
        comments.div_ceil(u64::try_from(PER_PAGE).unwrap_or(u64::MAX))
    }

    /// Returns one page of comments, oldest first.
    pub async fn comments(&self, issue: IssueNumber, page: u64) -> Result<Vec<Comment>, GithubError> {
        let tail = format!("/issues/{issue}/comments?per_page={PER_PAGE}&page={page}");
        self.get(Rights::Read, &tail).await
    }

    /// Returns our own newest comment that contains `marker`.
    pub async fn find_comment(&self, issue: IssueNumber, marker: &str) -> Result<Option<Comment>, GithubError> {
        let me = self.client.bot(self.installation).await?.id;
        let tail = format!("/issues/{issue}/comments");
        let comments: Vec<Comment> = self.list(Rights::Converse, &tail, |reply| reply.json()).await?;
        let ours = |comment: &Comment| comment.author.as_ref().is_some_and(|author| author.user.id == me);
        Ok(comments.into_iter().rfind(|comment| ours(comment) && comment.body.contains(marker)))
    }

    /// Replaces the text of a comment. [`GithubError::Gone`] if somebody deleted it.
    pub async fn update_comment(&self, id: CommentId, body: &str) -> Result<Comment, GithubError> {
        let tail = format!("/issues/comments/{id}");
        let body = json!({"body": body});
        match self.send(Rights::Converse, Method::PATCH, &tail, Some(&body)).await {
            Ok(reply) => reply.json(),
            Err(GithubError::NotFound) => Err(GithubError::Gone),
            Err(error) => Err(error),
        }
    }

    /// Adds a reaction, unless it exists already. [`GithubError::Gone`] if the target was deleted.
    pub async fn react(&self, target: ReactionTarget, reaction: Reaction) -> Result<(), GithubError> {
        let tail = match target {
            ReactionTarget::Issue(number) => format!("/issues/{number}/reactions"),
            ReactionTarget::Comment(id) => format!("/issues/comments/{id}/reactions"),
        };
        let body = json!({"content": reaction.word()});
        match self.post(Rights::Converse, &tail, &body).await {
            Ok(_) => Ok(()),
            Err(GithubError::NotFound) => Err(GithubError::Gone),
            Err(error) => Err(error),
        }
    }
}
