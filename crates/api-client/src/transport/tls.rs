//! One TLS configuration for both transports: rustls with ring, the system's roots or else Mozilla's.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::CertificateDer};

use super::{TransportParams, Version};
use crate::error::Error;

/// The configuration for these settings; it offers HTTP's versions by ALPN.
///
/// # Errors
///
/// [`Error::Configuration`] for an extra root that is no certificate.
pub(super) fn client_config(params: &TransportParams) -> Result<ClientConfig, Error> {
    let mut roots = system_roots().clone();
    for root in &params.extra_roots {
        let added = Arc::make_mut(&mut roots).add(CertificateDer::from(root.as_slice()));
        added.map_err(|error| Error::Configuration(error.into()))?;
    }
    let mut config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Configuration(error.into()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let protocols: &[&[u8]] = match params.version {
        Version::Negotiated => &[b"h2", b"http/1.1"],
        Version::Http1 => &[b"http/1.1"],
        Version::Http2 => &[b"h2"],
    };
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(config)
}

/// Read once: it takes some milliseconds, and every upstream has a transport of its own.
fn system_roots() -> &'static Arc<RootCertStore> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        // A system has some certificates that rustls does not take; the others are good all the same.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            tracing::debug!("the system has no root certificates; Mozilla's are used");
            roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        roots.into()
    })
}
