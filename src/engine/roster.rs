//! The agents that the server offers, their roles, and their prompts.

use crate::{
    agents::{Backend, Definition, Definitions},
    config::{ByRole, RepositorySettings, Role},
    engine::job::EffectError,
};
use domain::blocked::RepositoryFault;
use std::collections::BTreeMap;

/// The agents that the server offers.
pub struct Roster {
    /// The prompts and contracts of the roles.
    pub definitions: Definitions,
    /// The agents by name. A repository's settings may name one of them.
    pub named: BTreeMap<String, Backend>,
    /// The agent of each role if a repository names none.
    pub defaults: ByRole<Backend>,
}

impl Roster {
    /// Returns the names of the agents that a repository may name.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.named.keys().cloned()
    }

    pub(super) fn agent(&self, role: Role, settings: &RepositorySettings) -> Result<&Backend, EffectError> {
        let Some(name) = settings.agent.of(role) else {
            return Ok(self.defaults.of(role));
        };
        let unknown = || EffectError::repository(RepositoryFault::UnknownAgent { name: name.clone() });
        self.named.get(name).ok_or_else(unknown)
    }

    pub(super) fn definition(&self, role: Role) -> &Definition {
        self.definitions.of(role)
    }
}
