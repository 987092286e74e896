//! A Feature's row, and a whole Feature read from one snapshot. The row can be read whoever stored it, so that a Feature
//! of a newer program stops nothing but itself.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{Tx, args, statements},
    store::Store,
    task,
    task::{TaskRow, TurnRow},
};
use domain::ids::{FeatureKey, InstallationId, PullNumber};

/// The columns of a [`FeatureRow`].
macro_rules! columns {
    () => {
        "id, installation_id, state, branch, pull_number, held"
    };
}
pub(super) use columns;

/// The version of the JSON that this program stores for Features, tasks and turns. It also reads the versions of
/// earlier releases. Raise it with a change that the previous release cannot read.
pub const FORMAT: i64 = 2;

/// The format that the previous release reads. A Feature is stored so unless its JSON holds one of [`NEW_WORDS`], so that
/// the previous release goes on with it: during an upgrade, and after going back.
const PREVIOUS: i64 = 1;

/// The variants in the JSON that the previous release does not know. `UPDATE_DOCS=1 cargo test --test house` writes the
/// file.
const NEW_WORDS: &str = include_str!("new_words.txt");

statements! {
    READ = concat!("SELECT ", columns!(), ", version, format, data FROM feature WHERE id = $1");
    CREATE = "INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, branch, \
              pull_number, held, data, format) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING";
    SWAP = "UPDATE feature SET installation_id = $3, state = $4, version = version + 1, branch = $5, pull_number = $6, \
            held = $7, data = $8, format = CASE WHEN format > $9 THEN format ELSE $9 END WHERE id = $1 AND version = $2";
}

/// The columns of a Feature. They can be read even if a newer program stored its JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureRow {
    pub key: FeatureKey,
    /// The installation that gives access to its repository.
    pub installation: InstallationId,
    pub state: String,
    /// The integration branch, once it exists.
    pub branch: Option<String>,
    /// The feature pull request, once it exists.
    pub pull: Option<PullNumber>,
    /// `true` if its waiting effects (see `waits`) are held back.
    pub held: bool,
}

/// A Feature with its Tasks and Turns, all read from one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFeature {
    pub row: FeatureRow,
    /// The rest of the Feature, as JSON.
    pub data: String,
    /// The version. A change must name it, or is refused.
    pub version: i64,
    /// Its Tasks, by wave and name.
    pub tasks: Vec<TaskRow>,
    /// Their Turns, by Task and number.
    pub turns: Vec<TurnRow>,
}

/// The JSON of a Feature, and the format of all JSON that is stored with it.
#[derive(Clone, Copy)]
pub(super) struct Json<'a> {
    pub(super) data: &'a str,
    pub(super) format: i64,
}

/// The result of writing a Feature's row.
pub(super) enum SaveOutcome {
    /// The row is stored, with this version.
    At(i64),
    /// Another writer changed it first.
    LostRace,
    /// The issue already has this run, or another unfinished one.
    RunExists,
}

impl Store {
    /// Returns the Feature with this key, if there is one. Fails if a newer program stored it.
    pub async fn feature(&self, key: &FeatureKey) -> Result<Option<StoredFeature>, StoreError> {
        let id = key.to_string();
        let mut tx = self.db.snapshot().await?;
        let Some(row) = tx.row(READ, args![&id]).await? else {
            tx.rollback().await?;
            return Ok(None);
        };
        let format = row.int("format")?;
        if format > FORMAT {
            return Err(StoreError::Newer { format, known: FORMAT });
        }
        let tasks = task::tasks(&mut tx, &id).await?;
        let turns = task::turns(&mut tx, &id).await?;
        tx.rollback().await?;
        let (data, version) = (row.text("data")?, row.int("version")?);
        Ok(Some(StoredFeature { row: read(&row)?, data, version, tasks, turns }))
    }
}

pub(super) fn read(row: &Row) -> Result<FeatureRow, StoreError> {
    Ok(FeatureRow {
        key: row.parsed("id")?,
        installation: InstallationId(row.count("installation_id")?),
        state: row.text("state")?,
        branch: row.opt_text("branch")?,
        pull: row.opt_count("pull_number")?.map(PullNumber),
        held: row.int("held")? == 1,
    })
}

/// Writes the row if its version is still `expected`, or creates it if none is expected.
pub(super) async fn save(
    tx: &mut Tx,
    row: &FeatureRow,
    json: Json<'_>,
    expected: Option<i64>,
) -> Result<SaveOutcome, StoreError> {
    match expected {
        None => create(tx, row, json).await,
        Some(version) => swap(tx, row, json, version).await,
    }
}

/// Returns the format of this JSON of a Feature, its tasks and its turns.
pub(super) fn format_of<'a>(mut texts: impl Iterator<Item = &'a str>) -> i64 {
    let words: Vec<String> = NEW_WORDS.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    let has_new = |text: &str| words.iter().any(|word| text.contains(word));
    if texts.any(has_new) { FORMAT } else { PREVIOUS }
}

async fn create(tx: &mut Tx, row: &FeatureRow, json: Json<'_>) -> Result<SaveOutcome, StoreError> {
    const FIRST: i64 = 1;
    let id = row.key.to_string();
    let arguments = args![
        &id,
        column(row.installation.0)?,
        column(row.key.repo.0)?,
        column(row.key.issue.0)?,
        i64::from(row.key.run),
        &row.state,
        FIRST,
        row.branch.as_deref(),
        row.pull.map(|pull| column(pull.0)).transpose()?,
        i64::from(row.held),
        json.data,
        json.format,
    ];
    match tx.run(CREATE, arguments).await? {
        0 => Ok(SaveOutcome::RunExists),
        _ => Ok(SaveOutcome::At(FIRST)),
    }
}

async fn swap(tx: &mut Tx, row: &FeatureRow, json: Json<'_>, version: i64) -> Result<SaveOutcome, StoreError> {
    let id = row.key.to_string();
    let arguments = args![
        &id,
        version,
        column(row.installation.0)?,
        &row.state,
        row.branch.as_deref(),
        row.pull.map(|pull| column(pull.0)).transpose()?,
        i64::from(row.held),
        json.data,
        json.format,
    ];
    match tx.run(SWAP, arguments).await {
        Ok(0) => Ok(SaveOutcome::LostRace),
        Ok(_) => Ok(SaveOutcome::At(version.saturating_add(1))),
        // A finished run would continue beside another unfinished one.
        Err(error) if error.is_unique_violation() => Ok(SaveOutcome::RunExists),
        Err(error) => Err(error),
    }
}
