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
            let options: PgConnectOptions = url.parse().map_err(|_| OpenError::Address(AddressMistake::Server))?;
            // In an address, an IPv6 host is in brackets. `sqlx` would ask for it by name, with them.
            let ipv6 = options.get_host().strip_prefix('[').and_then(|host| host.strip_suffix(']')).map(str::to_owned);
            let options = ipv6.map_or_else(|| options.clone(), |host| options.clone().host(&host));
            return Ok(Self::Server(Box::new(options)));
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
    fn a_server_may_have_an_ipv6_address() {
        for (url, host) in [("postgres://u:p@[::1]:5432/d", "::1"), ("postgres://u@db.example/d", "db.example")] {
            match url.parse() {
                Ok(Address::Server(options)) => assert_eq!(options.get_host(), host),
                _ => panic!("{url} is no server"),
            }
        }
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
