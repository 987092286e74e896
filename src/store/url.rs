//! Database addresses: `sqlite:<path>` or `postgres://…`.

use crate::store::error::{AddressMistake, OpenError};
use sqlx::postgres::PgConnectOptions;
use std::{path::PathBuf, str::FromStr};

pub(super) enum Address {
    File(PathBuf),
    Server(Box<PgConnectOptions>),
}

impl FromStr for Address {
    type Err = OpenError;

    fn from_str(url: &str) -> Result<Self, OpenError> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return file(path);
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            // The address may hold a password, so no error repeats it.
            return url
                .parse()
                .map(|options| Self::Server(Box::new(options)))
                .map_err(|_| OpenError::Address(AddressMistake::Server));
        }
        Err(OpenError::Address(AddressMistake::Scheme))
    }
}

fn file(path: &str) -> Result<Address, OpenError> {
    if path.is_empty() || path.ends_with('/') {
        return Err(OpenError::Address(AddressMistake::NoFile));
    }
    if path.starts_with(":memory:") || path.contains('?') {
        return Err(OpenError::Address(AddressMistake::NotOnDisk));
    }
    Ok(Address::File(PathBuf::from(path)))
}

#[cfg(test)]
mod tests {
    use super::Address;
    use crate::store::OpenError;
    use std::path::PathBuf;

    fn path(url: &str) -> PathBuf {
        match url.parse() {
            Ok(Address::File(path)) => path,
            _ => panic!("{url} is no file"),
        }
    }

    #[test]
    fn a_file_may_be_relative_or_absolute() {
        assert_eq!(path("sqlite:autobuild.db"), PathBuf::from("autobuild.db"));
        assert_eq!(path("sqlite:///var/lib/a.db"), PathBuf::from("/var/lib/a.db"));
        assert_eq!(path("sqlite:/var/lib/a.db"), PathBuf::from("/var/lib/a.db"));
    }

    #[test]
    fn what_is_no_database_is_refused() {
        for url in [
            "",
            "sqlite:",
            "sqlite:folder/",
            "sqlite::memory:",
            "sqlite:a.db?mode=ro",
            "mysql://u:secret@h/d",
            "postgres://u:secret@h:port/d",
        ] {
            match url.parse::<Address>() {
                Err(OpenError::Address(_)) => {}
                _ => panic!("{url} was taken"),
            }
        }
    }
}
