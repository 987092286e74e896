//! Who an agent is in the loop, and what there is of each.

use serde::{Deserialize, Serialize};

/// Who an agent is in the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Makes the plan.
    Planner,
    /// Designs a task before its first turn.
    Designer,
    /// Writes the change.
    Player,
    /// Verifies it.
    Coach,
}

domain::words!(Role {
    Planner = "planner",
    Designer = "designer",
    Player = "player",
    Coach = "coach",
});

/// One of something for each role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ByRole<T> {
    /// The planner's.
    pub planner: T,
    /// The designer's.
    pub designer: T,
    /// The Player's.
    pub player: T,
    /// The Coach's.
    pub coach: T,
}

impl<T> ByRole<T> {
    /// The one of `role`.
    pub fn of(&self, role: Role) -> &T {
        match role {
            Role::Planner => &self.planner,
            Role::Designer => &self.designer,
            Role::Player => &self.player,
            Role::Coach => &self.coach,
        }
    }
}
