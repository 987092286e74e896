//! The orders of commands on a person's own repository, each with its report. Only the database beside such a
//! repository has any.

use crate::store::{
    error::StoreError,
    row::{Row, column},
    sql::{Flush, Single, args, statements},
    store::Store,
};

statements! {
    ALL = "SELECT number, wanted, report FROM local_order ORDER BY number";
    ONE = "SELECT number, wanted, report FROM local_order WHERE number = $1";
    ADD = "INSERT INTO local_order (number, wanted) SELECT COALESCE(MAX(number), 0) + 1, $1 FROM local_order \
           RETURNING number";
    REPLACE_ORDER = "UPDATE local_order SET wanted = $2 WHERE number = $1";
    REPLACE_REPORT = "UPDATE local_order SET report = $2 WHERE number = $1";
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOrder {
    pub number: u64,
    /// The order as JSON.
    pub order: String,
    /// The progress as JSON; `None` before anybody worked on it.
    pub report: Option<String>,
}

impl Store {
    /// Returns all orders, oldest first.
    pub async fn local_orders(&self) -> Result<Vec<StoredOrder>, StoreError> {
        self.db.rows(ALL, args![]).await?.iter().map(read).collect()
    }

    pub async fn local_order(&self, number: u64) -> Result<Option<StoredOrder>, StoreError> {
        let row = self.db.row(ONE, args![column(number)?]).await?;
        row.map(|row| read(&row)).transpose()
    }

    /// Stores an order under the next number and returns that.
    pub async fn add_local_order(&self, order: &str) -> Result<u64, StoreError> {
        let single = Single { sql: ADD, args: args![order], flush: Flush::AtCommit, lock: None, wakes: false };
        let added = self.db.single(single).await?.rows;
        let number = added.first().map(|row| row.count("number"));
        number.unwrap_or_else(|| Err(StoreError::unreadable("number", "it was not returned")))
    }

    pub async fn replace_local_order(&self, number: u64, order: &str) -> Result<(), StoreError> {
        self.db.run(REPLACE_ORDER, args![column(number)?, order]).await?;
        Ok(())
    }

    pub async fn replace_local_report(&self, number: u64, report: &str) -> Result<(), StoreError> {
        self.db.run(REPLACE_REPORT, args![column(number)?, report]).await?;
        Ok(())
    }
}

fn read(row: &Row) -> Result<StoredOrder, StoreError> {
    Ok(StoredOrder { number: row.count("number")?, order: row.text("wanted")?, report: row.opt_text("report")? })
}
