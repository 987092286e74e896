//! The clock that callers pass in.

use domain::ids::Millis;

/// A function that returns the present time. The caller passes it in, so that no rule here reads a clock itself.
pub type Clock = fn() -> Millis;
