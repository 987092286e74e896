//! Model providers that do not serve us now. Nobody asks such a provider before its time. Then one effect asks first,
//! and if it is served, the others continue.

use crate::store::{
    effect,
    effect::{NewEffect, StoredEffect},
    error::StoreError,
    hold::{Fenced, Hold, given_back, held, written},
    row::{Row, explained},
    sql::{Tx, args, statements},
    store::Store,
};
pub use domain::cost::WaitsOn;

use domain::ids::{FeatureKey, Millis};

/// A time that no provider can have.
const NEVER: Millis = Millis(-1);
/// The value of `waits_for` for an effect that waits for GitHub or the network.
const FORGE: &str = "github";
/// The value of `waits_for` for an effect that waits for our own machine: its disk or its database.
const MACHINE: &str = "machine";
/// The value of `waits_for` for an effect that is tried again after a failure that may last.
const UNKNOWN: &str = "unknown";

/// Effects that wait for one provider resume one spacing apart, up to this many spacings.
const MOST_SPACINGS: i64 = 15;

/// Lets the effect wait. `parked_since` is the time at which this wait began.
macro_rules! wait {
    () => {
        "run_at = $4, last_error = $5, waits_for = $6, \
         parked_since = CASE WHEN waits_for = $6 THEN parked_since ELSE $7 END"
    };
}

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
                   "parked_since = CASE WHEN waits_for IN ('github', 'machine', 'unknown') THEN $8 ELSE COALESCE(parked_since, $8) END, ",
                   given_back!(), held!());
    WAIT_OUT = concat!("UPDATE effect SET ", wait!(), ", ", given_back!(), held!());
    STALL = concat!("UPDATE effect SET ", wait!(), held!());
    ONE = "SELECT name, cause, said, failures, since, until FROM provider WHERE name = $1";
    ALL = "SELECT name, cause, said, failures, since, until FROM provider ORDER BY name";
    PARKED = "SELECT subject, waits_for, run_at FROM effect WHERE feature_id = $1 AND waits = 1 AND waits_for IS NOT NULL \
              AND (state IN ('ready', 'running') AND run_at > $2 \
                   OR state = 'ready' AND waits_for IN ('github', 'machine', 'unknown')) ORDER BY run_at, seq";
}

/// A wait of an effect, which counts neither as a try nor as a crash.
#[derive(Clone, Copy, Debug)]
pub struct EffectWait<'a> {
    pub on: &'a WaitsOn,
    pub why: &'a str,
    pub now: Millis,
    pub until: Millis,
}

/// The reason why a provider does not serve us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It limits our rate.
    RateLimited,
    /// It is overloaded, failing or unreachable.
    Unavailable,
    /// It refuses the credentials or the account.
    NotAuthorised,
}

text::words!(Trouble {
    RateLimited = "rate_limited",
    Unavailable = "unavailable",
    NotAuthorised = "not_authorised",
});

/// A provider that refused us when it was last asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderTrouble {
    /// The kind of agent, and the model if one is named: `claude/sonnet`.
    pub name: String,
    pub cause: Trouble,
    /// The provider's message, for operators.
    pub said: String,
    pub failures: u32,
    /// The time of the first of these failures.
    pub since: Millis,
    /// The time before which no run may use it.
    pub until: Millis,
}

/// An effect that waits for a provider, for GitHub or for our own machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedEffect {
    /// The subject: a task or a Feature.
    pub subject: String,
    pub on: WaitsOn,
    /// The time at which it is tried again.
    pub until: Millis,
}

pub(super) fn read_waits_on(stored: String) -> WaitsOn {
    match stored.as_str() {
        FORGE => WaitsOn::GitHub,
        MACHINE => WaitsOn::Machine,
        UNKNOWN => WaitsOn::Unknown,
        _ => WaitsOn::Model(stored),
    }
}

fn word(on: &WaitsOn) -> &str {
    match on {
        WaitsOn::GitHub => FORGE,
        WaitsOn::Machine => MACHINE,
        WaitsOn::Unknown => UNKNOWN,
        WaitsOn::Model(name) => name,
    }
}

impl StoredEffect {
    /// Returns since when the effect waits for this, if it does.
    pub fn waits_since(&self, on: &WaitsOn) -> Option<Millis> {
        let waits = self.waits_for.as_deref() == Some(word(on));
        self.parked_since.filter(|_| waits)
    }

    /// Returns since when the effect waits for a provider of models, if it does.
    pub fn waits_for_provider_since(&self) -> Option<Millis> {
        let on = self.waits_for.clone().map(read_waits_on);
        self.parked_since.filter(|_| matches!(on, Some(WaitsOn::Model(_))))
    }
}

/// The reason why an effect must wait for a provider.
#[derive(Clone, Debug)]
pub enum ParkCause<'a> {
    /// The effect asked the provider and was refused.
    Refused {
        cause: Trouble,
        /// The provider's message.
        said: &'a str,
    },
    /// Other effects were refused, so this one did not ask.
    Closed,
}

#[derive(Clone, Copy, Debug)]
pub struct ParkTimes {
    pub now: Millis,
    /// The time before which no run may use the provider.
    pub until: Millis,
    /// The time between one waiting effect and the next, in milliseconds.
    pub spacing: i64,
    /// The end of the time in which only this effect may ask the provider, if it asked. Since its answer is known now,
    /// an earlier `until` may replace it.
    pub lease: Option<Millis>,
}

impl Store {
    /// Gives the effect back to wait for a provider until `until`, behind the effects that wait already. This counts
    /// neither as a try nor as a crash. `shown` are effects that show people the wait.
    pub async fn park(
        &self,
        hold: &Hold,
        provider: &str,
        cause: &ParkCause<'_>,
        times: &ParkTimes,
        shown: &[NewEffect],
    ) -> Result<Fenced, StoreError> {
        let ParkTimes { now, until, spacing, lease } = *times;
        let mut tx = self.db.write().await?;
        let (asked, said) = match cause {
            ParkCause::Refused { cause, said } => {
                let said = explained(said);
                let cause = cause.to_string();
                let lease = lease.unwrap_or(NEVER).0;
                tx.run(FAILED, args![provider, &cause, &said, now.0, until.0, lease]).await?;
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

    /// Gives the effect back to wait.
    pub async fn wait_out(
        &self,
        hold: &Hold,
        wait: &EffectWait<'_>,
        shown: &[NewEffect],
    ) -> Result<Fenced, StoreError> {
        self.wait(WAIT_OUT, hold, wait, shown).await
    }

    /// Records that the holder of the effect waits, and keeps it.
    pub async fn stall(&self, hold: &Hold, wait: &EffectWait<'_>, shown: &[NewEffect]) -> Result<Fenced, StoreError> {
        self.wait(STALL, hold, wait, shown).await
    }

    async fn wait(
        &self,
        sql: &'static str,
        hold: &Hold,
        wait: &EffectWait<'_>,
        shown: &[NewEffect],
    ) -> Result<Fenced, StoreError> {
        let (effect, worker, why) = (&hold.effect, &hold.worker, explained(wait.why));
        let mut tx = self.db.write().await?;
        let arguments = args![effect, worker, hold.fence, wait.until.0, &why, word(wait.on), wait.now.0];
        let fenced = written(tx.run(sql, arguments).await?);
        effect::insert_all(&mut tx, &shown.iter().collect::<Vec<_>>()).await?;
        self.db.publish(tx).await?;
        Ok(fenced)
    }

    /// Records that a provider refused us `now` and must not be asked before `until`.
    pub async fn provider_refused(
        &self,
        provider: &str,
        cause: Trouble,
        said: &str,
        now: Millis,
        until: Millis,
    ) -> Result<(), StoreError> {
        let (cause, said) = (cause.to_string(), explained(said));
        self.db.run(FAILED, args![provider, &cause, &said, now.0, until.0, NEVER.0]).await?;
        Ok(())
    }

    /// Records that the provider served the effect. The effects that wait for it become due.
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

    /// Returns the current trouble of a provider, if any.
    pub async fn provider_trouble(&self, provider: &str) -> Result<Option<ProviderTrouble>, StoreError> {
        let row = self.db.row(ONE, args![provider]).await?;
        row.map(|row| trouble(&row)).transpose()
    }

    /// Returns every provider that refused us when it was last asked.
    pub async fn troubled_providers(&self) -> Result<Vec<ProviderTrouble>, StoreError> {
        let rows = self.db.rows(ALL, args![]).await?;
        rows.iter().map(trouble).collect()
    }

    /// Returns the effects of a Feature that wait for a provider, for GitHub or for our own machine, the next one due
    /// first. An effect waits for GitHub or the machine until its next try succeeds, so it is included even if that is
    /// due. Effects that do not continue the work are left out, because nothing would show that their wait is over.
    pub async fn parked(&self, feature: &FeatureKey, now: Millis) -> Result<Vec<ParkedEffect>, StoreError> {
        let rows = self.db.rows(PARKED, args![&feature.to_string(), now.0]).await?;
        let parked = |row: &Row| {
            Ok(ParkedEffect {
                subject: row.text("subject")?,
                on: read_waits_on(row.text("waits_for")?),
                until: Millis(row.int("run_at")?),
            })
        };
        rows.iter().map(parked).collect()
    }
}

/// Returns the time until which the provider must not be asked, if there is one.
pub(super) async fn closed(tx: &mut Tx, provider: &str, now: Millis) -> Result<Option<Millis>, StoreError> {
    let row = tx.row(CLOSED, args![provider, now.0]).await?;
    Ok(row.map(|row| row.int("until")).transpose()?.map(Millis))
}

/// Lets one effect ask a provider in trouble: the others wait until `until`.
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
