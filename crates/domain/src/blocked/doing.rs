//! What AutoBuild was doing when it could not go on.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What was being done. It is stored as the word of the effect, with spaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Doing {
    /// Making a plan.
    Plan,
    /// Looking at the default branch.
    PreFlight,
    /// Making the integration branch.
    OpenIntegration,
    /// Merging the default branch.
    MergeDefault,
    /// Running the Gates on the integration branch.
    WaveGate,
    /// Opening the pull request into the default branch.
    OpenFeaturePull,
    /// Designing a task.
    Design,
    /// Running the Player.
    Play,
    /// Opening a task's pull request.
    OpenPull,
    /// Running the Gates.
    Gates,
    /// Reading the repository's CI.
    Ci,
    /// Running the Coach.
    Coach,
    /// Posting a verdict.
    PostReview,
    /// Publishing a check run.
    PublishCheck,
    /// Merging a task's pull request.
    Merge,
    /// Looking at what a person did.
    LookingAtIt,
    /// What an older version stored, or an effect that nothing waits for.
    Other(String),
}

impl Doing {
    const KNOWN: [Self; 16] = [
        Self::Plan,
        Self::PreFlight,
        Self::OpenIntegration,
        Self::MergeDefault,
        Self::WaveGate,
        Self::OpenFeaturePull,
        Self::Design,
        Self::Play,
        Self::OpenPull,
        Self::Gates,
        Self::Ci,
        Self::Coach,
        Self::PostReview,
        Self::PublishCheck,
        Self::Merge,
        Self::LookingAtIt,
    ];

    /// What an effect of this kind does.
    pub fn of_kind(kind: &str) -> Self {
        Self::from(kind.replace('_', " "))
    }

    /// The word that is stored.
    pub fn word(&self) -> &str {
        match self {
            Self::Plan => "plan",
            Self::PreFlight => "pre flight",
            Self::OpenIntegration => "open integration",
            Self::MergeDefault => "merge default",
            Self::WaveGate => "wave gate",
            Self::OpenFeaturePull => "open feature pull",
            Self::Design => "design",
            Self::Play => "play",
            Self::OpenPull => "open pull",
            Self::Gates => "gates",
            Self::Ci => "ci",
            Self::Coach => "coach",
            Self::PostReview => "post review",
            Self::PublishCheck => "publish check",
            Self::Merge => "merge",
            Self::LookingAtIt => "looking at it",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for Doing {
    fn from(word: String) -> Self {
        let known = Self::KNOWN.into_iter().find(|doing| doing.word() == word);
        known.unwrap_or(Self::Other(word))
    }
}

impl From<Doing> for String {
    fn from(doing: Doing) -> Self {
        doing.word().to_owned()
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
