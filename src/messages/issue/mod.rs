//! The texts on an issue: the comment that shows the state, the reports and the answers, and the same in a terminal.

pub(super) mod added_task;
pub(super) mod blocked;
pub(super) mod chosen_commands;
pub(super) mod failed_acts;
pub(super) mod graph;
pub(super) mod headline;
pub(super) mod inquiry;
pub(super) mod living;
pub(super) mod progress;
pub(super) mod refusal;
pub(super) mod reply;
pub(super) mod waits;
