//! The database: deliveries, Features, Tasks, Turns, events, effects, leases and baselines, on SQLite or PostgreSQL.
//!
//! All SQL of AutoBuild is here, in constants that run unchanged on both databases. The store does not read the JSON in
//! its rows, gets the time from its callers, and only decides claims.
//!
//! Reading order: [`Store::commit`] (an event, its state, its effects) → [`Store::claim`] → [`Hold`] (the holder's
//! operations) → [`Store::accept_delivery`] (the acknowledgement).

#![warn(clippy::wildcard_enum_match_arm)]

mod baseline;
mod cancel;
mod claim;
mod commit;
mod counters;
mod delivery;
mod effect;
mod error;
mod event;
mod feature;
mod find;
mod hold;
mod inbox;
mod local_order;
mod lockfile;
mod meta;
mod migrate;
mod open;
mod pack;
mod progress;
mod provider;
mod queue;
mod refusal;
mod repository_settings;
mod retention;
mod row;
mod run;
mod run_read;
mod sql;
mod sqlite;
mod store;
mod tally;
mod task;
mod url;
mod wake;

pub use cancel::CancelRule;
pub use claim::{ClaimRequest, Claimed, LaneLimits, Ready};
pub use commit::{Commit, Committed};
pub use counters::LEASES_LOST;
pub use delivery::{AcceptOutcome, DeliverySource, MemoryShare, NewDelivery, StoredDelivery};
pub use domain::effect::Lane;
pub use effect::{EffectState, MAX_EFFECT_PAYLOAD, NewEffect, Ordered, StoredEffect};
pub use error::{Obstacle, OpenError, StoreError, StoreFailure};
pub use event::{NewEvent, StoredEvent};
pub use feature::{FeatureRow, StoredFeature};
pub use find::{FoundFeature, ListedFeature, Scope};
pub use hold::{Fenced, Finish, Hold, Lease, Outcome};
pub use local_order::StoredOrder;
pub use meta::NameUse;
pub use migrate::{MIGRATIONS, Migration};
pub use open::{FoundDatabase, OpenOptions};
pub use pack::NewPack;
pub use provider::{EffectWait, ParkCause, ParkTimes, ParkedEffect, ProviderTrouble, Trouble, WaitsOn};
pub use queue::{HeldBy, QueuedEffect};
pub use refusal::NewRefusal;
pub use repository_settings::{KnownSettings, SettingsStatus};
pub use retention::MoreToDelete;
pub use run::{EndedRun, MAX_RUN_EVENTS, NewRun, RunRecord, StartOutcome};
pub use run_read::{DaySpent, RunState, RunTotal, StoredRun};
pub use store::Store;
pub use tally::{LaneTally, Tally};
pub use task::{TaskRow, TurnRow};
pub use wake::Wakeups;

/// Returns every SQL text that must run unchanged on both databases, for the test that prepares them.
pub fn statements() -> Vec<&'static str> {
    let mut texts = [
        baseline::STATEMENTS,
        cancel::STATEMENTS,
        claim::STATEMENTS,
        counters::STATEMENTS,
        delivery::STATEMENTS,
        effect::STATEMENTS,
        event::STATEMENTS,
        feature::STATEMENTS,
        find::STATEMENTS,
        hold::STATEMENTS,
        local_order::STATEMENTS,
        meta::STATEMENTS,
        migrate::STATEMENTS,
        pack::STATEMENTS,
        progress::STATEMENTS,
        provider::STATEMENTS,
        queue::STATEMENTS,
        refusal::STATEMENTS,
        repository_settings::STATEMENTS,
        retention::STATEMENTS,
        run::STATEMENTS,
        run_read::STATEMENTS,
        tally::STATEMENTS,
        task::STATEMENTS,
    ]
    .concat();
    texts.extend(delivery::ACCEPT.texts());
    texts.extend(effect::INSERT.texts());
    texts
}
