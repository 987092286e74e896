//! Reading issues.

use super::{error::GithubError, model::Issue, repo::Repo, rights::Rights};
use domain::ids::IssueNumber;

impl Repo<'_> {
    /// An issue as it is now. [`GithubError::Gone`] if it was deleted.
    pub async fn issue(&self, number: IssueNumber) -> Result<Issue, GithubError> {
        self.get(Rights::Read, &format!("/issues/{number}")).await
    }
}
