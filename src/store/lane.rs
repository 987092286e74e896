//! The words that tell in which order an effect is worked off, and how far it is.

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

domain::words!(EffectState {
    Ready = "ready",
    Running = "running",
    Done = "done",
    Failed = "failed",
    Cancelled = "cancelled",
});
