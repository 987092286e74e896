//! The hosts that are reached without the proxy.

use std::{net::IpAddr, str::FromStr};

/// Hosts that are reached without the proxy. A name includes everything below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exceptions(Vec<Exception>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Exception {
    Every,
    Name(String),
    Address(IpAddr),
}

/// Why a text names no such hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither the name of a host nor an address, such as example.com, .example.com or 10.0.0.1")]
pub struct NotAnException(String);

impl Exceptions {
    /// `true` if a host is reached without the proxy. This machine always is.
    pub(crate) fn include(&self, host: &str) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
        let host = host.to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok();
        if host == "localhost" || address.is_some_and(|address| address.is_loopback()) {
            return true;
        }
        self.0.iter().any(|exception| match exception {
            Exception::Every => true,
            Exception::Name(name) => {
                let rest = host.strip_suffix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }
            Exception::Address(known) => address == Some(*known),
        })
    }
}

impl FromStr for Exceptions {
    type Err = NotAnException;

    /// Reads names and addresses between commas or blanks, as `NO_PROXY` has them; `*` stands for every host.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let items = text.split(|c: char| c == ',' || c.is_whitespace());
        let read = items.filter(|item| !item.is_empty()).map(|item| {
            let name = item.strip_prefix('*').unwrap_or(item);
            let name = name.strip_prefix('.').unwrap_or(name).to_ascii_lowercase();
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            match name.parse() {
                _ if item == "*" => Ok(Exception::Every),
                Ok(address) => Ok(Exception::Address(address)),
                Err(_) if !name.is_empty() && name.chars().all(is_plain) => Ok(Exception::Name(name)),
                Err(_) => Err(NotAnException(item.chars().take(100).collect())),
            }
        });
        read.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::Exceptions;

    #[test]
    fn names_include_what_lies_below_them() {
        let table = [
            ("corp.example", "corp.example", true),
            ("corp.example", "git.CORP.example", true),
            ("corp.example", "notcorp.example", false),
            (".corp.example", "git.corp.example", true),
            ("*.corp.example, other.example", "other.example.", true),
            ("10.0.0.1 fd00::1", "[fd00::1]", true),
            ("10.0.0.1", "10.0.0.11", false),
            ("*", "anything.example", true),
            ("", "localhost", true),
            ("", "127.0.0.9", true),
            ("", "[::1]", true),
            ("", "localhost.example", false),
        ];
        for (text, host, expected) in table {
            assert_eq!(text.parse::<Exceptions>().unwrap().include(host), expected, "{text} and {host}");
        }
        for wrong in ["http://x", "a b,c/d", "10.0.0.0/8", "a:443", "user@x"] {
            assert!(wrong.parse::<Exceptions>().is_err(), "{wrong}");
        }
    }
}
