//! Errors of the database, grouped by the caller's next action.

use sqlx::{error::DatabaseError, postgres::PgDatabaseError, sqlite::SqliteError};
use std::{io, path::PathBuf, sync::Arc};

/// The reason why a statement or a transaction failed. Nothing of it was written. Its text has what the database said, which
/// may name hosts and tables, so it is for operators alone.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Another connection holds a lock. The same call may succeed at once.
    #[error("the database is busy: {0}")]
    Busy(Arc<sqlx::Error>),
    /// The database does not answer; the same call may succeed later.
    #[error("the database does not answer: {0}")]
    Unavailable(Arc<sqlx::Error>),
    /// The database can be reached but accepts no writes: it is full or read-only, or its disk fails.
    #[error("the database cannot be written: {0}")]
    CannotWrite(Arc<sqlx::Error>),
    /// The statement fails however often it is tried: the file is damaged, or the database refuses a value.
    #[error("the database refused the statement: {0}")]
    Refused(Arc<sqlx::Error>),
    /// A stored value does not have the form of its column.
    #[error("a stored value of {column} cannot be read: {problem}")]
    Unreadable { column: &'static str, problem: String },
    /// A newer program stored it, and will continue it. This one leaves it alone.
    #[error("a newer version of AutoBuild stored this (format {format}, this version reads up to {known})")]
    Newer { format: i64, known: i64 },
    /// A number too large for a database column.
    #[error("{0} is too large a number to be stored")]
    TooLarge(u64),
    /// A text is longer than the store allows.
    #[error("{what} has {bytes} bytes, at most {limit} are stored")]
    TooLong {
        what: &'static str,
        /// Its length in bytes.
        bytes: usize,
        /// The longest text that is stored, in bytes.
        limit: usize,
    },
    #[error("the store is closed")]
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreFailure {
    /// The disk of the database is full.
    Disk,
    /// A stored value that this version cannot read.
    Value,
    /// A statement or value that the database does not take.
    Statement,
    /// Any other failure of the database.
    Database,
}

/// A reason why AutoBuild cannot use its database. Each has a remedy of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The address names no database.
    Address,
    /// Another process uses the file.
    InUse,
    /// A newer program wrote it.
    Newer,
    /// The file is damaged, or no database.
    Damaged,
    /// Its disk is full.
    Full,
    /// It may lose an acknowledged commit.
    NotDurable,
    /// Another process changes its tables, or stopped while it did.
    Migrating,
    /// This user, or this role, may not write.
    NoRights,
    /// The server only answers reads.
    ReadOnly,
    /// The server does not know the user, the password or the database.
    Credentials,
    /// The server does not answer.
    Unreachable,
    /// None of these.
    Other,
}

impl StoreError {
    /// Returns what keeps the database from being used.
    pub fn obstacle(&self) -> Obstacle {
        match self {
            Self::Busy(cause) | Self::Unavailable(cause) | Self::CannotWrite(cause) | Self::Refused(cause) => {
                obstacle(cause)
            }
            Self::Newer { .. } => Obstacle::Newer,
            Self::Unreadable { .. } | Self::TooLarge(_) | Self::TooLong { .. } | Self::Closed => Obstacle::Other,
        }
    }

    /// Returns the cause in the form in which people read it.
    pub fn what_failed(&self) -> StoreFailure {
        match self {
            Self::CannotWrite(error) if is_full(error) => StoreFailure::Disk,
            Self::Unreadable { .. } => StoreFailure::Value,
            Self::Refused(_) | Self::TooLarge(_) | Self::TooLong { .. } => StoreFailure::Statement,
            Self::Busy(_) | Self::Unavailable(_) | Self::CannotWrite(_) | Self::Newer { .. } | Self::Closed => {
                StoreFailure::Database
            }
        }
    }

    /// `true` if a unique index refused the row.
    pub(super) fn is_unique_violation(&self) -> bool {
        let Self::Refused(error) = self else {
            return false;
        };
        error.as_database_error().is_some_and(DatabaseError::is_unique_violation)
    }

    pub(super) fn unreadable(column: &'static str, problem: impl ToString) -> Self {
        Self::Unreadable { column, problem: problem.to_string() }
    }
}

impl From<sqlx::Error> for StoreError {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum is not ours: it has many variants, and more will come"
    )]
    fn from(error: sqlx::Error) -> Self {
        let kind = match &error {
            sqlx::Error::Database(refusal) => of_database(refusal.as_ref()),
            sqlx::Error::PoolClosed => return Self::Closed,
            // A pool waits also for a server that refuses connections, and tells no more than that it waited in vain.
            sqlx::Error::PoolTimedOut
            | sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed
            | sqlx::Error::BeginFailed => Self::Unavailable,
            _ => Self::Refused,
        };
        kind(error.into())
    }
}

/// `true` if the error is `SQLITE_FULL`, PostgreSQL's `disk_full`, or that of a file that may not grow.
fn is_full(error: &sqlx::Error) -> bool {
    if let sqlx::Error::Io(error) = error {
        return matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        );
    }
    error.as_database_error().is_some_and(|error| match sqlite_code(error) {
        Some(code) => code == 13,
        None => error.code().is_some_and(|code| code == "53100"),
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the enum is not ours: it has many variants, and more will come")]
pub(super) fn obstacle(error: &sqlx::Error) -> Obstacle {
    match error {
        _ if is_full(error) => Obstacle::Full,
        sqlx::Error::Database(refusal) => match (sqlite_code(refusal.as_ref()), refusal.code()) {
            (Some(code), _) => obstacle_of_sqlite(code),
            (None, Some(code)) => obstacle_of_postgres(&code),
            (None, None) => Obstacle::Other,
        },
        sqlx::Error::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => Obstacle::NoRights,
        sqlx::Error::Io(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => Obstacle::NoRights,
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_) => {
            Obstacle::Unreachable
        }
        _ => Obstacle::Other,
    }
}

fn obstacle_of_sqlite(code: u32) -> Obstacle {
    match code {
        3 | 8 | 14 | 23 => Obstacle::NoRights,
        11 | 26 => Obstacle::Damaged,
        _ => Obstacle::Other,
    }
}

fn obstacle_of_postgres(code: &str) -> Obstacle {
    match code {
        "25006" => Obstacle::ReadOnly,
        "42501" => Obstacle::NoRights,
        "28000" | "28P01" | "3D000" => Obstacle::Credentials,
        "XX001" | "XX002" => Obstacle::Damaged,
        "57P01" | "57P02" | "57P03" => Obstacle::Unreachable,
        _ if code.starts_with("08") => Obstacle::Unreachable,
        _ => Obstacle::Other,
    }
}

/// Returns the primary code of an SQLite error, which is its low byte: <https://sqlite.org/rescode.html>.
fn sqlite_code(error: &(dyn DatabaseError + 'static)) -> Option<u32> {
    error.try_downcast_ref::<SqliteError>()?;
    Some(primary(&error.code()?))
}

fn primary(code: &str) -> u32 {
    code.parse::<u32>().unwrap_or_default() & 0xff
}

fn of_sqlite(code: u32) -> NewError {
    match code {
        5 | 6 => StoreError::Busy,
        3 | 8 | 10 | 13 | 14 => StoreError::CannotWrite,
        _ => StoreError::Refused,
    }
}

type NewError = fn(Arc<sqlx::Error>) -> StoreError;

fn of_database(error: &(dyn DatabaseError + 'static)) -> NewError {
    match (sqlite_code(error), error.code()) {
        (Some(code), _) => of_sqlite(code),
        (None, Some(code)) if error.try_downcast_ref::<PgDatabaseError>().is_some() => of_postgres(&code),
        _ => StoreError::Refused,
    }
}

/// <https://www.postgresql.org/docs/current/errcodes-appendix.html>: the first two characters are the class.
fn of_postgres(code: &str) -> NewError {
    match code {
        "40001" | "40P01" | "55P03" => StoreError::Busy,
        "25006" | "53100" | "58030" => StoreError::CannotWrite,
        _ => match code.get(..2) {
            Some("08" | "53" | "57" | "58") => StoreError::Unavailable,
            // The server ended a transaction in which nothing happened for too long.
            _ if code == "25P03" => StoreError::Unavailable,
            _ => StoreError::Refused,
        },
    }
}

/// The reason why the store could not be opened. Every message names the cause or the next step.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The address names no database that AutoBuild knows.
    #[error("the database address {0}")]
    Address(AddressMistake),
    /// Another process uses this database file.
    #[error("the database is in use by another process (it holds {}); stop it, or use another database", .0.display())]
    InUse(PathBuf),
    /// The file or its lock file cannot be created or opened.
    #[error("the database file {} cannot be opened", .path.display())]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The database was written by a newer AutoBuild.
    #[error("the database is at version {found}, this program knows versions up to {known}; use a newer AutoBuild")]
    Newer {
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The database was written by an older AutoBuild, and this call may not migrate it.
    #[error("the database is at version {found}, this program reads version {known}; start `autobuild serve` once")]
    Older {
        found: i64,
        /// The version that this program reads.
        known: i64,
    },
    /// The file is not a database, or is damaged.
    #[error("the database is damaged or not a database; restore it from a backup, or move it away: {0}")]
    Damaged(Arc<sqlx::Error>),
    /// The database has tables, but not the list of migrations that made them.
    #[error(
        "the database has tables that this program did not make, or only a part of its own; name an empty database, or \
         restore a whole backup: {0}"
    )]
    Occupied(Arc<sqlx::Error>),
    /// The database might lose a commit that it has acknowledged.
    #[error("the database does not keep what it acknowledges: {0}")]
    NotDurable(LostPromise),
    /// Another process holds the lock for changing the tables.
    #[error(
        "another process is bringing the tables up to date, or hangs while it does: its lock was waited for in vain: {0}"
    )]
    Migrating(Arc<sqlx::Error>),
    /// Any other error of the database.
    #[error("the database cannot be opened")]
    Store(#[source] StoreError),
}

/// A mistake in a database address. No message repeats the address, since it may hold a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressMistake {
    #[error("must begin with sqlite: or postgres://")]
    Scheme,
    #[error("is not a valid postgres:// address")]
    Server,
    #[error("names no file")]
    NoFile,
    #[error("must be sqlite: and a path, with no options and not in memory")]
    NotOnDisk,
}

/// The setting of a database that may lose a commit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LostPromise {
    #[error(
        "journal_mode is {journal} (not wal) or synchronous is {synchronous} (not 2); put the file on a local file system"
    )]
    Sqlite { journal: String, synchronous: i64 },
    #[error("synchronous_commit is off; set it to on for this database")]
    Postgres,
}

impl OpenError {
    /// Returns what keeps the database from being used.
    pub fn obstacle(&self) -> Obstacle {
        match self {
            Self::Address(_) => Obstacle::Address,
            Self::InUse(_) => Obstacle::InUse,
            Self::File { .. } => Obstacle::NoRights,
            Self::Newer { .. } => Obstacle::Newer,
            Self::Older { .. } | Self::Occupied(_) => Obstacle::Other,
            Self::Damaged(_) => Obstacle::Damaged,
            Self::NotDurable(_) => Obstacle::NotDurable,
            Self::Migrating(_) => Obstacle::Migrating,
            Self::Store(error) => error.obstacle(),
        }
    }
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Refused(cause) if obstacle(cause) == Obstacle::Damaged => Self::Damaged(cause.clone()),
            StoreError::Refused(_)
            | StoreError::Busy(_)
            | StoreError::Unavailable(_)
            | StoreError::CannotWrite(_)
            | StoreError::Unreadable { .. }
            | StoreError::Newer { .. }
            | StoreError::TooLarge(_)
            | StoreError::TooLong { .. }
            | StoreError::Closed => Self::Store(error),
        }
    }
}

impl From<sqlx::Error> for OpenError {
    fn from(error: sqlx::Error) -> Self {
        StoreError::from(error).into()
    }
}

#[cfg(test)]
mod tests {
    use super::{NewError, StoreError, of_postgres, of_sqlite, primary};

    #[expect(clippy::wildcard_enum_match_arm, reason = "a test names what it is about")]
    fn word(kind: NewError) -> &'static str {
        match kind(sqlx::Error::RowNotFound.into()) {
            StoreError::Busy(_) => "busy",
            StoreError::CannotWrite(_) => "cannot write",
            StoreError::Unavailable(_) => "unavailable",
            StoreError::Refused(_) => "refused",
            other => panic!("{other}"),
        }
    }

    #[test]
    fn codes_of_sqlite_tell_what_to_do_next() {
        for (code, expected) in [
            ("5", "busy"),            // SQLITE_BUSY
            ("261", "busy"),          // SQLITE_BUSY_RECOVERY
            ("6", "busy"),            // SQLITE_LOCKED
            ("8", "cannot write"),    // SQLITE_READONLY
            ("1032", "cannot write"), // SQLITE_READONLY_DBMOVED
            ("13", "cannot write"),   // SQLITE_FULL
            ("778", "cannot write"),  // SQLITE_IOERR_WRITE
            ("11", "refused"),        // SQLITE_CORRUPT
            ("2067", "refused"),      // SQLITE_CONSTRAINT_UNIQUE
        ] {
            assert_eq!(word(of_sqlite(primary(code))), expected, "{code}");
        }
    }

    #[test]
    fn codes_of_postgres_tell_what_to_do_next() {
        for (code, expected) in [
            ("40P01", "busy"),         // deadlock_detected
            ("40001", "busy"),         // serialization_failure
            ("53100", "cannot write"), // disk_full
            ("25006", "cannot write"), // read_only_sql_transaction
            ("53300", "unavailable"),  // too_many_connections
            ("57P01", "unavailable"),  // admin_shutdown
            ("08006", "unavailable"),  // connection_failure
            ("25P03", "unavailable"),  // idle_in_transaction_session_timeout
            ("23505", "refused"),      // unique_violation
            ("22021", "refused"),      // character_not_in_repertoire
        ] {
            assert_eq!(word(of_postgres(code)), expected, "{code}");
        }
    }
}
