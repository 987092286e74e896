//! The words that tell in which order an effect is worked off, and how far it is.

use std::str::FromStr;

/// Whether an effect of the forge lane waits for the older ones of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// It runs after all older effects of its subject that are in order.
    InOrder,
    /// It stands outside that order: it waits only for older ones of its own kind and subject.
    Free,
}

/// Where an effect is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectState {
    /// It waits for its time and a worker.
    Ready,
    /// A worker holds it.
    Running,
    /// It happened.
    Done,
    /// It was given up.
    Failed,
    /// It is no longer wanted.
    Cancelled,
}

impl EffectState {
    const ALL: [Self; 5] = [Self::Ready, Self::Running, Self::Done, Self::Failed, Self::Cancelled];

    /// The state's word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl FromStr for EffectState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|state| state.as_str() == text)
            .ok_or_else(|| format!("{text:?} is no state of an effect"))
    }
}
