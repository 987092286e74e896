//! The service's own connections to other machines: directly or through an organisation's proxy, with the certificate
//! authorities that it trusts. Its callers decide which hosts may be reached.

#![warn(clippy::wildcard_enum_match_arm)]

mod causes;
mod certificates;
mod connector;
mod exceptions;
mod tunnel;

pub use causes::Causes;
pub use certificates::{Authorities, NoAuthorities, pem};
pub use connector::{Connector, Outgoing};
pub use exceptions::{Exceptions, NotAnException};
pub use tunnel::{NotAProxy, Proxy, Stream, UplinkError};

use rustls::{ClientConfig, pki_types::CertificateDer};
use std::sync::{Arc, OnceLock};

/// The service's way to other machines. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Uplink(Arc<Parts>);

#[derive(Debug, Default)]
struct Parts {
    proxy: Option<Proxy>,
    authorities: Option<Authorities>,
    tls: OnceLock<Arc<ClientConfig>>,
}

impl Uplink {
    /// Uses a proxy, if there is one, and trusts these authorities besides those of the machine.
    pub fn new(proxy: Option<Proxy>, authorities: Option<Authorities>) -> Self {
        Self(Arc::new(Parts { proxy, authorities, tls: OnceLock::new() }))
    }

    /// `true` if both are clones of one, or if both reach every host directly and trust only the machine's authorities.
    pub fn is(&self, other: &Self) -> bool {
        let is_usual = |uplink: &Self| uplink.0.proxy.is_none() && uplink.0.authorities.is_none();
        Arc::ptr_eq(&self.0, &other.0) || is_usual(self) && is_usual(other)
    }

    /// Returns the proxy through which a host is reached; `None` if it is reached directly.
    pub fn proxy_for(&self, host: &str) -> Option<&Proxy> {
        self.0.proxy.as_ref().filter(|proxy| !proxy.exceptions.include(host))
    }

    /// Returns the proxy, if there is one.
    pub fn proxy(&self) -> Option<&Proxy> {
        self.0.proxy.as_ref()
    }

    /// Returns the authorities that are trusted besides those of the machine.
    pub fn authorities(&self) -> Option<&Authorities> {
        self.0.authorities.as_ref()
    }

    /// Returns the certificates of all authorities that are trusted. The machine's are read anew.
    pub fn trusted(&self) -> Vec<CertificateDer<'static>> {
        certificates::trusted(self.authorities())
    }

    /// Returns the settings of TLS connections to servers. The machine's certificates are read at the first use.
    ///
    /// # Errors
    ///
    /// If there is no certificate authority to trust.
    pub fn tls(&self) -> Result<Arc<ClientConfig>, NoAuthorities> {
        if let Some(known) = self.0.tls.get() {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(certificates::client_config(self.authorities())?);
        Ok(Arc::clone(self.0.tls.get_or_init(|| made)))
    }
}
