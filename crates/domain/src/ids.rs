//! Names of things: the numeric ids of GitHub, and the ids that AutoBuild makes from them.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use text::stored_as_text;

/// A text that does not have the required form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not {wanted}")]
pub struct NotAnId {
    /// The text.
    pub given: String,
    /// The required form.
    pub wanted: &'static str,
}

fn not_an_id(wanted: &'static str, given: &str) -> NotAnId {
    NotAnId { given: given.chars().take(80).collect(), wanted }
}

macro_rules! numeric_id {
    ($($(#[$doc:meta])* $name:ident($number:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $number);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

numeric_id! {
    /// GitHub's id of an App.
    AppId(u64);
    /// GitHub's id of one installation of an App.
    InstallationId(u64);
    /// GitHub's id of a repository; it survives renames and transfers.
    RepoId(u64);
    /// GitHub's id of a user or bot.
    UserId(u64);
    /// GitHub's id of an issue comment.
    CommentId(u64);
    /// GitHub's id of a pull request review.
    ReviewId(u64);
    /// GitHub's id of a check run.
    CheckRunId(u64);
    /// Number of an issue within its repository.
    IssueNumber(u64);
    /// Number of a pull request within its repository.
    PullNumber(u64);
    /// Number of a turn of one task, from 1.
    TurnNumber(u32);
    /// Number of an effect's emission, counted per task or Feature. The effect's id contains it, and it distinguishes a
    /// late result from the expected one.
    Emission(u64);
}

impl Emission {
    /// Returns the number after this one.
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// Returns the time `ms` milliseconds later.
    pub fn plus(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Returns the time in RFC 3339's form, in UTC, to the second.
    pub fn rfc3339(self) -> String {
        let time = chrono::DateTime::from_timestamp_millis(self.0).unwrap_or_default();
        time.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
    }
}

/// The id of one Feature: run `run` (from 1) of one issue of one repository. Written `<repository id>/<issue>/<run>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FeatureKey {
    /// The repository's numeric id.
    pub repo: RepoId,
    /// The labelled issue.
    pub issue: IssueNumber,
    /// The number of the run of this issue, from 1.
    pub run: u32,
}

impl FeatureKey {
    /// Returns the name that people see: `FEAT-42`, or `FEAT-42-R2` for the second run.
    pub fn name(&self) -> String {
        match self.run {
            1 => format!("FEAT-{}", self.issue),
            run => format!("FEAT-{}-R{run}", self.issue),
        }
    }

    /// Returns the common prefix of this run's branches: `autobuild/42` or `autobuild/42-r2`.
    pub fn branch_prefix(&self) -> String {
        match self.run {
            1 => format!("autobuild/{}", self.issue),
            run => format!("autobuild/{}-r{run}", self.issue),
        }
    }

    /// Returns the issue whose run made this branch, by its name.
    pub fn issue_of_branch(branch: &str) -> Option<IssueNumber> {
        let run = branch.strip_prefix("autobuild/")?.split('/').next()?;
        let number = run.split_once("-r").map_or(run, |(number, _)| number);
        number.parse().ok().map(IssueNumber)
    }

    /// Returns the branch into which this run's tasks are merged.
    pub fn integration_branch(&self) -> String {
        format!("{}/integration", self.branch_prefix())
    }

    /// Returns the branch that the feature pull request is opened from if CI was held on the integration branch.
    pub fn released_branch(&self) -> String {
        format!("{}/feature", self.branch_prefix())
    }
}

impl fmt::Display for FeatureKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.repo, self.issue, self.run)
    }
}

impl FromStr for FeatureKey {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let wrong = || not_an_id("<repository id>/<issue>/<run>", text);
        let mut parts = text.split('/').map(str::parse::<u64>);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Ok(repo)), Some(Ok(issue)), Some(Ok(run)), None) if run > 0 => Ok(Self {
                repo: RepoId(repo),
                issue: IssueNumber(issue),
                run: u32::try_from(run).map_err(|_| wrong())?,
            }),
            _ => Err(wrong()),
        }
    }
}

stored_as_text!(FeatureKey, NotAnId);

/// Id of a task within its Feature: `TASK-001` and so on, or one of those that AutoBuild adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum TaskId {
    /// A task of the plan, `TASK-001` to `TASK-999`.
    Planned(u16),
    /// Resolves a conflict with the default branch, `TASK-SYNC-<k>`.
    Sync(u16),
    /// Fixes the failures of a wave gate, `TASK-FIX-<k>`.
    Fix(u16),
    /// Answers a person's review of the Feature's pull request, `TASK-REVIEW-<k>`.
    Review(u16),
}

impl TaskId {
    /// Returns the lower-case form for branch names: `task-001`.
    pub fn slug(&self) -> String {
        self.to_string().to_lowercase()
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Planned(k) => write!(f, "TASK-{k:03}"),
            Self::Sync(k) => write!(f, "TASK-SYNC-{k}"),
            Self::Fix(k) => write!(f, "TASK-FIX-{k}"),
            Self::Review(k) => write!(f, "TASK-REVIEW-{k}"),
        }
    }
}

impl FromStr for TaskId {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let rest = text.strip_prefix("TASK-").unwrap_or_default();
        let (kind, number) = rest.split_once('-').unwrap_or(("", rest));
        let number: Option<u16> = number.parse().ok().filter(|k| *k > 0);
        let parsed = number.and_then(|k| match kind {
            "" if k <= 999 => Some(Self::Planned(k)),
            "SYNC" => Some(Self::Sync(k)),
            "FIX" => Some(Self::Fix(k)),
            "REVIEW" => Some(Self::Review(k)),
            _ => None,
        });
        let exact = parsed.filter(|id| id.to_string() == text);
        exact.ok_or_else(|| not_an_id("a task id (TASK-001 to TASK-999)", text))
    }
}

stored_as_text!(TaskId, NotAnId);

impl TurnNumber {
    pub const FIRST: Self = Self(1);
}

/// A full commit id: 40 or 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sha(String);

impl Sha {
    /// Returns the whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first seven digits, the short form for people.
    pub fn short(&self) -> &str {
        self.0.get(..7).unwrap_or(&self.0)
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Sha {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let hex = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        match text.len() {
            40 | 64 if hex => Ok(Self(text.to_owned())),
            _ => Err(not_an_id("a full commit id", text)),
        }
    }
}

stored_as_text!(Sha, NotAnId);

/// A person or bot on GitHub. The id identifies it; the login is for reading.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct User {
    pub id: UserId,
    /// Login at the time of the event.
    pub login: String,
}

/// The current `owner/name` of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RepoName {
    pub owner: String,
    /// Name within the owner.
    pub name: String,
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

impl FromStr for RepoName {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let in_name = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        let fine = |part: &str| !["", ".", ".."].contains(&part) && part.bytes().all(in_name);
        match text.split_once('/') {
            Some((owner, name)) if fine(owner) && fine(name) => {
                Ok(Self { owner: owner.to_owned(), name: name.to_owned() })
            }
            _ => Err(not_an_id("owner/name", text)),
        }
    }
}
