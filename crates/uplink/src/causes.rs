//! Why another machine was not reached.

use rustls::CertificateError;
use std::{error::Error, fmt, io, iter::successors};

/// An error with its causes, from the outermost to the innermost.
#[derive(Clone, Copy, Debug)]
pub struct Causes<'a>(pub &'a (dyn Error + 'static));

impl<'a> Causes<'a> {
    fn all(self) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
        successors(Some(self.0), |&error| error.source())
    }

    /// `true` if the other side's certificate comes from an authority that is not trusted here.
    pub fn is_unknown_authority(self) -> bool {
        self.all().any(|error| {
            // An I/O error hides the error that it wraps from `source`, and may wrap another I/O error.
            let wrapped = |error: &&'a (dyn Error + 'static)| -> Option<&'a (dyn Error + 'static)> {
                let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
                Some(inner)
            };
            successors(Some(error), wrapped).any(|error| {
                matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)))
            })
        })
    }
}

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = String::new();
        for cause in self.all().map(ToString::to_string) {
            if before.ends_with(&cause) {
                continue;
            }
            let joint = if before.is_empty() { "" } else { ": " };
            write!(f, "{joint}{cause}")?;
            before = cause;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Causes;
    use crate::UplinkError;
    use rustls::CertificateError;
    use std::io;

    #[test]
    fn each_cause_is_named_once_and_an_unknown_authority_is_found() {
        let untrusted = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let expired = rustls::Error::InvalidCertificate(CertificateError::Expired);
        let table = [
            (io::Error::other(untrusted.clone()), "invalid peer certificate: UnknownIssuer", true),
            (io::Error::other(io::Error::other(untrusted.clone())), "invalid peer certificate: UnknownIssuer", true),
            (
                io::Error::other(UplinkError::Unreachable(io::Error::other(untrusted))),
                "the proxy is not reached: invalid peer certificate: UnknownIssuer",
                true,
            ),
            (io::Error::other(expired), "invalid peer certificate: Expired", false),
            (io::Error::other("reset"), "reset", false),
        ];
        for (error, text, is_unknown) in table {
            let causes = Causes(&error);
            assert_eq!((causes.to_string().as_str(), causes.is_unknown_authority()), (text, is_unknown));
        }
    }
}
