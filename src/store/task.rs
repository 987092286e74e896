//! Tasks, their dependencies, and their Turns.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{Tx, args, statements},
};
use domain::ids::{FeatureKey, Millis, PullNumber, Sha, TaskId, TurnNumber};
use std::collections::HashMap;

statements! {
    TASKS = "SELECT name, wave, state, branch, head_sha, pull_number, data FROM task WHERE feature_id = $1 \
             ORDER BY wave, name";
    NEEDS = "SELECT task.name AS name, needed.name AS needs FROM task_needs \
             JOIN task ON task.id = task_needs.task_id JOIN task AS needed ON needed.id = task_needs.needs_id \
             WHERE task.feature_id = $1 ORDER BY task.name, needed.name";
    TURNS = "SELECT task.name AS name, turn.number, turn.state, turn.base_sha, turn.head_sha, turn.report, \
             turn.decision, turn.evidence, turn.started_at, turn.ended_at \
             FROM turn JOIN task ON task.id = turn.task_id WHERE task.feature_id = $1 ORDER BY task.name, turn.number";
    PUT_TASK = "INSERT INTO task (id, feature_id, repo_id, name, wave, state, version, branch, head_sha, \
                pull_number, data) VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10) ON CONFLICT (id) DO UPDATE SET \
                wave = excluded.wave, state = excluded.state, version = task.version + 1, branch = excluded.branch, \
                head_sha = excluded.head_sha, pull_number = excluded.pull_number, data = excluded.data";
    REMOVE_TASK = "DELETE FROM task WHERE id = $1";
    FORGET_NEEDS = "DELETE FROM task_needs WHERE task_id = $1";
    PUT_NEED = "INSERT INTO task_needs (task_id, needs_id) VALUES ($1, $2) ON CONFLICT (task_id, needs_id) DO NOTHING";
    PUT_TURN = "INSERT INTO turn (id, task_id, number, state, base_sha, head_sha, report, decision, evidence, \
                started_at, ended_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
                ON CONFLICT (id) DO UPDATE SET state = excluded.state, base_sha = excluded.base_sha, \
                head_sha = excluded.head_sha, report = excluded.report, decision = excluded.decision, \
                evidence = excluded.evidence, started_at = excluded.started_at, ended_at = excluded.ended_at";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// The Task's id within its Feature.
    pub id: TaskId,
    pub wave: u32,
    pub state: String,
    /// Its branch, once it exists.
    pub branch: Option<String>,
    /// The head of its branch that was last seen or pushed.
    pub head: Option<Sha>,
    /// Its pull request, once it exists.
    pub pull: Option<PullNumber>,
    pub data: String,
    /// The Tasks that must be done before it.
    pub needs: Vec<TaskId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    pub task: TaskId,
    pub number: TurnNumber,
    pub state: String,
    pub base: Option<Sha>,
    /// The commit that was pushed.
    pub head: Option<Sha>,
    /// The Player's report and the rest of the Turn, as JSON.
    pub report: Option<String>,
    pub decision: Option<String>,
    /// The results of the Gates, as JSON.
    pub evidence: Option<String>,
    pub started_at: Option<Millis>,
    pub ended_at: Option<Millis>,
}

pub(super) async fn tasks(tx: &mut Tx, feature: &str) -> Result<Vec<TaskRow>, StoreError> {
    let mut needs: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for row in tx.rows(NEEDS, args![feature]).await? {
        needs.entry(row.parsed("name")?).or_default().push(row.parsed("needs")?);
    }
    let rows = tx.rows(TASKS, args![feature]).await?;
    rows.iter().map(|row| read_task(row, &mut needs)).collect()
}

fn read_task(row: &Row, needs: &mut HashMap<TaskId, Vec<TaskId>>) -> Result<TaskRow, StoreError> {
    let id = row.parsed("name")?;
    Ok(TaskRow {
        id,
        wave: row.small("wave")?,
        state: row.text("state")?,
        branch: row.opt_text("branch")?,
        head: row.opt_parsed("head_sha")?,
        pull: row.opt_count("pull_number")?.map(PullNumber),
        data: row.text("data")?,
        needs: needs.remove(&id).unwrap_or_default(),
    })
}

pub(super) async fn turns(tx: &mut Tx, feature: &str) -> Result<Vec<TurnRow>, StoreError> {
    let rows = tx.rows(TURNS, args![feature]).await?;
    rows.iter().map(read_turn).collect()
}

fn read_turn(row: &Row) -> Result<TurnRow, StoreError> {
    Ok(TurnRow {
        task: row.parsed("name")?,
        number: TurnNumber(row.small("number")?),
        state: row.text("state")?,
        base: row.opt_parsed("base_sha")?,
        head: row.opt_parsed("head_sha")?,
        report: row.opt_text("report")?,
        decision: row.opt_text("decision")?,
        evidence: row.opt_text("evidence")?,
        started_at: row.opt_int("started_at")?.map(Millis),
        ended_at: row.opt_int("ended_at")?.map(Millis),
    })
}

/// Deletes Tasks that a new plan no longer has, with their Turns.
pub(super) async fn remove(tx: &mut Tx, feature: &FeatureKey, gone: &[TaskId]) -> Result<(), StoreError> {
    for task in gone {
        tx.run(REMOVE_TASK, args![&id(feature, *task)]).await?;
    }
    Ok(())
}

/// Writes new and changed Tasks first, then their dependencies, since these may refer to any of the Tasks.
pub(super) async fn put_tasks(tx: &mut Tx, feature: &FeatureKey, tasks: &[TaskRow]) -> Result<(), StoreError> {
    let feature_id = feature.to_string();
    for task in tasks {
        let (task_id, name) = (id(feature, task.id), task.id.to_string());
        let arguments = args![
            &task_id,
            &feature_id,
            column(feature.repo.0)?,
            &name,
            i64::from(task.wave),
            &task.state,
            task.branch.as_deref(),
            task.head.as_ref().map(Sha::as_str),
            task.pull.map(|pull| column(pull.0)).transpose()?,
            &task.data,
        ];
        tx.run(PUT_TASK, arguments).await?;
    }
    for task in tasks {
        let task_id = id(feature, task.id);
        tx.run(FORGET_NEEDS, args![&task_id]).await?;
        for needed in &task.needs {
            tx.run(PUT_NEED, args![&task_id, &id(feature, *needed)]).await?;
        }
    }
    Ok(())
}

/// Writes new and changed Turns.
pub(super) async fn put_turns(tx: &mut Tx, feature: &FeatureKey, turns: &[TurnRow]) -> Result<(), StoreError> {
    for turn in turns {
        let task_id = id(feature, turn.task);
        let turn_id = format!("{task_id}/{}", turn.number);
        let arguments = args![
            &turn_id,
            &task_id,
            i64::from(turn.number.0),
            &turn.state,
            turn.base.as_ref().map(Sha::as_str),
            turn.head.as_ref().map(Sha::as_str),
            turn.report.as_deref(),
            turn.decision.as_deref(),
            turn.evidence.as_deref(),
            turn.started_at.map(|at| at.0),
            turn.ended_at.map(|at| at.0),
        ];
        tx.run(PUT_TURN, arguments).await?;
    }
    Ok(())
}

fn id(feature: &FeatureKey, task: TaskId) -> String {
    format!("{feature}/{task}")
}
