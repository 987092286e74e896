//! The time, as the room is told it.

use domain::ids::Millis;

/// Where the room reads the time: given by the caller, so that no rule here depends on a clock of its own.
pub type Clock = fn() -> Millis;
