//! A run's own certificate authority, with which the door ends the programs' TLS for registries.
//!
//! Its key never leaves this process and ends with the run. Only programs of the run trust it.

use aws_lc_rs::digest;
use domain::network::HostName;
use parking_lot::Mutex;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    ServerConfig,
    crypto::aws_lc_rs as provider,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use std::{collections::BTreeMap, fmt, sync::Arc};

const NAME: &str = "AutoBuild, registries of one run";

/// An authority, and the settings of TLS servers for the hosts that it vouches for.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(super) certificate: CertificateDer<'static>,
    /// The key of all hosts' certificates.
    key: KeyPair,
    servers: Mutex<BTreeMap<HostName, Arc<ServerConfig>>>,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoCertificate {
    #[error("making a certificate")]
    Made(#[from] rcgen::Error),
    #[error("using a certificate")]
    Used(#[from] rustls::Error),
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

impl Authority {
    /// Makes an authority with a new key.
    pub(super) fn new() -> Result<Self, NoCertificate> {
        let mut params = name_certificate(NAME);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?.der().clone();
        Ok(Self { issuer: Issuer::new(params, key), certificate, key: KeyPair::generate()?, servers: Mutex::default() })
    }

    /// Returns the settings of a TLS server that speaks HTTP/1.1 for `host`.
    pub(super) fn server(&self, host: &HostName) -> Result<Arc<ServerConfig>, NoCertificate> {
        let mut servers = self.servers.lock();
        if let Some(known) = servers.get(host) {
            return Ok(Arc::clone(known));
        }
        let mut params = name_certificate(host.as_str());
        params.subject_alt_names = vec![rcgen::SanType::DnsName(host.as_str().try_into()?)];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&self.key, &self.issuer)?.der().clone();
        let key = PrivateKeyDer::Pkcs8(self.key.serialize_der().into());
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = Arc::new(config);
        servers.insert(host.clone(), Arc::clone(&config));
        Ok(config)
    }
}

fn name_certificate(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// The header of Java's own format of a store: magic number and version.
const JAVA_STORE: [u8; 8] = [0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2];
/// The kind of an entry that is a trusted certificate.
const TRUSTED: [u8; 4] = [0, 0, 0, 2];
/// The salt of the store's digest, as in Java's source.
const SALT: &[u8] = b"Mighty Aphrodite";

/// The password of [`java_store`]. It protects nothing: the store holds only certificates.
pub(super) const JAVA_STORE_PASSWORD: &str = "changeit";

/// Returns a store of trusted certificates in the format that every Java reads (`JKS`), so that no Java has to run first.
pub(super) fn java_store<'a>(certificates: impl IntoIterator<Item = &'a CertificateDer<'static>>) -> Vec<u8> {
    let mut entries = Vec::new();
    let mut count: u32 = 0;
    for certificate in certificates {
        let Ok(length) = u32::try_from(certificate.len()) else {
            continue;
        };
        entries.extend(TRUSTED);
        push_text(&mut entries, &count.to_string());
        entries.extend([0; 8]);
        push_text(&mut entries, "X.509");
        entries.extend(length.to_be_bytes());
        entries.extend_from_slice(certificate);
        count = count.saturating_add(1);
    }
    let mut store = [JAVA_STORE.as_slice(), &count.to_be_bytes(), &entries].concat();
    let password = JAVA_STORE_PASSWORD.encode_utf16().flat_map(u16::to_be_bytes);
    let hashed: Vec<u8> = password.chain(SALT.iter().copied()).chain(store.iter().copied()).collect();
    store.extend(digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &hashed).as_ref());
    store
}

/// Appends a short ASCII text with its length before it.
fn push_text(bytes: &mut Vec<u8>, text: &str) {
    let length = u16::try_from(text.len()).unwrap_or_default();
    bytes.extend(length.to_be_bytes());
    bytes.extend(text.bytes());
}
