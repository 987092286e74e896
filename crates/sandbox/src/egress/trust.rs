//! The certificates that the programs of a run trust: those of the usual authorities, of the settings, and of the run's
//! own authority.
//!
//! The run's own authority signs certificates for registries, because the door ends their TLS.

use crate::{
    egress::authority::{Authority, JAVA_STORE_PASSWORD, java_store},
    environment,
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
};
use uplink::Uplink;

const FILE: &str = "certificates.pem";
const JAVA_FILE: &str = "certificates.jks";

/// The run's own authority, and the files of all certificates that its programs trust.
#[derive(Debug)]
pub(super) struct Trust {
    pub(super) authority: Authority,
    /// In PEM form, for most programs.
    pub(super) file: PathBuf,
    /// The same as a Java key store.
    pub(super) java_file: PathBuf,
}

impl Trust {
    /// Makes an authority, and writes the files into `folder`.
    pub(super) fn new(uplink: &Uplink, folder: &Path) -> io::Result<Self> {
        let authority = Authority::new().map_err(io::Error::other)?;
        let of_service = environment::certificate_files();
        let of_service = of_service.iter().flat_map(|file| CertificateDer::pem_file_iter(file).into_iter().flatten());
        let mut all: HashSet<CertificateDer<'static>> = of_service.flatten().collect();
        all.extend(uplink.trusted());
        all.insert(authority.certificate.clone());
        let (file, java_file) = (folder.join(FILE), folder.join(JAVA_FILE));
        fs::write(&file, uplink::pem(&all))?;
        fs::write(&java_file, java_store(&all))?;
        Ok(Self { authority, file, java_file })
    }

    /// Returns the options that make Java trust the same certificates; empty if the path of the key store cannot be one
    /// word.
    pub(super) fn java_options(&self) -> String {
        let option = environment::java_option("javax.net.ssl.trustStore", &self.java_file);
        let more =
            format!("-Djavax.net.ssl.trustStoreType=JKS -Djavax.net.ssl.trustStorePassword={JAVA_STORE_PASSWORD}");
        option.map(|option| format!("{option} {more}")).unwrap_or_default()
    }
}
