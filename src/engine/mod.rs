//! How it is made to happen: a fact becomes an event ([`ingest`], `perform`), an event becomes one transaction
//! ([`apply`]), and what the transaction asks for is claimed and performed by workers ([`worker`]).
//!
//! Decides nothing: the rules are in [`crate::domain`].

pub mod apply;
mod coach_installations;
mod holding;
pub mod ingest;
pub mod job;
mod perform;
mod persist;
pub mod repository;
pub mod roster;
mod running;
mod schedule;
pub mod settings;
mod upkeep;
pub mod worker;

use crate::domain::ids::AppId;
use crate::domain::ids::Millis;
use crate::engine::coach_installations::CoachInstallations;
use crate::engine::roster::Roster;
use crate::engine::running::Running;
use crate::engine::settings::EngineSettings;
use crate::git::Mirrors;
use crate::github::Client;
use crate::github::WriteSpacing;
use crate::sandbox::Sandbox;
use crate::store::Store;
use secrecy::SecretString;

/// Everything that work needs. One per process.
pub struct Engine {
    /// What is remembered.
    pub store: Store,
    /// The AutoBuild App.
    pub autobuild: Client,
    /// The Coach App, where it exists.
    pub coach: Option<Client>,
    /// Repositories on disk.
    pub mirrors: Mirrors,
    /// The one door for foreign programs.
    pub sandbox: Sandbox,
    /// Who plays which role.
    pub agents: Roster,
    /// When the next write to GitHub may be made.
    pub spacing: WriteSpacing,
    /// Limits and times.
    pub settings: EngineSettings,
    /// Every secret that the service knows, to be kept out of commits and texts.
    pub secrets: Vec<SecretString>,
    coach_installations: CoachInstallations,
    running: Running,
}

/// What [`Engine::new`] is made of.
pub struct Parts {
    /// What is remembered.
    pub store: Store,
    /// The AutoBuild App.
    pub autobuild: Client,
    /// The Coach App, where it exists.
    pub coach: Option<Client>,
    /// Repositories on disk.
    pub mirrors: Mirrors,
    /// The one door for foreign programs.
    pub sandbox: Sandbox,
    /// Who plays which role.
    pub agents: Roster,
    /// When the next write to GitHub may be made.
    pub spacing: WriteSpacing,
    /// Limits and times.
    pub settings: EngineSettings,
    /// Every secret that the service knows.
    pub secrets: Vec<SecretString>,
}

impl Engine {
    /// Puts the parts together; nothing runs yet.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self {
            store: parts.store,
            autobuild: parts.autobuild,
            coach: parts.coach,
            mirrors: parts.mirrors,
            sandbox: parts.sandbox,
            agents: parts.agents,
            spacing: parts.spacing,
            settings: parts.settings,
            secrets: parts.secrets,
            coach_installations: CoachInstallations::default(),
            running: Running::default(),
        }
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Millis {
        (self.settings.clock)()
    }

    /// The ids of our own Apps, whose deeds are no news to us.
    #[must_use]
    pub fn own_apps(&self) -> Vec<AppId> {
        std::iter::once(self.autobuild.app_id())
            .chain(self.coach.as_ref().map(Client::app_id))
            .collect()
    }
}
