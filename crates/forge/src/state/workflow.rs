//! The events that may start workflows.

use serde::{Deserialize, Serialize};

/// An event on a commit, as GitHub Actions receives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowEvent {
    /// GitHub's name of the event.
    pub event: String,
    /// The branch of the head, by which `push` is filtered.
    pub branch: String,
    /// The base of the pull request, by which its events are filtered.
    pub base: Option<String>,
    /// The commit whose workflows start and whose code they have.
    pub sha: String,
    /// The head of the branch or pull request.
    pub head: String,
}
