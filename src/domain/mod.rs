//! The rules: plans, waves, turns, verdicts, blocked reports, and the two machines that follow from them.
//!
//! Nothing here waits, reads a clock or touches the world: every function takes data and returns data.

pub mod decision;
pub mod evidence;
pub mod ids;
pub mod plan;
pub mod report;
