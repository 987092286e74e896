//! Names of hosts that foreign programs may reach, and the rules that allow them.
//!
//! This is about names only: the sandbox resolves a name and checks its address when it connects. An IP address, in any
//! spelling, is not a name.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use text::stored_as_text;

/// The longest host name that DNS allows, in its written form.
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// A host name in its normal form: lower case, ASCII, without a final dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(String);

impl HostName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// `true` if this name is a subdomain of `other`.
    fn is_below(&self, other: &Self) -> bool {
        let rest = self.0.strip_suffix(&other.0);
        rest.is_some_and(|rest| rest.ends_with('.'))
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason why a text is not a host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAHost {
    /// It is an IP address, in one of its spellings.
    #[error("it is an address; hosts are named")]
    Address,
    #[error("it is longer than a host's name can be")]
    TooLong,
    /// It contains something that no host name contains.
    #[error("it is not a host's name")]
    Malformed,
}

impl FromStr for HostName {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // In UTF-8, a name in another script can be longer than its ASCII form, but at most four times: a character
        // takes up to four bytes.
        if text.len() > MAX_NAME * 4 {
            return Err(NotAHost::TooLong);
        }
        if text.starts_with('[') {
            return Err(NotAHost::Address);
        }
        // The parser below would decode a percent sign, but no host name contains one.
        if text.contains('%') {
            return Err(NotAHost::Malformed);
        }
        let name = match url::Host::parse(text) {
            Ok(url::Host::Domain(name)) => name,
            Ok(url::Host::Ipv4(_) | url::Host::Ipv6(_)) | Err(url::ParseError::InvalidIpv4Address) => {
                return Err(NotAHost::Address);
            }
            Err(_) => return Err(NotAHost::Malformed),
        };
        let name = name.strip_suffix('.').unwrap_or(&name);
        if name.len() > MAX_NAME {
            return Err(NotAHost::TooLong);
        }
        if name.split('.').all(is_label) { Ok(Self(name.to_owned())) } else { Err(NotAHost::Malformed) }
    }
}

fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    !label.is_empty()
        && label.len() <= MAX_LABEL
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(is_plain)
}

/// A rule for hosts that may be reached: one host, or all subdomains of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum HostRule {
    /// Exactly this host: `example.com`.
    Exactly(HostName),
    /// Every subdomain of this name, but not the name itself: `*.example.com`.
    Below(HostName),
}

impl HostRule {
    /// `true` if the rule allows this host.
    pub fn covers(&self, host: &HostName) -> bool {
        match self {
            Self::Exactly(name) => name == host,
            Self::Below(name) => host.is_below(name),
        }
    }

    /// `true` if this rule covers everything that `other` covers.
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Exactly(host)) => self.covers(host),
            (Self::Below(name), Self::Below(below)) => name == below || below.is_below(name),
            (Self::Exactly(_), Self::Below(_)) => false,
        }
    }
}

impl FromStr for HostRule {
    type Err = NotAHost;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("*.") {
            Some(name) => name.parse().map(Self::Below),
            None => text.parse().map(Self::Exactly),
        }
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(name) => write!(f, "{name}"),
            Self::Below(name) => write!(f, "*.{name}"),
        }
    }
}

stored_as_text!(HostRule, NotAHost);

/// Splits the requested rules: first those that `ceiling` includes, then those that it does not.
pub fn cut<'a>(asked: &'a [HostRule], ceiling: &[HostRule]) -> (Vec<&'a HostRule>, Vec<&'a HostRule>) {
    asked.iter().partition(|rule| ceiling.iter().any(|most| most.includes(rule)))
}

#[cfg(test)]
mod tests {
    use super::{HostName, HostRule, NotAHost, cut};
    use proptest::prelude::*;

    fn rule(text: &str) -> HostRule {
        text.parse().unwrap()
    }

    #[test]
    fn a_name_has_one_spelling() {
        let long = format!("{}.example", ["a"; 120].join("."));
        let table = [
            ("example.com", "example.com"),
            ("EXAMPLE.Com", "example.com"),
            ("example.com.", "example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("example。com", "example.com"),
            ("ｅｘａｍｐｌｅ.com", "example.com"),
            ("localhost", "localhost"),
            ("a_b.example", "a_b.example"),
            ("1.2.3.example", "1.2.3.example"),
            (long.as_str(), long.as_str()),
        ];
        for (text, name) in table {
            assert_eq!(text.parse::<HostName>().map(|name| name.0), Ok(name.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_address_is_no_name_however_it_is_spelled() {
        for text in [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "169.254.169.254",
            "0xa9fea9fe",
            "１２７.0.0.1",
            "127。0。0。1",
            "256.256.256.256",
            "99999999999",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[fe80::1%25eth0]",
            "[",
            "0",
            "1.2.3.4.5",
            "x.0x10",
        ] {
            assert_eq!(text.parse::<HostName>(), Err(NotAHost::Address), "{text}");
        }
    }

    #[test]
    fn what_no_name_holds_is_refused() {
        let (long_label, long) = (format!("{}.com", "a".repeat(64)), ["a"; 128].join("."));
        for text in [
            "",
            ".",
            "..",
            "a..b",
            ".a",
            "a..",
            "-a.com",
            "a-.com",
            "a b",
            "a%2eb",
            "%",
            "a@b",
            "user:word@a.com",
            "a:443",
            "a/b",
            "a\\b",
            "a#b",
            "a?b",
            "::1",
            "a\0b",
            "a\nb",
            "*",
            "a*b",
            "*.a",
            long_label.as_str(),
        ] {
            assert_eq!(text.parse::<HostName>(), Err(NotAHost::Malformed), "{text:?}");
        }
        assert_eq!(long.parse::<HostName>(), Err(NotAHost::TooLong));
        assert_eq!("a".repeat(1_000_000).parse::<HostName>(), Err(NotAHost::TooLong));
    }

    #[test]
    fn a_rule_covers_a_name_or_what_lies_below_it() {
        let table = [
            ("example.com", "example.com", true),
            ("example.com", "a.example.com", false),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "badexample.com", false),
            ("*.example.com", "example.com.evil.org", false),
            ("example.com", "example.com.evil.org", false),
            ("*.Bücher.example", "www.xn--bcher-kva.example", true),
        ];
        for (text, host, covered) in table {
            assert_eq!(rule(text).covers(&host.parse().unwrap()), covered, "{text} and {host}");
        }
        for text in ["*.", "*", "**.a", "*.*.a", "*.1.2.3.4", "*a.com", ""] {
            assert!(text.parse::<HostRule>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_the_ceiling_does_not_include_is_cut() {
        let ceiling = ["registry.example", "*.corp.example"].map(rule);
        let asked =
            ["registry.example", "*.registry.example", "npm.corp.example", "*.a.corp.example", "*.corp.example"];
        let asked: Vec<_> = asked.into_iter().chain(["corp.example", "*.example"]).map(rule).collect();
        let (stays, gone) = cut(&asked, &ceiling);
        let texts = |rules: Vec<&HostRule>| rules.into_iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(stays), ["registry.example", "npm.corp.example", "*.a.corp.example", "*.corp.example"]);
        assert_eq!(texts(gone), ["*.registry.example", "corp.example", "*.example"]);
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_a_plain_name_that_reads_as_itself(text in "\\PC{0,40}") {
            if let Ok(name) = text.parse::<HostName>() {
                prop_assert!(name.0.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b)));
                prop_assert!(name.0.parse::<std::net::Ipv4Addr>().is_err());
                prop_assert_eq!(name.0.parse::<HostName>(), Ok(name.clone()));
            }
        }

        #[test]
        fn no_number_is_a_name(number in any::<u64>(), radix in 0..3_u8) {
            let text = match radix { 0 => number.to_string(), 1 => format!("{number:#x}"), _ => format!("0{number:o}") };
            prop_assert_eq!(text.parse::<HostName>(), Err(NotAHost::Address));
        }

        #[test]
        fn a_rule_reads_as_it_is_written(text in "(\\*\\.)?[a-zA-Z0-9.-]{1,30}") {
            if let Ok(rule) = text.parse::<HostRule>() {
                prop_assert_eq!(rule.to_string().parse::<HostRule>(), Ok(rule.clone()));
                prop_assert!(rule.includes(&rule));
            }
        }
    }
}
