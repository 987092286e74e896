//! Reads columns of rows from both drivers, and converts values for columns.

use crate::store::error::StoreError;
use sqlx::{Row as _, postgres::PgRow, sqlite::SqliteRow};

pub(super) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Reads a column from the row of either driver.
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

    pub(super) fn bytes(&self, name: &'static str) -> Result<Vec<u8>, StoreError> {
        column!(self, name)
    }

    /// Reads a number that is not negative.
    pub(super) fn count(&self, name: &'static str) -> Result<u64, StoreError> {
        unsigned(name, self.int(name)?)
    }

    pub(super) fn opt_count(&self, name: &'static str) -> Result<Option<u64>, StoreError> {
        self.opt_int(name)?.map(|value| unsigned(name, value)).transpose()
    }

    /// Reads a number that is not negative and fits 32 bits.
    pub(super) fn small(&self, name: &'static str) -> Result<u32, StoreError> {
        u32::try_from(self.int(name)?).map_err(|error| StoreError::unreadable(name, error))
    }

    /// Reads a text and parses it as `T`.
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
    text.parse().map_err(|error: T::Err| StoreError::unreadable(name, error.to_string()))
}

/// Converts a GitHub id to the type of a column.
pub(super) fn column(id: u64) -> Result<i64, StoreError> {
    i64::try_from(id).map_err(|_| StoreError::TooLarge(id))
}

/// Shortens a text that explains an error to 4000 bytes and replaces NUL, which PostgreSQL cannot store.
pub(super) fn explained(text: &str) -> String {
    const LONGEST: usize = 4_000;
    let mut short = text.replace('\0', "\u{fffd}");
    short.truncate(short.floor_char_boundary(LONGEST));
    short
}
