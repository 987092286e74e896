//! Reading columns of either driver's rows, and the values that columns can hold.

use crate::store::error::StoreError;
use sqlx::{Row as _, postgres::PgRow, sqlite::SqliteRow};

/// One row of a result.
pub(super) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Reads a column as one type from either driver's row.
macro_rules! column {
    ($row:expr, $name:expr) => {
        match $row {
            Row::Sqlite(row) => row.try_get($name),
            Row::Postgres(row) => row.try_get($name),
        }
        .map_err(|error| StoreError::unreadable($name, error))
    };
}

impl Row {
    pub(super) fn int(&self, name: &'static str) -> Result<i64, StoreError> {
        column!(self, name)
    }

    pub(super) fn opt_int(&self, name: &'static str) -> Result<Option<i64>, StoreError> {
        column!(self, name)
    }

    pub(super) fn text(&self, name: &'static str) -> Result<String, StoreError> {
        column!(self, name)
    }

    pub(super) fn opt_text(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        column!(self, name)
    }

    /// A number that is never negative.
    pub(super) fn count(&self, name: &'static str) -> Result<u64, StoreError> {
        unsigned(name, self.int(name)?)
    }

    pub(super) fn opt_count(&self, name: &'static str) -> Result<Option<u64>, StoreError> {
        self.opt_int(name)?.map(|value| unsigned(name, value)).transpose()
    }

    /// A number that is never negative and fits 32 bits.
    pub(super) fn small(&self, name: &'static str) -> Result<u32, StoreError> {
        u32::try_from(self.int(name)?).map_err(|error| StoreError::unreadable(name, error))
    }

    /// A text that reads as `T`.
    pub(super) fn parsed<T>(&self, name: &'static str) -> Result<T, StoreError>
    where
        T: std::str::FromStr<Err: ToString>,
    {
        read(name, &self.text(name)?)
    }

    pub(super) fn opt_parsed<T>(&self, name: &'static str) -> Result<Option<T>, StoreError>
    where
        T: std::str::FromStr<Err: ToString>,
    {
        self.opt_text(name)?.map(|text| read(name, &text)).transpose()
    }
}

fn unsigned(name: &'static str, value: i64) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|error| StoreError::unreadable(name, error))
}

fn read<T: std::str::FromStr<Err: ToString>>(name: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse()
        .map_err(|error: T::Err| StoreError::unreadable(name, error.to_string()))
}

/// An id of GitHub as a column holds it.
pub(super) fn stored(id: u64) -> Result<i64, StoreError> {
    i64::try_from(id).map_err(|_| StoreError::TooLarge(id))
}

/// A text that explains an error, without what PostgreSQL cannot hold and no longer than a person reads.
pub(super) fn explained(text: &str) -> String {
    const LONGEST: usize = 4_000;
    let mut short = text.replace('\0', "\u{fffd}");
    short.truncate(short.floor_char_boundary(LONGEST));
    short
}
