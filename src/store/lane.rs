//! The order of effects and their states, with the words that are stored for them.

/// Whether an effect of the forge lane waits for older effects of its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// It runs after all older ordered effects of its subject.
    InOrder,
    /// It is outside that order: it waits only for older unordered effects of its own kind and subject.
    Free,
}

/// The state of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EffectState {
    /// It waits for its time and a worker.
    Ready,
    /// A worker holds it.
    Running,
    /// It was performed.
    Done,
    /// It was given up.
    Failed,
    /// It was no longer wanted.
    Cancelled,
}

domain::words!(EffectState {
    Ready = "ready",
    Running = "running",
    Done = "done",
    Failed = "failed",
    Cancelled = "cancelled",
});
