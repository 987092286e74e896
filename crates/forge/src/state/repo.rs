//! Repositories, their settings, labels, rules and refs.

use crate::state::{
    account::Role,
    check::{CheckRun, CheckSuite, CiJob, Status},
    issue::{Issue, Pull},
    moment::Moment,
    workflow::WorkflowEvent,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A repository.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Repo {
    pub id: u64,
    pub owner: u64,
    pub name: String,
    pub default_branch: String,
    pub settings: Settings,
    pub archived: bool,
    pub collaborators: BTreeMap<u64, Role>,
    pub labels: BTreeMap<String, Label>,
    pub last_number: u64,
    pub issues: BTreeMap<u64, Issue>,
    /// The head commit of each branch, by name without `refs/heads/`, as the forge last saw it.
    pub branches: BTreeMap<String, String>,
    /// The moves of branches, oldest first.
    #[serde(default)]
    pub activities: Vec<Activity>,
    pub rules: Vec<BranchRule>,
    pub checks: BTreeMap<u64, CheckRun>,
    #[serde(default)]
    pub suites: BTreeMap<u64, CheckSuite>,
    /// The JSON that deliveries show of commits that were a branch's head, by commit id.
    #[serde(default)]
    pub head_commits: BTreeMap<String, Value>,
    /// The commits that the forge signed.
    #[serde(default)]
    pub signed: BTreeSet<String>,
    pub statuses: Vec<Status>,
    /// The events that may have started workflows, oldest first.
    #[serde(default)]
    pub workflow_events: Vec<WorkflowEvent>,
    /// The secrets that workflows may get, by name.
    #[serde(default)]
    pub secrets: BTreeMap<String, String>,
    #[serde(default)]
    pub ci: Vec<CiJob>,
    pub created_at: Moment,
    pub updated_at: Moment,
    pub pushed_at: Moment,
}

/// A move of a branch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Activity {
    pub id: u64,
    pub branch: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub forced: bool,
    pub by: u64,
    pub at: Moment,
}

/// The settings of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// `true` if only collaborators see it.
    pub private: bool,
    /// `true` if issues can be opened.
    pub has_issues: bool,
    /// `true` if drafts can be opened (on GitHub not in private repositories of free plans).
    pub drafts: bool,
    /// `true` if pull requests may be squashed.
    pub allow_squash_merge: bool,
    /// `true` if pull requests may be merged by a merge commit.
    pub allow_merge_commit: bool,
    /// `true` if pull requests may be rebased.
    pub allow_rebase_merge: bool,
    /// `true` if the head branch of a merged pull request is deleted.
    pub delete_branch_on_merge: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            private: false,
            has_issues: true,
            drafts: true,
            allow_squash_merge: true,
            allow_merge_commit: true,
            allow_rebase_merge: true,
            delete_branch_on_merge: false,
        }
    }
}

/// A label of a repository.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Label {
    pub id: u64,
    pub name: String,
    pub color: String,
    pub description: Option<String>,
}

/// A rule for the branches whose name matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchRule {
    /// The branch's name; `*` matches any characters.
    pub pattern: String,
    /// Its requirement.
    pub kind: RuleKind,
}

impl BranchRule {
    pub(crate) fn is_for(&self, branch: &str) -> bool {
        matches(&self.pattern, branch)
    }
}

/// The requirement of a branch rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RuleKind {
    /// No such branch may be created.
    Creation,
    /// The branch changes only through pull requests, with this many approvals.
    PullRequest {
        /// The number of approvals needed from people who may write.
        approvals: u64,
    },
    /// These checks must succeed before a merge.
    RequiredChecks(Vec<String>),
    /// Only signed commits may be pushed.
    RequiredSignatures,
}

impl RuleKind {
    /// Returns GitHub's name of the rule's type.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Creation => "creation",
            Self::PullRequest { .. } => "pull_request",
            Self::RequiredChecks(_) => "required_status_checks",
            Self::RequiredSignatures => "required_signatures",
        }
    }
}

impl Repo {
    /// Returns the pull requests among the issues.
    pub fn pulls(&self) -> impl DoubleEndedIterator<Item = (&Issue, &Pull)> {
        self.issues.values().filter_map(|issue| Some((issue, issue.pull.as_ref()?)))
    }

    /// Returns the open pull requests.
    pub fn open_pulls(&self) -> impl Iterator<Item = (&Issue, &Pull)> {
        self.pulls().filter(|(issue, _)| issue.open)
    }

    /// Returns the rules for a branch.
    pub fn rules_for<'a>(&'a self, branch: &'a str) -> impl Iterator<Item = &'a RuleKind> {
        self.rules.iter().filter(move |rule| rule.is_for(branch)).map(|rule| &rule.kind)
    }
}

/// Returns `true` if `text` matches `pattern`, in which `*` matches any characters.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(rest) = text.strip_prefix(head) else {
        return false;
    };
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .any(|at| rest.get(at..).is_some_and(|rest| matches(tail, rest)))
}
