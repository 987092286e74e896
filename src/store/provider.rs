//! Providers of models that do not serve us now: nobody asks them before their time, one asks first, and when it is
//! served the others go on.

use crate::store::{
    effect,
    effect::{NewEffect, StoredEffect},
    error::StoreError,
    hold::{Fenced, Hold, given_back, held, written},
    row::{Row, explained},
    sql::{Tx, args, statements},
    store::Store,
};
use domain::ids::Millis;

/// No moment of any provider.
const NEVER: Millis = Millis(-1);
/// In place of a provider: what waits for it waits for GitHub, or for the way to it.
const FORGE: &str = "github";

/// Work that waits for one provider is spread over at most this many spacings.
const MOST_SPACINGS: i64 = 15;

statements! {
    CLOSED = "SELECT until FROM provider WHERE name = $1 AND until > $2 AND cause <> 'not_authorised'";
    PROBE = "UPDATE provider SET until = $2 WHERE name = $1 AND cause <> 'not_authorised'";
    FAILED = "INSERT INTO provider (name, cause, said, failures, since, until) VALUES ($1, $2, $3, 1, $4, $5) \
              ON CONFLICT (name) DO UPDATE SET cause = excluded.cause, said = excluded.said, \
              failures = provider.failures + 1, until = CASE WHEN excluded.until > provider.until \
              OR provider.until = $6 THEN excluded.until ELSE provider.until END";
    OPENED = "DELETE FROM provider WHERE name = $1";
    WAKE = "UPDATE effect SET run_at = $2 WHERE waits_for = $1 AND state = 'ready' AND run_at > $2";
    SERVED = "UPDATE effect SET waits_for = NULL, parked_since = NULL WHERE id = $1 AND waits_for IS NOT NULL";
    AHEAD = "SELECT COUNT(*) AS ahead FROM effect WHERE waits_for = $1 AND state = 'ready' AND run_at > $2";
    PARK = concat!("UPDATE effect SET run_at = $4, last_error = $5, waits_for = $6, parked = parked + $7, ",
                   "parked_since = CASE WHEN waits_for = 'github' THEN $8 ELSE COALESCE(parked_since, $8) END, ",
                   given_back!(), held!());
    WAIT_FOR_FORGE = concat!("UPDATE effect SET run_at = $4, last_error = $5, waits_for = $6, ",
                             "parked_since = CASE WHEN waits_for = $6 THEN parked_since ELSE $7 END, ",
                             given_back!(), held!());
    ONE = "SELECT name, cause, said, failures, since, until FROM provider WHERE name = $1";
    ALL = "SELECT name, cause, said, failures, since, until FROM provider ORDER BY name";
    PARKED = "SELECT subject, kind, waits_for, run_at FROM effect WHERE feature_id = $1 AND state = 'ready' \
              AND waits_for IS NOT NULL AND (run_at > $2 OR waits_for = 'github') ORDER BY run_at, seq";
}

/// Why a provider does not serve us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It limits the rate.
    RateLimited,
    /// It is overloaded, failing or out of reach.
    Unavailable,
    /// It refuses the credentials or the account.
    NotAuthorised,
}

domain::words!(Trouble {
    RateLimited = "rate_limited",
    Unavailable = "unavailable",
    NotAuthorised = "not_authorised",
});

/// A provider that did not serve us when it was asked last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTrouble {
    /// The agent, and the model where one is named.
    pub name: String,
    /// Why.
    pub cause: Trouble,
    /// Its words, for operators.
    pub said: String,
    /// Failures in a row.
    pub failures: u32,
    /// Since when.
    pub since: Millis,
    /// Nobody asks before.
    pub until: Millis,
}

/// An effect that waits for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parked {
    /// What it is about: a task, or a Feature.
    pub subject: String,
    /// What is to be done.
    pub kind: String,
    /// For what.
    pub on: WaitsOn,
    /// When it goes on.
    pub until: Millis,
}

/// What an effect waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitsOn {
    /// A provider of models.
    Provider(String),
    /// GitHub.
    Forge,
}

impl WaitsOn {
    pub(super) fn of(stored: String) -> Self {
        match stored == FORGE {
            true => Self::Forge,
            false => Self::Provider(stored),
        }
    }
}

impl StoredEffect {
    /// Since when the effect waits for GitHub, if it does.
    pub fn waits_for_forge_since(&self) -> Option<Millis> {
        let waits = self.waits_for.as_deref() == Some(FORGE);
        self.parked_since.filter(|_| waits)
    }

    /// Since when the effect waits for a provider of models, if it does.
    pub fn waits_for_provider_since(&self) -> Option<Millis> {
        let waits = self.waits_for.as_deref() != Some(FORGE);
        self.parked_since.filter(|_| waits)
    }
}

/// How an effect comes to wait.
#[derive(Clone, Debug)]
pub enum ParkCause<'a> {
    /// The provider was asked and did not serve.
    Refused {
        /// Why.
        cause: Trouble,
        /// Its words.
        said: &'a str,
    },
    /// Others were refused, and it was not asked.
    Closed,
}

/// When an effect comes to wait, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct ParkTimes {
    /// Now.
    pub now: Millis,
    /// Nobody asks the provider before.
    pub until: Millis,
    /// Milliseconds between one that waits and the next.
    pub spacing: i64,
    /// Until when this work alone might ask, where it did: the answer is known now.
    pub lease: Option<Millis>,
}

impl Store {
    /// Gives the effect back to wait for a provider until `until`, behind those that wait already; counts as nothing.
    /// `shown` is what is to be done so that people see it.
    pub async fn park(
        &self,
        hold: &Hold,
        provider: &str,
        cause: &ParkCause<'_>,
        times: &ParkTimes,
        shown: &[NewEffect],
    ) -> Result<Fenced, StoreError> {
        let ParkTimes {
            now,
            until,
            spacing,
            lease,
        } = *times;
        let mut tx = self.db.write().await?;
        let (asked, said) = match cause {
            ParkCause::Refused { cause, said } => {
                let said = explained(said);
                let cause = cause.to_string();
                let lease = lease.unwrap_or(NEVER).0;
                tx.run(FAILED, args![provider, &cause, &said, now.0, until.0, lease])
                    .await?;
                (1, said)
            }
            ParkCause::Closed => (0, format!("waits for {provider}")),
        };
        let ahead = tx.row(AHEAD, args![provider, now.0]).await?;
        let ahead = ahead.map(|row| row.int("ahead")).transpose()?.unwrap_or(0);
        let spread = ahead.min(MOST_SPACINGS).saturating_mul(spacing);
        let at = until.plus(spread).0;
        let (effect, worker) = (&hold.effect, &hold.worker);
        let arguments = args![effect, worker, hold.fence, at, &said, provider, asked, now.0];
        let fenced = written(tx.run(PARK, arguments).await?);
        effect::insert_all(&mut tx, &shown.iter().collect::<Vec<_>>()).await?;
        self.db.publish(tx).await?;
        Ok(fenced)
    }

    /// Gives the effect back to wait for GitHub until its time; counts as nothing. `shown` is what is to be done so that
    /// people see it.
    pub async fn wait_for_forge(
        &self,
        hold: &Hold,
        why: &str,
        times: &ParkTimes,
        shown: &[NewEffect],
    ) -> Result<Fenced, StoreError> {
        let (effect, worker, why) = (&hold.effect, &hold.worker, explained(why));
        let mut tx = self.db.write().await?;
        let arguments = args![effect, worker, hold.fence, times.until.0, &why, FORGE, times.now.0];
        let fenced = written(tx.run(WAIT_FOR_FORGE, arguments).await?);
        effect::insert_all(&mut tx, &shown.iter().collect::<Vec<_>>()).await?;
        self.db.publish(tx).await?;
        Ok(fenced)
    }

    /// Remembers a provider that did not serve us `now`, and is not to be asked before `until`.
    pub async fn provider_refused(
        &self,
        provider: &str,
        cause: Trouble,
        said: &str,
        (now, until): (Millis, Millis),
    ) -> Result<(), StoreError> {
        let (cause, said) = (cause.to_string(), explained(said));
        self.db
            .run(FAILED, args![provider, &cause, &said, now.0, until.0, NEVER.0])
            .await?;
        Ok(())
    }

    /// The provider served the effect: those that wait for it go on.
    pub async fn provider_served(&self, provider: &str, effect: &str, now: Millis) -> Result<(), StoreError> {
        if self.db.row(ONE, args![provider]).await?.is_none() {
            self.db.run(SERVED, args![effect]).await?;
            return Ok(());
        }
        let mut tx = self.db.write().await?;
        tx.run(SERVED, args![effect]).await?;
        tx.run(OPENED, args![provider]).await?;
        tx.run(WAKE, args![provider, now.0]).await?;
        self.db.publish(tx).await
    }

    /// What is known against a provider.
    pub async fn provider_trouble(&self, provider: &str) -> Result<Option<ProviderTrouble>, StoreError> {
        let row = self.db.row(ONE, args![provider]).await?;
        row.map(|row| trouble(&row)).transpose()
    }

    /// Every provider that did not serve us when it was asked last.
    pub async fn troubled_providers(&self) -> Result<Vec<ProviderTrouble>, StoreError> {
        let rows = self.db.rows(ALL, args![]).await?;
        rows.iter().map(trouble).collect()
    }

    /// The effects of a Feature that wait for a provider or for GitHub, the first to go on first. What waits for GitHub
    /// waits until it was reached, also where it is about to be tried again.
    pub async fn parked(&self, feature: &domain::ids::FeatureKey, now: Millis) -> Result<Vec<Parked>, StoreError> {
        let rows = self.db.rows(PARKED, args![&feature.to_string(), now.0]).await?;
        let parked = |row: &Row| {
            Ok(Parked {
                subject: row.text("subject")?,
                kind: row.text("kind")?,
                on: WaitsOn::of(row.text("waits_for")?),
                until: Millis(row.int("run_at")?),
            })
        };
        rows.iter().map(parked).collect()
    }
}

/// Until when the provider is not to be asked.
pub(super) async fn closed(tx: &mut Tx, provider: &str, now: Millis) -> Result<Option<Millis>, StoreError> {
    let row = tx.row(CLOSED, args![provider, now.0]).await?;
    Ok(row.map(|row| row.int("until")).transpose()?.map(Millis))
}

/// The first to ask a provider that did not serve keeps the others away for a while.
pub(super) async fn probe(tx: &mut Tx, provider: &str, until: Millis) -> Result<(), StoreError> {
    tx.run(PROBE, args![provider, until.0]).await?;
    Ok(())
}

fn trouble(row: &Row) -> Result<ProviderTrouble, StoreError> {
    Ok(ProviderTrouble {
        name: row.text("name")?,
        cause: row.parsed("cause")?,
        said: row.text("said")?,
        failures: row.small("failures")?,
        since: Millis(row.int("since")?),
        until: Millis(row.int("until")?),
    })
}
