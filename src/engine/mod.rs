//! How it is made to happen: a fact becomes an event ([`ingest`], `perform`), an event becomes one transaction
//! ([`apply`]), and what the transaction asks for is claimed and performed by workers ([`worker`]).
//!
//! Decides nothing: the rules are in [`domain`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod apply;
pub mod coach_installations;
pub mod data_folder;
pub mod figures;
mod in_flight;
pub mod ingest;
pub mod job;
mod lease;
pub mod onboarding;
mod perform;
mod persist;
pub mod queue;
pub mod repository;
pub mod repository_settings;
pub mod roster;
pub mod running;
mod schedule;
pub mod settings;
pub mod spans;
mod upkeep;
pub mod view;
pub mod worker;

use crate::{
    engine::{
        coach_installations::CoachInstallations, data_folder::DataFolder, roster::Roster, running::Running,
        settings::EngineSettings,
    },
    gates::Places,
    github::{Client, WriteSpacing},
    store::Store,
};
use domain::{
    ids::{AppId, Millis},
    secret::Secrets,
};
use git::Mirrors;
use sandbox::Sandbox;
use tokio::sync::Semaphore;

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
    pub secrets: Secrets,
    /// Which installation of the Coach App covers a repository.
    pub coach_installations: CoachInstallations,
    /// What this process performs right now.
    pub running: Running,
    /// Who runs where, as long as there is no wall.
    pub places: Places,
    /// Labels that may be none of ours and are looked at.
    pub label_looks: Semaphore,
    /// Nobody else uses the data folder.
    pub data_folder: DataFolder,
}

impl Engine {
    /// The time.
    pub fn now(&self) -> Millis {
        (self.settings.clock)()
    }

    /// The ids of our own Apps, whose deeds are no news to us.
    pub fn own_apps(&self) -> Vec<AppId> {
        std::iter::once(self.autobuild.app_id())
            .chain(self.coach.as_ref().map(Client::app_id))
            .collect()
    }
}
