//! The events of a Feature in their order, one per cause.

use crate::store::{
    error::StoreError,
    row::Row,
    sql::{Tx, args, statements},
    store::Store,
};
use domain::ids::{FeatureKey, Millis};

statements! {
    APPEND = "INSERT INTO event (stream, seq, kind, body, cause, actor, at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    KNOWN = "SELECT seq FROM event WHERE stream = $1 AND cause = $2";
    READ = "SELECT stream, seq, kind, body, cause, actor, at FROM event WHERE stream = $1 ORDER BY seq";
    CAUSES = "SELECT cause FROM event WHERE stream = $1 ORDER BY seq";
    // Leaves out acts that every Feature needs (label, merge), and events around the Feature (pushes to the default
    // branch, suspensions).
    ACTS_OF_PEOPLE = "SELECT COUNT(*) AS acts FROM event WHERE stream = $1 AND actor <> 'autobuild' AND kind NOT IN \
            ('labelled', 'pull_merged', 'default_pushed', 'default_conflicts', 'suspended', 'unsuspended')";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    pub kind: String,
    pub body: String,
    /// The id of the fact that caused it. One fact changes a Feature only once.
    pub cause: String,
    /// Who caused it: a person's login, `autobuild` or `installation`.
    pub actor: String,
    /// When it was recorded.
    pub at: Millis,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The version of the Feature that it led to.
    pub seq: i64,
    pub event: NewEvent,
}

impl Store {
    /// Returns how often people acted on a Feature between its label and its merge.
    pub async fn acts_of_people(&self, stream: &FeatureKey) -> Result<u64, StoreError> {
        let row = self.db.row(ACTS_OF_PEOPLE, args![&stream.to_string()]).await?;
        row.map_or(Ok(0), |row| row.count("acts"))
    }

    /// Returns all events of a Feature, oldest first.
    pub async fn events(&self, stream: &FeatureKey) -> Result<Vec<StoredEvent>, StoreError> {
        let rows = self.db.rows(READ, args![&stream.to_string()]).await?;
        rows.iter().map(read).collect()
    }

    /// Returns the causes of all events of a Feature, oldest first.
    pub async fn causes(&self, stream: &FeatureKey) -> Result<Vec<String>, StoreError> {
        let rows = self.db.rows(CAUSES, args![&stream.to_string()]).await?;
        rows.iter().map(|row| row.text("cause")).collect()
    }
}

pub(super) async fn is_known(tx: &mut Tx, stream: &str, cause: &str) -> Result<bool, StoreError> {
    Ok(tx.row(KNOWN, args![stream, cause]).await?.is_some())
}

pub(super) async fn append(tx: &mut Tx, stream: &str, seq: i64, new: &NewEvent) -> Result<(), StoreError> {
    let arguments = args![stream, seq, &new.kind, &new.body, &new.cause, &new.actor, new.at.0];
    tx.run(APPEND, arguments).await?;
    Ok(())
}

fn read(row: &Row) -> Result<StoredEvent, StoreError> {
    Ok(StoredEvent {
        seq: row.int("seq")?,
        event: NewEvent {
            kind: row.text("kind")?,
            body: row.text("body")?,
            cause: row.text("cause")?,
            actor: row.text("actor")?,
            at: Millis(row.int("at")?),
        },
    })
}
