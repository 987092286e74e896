//! The orders of commands on a person's own repository, each with its report. Only the database beside such a
//! repository has any.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{args, statements},
    store::Store,
};

statements! {
    ALL = "SELECT number, wanted, report FROM local_order ORDER BY number";
    REPORT = "SELECT number, wanted, report FROM local_order WHERE number = $1";
    ADD = "INSERT INTO local_order (number, wanted) SELECT COALESCE(MAX(number), 0) + 1, $1 FROM local_order";
    NEWEST = "SELECT MAX(number) AS number FROM local_order";
    KEEP = "UPDATE local_order SET wanted = $2 WHERE number = $1";
    KEEP_REPORT = "UPDATE local_order SET report = $2 WHERE number = $1";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOrder {
    pub number: u64,
    /// The order as JSON.
    pub wanted: String,
    /// The progress as JSON; `None` before anybody worked on it.
    pub report: Option<String>,
}

impl Store {
    /// Returns all orders, oldest first.
    pub async fn local_orders(&self) -> Result<Vec<StoredOrder>, StoreError> {
        self.db.rows(ALL, args![]).await?.iter().map(read).collect()
    }

    pub async fn local_order(&self, number: u64) -> Result<Option<StoredOrder>, StoreError> {
        let row = self.db.row(REPORT, args![column(number)?]).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Stores an order under the next number and returns that.
    pub async fn add_local_order(&self, wanted: &str) -> Result<u64, StoreError> {
        let mut tx = self.db.write().await?;
        tx.run(ADD, args![wanted]).await?;
        let newest = tx.row(NEWEST, args![]).await?;
        tx.commit().await?;
        newest.map_or(Ok(0), |row| row.count("number"))
    }

    pub async fn keep_local_order(&self, number: u64, wanted: &str) -> Result<(), StoreError> {
        self.db.run(KEEP, args![column(number)?, wanted]).await?;
        Ok(())
    }

    /// Replaces an order's report.
    pub async fn keep_local_report(&self, number: u64, report: &str) -> Result<(), StoreError> {
        self.db.run(KEEP_REPORT, args![column(number)?, report]).await?;
        Ok(())
    }
}

fn read(row: &Row) -> Result<StoredOrder, StoreError> {
    Ok(StoredOrder { number: row.count("number")?, wanted: row.text("wanted")?, report: row.opt_text("report")? })
}
