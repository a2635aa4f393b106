//! Real TLS (rustls, Ed25519) beside the handshake without cryptography: two pairs of endpoints of
//! quinn-proto over the same path send datagrams of the same sizes at the same instants.
//!
//! `cargo test --manifest-path quic/tls/Cargo.toml` runs it.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use clift_quic::session;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{
    ClientConfig as Calls, HandshakeTokenKey, HmacKey, ServerConfig as Serves,
};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, ConnectionId, DatagramEvent, Dir, Endpoint,
    EndpointConfig, Event, RandomConnectionIdGenerator, ServerConfig, StreamEvent, StreamId,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Made by openssl: a self-signed Ed25519 certificate for "clift", and its key.
const CERTIFICATE: &[u8] = include_bytes!("../certificate.der");
const KEY: &[u8] = include_bytes!("../key.der");

const DELAY: Duration = Duration::from_millis(250);
/// 10 Mbit/s.
const NS_A_BYTE: u64 = 800;

type Crypto = (Arc<dyn Calls>, Arc<dyn Serves>);

fn tls() -> Crypto {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from(CERTIFICATE);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    // As quinn's own servers have it: their tickets say that data may come early.
    server.max_early_data_size = u32::MAX;
    let client = QuicClientConfig::try_from(client).unwrap();
    (Arc::new(client), Arc::new(QuicServerConfig::try_from(server).unwrap()))
}

/// When a datagram left, which end's it was (0: the client's), and its bytes.
type Sent = (Duration, usize, usize);

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

/// A file from the client to the server, of whose datagrams some are lost, by their numbers: what was
/// sent, and when the server had everything.
#[allow(clippy::disallowed_methods)] // there is no other way to a `std::time::Instant`
fn transfer(crypto: Crypto, file: usize, lost: &[usize]) -> (Vec<Sent>, Duration) {
    let base = Instant::now();
    let (calls, serves) = crypto;
    let tokens: Arc<dyn HandshakeTokenKey> =
        Arc::new(ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&[7; 32]));
    let server = Arc::new(ServerConfig::new(serves, tokens));
    let mut ends = [None, Some(server)].map(|server| {
        let reset: Arc<dyn HmacKey> =
            Arc::new(ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &[5; 64]));
        let mut config = EndpointConfig::new(reset);
        config
            .cid_generator(|| Box::new(RandomConnectionIdGenerator::new(8)))
            .rng_seed(Some([3; 32]));
        End { endpoint: Endpoint::new(Arc::new(config), server, true, None), connection: None }
    });
    let addresses = [1, 2].map(|last| SocketAddr::from((Ipv4Addr::new(192, 0, 2, last), 4433)));
    let mut client = ClientConfig::new(calls);
    client.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[9; 20])));
    let called = ends[0].endpoint.connect(base, client, addresses[1], "clift").unwrap();
    ends[0].connection = Some(called);

    let (mut under_way, mut sent) = (BTreeMap::new(), Vec::new());
    let (mut now, mut free) = (Duration::ZERO, [Duration::ZERO; 2]);
    let (mut stream, mut left, mut order) = (None, file, 0);
    let (mut incoming, mut delivered): (Option<StreamId>, usize) = (None, 0);
    let mut of_client = 0;
    loop {
        // What both ends have to say now, until neither says anything.
        loop {
            let before = sent.len();
            for place in 0..2 {
                let End { endpoint, connection } = &mut ends[place];
                let Some((handle, connection)) = connection else { continue };
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = endpoint.handle_event(*handle, event) {
                        connection.handle_event(event);
                    }
                }
                let mut finished = false;
                while let Some(event) = connection.poll() {
                    if let Event::Stream(StreamEvent::Opened { dir }) = event {
                        incoming = connection.streams().accept(dir);
                    }
                }
                if place == 0 && !connection.is_handshaking() {
                    let id =
                        *stream.get_or_insert_with(|| connection.streams().open(Dir::Uni).unwrap());
                    while left > 0 {
                        let mut stream = connection.send_stream(id);
                        let Ok(written) = stream.write(&vec![0; left.min(1 << 16)]) else { break };
                        left -= written;
                        finished = left == 0;
                    }
                    if finished {
                        connection.send_stream(id).finish().unwrap();
                    }
                }
                if let (1, Some(id)) = (place, incoming) {
                    let mut stream = connection.recv_stream(id);
                    if let Ok(mut chunks) = stream.read(true) {
                        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                            delivered += chunk.bytes.len();
                        }
                        let _ = chunks.finalize();
                    }
                }
                if delivered == file {
                    return (sent, now);
                }
                loop {
                    let mut datagram = Vec::new();
                    if connection.poll_transmit(base + now, 1, &mut datagram).is_none() {
                        break;
                    }
                    sent.push((now, place, datagram.len()));
                    free[place] = free[place].max(now)
                        + Duration::from_nanos(NS_A_BYTE * (datagram.len() as u64 + 28));
                    let number = of_client;
                    of_client += usize::from(place == 0);
                    if place == 1 || !lost.contains(&number) {
                        under_way.insert((free[place] + DELAY, order), (1 - place, datagram));
                        order += 1;
                    }
                }
            }
            if sent.len() == before {
                break;
            }
        }
        // What comes next: an arrival or a timer.
        let arrival = under_way.keys().next().map(|(at, _)| *at);
        let timers = ends.iter_mut().filter_map(|end| end.connection.as_mut()?.1.poll_timeout());
        let timer = timers.min().map(|at| at.saturating_duration_since(base).max(now));
        now = [arrival, timer].into_iter().flatten().min().expect("the file is under way");
        assert!(now < Duration::from_secs(300), "{delivered} of {file}");
        while let Some(entry) = under_way.first_entry().filter(|entry| entry.key().0 <= now) {
            let (place, datagram) = entry.remove();
            let (data, mut answer) = (BytesMut::from(Bytes::from(datagram)), Vec::new());
            let End { endpoint, connection } = &mut ends[place];
            let from = addresses[1 - place];
            match endpoint.handle(base + now, from, None, None, data, &mut answer) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    connection.as_mut().unwrap().1.handle_event(event);
                }
                Some(DatagramEvent::NewConnection(one)) => {
                    let accepted = endpoint.accept(one, base + now, &mut answer, None);
                    *connection = accepted.ok();
                }
                _ => {}
            }
        }
        for (_, connection) in ends.iter_mut().filter_map(|end| end.connection.as_mut()) {
            connection.handle_timeout(base + now);
        }
    }
}

fn both(file: usize, lost: &[usize]) -> [(Vec<Sent>, Duration); 2] {
    [tls(), session::without_cryptography(CERTIFICATE.len())]
        .map(|crypto| transfer(crypto, file, lost))
}

#[test]
fn every_datagram_has_the_size_and_the_instant_that_it_has_with_tls() {
    for (file, lost) in [
        (1, &[][..]),
        (100_000, &[]),
        (1_000_000, &[]),
        // The first of the handshake, one in slow start, a burst, and one that is sent again.
        (300_000, &[0]),
        (300_000, &[1, 20]),
        (1_000_000, &[50, 51, 52, 53, 54, 55, 120, 121]),
    ] {
        let [(with, last), (without, own)] = both(file, lost);
        assert!(with.len() > 3, "{with:?}");
        let apart = with.iter().zip(&without).position(|(one, other)| one != other);
        let about = apart.map(|at| {
            let about = at.saturating_sub(3)..(at + 4).min(with.len()).min(without.len());
            (&with[about.clone()], &without[about])
        });
        assert_eq!(about, None, "{file} {lost:?}");
        assert_eq!((with.len(), last), (without.len(), own), "{file} {lost:?}");
    }
}
