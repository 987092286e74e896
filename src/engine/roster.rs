//! Who plays which role: the agents that the server offers, and what they are told.

use crate::{
    agents::{Backend, Definition, Definitions},
    config::{Offer, RepositorySettings, Role},
    engine::job::EffectError,
};
use domain::blocked::RepositoryFault;
use std::collections::BTreeMap;

/// The agents that the server offers.
pub struct Roster {
    /// Prompts and contracts of the roles.
    pub definitions: Definitions,
    /// The agents by name. A repository may name one of them.
    pub named: BTreeMap<String, Backend>,
    /// Names of models that a repository may ask for.
    pub models: Vec<String>,
    /// The agent of each role where a repository names none.
    pub defaults: RoleBackends,
}

/// One agent per role.
pub struct RoleBackends {
    /// Makes plans.
    pub planner: Backend,
    /// Designs a task before its first turn.
    pub designer: Backend,
    /// Writes.
    pub player: Backend,
    /// Verifies.
    pub coach: Backend,
}

impl Roster {
    /// What a repository may name.
    pub fn offer(&self) -> Offer {
        Offer {
            agents: self.named.keys().cloned().collect(),
            models: self.models.clone(),
        }
    }

    /// The agent of a role for a repository with these settings.
    pub(super) fn agent(&self, role: Role, settings: &RepositorySettings) -> Result<&Backend, EffectError> {
        match (settings.agent.of(role), role) {
            (Some(name), _) => self
                .named
                .get(name)
                .ok_or_else(|| EffectError::repository(RepositoryFault::UnknownAgent { name: name.to_owned() })),
            (None, Role::Planner) => Ok(&self.defaults.planner),
            (None, Role::Designer) => Ok(&self.defaults.designer),
            (None, Role::Player) => Ok(&self.defaults.player),
            (None, Role::Coach) => Ok(&self.defaults.coach),
        }
    }

    /// What a role is told and held to.
    pub(super) fn definition(&self, role: Role) -> &Definition {
        self.definitions.of(role)
    }
}
