//! A pair of QUIC endpoints as programs use them: quinn over the kernel's UDP, with real TLS.
//!
//! `quinn-pair serve ADDRESS CERTIFICATE` makes a certificate, writes it there, accepts one
//! connection and prints when it had everything, and how many bytes; `quinn-pair send ADDRESS
//! CERTIFICATE BYTES CONGESTION` sends BYTES over one stream and prints when it began. Times are
//! nanoseconds of `CLOCK_MONOTONIC`, which both ends share on one machine.

use std::error::Error;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, MtuDiscoveryConfig, ServerConfig, TransportConfig, congestion};
use rustix::time::{ClockId, clock_gettime};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve", address, certificate] => {
            runtime.block_on(serve(address.parse()?, Path::new(certificate)))
        }
        ["send", address, certificate, bytes, control] => {
            let size = bytes.parse()?;
            runtime.block_on(send(address.parse()?, Path::new(certificate), size, control))
        }
        _ => Err("serve ADDRESS CERTIFICATE, or send ADDRESS CERTIFICATE BYTES CONGESTION".into()),
    }
}

/// As CLIFT has it: packets of up to 1500 bytes with IP and UDP headers, each in its own datagram.
fn transport(control: &str) -> Result<Arc<TransportConfig>> {
    let mut config = TransportConfig::default();
    config.enable_segmentation_offload(false);
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(1472);
    config.mtu_discovery_config(Some(discovery));
    match control {
        "newreno" => config
            .congestion_controller_factory(Arc::new(congestion::NewRenoConfig::default())),
        "cubic" => {
            config.congestion_controller_factory(Arc::new(congestion::CubicConfig::default()))
        }
        "bbr" => config.congestion_controller_factory(Arc::new(congestion::BbrConfig::default())),
        other => return Err(format!("{other}: give newreno, cubic or bbr").into()),
    };
    Ok(Arc::new(config))
}

fn now() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

async fn serve(address: SocketAddr, certificate: &Path) -> Result<()> {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519)?;
    let own = rcgen::CertificateParams::new(vec!["clift".to_owned()])?.self_signed(&key)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(
            vec![own.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).map_err(|error| error.to_owned())?,
        )?;
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport("cubic")?);
    let endpoint = Endpoint::server(config, address)?;
    // The client waits for the whole file, which a rename makes appear at once.
    let partial = certificate.with_extension("partial");
    fs::write(&partial, own.der())?;
    fs::rename(&partial, certificate)?;

    let connection = endpoint.accept().await.ok_or("nobody called")?.await?;
    let mut stream = connection.accept_uni().await?;
    let mut buffer = vec![0; 1 << 16];
    let (mut bytes, mut last) = (0, now());
    while let Some(read) = stream.read(&mut buffer).await? {
        bytes += read;
        last = now();
    }
    println!("{last} {bytes}");
    connection.close(0u32.into(), b"");
    endpoint.wait_idle().await;
    Ok(())
}

async fn send(address: SocketAddr, certificate: &Path, size: usize, control: &str) -> Result<()> {
    for _ in 0..1000 {
        if certificate.exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from(fs::read(certificate)?))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport(control)?);
    let endpoint = Endpoint::client("0.0.0.0:0".parse()?)?;
    let began = now();
    let connection = endpoint.connect_with(config, address, "clift")?.await?;
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![0; size]).await?;
    stream.finish()?;
    println!("{began}");
    // The server closes once it has everything.
    connection.closed().await;
    Ok(())
}
