//! Merging a pull request.

use super::{
    error::{GithubError, contains},
    repo::Repo,
    rights::Rights,
};
use domain::ids::{PullNumber, Sha};
use http::Method;
use serde::Serialize;
use serde_json::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MergeMethod {
    /// One commit with all changes.
    Squash,
    Merge,
    /// The single commits, replayed on the base.
    Rebase,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Merged {
        /// The commit that the merge made.
        sha: Sha,
    },
    /// GitHub refused.
    Refused {
        /// The reason, as far as it is known.
        why: MergeRefusal,
        /// GitHub's message.
        text: String,
    },
}

/// Why GitHub refuses a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRefusal {
    /// The base branch moved meanwhile. Try again.
    Transient,
    /// The head is not the commit that was to be merged.
    HeadMoved,
    /// The branches conflict, or the pull request is closed. Its `mergeable` and state show which.
    Conflict,
    /// It is still a draft.
    Draft,
    /// The repository does not allow this method.
    Method,
    /// A rule of the branch, which needs somebody's action.
    Rule,
}

impl Repo<'_> {
    /// Merges a pull request if its head is the commit `head`.
    pub async fn merge_pull(
        &self,
        number: PullNumber,
        head: &Sha,
        method: MergeMethod,
        title: &str,
        message: &str,
    ) -> Result<Merge, GithubError> {
        let tail = format!("/pulls/{number}/merge");
        let body = json!({
            "sha": head,
            "merge_method": method,
            "commit_title": title,
            "commit_message": message,
        });
        match self.send(Rights::Land, Method::PUT, &tail, Some(&body)).await {
            Ok(reply) => reply.at("/sha").map(|sha| Merge::Merged { sha }),
            Err(GithubError::Refused { status, text }) => refused(status, text),
            Err(error) => Err(error),
        }
    }
}

fn refused(status: u16, text: String) -> Result<Merge, GithubError> {
    let mentions = |words| contains(&text, words);
    let why = if matches!(status, 403 | 404) {
        // The App may not merge at all, which is not a rule of the branch.
        return Err(GithubError::Refused { status, text });
    } else if mentions("draft") {
        MergeRefusal::Draft
    } else if status == 409 && mentions("head branch was modified") {
        MergeRefusal::HeadMoved
    } else if mentions("base branch was modified") || mentions("already in progress") {
        MergeRefusal::Transient
    } else if mentions("are not allowed on this repository") {
        MergeRefusal::Method
    } else if mentions("not mergeable") || mentions("merge conflict") || status == 409 {
        MergeRefusal::Conflict
    } else {
        MergeRefusal::Rule
    };
    Ok(Merge::Refused { why, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_that_may_not_merge_meets_no_rule_of_the_branch() {
        for status in [403, 404] {
            let answer = refused(status, "Resource not accessible by integration".to_owned());
            assert!(matches!(answer, Err(GithubError::Refused { .. })), "{answer:?}");
        }
    }

    #[test]
    fn each_refusal_of_github_is_told_apart() {
        let table = [
            (409, "Head branch was modified. Review and try the merge again.", MergeRefusal::HeadMoved),
            (405, "Pull Request is still a draft", MergeRefusal::Draft),
            (405, "Base branch was modified. Review and try the merge again.", MergeRefusal::Transient),
            (405, "Merge already in progress", MergeRefusal::Transient),
            (405, "Pull Request is not mergeable", MergeRefusal::Conflict),
            (405, "Squash merges are not allowed on this repository.", MergeRefusal::Method),
            (405, "Changes must be made through the merge queue", MergeRefusal::Rule),
            (405, "Required status check \"build\" is expected.", MergeRefusal::Rule),
            (405, "At least 1 approving review is required by reviewers with write access.", MergeRefusal::Rule),
            (422, "", MergeRefusal::Rule),
        ];
        for (status, text, expected) in table {
            let answer = refused(status, text.to_owned()).unwrap();
            assert_eq!(answer, Merge::Refused { why: expected, text: text.to_owned() });
        }
    }
}
