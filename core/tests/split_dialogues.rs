//! Pages and requests through proxies: what both directions of split connections must give by
//! arithmetic, and laws that hold for every one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clift::application::{
    Application, Connections, Http, Page, PageContent, PageLoad, Requests, Session, Traffic,
};
use clift::metrics::FlowMetrics;
use clift::seed::Seed;
use clift::simulation::{self, Flow, LegConfig, Loss, Outcome, Proxy, RunError, Setup, SetupError};
use clift::transport::tcp::{CongestionAlgorithm, Profile, ProxyConfig, TcpConfig};
use clift::transport::{End, Endpoint, Streams};
use clift::units::{Bytes, Duration, Instant, Packets, Size};
use proptest::prelude::*;
use support::proxied::{Seen, any_hop, flow, in_order, leg, run, setup, wire};

/// Bytes of a segment that are not payload, and of a SYN; the payload of a full one.
const HEADERS: u64 = 52;
const SYN: u64 = 60;
const MSS: u64 = 1448;
/// What the server says in the handshake of TLS: 650 bytes with the headers.
const FLIGHT: u64 = 598 + HEADERS;

fn linux() -> TcpConfig {
    TcpConfig::linux(CongestionAlgorithm::CUBIC)
}

fn page(text: &str, own: Page) -> PageLoad {
    let own = Page { page: Some("x.csv".to_owned()), ..own };
    own.loaded(|_| PageContent::parse(text).map(Arc::new)).unwrap()
}

fn load_of(outcome: &Outcome) -> Duration {
    outcome.flows[0].page.unwrap().load.unwrap()
}

/// Bytes on the wire of a message in segments; at 8 Mbit/s a byte takes a microsecond.
fn wire_bytes(bytes: u64) -> u64 {
    bytes + bytes.div_ceil(MSS) * HEADERS
}

fn millis_and_bytes(ms: u64, bytes: u64) -> Duration {
    Duration::from_micros(1000 * ms + bytes)
}

/// The server, 10 ms, a proxy, 300 ms at 8 Mbit/s, the client; the same delays back.
fn behind_a_satellite(application: impl Application + 'static, proxy: Vec<ProxyConfig>) -> Setup {
    let there = vec![wire(10), leg(8_000_000, 300, Loss::None)];
    let proxies = proxy.into_iter().map(|config| Proxy { config, forward: 1, backward: 1 });
    setup(there, vec![wire(300), wire(10)], vec![flow(linux(), application)], proxies.collect())
}

/// The proxy answers the client's SYN after 300 ms, and opens the way to the server meanwhile: that is
/// 20 ms less than the whole way takes. Nothing else of a short page is shorter, to the nanosecond.
#[test]
fn a_page_of_one_object_saves_the_part_of_its_handshake() {
    for tls in 0..=2 {
        for think in [0, 70] {
            let own = Page {
                tls: Some(tls),
                think: Some(Duration::from_millis(think)),
                http: Some(Http::One),
                ..Page::default()
            };
            let load = || page("name,bytes\nhtml,12000\n", own.clone());
            let tls = u64::from(tls);
            let rounds = 620 * (1 + tls) + think;
            let said = SYN + tls * FLIGHT + wire_bytes(12_000);
            let split = run(&behind_a_satellite(load(), vec![ProxyConfig::default()]));
            // A proxy that has handed on an answer acknowledges the request with the first segment of
            // the object, unless that takes longer than an ACK waits; a flight of TLS is one segment.
            let within = u64::from(tls > 0 && think == 0) * HEADERS;
            let expected = millis_and_bytes(600 + rounds, said + within);
            assert_eq!(load_of(&split), expected, "{tls} {think}");
            // The whole connection acknowledges what the client said first just before it answers.
            let acknowledged = u64::from(tls > 0 || think == 0) * HEADERS;
            let whole = run(&behind_a_satellite(load(), Vec::new()));
            let expected = millis_and_bytes(620 + rounds, said + acknowledged);
            assert_eq!(load_of(&whole), expected, "{tls} {think}");
        }
    }
}

/// The connection towards the client is open already: no SYN goes over the satellite. Then the first
/// data open the one towards the server, whose handshake takes 20 ms.
#[test]
fn a_connection_held_open_takes_no_handshake() {
    let own = Page { tls: Some(1), http: Some(Http::One), ..Page::default() };
    let proxy = ProxyConfig { held_open: true, ..ProxyConfig::default() };
    let text = "name,bytes\nhtml,12000\n";
    let outcome = run(&behind_a_satellite(page(text, own), vec![proxy]));
    let expected = millis_and_bytes(20 + 2 * 620, FLIGHT + wire_bytes(12_000));
    assert_eq!(load_of(&outcome), expected);
}

/// A pair around the satellite: the client's SYN is answered at once, and the three handshakes overlap
/// but for what the first data wait for.
#[test]
fn each_stretch_has_its_own_handshake() {
    let pair = |held_open| {
        let first = ProxyConfig { held_open, ..ProxyConfig::default() };
        let own = Page { tls: Some(0), http: Some(Http::One), ..Page::default() };
        let hops = || vec![wire(10), wire(300), wire(5)];
        let place = |config, forward, backward| Proxy { config, forward, backward };
        let setup = setup(
            hops(),
            hops().into_iter().rev().collect(),
            vec![flow(linux(), page("name,bytes\nhtml,9000\n", own))],
            vec![place(first, 1, 2), place(ProxyConfig::default(), 2, 1)],
        );
        load_of(&run(&setup))
    };
    // At 5 ms the far proxy sends its SYN, whose answer is there at 605; the request has waited.
    assert_eq!(pair(false), Duration::from_millis(605 + 310 + 315));
    // Without: the request is at the near proxy at 315, which then opens its way to the server.
    assert_eq!(pair(true), Duration::from_millis(10 + 5 + 300 + 20 + 10 + 315));
}

/// Slow start on either stretch: the long one has the round trip that it had, the short one its own.
#[test]
fn an_answer_takes_the_rounds_of_the_longest_stretch() {
    let took = |response, proxies| {
        let own = Requests {
            request: Bytes(200),
            response: Size(response),
            think: None,
            pause: None,
            count: Some(1),
            tls: Some(0),
            deadline: None,
        };
        let there = vec![wire(100), wire(100)];
        let back = vec![wire(100), wire(100)];
        let outcome = run(&setup(there, back, vec![flow(linux(), own)], proxies));
        outcome.flows[0].requests.unwrap().response_time.unwrap().max
    };
    let middle = || vec![Proxy { config: ProxyConfig::default(), forward: 1, backward: 1 }];
    // 10, 20, 40 packets in rounds; with a proxy rounds of 200 ms instead of 400 ms.
    let ms = Duration::from_millis;
    assert_eq!(took(10 * MSS, Vec::new()), ms(400));
    assert_eq!(took(30 * MSS, Vec::new()), ms(800));
    assert_eq!(took(10 * MSS, middle()), ms(400));
    assert_eq!(took(30 * MSS, middle()), ms(600));
}

/// A proxy of profile `papers` sends one way, and refuses the other.
#[test]
fn a_proxy_that_sends_one_way_is_refused() {
    let proxy = ProxyConfig { profile: Some(Profile::Papers), ..ProxyConfig::default() };
    let own = Page { http: Some(Http::Two), ..Page::default() };
    let setup = behind_a_satellite(page("name,bytes\nhtml,1\n", own), vec![proxy]);
    let Err(RunError::Setup(SetupError::Proxy { proxy: 0, fault })) =
        simulation::run(&setup, &mut ())
    else {
        panic!("it is refused")
    };
    assert!(fault.to_string().starts_with("profile: profile \"papers\" sends one way"), "{fault}");
}

/// Both ends say much at once, and hear what the other said.
#[derive(Clone, Debug)]
struct Chat {
    up: u64,
    down: u64,
    /// To the server and to the client, as counted.
    heard: Arc<[AtomicU64; 2]>,
}

struct Chatting {
    own: Chat,
    said: [bool; 2],
}

impl Application for Chat {
    fn is_session(&self) -> bool {
        true
    }

    fn start(&self, _: Instant, _: Bytes) -> Box<dyn Traffic> {
        struct Nothing;
        impl Traffic for Nothing {
            fn drive(&mut self, _: Instant, _: &mut dyn Endpoint) -> Option<Instant> {
                None
            }
        }
        Box::new(Nothing)
    }

    fn session(&self, _: Instant, _: Streams) -> Option<Box<dyn Session>> {
        Some(Box::new(Chatting { own: self.clone(), said: [false; 2] }))
    }
}

impl Chatting {
    fn heard(&self, end: End) -> u64 {
        self.own.heard[end as usize].load(Ordering::Relaxed)
    }
}

impl Session for Chatting {
    fn run(&mut self, _: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        let ends = connections.take(0);
        ends.client.open();
        if ends.client.is_open() && !std::mem::replace(&mut self.said[1], true) {
            ends.client.write(0, self.own.up, true);
        }
        if self.heard(End::Sender) > 0 && !std::mem::replace(&mut self.said[0], true) {
            ends.server.write(0, self.own.down, true);
        }
        None
    }

    fn arrived(
        &mut self,
        now: Instant,
        _: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        while let Some(chunk) = connections.take(0).at(end).read() {
            self.own.heard[end as usize].fetch_add(chunk.bytes, Ordering::Relaxed);
        }
        self.run(now, connections)
    }

    fn is_done(&self) -> bool {
        self.heard(End::Sender) >= self.own.up && self.heard(End::Receiver) >= self.own.down
    }

    fn report(&self, _: usize, _: &mut FlowMetrics) {}
}

fn any_proxy() -> impl Strategy<Value = ProxyConfig> {
    (0usize..12, 1u64..200, 1u64..200, prop::option::of(1u64..100), any::<bool>()).prop_map(
        |(number, send, receive, window, held_open)| {
            let known: Vec<_> = CongestionAlgorithm::in_profile(Profile::Linux).collect();
            ProxyConfig {
                congestion: window.is_none().then(|| known[number % known.len()]),
                buffer: Size(send * MSS + send % 7),
                receive_buffer: Some(Size(receive * MSS + receive)),
                window: window.and_then(Packets::new),
                held_open,
                ..ProxyConfig::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With any losses and closed windows, in either direction, on either side of any number of proxies, each
    /// end hears every byte once, no proxy holds more than its buffers, every stretch carries each byte
    /// once, and the same setup gives the same run.
    #[test]
    fn each_end_hears_every_byte_once(
        up in 1u64..300_000,
        down in 1u64..600_000,
        hops in prop::collection::vec(any_hop(), 1..4),
        back in prop::collection::vec(any_hop(), 1..4),
        proxies in prop::collection::vec((any_proxy(), 0usize..4, 0usize..4), 0..4),
        own_leg in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let proxies = in_order(proxies, &hops, &back);
        let chat = || Chat { up, down, heard: Arc::default() };
        let source_leg = own_leg.then(|| LegConfig::of_delay(Duration::from_millis(5)));
        let of = |chat: Chat| Flow { source_leg: source_leg.clone(), ..flow(linux(), chat) };
        let own = chat();
        let heard = Arc::clone(&own.heard);
        // It runs on: what were said twice would be heard, too.
        let mut setup = Setup {
            seed: Seed(seed),
            stop_when_done: false,
            ..setup(hops, back, vec![of(own)], proxies)
        };
        let mut seen = Seen::default();
        let outcome = simulation::run(&setup, &mut seen).unwrap();
        let heard = [0, 1].map(|end: usize| heard[end].load(Ordering::Relaxed));
        prop_assert_eq!(heard, [up, down]);
        let stages = setup.proxies.len() as u64 + 1;
        prop_assert_eq!((seen.first, seen.new), (stages * down, stages * down));
        prop_assert_eq!(outcome.flows[0].proxies.len(), setup.proxies.len());
        for (proxy, held) in setup.proxies.iter().zip(&outcome.flows[0].proxies) {
            prop_assert_eq!(held.relayed, down);
            prop_assert!(held.most_held <= proxy.config.most_held(), "{:?} {:?}", held, proxy);
        }
        setup.flows = vec![of(chat())];
        prop_assert_eq!(run(&setup), outcome);
    }
}
