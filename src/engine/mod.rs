//! The engine. A fact becomes an event ([`ingest`], `perform`), an event becomes one transaction ([`apply`]), and
//! workers claim and perform the effects that the transaction stores ([`worker`]).
//!
//! The engine decides nothing: the rules are in [`domain`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod apply;
pub mod data_folder;
pub mod deliveries;
pub mod disk_room;
pub mod exposure;
pub mod figures;
pub mod heartbeat;
mod housekeeping;
mod in_flight;
pub mod ingest;
pub mod job;
pub mod label_lookups;
mod lease;
pub mod lease_clock;
mod maintenance;
pub mod onboarding;
pub mod own_thread;
mod perform;
mod persist;
pub mod queue;
pub mod remembered;
pub mod replay;
pub mod repository;
pub mod repository_settings;
pub mod roster;
pub mod running;
mod schedule;
pub mod settings;
mod shown_wait;
pub mod spans;
pub mod strangers;
pub mod sweep;
mod turns;
pub mod view;
pub mod worker;

use crate::{
    engine::{
        data_folder::DataFolder, disk_room::LastFullDisk, heartbeat::Heartbeat, label_lookups::LabelLookups,
        lease_clock::LeaseClock, remembered::Remembered, roster::Roster, running::Running, settings::EngineSettings,
        strangers::Strangers,
    },
    gates::CheckoutLocks,
    github::{Client, WriteSpacing},
    store::Store,
};
use domain::ids::{AppId, FeatureKey, InstallationId, Millis, PullNumber, RepoId};
use git::Mirrors;
use sandbox::{Sandbox, egress::Door};
use text::secret::Secrets;

/// Everything that performing effects needs. There is one per process.
pub struct Engine {
    pub store: Store,
    pub autobuild: Client,
    /// The client of the Coach App, if it exists.
    pub coach: Option<Client>,
    pub mirrors: Mirrors,
    /// The sandbox, which starts every foreign program except git.
    pub sandbox: Sandbox,
    pub agents: Roster,
    /// The times at which the next writes to GitHub may be made.
    pub spacing: WriteSpacing,
    pub settings: EngineSettings,
    /// Every secret that the server knows. They are masked in commits and texts.
    pub secrets: Secrets,
    /// The installations of the Coach App, by repository. The AutoBuild App has its own installation with another id.
    pub coach_installations: Remembered<RepoId, InstallationId>,
    /// The GraphQL ids of drafts that this process opened and has not marked ready.
    pub drafts: Remembered<(RepoId, PullNumber), String>,
    /// The effects that this process put off before their first write, with the fence that it held.
    pub put_off: Remembered<String, i64>,
    pub strangers: Strangers,
    /// The effects that this process performs now.
    pub running: Running,
    /// The folder of each repository in which commands run without isolation. Only one holder uses it at a time.
    pub checkout_locks: CheckoutLocks,
    /// The way of git to GitHub through the organisation's proxy, if there is one. Kept open with the engine.
    pub git_door: Option<Door>,
    /// The permits to ask GitHub about labels that may not be ours.
    pub label_lookups: LabelLookups,
    /// The comments and reviews that a sweep read for nothing, such as those that another App wrote for a person.
    pub fruitless: Remembered<(FeatureKey, String), ()>,
    pub lease_clock: LeaseClock,
    pub last_full_disk: LastFullDisk,
    /// The beat of the worker's loop.
    pub heartbeat: Heartbeat,
    /// The proof that no other process uses the data folder.
    pub data_folder: DataFolder,
}

impl Engine {
    /// Returns the time by the database's clock, which all replicas share.
    pub fn now(&self) -> Millis {
        self.lease_clock.to_database_time(self.own_time())
    }

    /// Returns the time by this machine's clock.
    fn own_time(&self) -> Millis {
        (self.settings.clock)()
    }

    /// Returns the ids of our own Apps. Their checks and actions are ignored.
    pub fn own_apps(&self) -> Vec<AppId> {
        std::iter::once(self.autobuild.id).chain(self.coach.as_ref().map(|coach| coach.id)).collect()
    }
}
