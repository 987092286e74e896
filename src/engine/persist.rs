//! Converts a Feature to rows of the store, and back.

use crate::store::{FeatureRow, StoredFeature, TaskRow, TurnRow};
use domain::{
    feature::Feature,
    ids::{Millis, TaskId, TurnNumber},
    report::{Discrepancy, LeftOut, PlayerReport},
    task::{Task, Turn, TurnInput, TurnKind, Work},
};
use serde::{Deserialize, Serialize};

/// A row that this version cannot read.
#[derive(Debug, thiserror::Error)]
#[error("the stored {what} cannot be read")]
pub struct Unreadable {
    what: String,
    #[source]
    source: serde_json::Error,
}

fn unreadable(what: impl Into<String>) -> impl FnOnce(serde_json::Error) -> Unreadable {
    let what = what.into();
    move |source| Unreadable { what, source }
}

/// A stored task with the numbers of its valid turns. A turn that was taken back leaves its row behind.
#[derive(Serialize, Deserialize)]
struct TaskData {
    task: Task,
    turns: Vec<TurnNumber>,
}

/// The content of a turn's `report` column: everything except verdict and evidence, which have columns of their own.
#[derive(Serialize, Deserialize)]
struct Account {
    attempt: u32,
    kind: TurnKind,
    #[serde(rename = "told")]
    input: TurnInput,
    ci_since: Option<Millis>,
    work: Work,
    report: Option<PlayerReport>,
    left_out: Vec<LeftOut>,
    discrepancies: Vec<Discrepancy>,
}

pub fn read(stored: &StoredFeature) -> Result<Feature, Unreadable> {
    let mut feature: Feature = serde_json::from_str(&stored.data).map_err(unreadable("Feature"))?;
    let mut rows: Vec<&TaskRow> = stored.tasks.iter().collect();
    rows.sort_by_key(|row| row.id);
    for row in rows {
        let data: TaskData = serde_json::from_str(&row.data).map_err(unreadable(row.id.to_string()))?;
        let mut task = data.task;
        let is_valid = |turn: &&TurnRow| turn.task == task.id && data.turns.contains(&turn.number);
        let mut turns: Vec<&TurnRow> = stored.turns.iter().filter(is_valid).collect();
        turns.sort_by_key(|turn| turn.number);
        task.turns = turns.into_iter().map(read_turn).collect::<Result<_, _>>()?;
        feature.tasks.push(task);
    }
    Ok(feature)
}

fn read_turn(row: &TurnRow) -> Result<Turn, Unreadable> {
    let what = || format!("turn {} of {}", row.number, row.task);
    let account: Account = serde_json::from_str(row.report.as_deref().unwrap_or("null")).map_err(unreadable(what()))?;
    let verdict = row.decision.as_deref().map(serde_json::from_str).transpose();
    let gates = row.evidence.as_deref().map(serde_json::from_str).transpose();
    Ok(Turn {
        number: row.number,
        attempt: account.attempt,
        kind: account.kind,
        input: account.input,
        started_at: row.started_at.unwrap_or(Millis(0)),
        ended_at: row.ended_at,
        ci_since: account.ci_since,
        base: row.base.clone(),
        head: row.head.clone(),
        work: account.work,
        report: account.report,
        left_out: account.left_out,
        discrepancies: account.discrepancies,
        gates: gates.map_err(unreadable(what()))?,
        verdict: verdict.map_err(unreadable(what()))?,
    })
}

pub struct Rows {
    pub feature: FeatureRow,
    /// The rest of the Feature, as JSON.
    pub data: String,
    pub tasks: Vec<TaskRow>,
    /// Tasks that a new plan no longer has.
    pub removed: Vec<TaskId>,
    pub turns: Vec<TurnRow>,
}

/// Returns the rows that differ between `before` and `after`.
pub fn write(before: Option<&Feature>, after: &Feature) -> Result<Rows, Unreadable> {
    let data = serde_json::to_string(after).map_err(unreadable("Feature"))?;
    let mut rows =
        Rows { feature: feature_row(after), data, tasks: Vec::new(), removed: Vec::new(), turns: Vec::new() };
    for task in &after.tasks {
        let old = before.and_then(|before| before.task(task.id));
        if old != Some(task) {
            rows.tasks.push(task_row(task)?);
        }
        for turn in &task.turns {
            if old.and_then(|old| old.turn(turn.number)) != Some(turn) {
                rows.turns.push(turn_row(task.id, turn)?);
            }
        }
    }
    let gone = before.map(|before| before.tasks.as_slice()).unwrap_or_default();
    let ids = gone.iter().map(|task| task.id);
    rows.removed = ids.filter(|id| after.task(*id).is_none()).collect();
    Ok(rows)
}

fn feature_row(feature: &Feature) -> FeatureRow {
    FeatureRow {
        key: feature.key,
        installation: feature.installation,
        state: feature.state.word().to_owned(),
        branch: feature.integration.as_ref().map(|own| own.branch.clone()),
        pull: feature.pull,
        held: feature.is_held(),
    }
}

fn task_row(task: &Task) -> Result<TaskRow, Unreadable> {
    let data = TaskData { task: task.clone(), turns: task.turns.iter().map(|turn| turn.number).collect() };
    Ok(TaskRow {
        id: task.id,
        wave: task.wave,
        state: task.state.word().to_owned(),
        branch: Some(task.branch.clone()),
        head: task.head.clone(),
        pull: task.pull,
        data: serde_json::to_string(&data).map_err(unreadable(task.id.to_string()))?,
        needs: task.plan.dependencies.clone(),
    })
}

fn turn_row(task: TaskId, turn: &Turn) -> Result<TurnRow, Unreadable> {
    let what = || format!("turn {} of {task}", turn.number);
    let account = Account {
        attempt: turn.attempt,
        kind: turn.kind,
        input: turn.input.clone(),
        ci_since: turn.ci_since,
        work: turn.work,
        report: turn.report.clone(),
        left_out: turn.left_out.clone(),
        discrepancies: turn.discrepancies.clone(),
    };
    let decision = turn.verdict.as_ref().map(serde_json::to_string).transpose();
    let evidence = turn.gates.as_ref().map(serde_json::to_string).transpose();
    Ok(TurnRow {
        task,
        number: turn.number,
        state: if turn.verdict.is_some() { "ended" } else { "open" }.to_owned(),
        base: turn.base.clone(),
        head: turn.head.clone(),
        report: Some(serde_json::to_string(&account).map_err(unreadable(what()))?),
        decision: decision.map_err(unreadable(what()))?,
        evidence: evidence.map_err(unreadable(what()))?,
        started_at: Some(turn.started_at),
        ended_at: turn.ended_at,
    })
}
