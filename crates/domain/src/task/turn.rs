//! One turn of a Task: what it was told and what came of it.

use crate::{
    decision::{Issue, Verdict},
    evidence::GateReport,
    ids::{Millis, ReviewId, Sha, TurnNumber, User},
    report::{Discrepancy, PlayerReport},
};
use serde::{Deserialize, Serialize};

/// One turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number, from 1; numbers go on over attempts.
    pub number: TurnNumber,
    /// The attempt it belongs to.
    pub attempt: u32,
    /// Who takes part.
    pub kind: TurnKind,
    /// What it was told besides the last verdict.
    pub told: NextTurn,
    /// When it started.
    pub started_at: Millis,
    /// When its verdict stood, or a person overrode it.
    pub ended_at: Option<Millis>,
    /// When CI could first see the commit, or was asked for again by a person: its times count from here.
    pub ci_since: Option<Millis>,
    /// The commit it started from.
    pub base: Option<Sha>,
    /// The commit that Gates and Coach look at.
    pub head: Option<Sha>,
    /// What came of the Player's part.
    pub work: Work,
    /// What the Player says; a claim.
    pub report: Option<PlayerReport>,
    /// Claims that are contradicted.
    pub discrepancies: Vec<Discrepancy>,
    /// What the Gates found.
    pub gates: Option<GateReport>,
    /// What stands.
    pub verdict: Option<Verdict>,
}

/// What came of a Player's part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Nothing yet.
    Open,
    /// A commit that is pushed.
    Pushed,
    /// An empty change.
    NoChange,
    /// A commit that may not be pushed.
    Held,
}

/// Who takes part in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// Player, Gates, Coach.
    Full,
    /// A merge with the integration branch has to be resolved first.
    Conflict,
    /// Only Gates and Coach: a person pushed the commit, or wants its checks again.
    VerifyOnly,
}

/// What the next turn is told besides the last verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextTurn {
    /// A person's words to the Player, as written.
    pub guidance: Vec<Guidance>,
    /// Items of people's reviews that are open.
    pub reviews: Vec<HumanReview>,
    /// Reviews that decide nothing: the Coach sees them once.
    #[serde(default)]
    pub remarks: Vec<HumanReview>,
    /// A merge that the branch has to take up.
    pub conflict: Option<Conflict>,
}

/// A person's words to the Player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guidance {
    /// Who wrote them.
    pub by: User,
    /// Word for word.
    pub text: String,
}

/// A person's review: a request for changes, or remarks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanReview {
    /// The review.
    pub id: ReviewId,
    /// Who wrote it.
    pub by: User,
    /// What it says.
    pub items: Vec<Issue>,
}

/// A merge with the integration branch that needs hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Files with conflict markers.
    pub files: Vec<String>,
}

/// What a person waived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Who.
    pub by: User,
    /// What failed or was missing, as sentences.
    pub what: Vec<String>,
    /// Failing tests among it, by name: from then on they belong to the Feature's baseline.
    #[serde(default)]
    pub tests: Vec<String>,
}
