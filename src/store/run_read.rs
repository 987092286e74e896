//! Reads the ledger: the cost of single runs, and sums.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{args, statements},
    store::Store,
};
use domain::{
    cost::{Cost, EarlierTasks},
    ids::{FeatureKey, InstallationId, Millis, RepoId, TaskId, TurnNumber},
    isolation::Level,
};
use std::collections::BTreeMap;
use text::usage::{Tokens, Usage};

/// The money that a run used. A lost run counts with its reserved share.
macro_rules! money {
    () => {
        "CASE WHEN state = 'lost' AND reserved_micros > 0 THEN reserved_micros ELSE usd_micros END"
    };
}

/// The sums over runs that are over, which are columns of a [`Cost`].
macro_rules! sums_of_ended {
    () => {
        concat!(
            "COUNT(*) AS agent_runs, CAST(SUM(agent_ms) AS BIGINT) AS agent_ms, CAST(SUM(", $crate::store::run_read::money!(), ") AS BIGINT) \
             AS micros, COUNT(*) FILTER (WHERE estimated = 1 AND ", $crate::store::run_read::money!(), " IS NOT NULL) AS guessed, \
             COUNT(*) FILTER (WHERE state <> 'running' AND ", $crate::store::run_read::money!(), " IS NULL) AS unknown, \
             CAST(SUM(input_tokens) AS BIGINT) AS input_tokens, CAST(SUM(cached_tokens) AS BIGINT) AS cached_tokens, \
             CAST(SUM(cache_write_tokens) AS BIGINT) AS cache_write_tokens, \
             CAST(SUM(output_tokens) AS BIGINT) AS output_tokens"
        )
    };
}
pub(super) use {money, sums_of_ended};

/// The columns of a [`Cost`].
macro_rules! costs {
    () => {
        concat!(sums_of_ended!(), ", COUNT(*) FILTER (WHERE state = 'running') AS running FROM run")
    };
}

/// The columns of a [`StoredRun`].
macro_rules! columns {
    () => {
        "id, effect_id, feature_id, task, turn, role, agent, model, level, state, estimated, input_tokens, cached_tokens, \
         cache_write_tokens, output_tokens, agent_ms, prompt_chars, runs, failure, started_at, ended_at, "
    };
}

statements! {
    RUNS = concat!("SELECT ", columns!(), money!(), " AS micros FROM run WHERE feature_id = $1 ",
                   "AND COALESCE(task = $2, $2 IS NULL) ORDER BY started_at, id");
    EVENTS = "SELECT events FROM run WHERE id = $1";
    COSTS = concat!("SELECT task, ", costs!(), " WHERE feature_id = $1 GROUP BY task");
    TOTALS = concat!("SELECT role, agent, COALESCE(model, '') AS model, CASE WHEN state = 'ended' \
                     THEN COALESCE(failure, 'ok') ELSE state END AS outcome, ", costs!(),
                     " WHERE counted <> 1 GROUP BY 1, 2, 3, 4");
    // By the newest installation of an account, whose limit they count to.
    SPENT_BY_DAY = concat!("SELECT COALESCE(payer.newest, installation_id) AS installation_id, repo_id, \
                           started_at / 86400000 AS day, CAST(COALESCE(SUM(", money!(),
                           "), 0) AS BIGINT) AS micros, COUNT(*) AS agent_runs, \
                           COUNT(*) FILTER (WHERE state <> 'running' AND ", money!(), " IS NULL) AS unknown \
                           FROM run LEFT JOIN (SELECT own.installation_id AS installation, \
                           MAX(other.installation_id) AS newest FROM account own \
                           JOIN account other ON other.account_id = own.account_id GROUP BY 1) AS payer \
                           ON payer.installation = installation_id \
                           WHERE started_at >= $1 AND started_at < $2 GROUP BY 1, 2, 3 ORDER BY 3, 1, 2");
    EARLIER = "SELECT CAST(AVG(spent) AS BIGINT) AS micros, COUNT(*) AS tasks FROM (SELECT SUM(usd_micros) AS spent \
               FROM run WHERE repo_id = $1 AND task IS NOT NULL AND state = 'ended' AND started_at >= $2 \
               GROUP BY feature_id, task) AS per_task WHERE spent > 0";
    TRACED = "SELECT feature_id, task, MAX(started_at) AS newest FROM run WHERE feature_id <> '' GROUP BY feature_id, task \
              ORDER BY 3 DESC, 1, 2 LIMIT 1000";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It began and has not ended.
    Running,
    /// It ended, and its usage is as complete as it will ever be.
    Ended,
    /// The process that ran it ended first. It counts with its reserved share.
    Lost,
}

text::words!(RunState {
    Running = "running",
    Ended = "ended",
    Lost = "lost",
});

/// A stored run, without its events; see [`Store::run_events`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    pub id: String,
    pub effect: String,
    pub feature: FeatureKey,
    /// The task; `None` for the planner.
    pub task: Option<TaskId>,
    pub turn: TurnNumber,
    pub role: String,
    pub agent: String,
    pub model: Option<String>,
    /// The isolation level under which it ran.
    pub level: Option<Level>,
    pub state: RunState,
    /// Its usage; for a lost run, its reserved share of money.
    pub usage: Usage,
    /// The length of its prompt, in characters.
    pub prompt_chars: u64,
    /// The number of programs that were started.
    pub runs: u32,
    /// The word for its failure; `None` if it answered or has not ended.
    pub failure: Option<String>,
    pub started_at: Millis,
    pub ended_at: Option<Millis>,
}

/// The sum over all runs with the same role, agent, model and outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTotal {
    pub role: String,
    pub agent: String,
    /// The model; empty if it is not known.
    pub model: String,
    /// `ok`, the word for a failure, `running` or `lost`.
    pub outcome: String,
    pub cost: Cost,
}

/// The cost of one day's runs in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpent {
    pub installation: InstallationId,
    pub repo: RepoId,
    /// The beginning of the day, UTC.
    pub day: Millis,
    /// The known cost, in millionths of a US dollar.
    pub usd_micros: u64,
    pub runs: u32,
    /// The number of runs that are over and whose cost is unknown.
    pub unknown: u32,
}

/// One day in milliseconds.
const DAY_MS: i64 = 86_400_000;

impl Store {
    /// Returns the spending from `from` up to `to` (exclusive), by day and repository, the oldest day first.
    pub async fn spent_by_day(&self, from: Millis, to: Millis) -> Result<Vec<DaySpent>, StoreError> {
        let rows = self.db.rows(SPENT_BY_DAY, args![from.0, to.0]).await?;
        let spent = |row: &Row| {
            Ok(DaySpent {
                installation: InstallationId(row.count("installation_id")?),
                repo: RepoId(row.count("repo_id")?),
                day: Millis(row.int("day")?.saturating_mul(DAY_MS)),
                usd_micros: row.count("micros")?,
                runs: row.small("agent_runs")?,
                unknown: row.small("unknown")?,
            })
        };
        rows.iter().map(spent).collect()
    }

    /// Returns the runs of a Feature, or of one of its tasks, oldest first.
    pub async fn runs_of(&self, feature: &FeatureKey, task: Option<TaskId>) -> Result<Vec<StoredRun>, StoreError> {
        let (feature, task) = (feature.to_string(), task.map(|task| task.to_string()));
        let rows = self.db.rows(RUNS, args![&feature, task.as_deref()]).await?;
        rows.iter().map(read).collect()
    }

    pub async fn run_events(&self, id: &str) -> Result<Option<String>, StoreError> {
        let row = self.db.row(EVENTS, args![id]).await?;
        Ok(row.map(|row| row.opt_text("events")).transpose()?.flatten())
    }

    /// Returns the newest 1000 tasks with stored runs, newest first. The task of a planner's run is `None`.
    pub async fn traced(&self) -> Result<Vec<(FeatureKey, Option<TaskId>)>, StoreError> {
        let rows = self.db.rows(TRACED, args![]).await?;
        rows.iter().map(|row| Ok((row.parsed("feature_id")?, row.opt_parsed("task")?))).collect()
    }

    /// Returns the cost of a Feature so far, by task. `None` holds the cost that belongs to no task.
    pub async fn costs(&self, feature: &FeatureKey) -> Result<BTreeMap<Option<TaskId>, Cost>, StoreError> {
        let rows = self.db.rows(COSTS, args![&feature.to_string()]).await?;
        rows.iter().map(|row| Ok((row.opt_parsed("task")?, cost(row)?))).collect()
    }

    /// Returns the sums over all runs ever, by role, agent, model and outcome.
    pub async fn run_totals(&self) -> Result<Vec<RunTotal>, StoreError> {
        let rows = self.db.rows(TOTALS, args![]).await?;
        let fresh = rows.iter().map(total).collect::<Result<Vec<_>, _>>()?;
        let mut sums: BTreeMap<[String; 4], Cost> = BTreeMap::new();
        for total in self.counted_runs().await?.into_iter().chain(fresh) {
            *sums.entry([total.role, total.agent, total.model, total.outcome]).or_default() += total.cost;
        }
        let total =
            |([role, agent, model, outcome], cost): ([String; 4], Cost)| RunTotal { role, agent, model, outcome, cost };
        Ok(sums.into_iter().map(total).collect())
    }

    /// Returns the cost of the repository's tasks since `since`; `None` if no cost is known.
    pub async fn usual_cost(&self, repo: RepoId, since: Millis) -> Result<Option<EarlierTasks>, StoreError> {
        let row = self.db.row(EARLIER, args![column(repo.0)?, since.0]).await?;
        let Some(row) = row else { return Ok(None) };
        let average = row.opt_count("micros")?;
        average.map(|average| Ok(EarlierTasks { average, count: row.count("tasks")? })).transpose()
    }
}

pub(super) fn total(row: &Row) -> Result<RunTotal, StoreError> {
    Ok(RunTotal {
        role: row.text("role")?,
        agent: row.text("agent")?,
        model: row.text("model")?,
        outcome: row.text("outcome")?,
        cost: cost(row)?,
    })
}

fn cost(row: &Row) -> Result<Cost, StoreError> {
    Ok(Cost {
        agent_runs: row.small("agent_runs")?,
        agent_ms: row.count("agent_ms")?,
        usd_micros: row.opt_count("micros")?,
        estimated_runs: row.small("guessed")?,
        unknown_runs: row.small("unknown")?,
        open_runs: row.small("running")?,
        tokens: tokens(row)?,
    })
}

fn tokens(row: &Row) -> Result<Tokens, StoreError> {
    Ok(Tokens {
        input: row.count("input_tokens")?,
        cached: row.count("cached_tokens")?,
        cache_write: row.count("cache_write_tokens")?,
        output: row.count("output_tokens")?,
    })
}

fn read(row: &Row) -> Result<StoredRun, StoreError> {
    let level = row.opt_int("level")?;
    let level = level.and_then(|level| u8::try_from(level).ok()?.try_into().ok());
    Ok(StoredRun {
        id: row.text("id")?,
        effect: row.text("effect_id")?,
        feature: row.parsed("feature_id")?,
        task: row.opt_parsed("task")?,
        turn: TurnNumber(row.small("turn")?),
        role: row.text("role")?,
        agent: row.text("agent")?,
        model: row.opt_text("model")?,
        level,
        state: row.parsed("state")?,
        usage: Usage {
            tokens: tokens(row)?,
            usd_micros: row.opt_count("micros")?,
            estimated: row.int("estimated")? != 0,
            agent_ms: row.count("agent_ms")?,
        },
        prompt_chars: row.count("prompt_chars")?,
        runs: row.small("runs")?,
        failure: row.opt_text("failure")?,
        started_at: Millis(row.int("started_at")?),
        ended_at: row.opt_int("ended_at")?.map(Millis),
    })
}
