//! The certificate authorities that connections trust.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::aws_lc_rs,
    pki_types::{CertificateDer, pem::PemObject},
};
use std::{fmt::Write as _, sync::Arc};

/// The characters of a line of base64 in PEM.
const LINE: usize = 64;

/// Certificate authorities of an organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities(Vec<CertificateDer<'static>>);

/// Why there is no certificate authority to trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAuthorities {
    /// The text holds no certificate.
    #[error("it holds no certificate in PEM form")]
    NoCertificate,
    /// A certificate in it cannot be read.
    #[error("a certificate in it cannot be read")]
    Unreadable,
    /// The machine has none.
    #[error("this machine has no root certificates")]
    OfMachine,
}

impl Authorities {
    /// Reads certificates in PEM form. Other sections are ignored.
    ///
    /// # Errors
    ///
    /// If there is no certificate, or one is no certificate of an authority.
    pub fn from_pem(text: &str) -> Result<Self, NoAuthorities> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
        let certificates = read.map_err(|_| NoAuthorities::Unreadable)?;
        if certificates.is_empty() {
            return Err(NoAuthorities::NoCertificate);
        }
        let mut store = RootCertStore::empty();
        for certificate in &certificates {
            store.add(certificate.clone()).map_err(|_| NoAuthorities::Unreadable)?;
        }
        Ok(Self(certificates))
    }

    /// Returns these certificates and those of the machine in PEM form, for programs that take one file of all.
    pub fn with_machines(&self) -> String {
        pem(&trusted(Some(self)))
    }
}

/// Returns the machine's certificates, then these.
pub(crate) fn trusted(more: Option<&Authorities>) -> Vec<CertificateDer<'static>> {
    let more = more.into_iter().flat_map(|more| more.0.iter().cloned());
    let of_machine = rustls_native_certs::load_native_certs().certs;
    of_machine.into_iter().chain(more).collect()
}

/// Returns certificates in PEM form.
pub fn pem<'a>(certificates: impl IntoIterator<Item = &'a CertificateDer<'static>>) -> String {
    let mut pem = String::new();
    for certificate in certificates {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        let encoded = STANDARD.encode(certificate);
        let mut rest = encoded.as_str();
        while !rest.is_empty() {
            let (line, more) = rest.split_at_checked(LINE).unwrap_or((rest, ""));
            // Writing to a string does not fail.
            let _ = writeln!(pem, "{line}");
            rest = more;
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    pem
}

/// Returns the settings of connections that trust the machine's authorities and these.
pub(crate) fn client_config(more: Option<&Authorities>) -> Result<ClientConfig, NoAuthorities> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(trusted(more));
    if store.is_empty() {
        return Err(NoAuthorities::OfMachine);
    }
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| NoAuthorities::OfMachine)?;
    Ok(config.with_root_certificates(store).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::{Authorities, NoAuthorities};

    #[test]
    fn only_certificates_are_read_and_what_is_written_reads_the_same() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/egress/cert.pem");
        let pem = std::fs::read_to_string(file).unwrap();
        let read = Authorities::from_pem(&format!("A comment\n{pem}")).unwrap();
        let whole = Authorities::from_pem(&read.with_machines()).unwrap();
        assert!(read.0.iter().all(|certificate| whole.0.contains(certificate)));
        for text in ["", "hello", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"] {
            assert_eq!(Authorities::from_pem(text), Err(NoAuthorities::NoCertificate), "{text}");
        }
        for text in [
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\nAAAA\n",
        ] {
            assert!(Authorities::from_pem(text).is_err(), "{text}");
        }
    }
}
