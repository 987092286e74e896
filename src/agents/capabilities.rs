//! What is learnt of the cost of a back-end's runs.

use crate::agents::backend::{Backend, Kind};
use domain::budget::Tells;

impl Backend {
    /// Whether its runs tell money, or tokens that have a price.
    #[must_use]
    pub fn tells(&self) -> Tells {
        match &self.kind {
            Kind::Acp(_) | Kind::Claude(_) | Kind::Codex(_) => Tells::Cost,
            Kind::Command(_) => Tells::Nothing,
            Kind::Scripted(agent) => agent.tells(),
        }
    }
}
