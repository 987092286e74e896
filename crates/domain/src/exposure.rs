//! The permissions, secrets and machines that the repository's CI would give to agent-written code, workflow by workflow. The
//! readers of workflows fill these types; the rules that follow from them are here.

use crate::ci_definitions::definition;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use text::words;

words! {
    /// An event of GitHub by which AutoBuild's branches, pull requests and reviews may start a workflow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Trigger {
        /// A branch moved.
        Push = "push",
        /// A pull request was opened or changed.
        PullRequest = "pull_request",
        Create = "create",
        /// A pull request is in a merge queue.
        MergeGroup = "merge_group",
        PullRequestReview = "pull_request_review",
        /// A review has a comment on a line.
        PullRequestReviewComment = "pull_request_review_comment",
        /// A pull request was opened or changed; runs the workflow of the default branch.
        PullRequestTarget = "pull_request_target",
        /// Another workflow ran.
        WorkflowRun = "workflow_run",
        IssueComment = "issue_comment",
        CheckRun = "check_run",
        CheckSuite = "check_suite",
        /// A commit status changed.
        Status = "status",
    }
}

impl Trigger {
    /// `true` if it starts a workflow on the head of the branch or of the pull request. Otherwise the workflow has the
    /// default branch, and the head is there only if a step fetches it.
    pub fn starts_on_head(self) -> bool {
        match self {
            Self::Push
            | Self::PullRequest
            | Self::Create
            | Self::MergeGroup
            | Self::PullRequestReview
            | Self::PullRequestReviewComment => true,
            Self::PullRequestTarget
            | Self::WorkflowRun
            | Self::IssueComment
            | Self::CheckRun
            | Self::CheckSuite
            | Self::Status => false,
        }
    }

    /// `true` if a skip instruction in a commit's message keeps GitHub from starting workflows by it.
    pub fn obeys_skip_instruction(self) -> bool {
        matches!(self, Self::Push | Self::PullRequest)
    }
}

/// Something that a workflow gives to the code that it runs, beyond reading the repository. Their order is that of their
/// worth: first what may be any number of secrets, last the rights of a token that ends with its job.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// Every secret of the repository.
    AllSecrets,
    /// A workflow of another repository, which was not read.
    ForeignWorkflow {
        /// The workflow, such as `org/repo/.github/workflows/ci.yml@v1`.
        uses: String,
    },
    /// Something that could not be judged.
    Unknown(Unjudged),
    /// A secret by its name.
    Secret { name: String },
    /// An environment, which may hold secrets of its own.
    Environment {
        /// Its name, as it is written.
        name: String,
    },
    /// A token by which clouds recognise the repository (`id-token`).
    IdentityToken,
    /// A runner that is not GitHub's own.
    Runner {
        /// Its label, as it is written.
        label: String,
    },
    /// The token may write.
    Write {
        /// The token's scope, such as `contents`; `all` for `write-all`.
        scope: String,
    },
    /// The file does not define the token's rights, so the repository's or the organisation's default applies.
    DefaultPermissions,
}

impl Grant {
    /// Returns how many secrets it may be.
    fn secrets(&self) -> usize {
        match self {
            Self::AllSecrets | Self::ForeignWorkflow { .. } | Self::Unknown(_) => usize::MAX,
            Self::Secret { .. } | Self::Environment { .. } | Self::IdentityToken | Self::Runner { .. } => 1,
            Self::Write { .. } | Self::DefaultPermissions => 0,
        }
    }
}

/// Why a workflow, or a part of it, could not be judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unjudged {
    /// The file has a mistake, or is deeper or more repetitive than allowed.
    NotYaml,
    /// The file is too large.
    TooLarge,
    /// There are too many files.
    TooMany,
    /// GitHub's reference does not have this key.
    UnknownKey { key: String },
    /// The value of this key is an expression, or of another kind than expected.
    NotLiteral { key: String },
    /// This file of the repository is used and is not there.
    Missing { path: String },
    /// Files call each other in a circle, or too deep.
    TooDeep,
}

/// A step that is not known to run only what is in its workflow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownStep {
    /// An action, as it is named in the workflow, or the file of a local one.
    Action { uses: String },
    /// A script.
    Script,
}

/// A workflow that would run the head of AutoBuild's branches or pull requests, or might.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowExposure {
    pub path: String,
    /// The events that start it; empty if they could not be read, or one of them is not known here.
    pub triggers: BTreeSet<Trigger>,
    /// The grants of its jobs; empty if it is harmless.
    pub grants: BTreeSet<Grant>,
    /// The steps that might take the head, if it is there in no other way; empty if the workflow surely runs it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub doubts: BTreeSet<UnknownStep>,
    /// `true` if it looks for branches, pull requests or what other runs made by itself, and starts on events that
    /// AutoBuild does not cause.
    #[serde(default, skip_serializing_if = "is_false")]
    pub takes_work: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl WorkflowExposure {
    /// `true` if the code that it runs gets nothing but the right to read the repository.
    pub fn is_harmless(&self) -> bool {
        self.grants.is_empty()
    }

    /// Returns the number of secrets that it may give, then that of all its grants: a larger value is dearer.
    pub fn worth(&self) -> (usize, usize) {
        let secrets = self.grants.iter().map(Grant::secrets).fold(0, usize::saturating_add);
        (secrets, self.grants.len())
    }

    /// `true` if a skip instruction in the head's message keeps it from starting.
    pub fn is_held_by_instruction(&self) -> bool {
        !self.takes_work
            && !self.triggers.is_empty()
            && self.triggers.iter().all(|trigger| trigger.obeys_skip_instruction())
    }
}

/// Everything that CI would give to the code of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exposure {
    /// The workflows that would run it, by path.
    pub workflows: Vec<WorkflowExposure>,
    /// The names of other Apps and services that report on the default branch, and of the definitions that services read.
    pub others: Vec<String>,
}

impl Exposure {
    /// `true` if nothing that would run the code gets more than the right to read the repository.
    pub fn is_harmless(&self) -> bool {
        self.others.is_empty() && self.workflows.iter().all(WorkflowExposure::is_harmless)
    }

    /// Returns the workflows that give the code more than the right to read the repository.
    pub fn harmful(&self) -> impl Iterator<Item = &WorkflowExposure> {
        self.workflows.iter().filter(|workflow| !workflow.is_harmless())
    }

    /// Returns the harmful things that may start despite a skip instruction in the head's message: the paths of
    /// workflows, and the definitions of other services, which may not obey it. Apps that only report are left out:
    /// nobody knows whether they run code, and most of them read coverage or licences.
    pub fn not_held(&self) -> impl Iterator<Item = &str> {
        let unheld = self.harmful().filter(|workflow| !workflow.is_held_by_instruction());
        let workflows = unheld.map(|workflow| workflow.path.as_str());
        let definitions = self.others.iter().filter_map(|name| definition(name));
        workflows.chain(definitions)
    }

    /// Adds the findings of `other`.
    pub fn with(mut self, other: Self) -> Self {
        for workflow in other.workflows {
            match self.workflows.iter_mut().find(|known| known.path == workflow.path) {
                Some(known) => {
                    known.triggers.extend(workflow.triggers);
                    known.grants.extend(workflow.grants);
                    known.takes_work |= workflow.takes_work;
                    let is_sure = known.doubts.is_empty() || workflow.doubts.is_empty();
                    known.doubts.extend(workflow.doubts);
                    known.doubts.retain(|_| !is_sure);
                }
                None => self.workflows.push(workflow),
            }
        }
        self.workflows.sort_by(|one, other| one.path.cmp(&other.path));
        let new: Vec<String> = other.others.into_iter().filter(|name| !self.others.contains(name)).collect();
        self.others.extend(new);
        self
    }
}
