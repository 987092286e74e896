//! What is remembered: deliveries, Features, Tasks, Turns, events, effects, leases and baselines, on SQLite or PostgreSQL.
//!
//! All SQL of AutoBuild lives here, as constants that run unchanged on both databases. The store keeps rows: the JSON in
//! them is text that it never reads, the time is always told to it, and it decides nothing but who may claim what.
//!
//! Reading order: [`Store::commit`] (an event, its state and its effects in one transaction) → [`Store::claim`] (who
//! works on what) → [`Hold`] (what the holder may do) → [`Store::accept_delivery`] (the durable acknowledgement).

mod baseline;
mod cancel;
mod claim;
mod commit;
mod delivery;
mod effect;
mod error;
mod event;
mod feature;
mod find;
mod hold;
mod inbox;
mod lane;
mod lockfile;
mod meta;
mod migrate;
mod open;
mod progress;
mod provider;
mod repository_settings;
mod row;
mod run;
mod run_read;
mod sql;
mod tally;
mod task;
mod traced;
mod url;
mod wake;

pub use cancel::CancelRule;
pub use claim::ClaimRequest;
pub use claim::Claimed;
pub use claim::LaneLimits;
pub use claim::TakenBack;
pub use commit::Commit;
pub use commit::Committed;
pub use commit::DeliveryOutcome;
pub use delivery::Accepted;
pub use delivery::NewDelivery;
pub use delivery::Source;
pub use delivery::StoredDelivery;
pub use effect::MAX_EFFECT_PAYLOAD;
pub use effect::NewEffect;
pub use effect::StoredEffect;
pub use error::OpenError;
pub use error::StoreError;
pub use error::StoreFailure;
pub use event::NewEvent;
pub use event::StoredEvent;
pub use feature::FeatureRow;
pub use feature::StoredFeature;
pub use find::FoundFeature;
pub use find::Scope;
pub use hold::Fenced;
pub use hold::Finish;
pub use hold::Hold;
pub use hold::Lease;
pub use hold::Outcome;
pub use lane::EffectState;
pub use lane::Lane;
pub use lane::Ordered;
pub use migrate::MIGRATIONS;
pub use migrate::Migration;
pub use open::FoundDatabase;
pub use open::OpenOptions;
pub use provider::ParkCause;
pub use provider::ParkTimes;
pub use provider::Parked;
pub use provider::ProviderTrouble;
pub use provider::Trouble;
pub use provider::WaitsOn;
pub use repository_settings::KnownSettings;
pub use repository_settings::Standing;
pub use run::EndedRun;
pub use run::MAX_RUN_EVENTS;
pub use run::NewRun;
pub use run::Started;
pub use run_read::RunState;
pub use run_read::RunTotal;
pub use run_read::StoredRun;
pub use tally::Tally;
pub use task::TaskRow;
pub use task::TurnRow;
pub use wake::Wakeups;

use std::sync::Arc;

/// A handle on the database; clones share one set of connections.
#[derive(Clone, Debug)]
pub struct Store {
    db: sql::Db,
    inbox: inbox::Inbox,
    hint: Option<Arc<wake::Hint>>,
}

/// Every SQL text that must run unchanged on both databases, for the test that prepares them.
#[must_use]
pub fn statements() -> Vec<&'static str> {
    let mut texts = [
        baseline::STATEMENTS,
        cancel::STATEMENTS,
        claim::STATEMENTS,
        delivery::STATEMENTS,
        effect::STATEMENTS,
        event::STATEMENTS,
        feature::STATEMENTS,
        find::STATEMENTS,
        hold::STATEMENTS,
        meta::STATEMENTS,
        migrate::STATEMENTS,
        progress::STATEMENTS,
        provider::STATEMENTS,
        repository_settings::STATEMENTS,
        run::STATEMENTS,
        run_read::STATEMENTS,
        tally::STATEMENTS,
        task::STATEMENTS,
        traced::STATEMENTS,
    ]
    .concat();
    texts.extend(delivery::ACCEPT.texts());
    texts.extend(effect::INSERT.texts());
    texts
}
