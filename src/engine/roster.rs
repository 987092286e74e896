//! Who plays which role: the agents that the server offers, and what they are told.

use crate::{
    agents::{Backend, Definition, Definitions},
    config::{ByRole, Offer, RepositorySettings, Role},
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
    pub defaults: ByRole<Backend>,
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
        let Some(name) = settings.agent.of(role) else {
            return Ok(self.defaults.of(role));
        };
        let unknown = || EffectError::repository(RepositoryFault::UnknownAgent { name: name.clone() });
        self.named.get(name).ok_or_else(unknown)
    }

    /// What a role is told and held to.
    pub(super) fn definition(&self, role: Role) -> &Definition {
        self.definitions.of(role)
    }
}
