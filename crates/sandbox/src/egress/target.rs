//! The target of a CONNECT request: a name and a port, in one spelling.

use domain::network::{HostName, NotAHost};

const MAX_TARGET: usize = 300;

/// The host and port that a program asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: HostName,
    pub(super) port: u16,
}

/// Reads `name:port`. A port that is not in its shortest spelling is malformed.
pub(super) fn read(text: &str) -> Result<Target, NotAHost> {
    if text.len() > MAX_TARGET {
        return Err(NotAHost::TooLong);
    }
    let (host, port) = text.rsplit_once(':').ok_or(NotAHost::Malformed)?;
    let host = host.parse()?;
    match port.parse::<u16>() {
        Ok(number) if number.to_string() == port => Ok(Target { host, port: number }),
        _ => Err(NotAHost::Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use domain::network::NotAHost;
    use proptest::prelude::*;

    #[test]
    fn a_target_is_a_name_and_a_port() {
        let target = read("Example.COM.:443").unwrap();
        assert_eq!((target.host.as_str(), target.port), ("example.com", 443));
        for text in [
            "example.com",
            "example.com:",
            "example.com:+443",
            "example.com:0443",
            "example.com:65979",
            ":443",
            "example.com:443:443",
            "user@example.com:443",
            "user:word@example.com:443",
            "exa%6dple.com:443",
            "example.com:443/x",
            "http://example.com:443",
            "fe80::1:443",
            "",
        ] {
            assert_eq!(read(text), Err(NotAHost::Malformed), "{text}");
        }
        for text in
            ["127.0.0.1:443", "[::1]:443", "[::ffff:10.0.0.1]:443", "0x7f.1:443", "2130706433:443", "0177.1:443"]
        {
            assert_eq!(read(text), Err(NotAHost::Address), "{text}");
        }
        assert_eq!(read(&format!("{}:443", "a".repeat(5_000))), Err(NotAHost::TooLong));
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_a_name(text in "\\PC{0,60}(:[0-9]{1,5})?") {
            if let Ok(target) = read(&text) {
                prop_assert_eq!(read(&format!("{}:{}", target.host, target.port)), Ok(target));
            }
        }
    }
}
