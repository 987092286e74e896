//! The ledger of agent runs: the share of the budget reserved before a run, and the usage after it.
//!
//! One transaction checks a budget and reserves a share of it, under a lock that all processes share. So parallel tasks
//! and several replicas never spend the same money twice. A lost run counts with its share.

use crate::store::{
    error::StoreError,
    hold,
    hold::{Fenced, Hold},
    pack,
    pack::NewPack,
    provider,
    row::{Row, column},
    sql::{Arg, Tx, args, statements},
    store::Store,
};
use domain::{
    budget,
    budget::{Amount, Budget, Call, Month, Purse, PurseLimits, PurseStatus, Share, ShareOutcome, Spent},
    ids::{FeatureKey, InstallationId, Millis, TaskId, TurnNumber, UserId},
    isolation::Level,
};
use text::usage::Usage;

/// The advisory lock for reserving. Only one process reserves budget at a time.
const LOCK: i64 = 0x6175_746f_0003;

/// The most bytes of a run's events that are stored.
pub const MAX_RUN_EVENTS: usize = 1 << 20;

/// Sums the usage of the matching runs and the amounts reserved for them.
macro_rules! sums {
    ($which:expr) => {
        concat!(
            "SELECT CAST(COALESCE(SUM(CASE state WHEN 'ended' THEN COALESCE(usd_micros, 0) WHEN 'lost' THEN reserved_micros \
             ELSE 0 END), 0) AS BIGINT) AS used_micros, \
             CAST(COALESCE(SUM(CASE state WHEN 'ended' THEN input_tokens + cached_tokens + cache_write_tokens + \
             output_tokens WHEN 'lost' THEN reserved_tokens ELSE 0 END), 0) AS BIGINT) AS used_tokens, \
             CAST(COALESCE(SUM(CASE state WHEN 'running' THEN 0 ELSE agent_ms END), 0) AS BIGINT) AS used_ms, \
             CAST(COALESCE(SUM(CASE state WHEN 'running' THEN COALESCE(most_micros, reserved_micros) ELSE 0 END), 0) \
             AS BIGINT) AS held_micros, \
             CAST(COALESCE(SUM(CASE state WHEN 'running' THEN reserved_tokens ELSE 0 END), 0) AS BIGINT) AS held_tokens, \
             CAST(COALESCE(SUM(CASE state WHEN 'running' THEN reserved_ms ELSE 0 END), 0) AS BIGINT) AS held_ms, \
             COUNT(*) FILTER (WHERE state = 'running') AS running FROM run WHERE ",
            $which
        )
    };
}

/// Marks the matching running runs as lost, since nobody will end them. Each counts with its share, and with the time
/// since it began, at most its reserved time.
macro_rules! lost {
    ($which:expr) => {
        concat!(
            "UPDATE run SET state = 'lost', estimated = 1, ended_at = $1, agent_ms = CASE WHEN $1 - started_at < \
             reserved_ms THEN CASE WHEN $1 > started_at THEN $1 - started_at ELSE 0 END ELSE reserved_ms END \
             WHERE state = 'running' AND ",
            $which
        )
    };
}

statements! {
    HELD = "SELECT fence FROM effect WHERE id = $1 AND worker = $2 AND fence = $3 AND state = 'running'";
    OF_TASK = sums!("feature_id = $1 AND task = $2");
    OF_FEATURE = sums!("feature_id = $1");
    // With the earlier installations of its account. A repository that moved to another account leaves its costs behind.
    OF_INSTALLATION = sums!("installation_id IN (SELECT CAST($1 AS BIGINT) UNION SELECT other.installation_id \
                             FROM account own JOIN account other ON other.account_id = own.account_id \
                             WHERE own.installation_id = $1) AND started_at >= $2 AND started_at < $3");
    ACCOUNT = "INSERT INTO account (installation_id, account_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    OF_SERVER = sums!("started_at >= $1 AND started_at < $2");
    START = "INSERT INTO run (id, effect_id, fence, installation_id, repo_id, feature_id, task, turn, role, agent, model, \
             reserved_micros, reserved_tokens, reserved_ms, started_at, prompt_chars, most_micros) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)";
    COUNT = "SELECT COUNT(*) AS earlier FROM run WHERE effect_id = $1 AND fence = $2";
    END = "UPDATE run SET state = 'ended', model = COALESCE($2, model), level = $3, usd_micros = $4, estimated = $5, \
           input_tokens = $6, cached_tokens = $7, cache_write_tokens = $8, output_tokens = $9, agent_ms = $10, \
           runs = $11, failure = $12, events = $13, ended_at = $14 WHERE id = $1 AND state <> 'ended' AND counted = 0";
    LOSE_RESULTS = "UPDATE run SET failure = 'result_lost' WHERE effect_id = $1 AND fence = $2 AND state = 'ended' \
                    AND failure IS NULL";
    LOSE_UNRECORDED = "UPDATE run SET failure = 'result_lost' WHERE effect_id = $1 AND fence = $2 AND state = 'ended' \
                       AND failure IS NULL AND NOT EXISTS \
                       (SELECT 1 FROM effect e WHERE e.id = run.effect_id AND e.external_id IS NOT NULL)";
    LOSE_EARLIER = lost!("effect_id = $2 AND fence < $3");
    LOSE_UNHELD = lost!("NOT EXISTS (SELECT 1 FROM effect e WHERE e.id = run.effect_id AND e.state = 'running' \
                         AND e.fence = run.fence)");
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    pub installation: InstallationId,
    pub feature: FeatureKey,
    /// The task; `None` for the planner.
    pub task: Option<TaskId>,
    pub turn: TurnNumber,
    pub role: String,
    pub agent: String,
    pub model: Option<String>,
    /// The length of its prompt, in characters.
    pub prompt_chars: u64,
    /// The provider whose service it needs. All work that needs a refusing provider waits together.
    pub provider: String,
    /// How long the first run to ask a provider in trouble keeps the others away, in milliseconds.
    pub spacing: i64,
    pub at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartOutcome {
    /// It may begin, and is recorded with its share.
    Run { id: String, share: Share },
    /// A budget is used up.
    Spent(Spent),
    /// The rest of a budget is reserved for other runs.
    Held,
    /// Its provider must not be asked yet.
    Waits {
        /// The time at which to try again.
        until: Millis,
    },
    /// The effect belongs to another worker now.
    Lost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedRun {
    pub id: String,
    /// The model that worked, if it is known.
    pub model: Option<String>,
    /// The isolation level under which it ran.
    pub level: Option<Level>,
    pub usage: Usage,
    /// The number of programs that were started: 2 if a bad answer was asked for again.
    pub runs: u32,
    /// The word for its failure; `None` if it answered.
    pub failure: Option<String>,
    /// Its events as JSON lines. Those beyond [`MAX_RUN_EVENTS`] are dropped.
    pub events: Option<String>,
    pub at: Millis,
}

/// The result of a run, to be stored with the effect.
#[derive(Clone, Copy, Debug)]
pub struct RunRecord<'a> {
    /// The proof that this worker may store it.
    pub hold: &'a Hold,
    /// The result, as JSON.
    pub result: &'a str,
    /// The commit of the run, if it is not on the remote.
    pub pack: Option<&'a NewPack>,
}

impl Store {
    /// Checks every budget and reserves a share, both or neither. Also marks earlier runs of the effect that nobody
    /// ended as lost.
    pub async fn start_run(
        &self,
        hold: &Hold,
        new: &NewRun,
        budget: &Budget,
        call: &Call,
    ) -> Result<StartOutcome, StoreError> {
        let mut tx = self.db.write().await?;
        tx.alone(LOCK).await?;
        let held = args![&hold.effect, &hold.worker, hold.fence];
        if tx.row(HELD, held).await?.is_none() {
            tx.rollback().await?;
            return Ok(StartOutcome::Lost);
        }
        let lost = args![new.at.0, &hold.effect, hold.fence];
        tx.run(LOSE_EARLIER, lost).await?;
        if let Some(until) = provider::closed(&mut tx, &new.provider, new.at).await? {
            tx.commit().await?;
            return Ok(StartOutcome::Waits { until });
        }
        let month = Month::of(new.at);
        let accounts = accounts(&mut tx, new, budget, month).await?;
        let outcome = match budget::share(&accounts, call, month) {
            ShareOutcome::Share(share) => {
                provider::probe(&mut tx, &new.provider, new.at.plus(new.spacing)).await?;
                let id = insert(&mut tx, hold, new, &share).await?;
                StartOutcome::Run { id, share }
            }
            ShareOutcome::Wait => StartOutcome::Held,
            ShareOutcome::Spent(spent) => StartOutcome::Spent(spent),
        };
        tx.commit().await?;
        Ok(outcome)
    }

    /// Records the usage of a run. Only the first end of a run counts; it also replaces the estimate of a run marked as
    /// lost.
    pub async fn end_run(&self, ended: &EndedRun) -> Result<(), StoreError> {
        let mut tx = self.db.write().await?;
        end(&mut tx, ended).await?;
        tx.commit().await
    }

    /// Stores the result of a run and its commit, and ends the run if `ended` is given: all at once. If the hold is
    /// lost, another worker does the work again. Then only the usage is stored, with a note that the result is lost.
    pub async fn store_result(&self, record: &RunRecord<'_>, ended: Option<&EndedRun>) -> Result<Fenced, StoreError> {
        let mut tx = self.db.write().await?;
        let fenced = hold::record(&mut tx, record.hold, record.result).await?;
        match (fenced, record.pack) {
            (Fenced::Written, Some(pack)) => pack::put(&mut tx, pack).await?,
            (Fenced::Written | Fenced::Lost, _) => {}
        }
        if let Some(ended) = ended {
            end(&mut tx, ended).await?;
        }
        if fenced == Fenced::Lost {
            tx.run(LOSE_RESULTS, args![&record.hold.effect, record.hold.fence]).await?;
        }
        tx.commit().await?;
        Ok(fenced)
    }

    /// Notes the account of an installation, so that what it spent counts for the account's other installations too.
    pub async fn note_account(&self, installation: InstallationId, account: UserId) -> Result<(), StoreError> {
        self.db.run(ACCOUNT, args![column(installation.0)?, column(account.0)?]).await?;
        Ok(())
    }

    /// Marks the runs of a claim that was lost: nobody can use their result any more, unless it was stored.
    pub async fn lose_results(&self, hold: &Hold) -> Result<(), StoreError> {
        self.db.run(LOSE_UNRECORDED, args![&hold.effect, hold.fence]).await?;
        Ok(())
    }
}

async fn end(tx: &mut Tx, ended: &EndedRun) -> Result<(), StoreError> {
    let tokens = ended.usage.tokens;
    let events = ended.events.as_deref().map(shortened);
    let arguments = args![
        &ended.id,
        ended.model.as_deref(),
        ended.level.map(|level| i64::from(u8::from(level))),
        ended.usage.usd_micros.map(bounded),
        i64::from(ended.usage.estimated),
        bounded(tokens.input),
        bounded(tokens.cached),
        bounded(tokens.cache_write),
        bounded(tokens.output),
        bounded(ended.usage.agent_ms),
        i64::from(ended.runs),
        ended.failure.as_deref(),
        events.as_deref(),
        ended.at.0,
    ];
    tx.run(END, arguments).await?;
    Ok(())
}

/// Marks running runs as lost if nobody holds their effect any more.
pub(super) async fn lose_unheld(tx: &mut Tx, now: Millis) -> Result<(), StoreError> {
    tx.run(LOSE_UNHELD, args![now.0]).await?;
    Ok(())
}

async fn accounts(tx: &mut Tx, new: &NewRun, budget: &Budget, month: Month) -> Result<Vec<PurseStatus>, StoreError> {
    let feature = new.feature.to_string();
    let task = new.task.map(|task| task.to_string());
    let (from, to) = (month.start().0, month.next().start().0);
    let mut accounts = Vec::new();
    let of_task: &[Arg<'_>] = args![&feature, task.as_deref()];
    let purses: [(Purse, PurseLimits, &'static str, &[Arg<'_>]); 4] = [
        (Purse::Task, budget.task, OF_TASK, of_task),
        (Purse::Feature, budget.feature, OF_FEATURE, args![&feature]),
        (Purse::Installation, budget.installation, OF_INSTALLATION, args![column(new.installation.0)?, from, to]),
        (Purse::Server, budget.server, OF_SERVER, args![from, to]),
    ];
    for (purse, allowed, sql, arguments) in purses {
        let unlimited = allowed.limits == budget::Limits::default();
        if unlimited || (purse == Purse::Task && task.is_none()) {
            continue;
        }
        if let Some(row) = tx.row(sql, arguments).await? {
            accounts.push(account(purse, allowed, &row)?);
        }
    }
    Ok(accounts)
}

fn account(purse: Purse, allowed: PurseLimits, row: &Row) -> Result<PurseStatus, StoreError> {
    Ok(PurseStatus {
        purse,
        allowed,
        used: Amount {
            usd_micros: row.count("used_micros")?,
            tokens: row.count("used_tokens")?,
            ms: row.count("used_ms")?,
        },
        reserved: Amount {
            usd_micros: row.count("held_micros")?,
            tokens: row.count("held_tokens")?,
            ms: row.count("held_ms")?,
        },
        running: row.small("running")?,
    })
}

async fn insert(tx: &mut Tx, hold: &Hold, new: &NewRun, share: &Share) -> Result<String, StoreError> {
    let feature = new.feature.to_string();
    let task = new.task.map(|task| task.to_string());
    let earlier = tx.row(COUNT, args![&hold.effect, hold.fence]).await?;
    let earlier = earlier.map(|row| row.int("earlier")).transpose()?.unwrap_or(0);
    let id = format!("{}/{}/{earlier}", hold.effect, hold.fence);
    let arguments = args![
        &id,
        &hold.effect,
        hold.fence,
        column(new.installation.0)?,
        column(new.feature.repo.0)?,
        &feature,
        task.as_deref(),
        i64::from(new.turn.0),
        &new.role,
        &new.agent,
        new.model.as_deref(),
        bounded(share.usd_micros.unwrap_or(0)),
        bounded(share.tokens.unwrap_or(0)),
        bounded(share.ms),
        new.at.0,
        bounded(new.prompt_chars),
        bounded(share.most_usd_micros.unwrap_or(0)),
    ];
    tx.run(START, arguments).await?;
    Ok(id)
}

/// Converts a count to the type of a column.
fn bounded(count: u64) -> i64 {
    // Capped so that sums over a month fit into 64 bits for any report of an agent.
    const MOST: u64 = 1 << 48;
    i64::try_from(count.min(MOST)).unwrap_or(i64::MAX)
}

/// Cuts the events to whole lines within [`MAX_RUN_EVENTS`].
fn shortened(events: &str) -> String {
    let kept = events.get(..events.floor_char_boundary(MAX_RUN_EVENTS)).unwrap_or(events);
    match (kept.len() < events.len(), kept.rfind('\n')) {
        (true, Some(end)) => kept.get(..=end).unwrap_or_default().to_owned(),
        (true, None) => String::new(),
        (false, _) => kept.replace('\0', ""),
    }
}
