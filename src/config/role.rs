//! The roles of agents, and a value for each role.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Makes the plan.
    Planner,
    /// Designs a task before its first turn.
    Designer,
    /// Writes the change.
    Player,
    /// Verifies the change.
    Coach,
}

text::words!(Role {
    Planner = "planner",
    Designer = "designer",
    Player = "player",
    Coach = "coach",
});

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ByRole<T> {
    pub planner: T,
    pub designer: T,
    pub player: T,
    pub coach: T,
}

impl<T> ByRole<T> {
    pub fn each(mut make: impl FnMut(Role) -> T) -> Self {
        Self {
            planner: make(Role::Planner),
            designer: make(Role::Designer),
            player: make(Role::Player),
            coach: make(Role::Coach),
        }
    }

    pub fn of(&self, role: Role) -> &T {
        match role {
            Role::Planner => &self.planner,
            Role::Designer => &self.designer,
            Role::Player => &self.player,
            Role::Coach => &self.coach,
        }
    }
}
