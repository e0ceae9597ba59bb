//! TLS: certificates that are accepted or not, handshakes that are cut.

use std::sync::Arc;

use rcgen::{CertificateParams, KeyPair};
use tidegate_api_client::Fault;
use tidegate_api_client::transport::{TransportParams, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::{ProtocolVersion, ServerConfig};

use super::{Upstream, bytes, get, post, run, send, transports, whole_text};

struct Identity {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

fn identity(name: &str, change: impl FnOnce(&mut CertificateParams)) -> Identity {
    let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
    change(&mut params);
    let key = KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    Identity { certificate, key }
}

/// Answers one request a connection, in HTTP/1.1 whatever was offered.
async fn upstream(identity: &Identity) -> Upstream {
    let key = PrivatePkcs8KeyDer::from(identity.key.serialize_der());
    let config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.der().clone()], key.into())
        .expect("a certificate and its key");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Upstream::start(move |_, connection| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(connection.stream).await else { return };
            assert_eq!(stream.get_ref().1.protocol_version(), Some(ProtocolVersion::TLSv1_3));
            let mut read = Vec::new();
            while !read.ends_with(b"\r\n\r\n") {
                if stream.read_buf(&mut read).await.unwrap_or(0) == 0 {
                    return;
                }
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
            let _ = stream.shutdown().await;
        }
    })
    .await
}

fn url(upstream: &Upstream, host: &str) -> String {
    format!("https://{host}:{}/", upstream.address.port())
}

#[test]
fn a_certificate_that_is_not_accepted_is_the_settings_fault() {
    let other = identity("localhost", |_| {});
    let expired = identity("localhost", |params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    let named_else = identity("other.example", |_| {});
    let rows = [
        ("of nobody we know", &other, vec![]),
        ("expired", &expired, vec![&expired]),
        ("for another name", &named_else, vec![&named_else]),
    ];
    run(async {
        for (what, identity, roots) in rows {
            let upstream = upstream(identity).await;
            let mut params = TransportParams::default();
            params.extra_roots = roots.iter().map(|root| root.certificate.der().to_vec()).collect();
            for (name, transport) in transports(&params) {
                let error =
                    send(&transport, get(&url(&upstream, "localhost"))).await.expect_err("not accepted");
                let row = format!("{name} {what}: {}", whole_text(&error));
                assert_eq!((error.kind(), error.fault()), ("certificate", Fault::Configuration), "{row}");
                assert!(error.surely_unsent(), "{row}");
            }
        }
    });
}

#[test]
fn a_root_of_ones_own_is_trusted() {
    run(async {
        let identity = identity("localhost", |_| {});
        let upstream = upstream(&identity).await;
        for version in [Version::Negotiated, Version::Http1] {
            let mut params = TransportParams::default();
            params.extra_roots = vec![identity.certificate.der().to_vec()];
            params.version = version;
            for (name, transport) in transports(&params) {
                let response = send(&transport, get(&url(&upstream, "localhost"))).await;
                let response =
                    response.unwrap_or_else(|error| panic!("{name} {version:?}: {}", whole_text(&error)));
                assert_eq!(bytes(response).await.expect("a body"), "ok", "{name} {version:?}");
            }
        }
    });
}

#[test]
fn a_root_that_is_no_certificate_is_refused() {
    let mut params = TransportParams::default();
    params.extra_roots = vec![b"no certificate".to_vec()];
    #[cfg(feature = "hyper")]
    assert_eq!(
        tidegate_api_client::transport::HyperTransport::new(&params).expect_err("refused").kind(),
        "configuration"
    );
    #[cfg(feature = "reqwest")]
    assert_eq!(
        tidegate_api_client::transport::ReqwestTransport::new(&params).expect_err("refused").kind(),
        "configuration"
    );
}

#[derive(Clone, Copy, Debug)]
enum Handshake {
    Closed,
    Reset,
    PlainText,
}

#[test]
fn a_handshake_that_is_cut_is_the_upstreams_fault() {
    run(async {
        for how in [Handshake::Closed, Handshake::Reset, Handshake::PlainText] {
            let upstream = Upstream::start(move |_, mut connection| async move {
                // Into the client's first message: then TCP stands, and TLS does not.
                connection.take(10).await;
                match how {
                    Handshake::Closed => {}
                    Handshake::Reset => connection.reset(),
                    Handshake::PlainText => {
                        connection.send("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
                        connection.closed().await;
                    }
                }
            })
            .await;
            for (name, transport) in transports(&TransportParams::default()) {
                let error =
                    send(&transport, post(&url(&upstream, "localhost"), "body")).await.expect_err("cut");
                let row = format!("{name} {how:?}: {}", whole_text(&error));
                assert_eq!((error.kind(), error.fault()), ("tls_handshake", Fault::Upstream), "{row}");
                assert!(error.surely_unsent(), "{row}");
            }
        }
    });
}
