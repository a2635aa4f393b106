//! Proxies: what split connections must give by arithmetic, and laws that hold for every one.

use std::sync::Arc;

use clift::application::{Bulk, ConstantRate, File};
use clift::seed::Seed;
use clift::simulation::{self, Flow, LegConfig, Loss, Proxy, Setup, SetupError};
use clift::transport::datagram::DatagramConfig;
use clift::transport::tcp::{CongestionAlgorithm, Profile, ProxyConfig, TcpConfig};
use clift::units::{BitRate, Bytes, Duration, Packets, Probability, Size};
use proptest::prelude::*;
use support::proxied::{Seen, any_hop, flow, in_order, leg, run, setup, wire};

const MSS: u64 = 1448;

fn file(packets: u64) -> File {
    File { size: Size(packets * MSS) }
}

/// A proxy behind the first hop, of two both ways.
fn between(config: ProxyConfig) -> Vec<Proxy> {
    vec![Proxy { config, forward: 1, backward: 1 }]
}

/// 10 ms to the proxy, 300 ms beyond it.
fn geo(flow: Flow, proxies: Vec<Proxy>) -> Setup {
    setup(vec![wire(10), wire(300)], vec![wire(300), wire(10)], vec![flow], proxies)
}

fn completion_ms(setup: &Setup) -> u64 {
    let took = run(setup).flows[0].completion().unwrap().as_nanos();
    assert_eq!(took % 1_000_000, 0);
    took / 1_000_000
}

fn newreno() -> TcpConfig {
    TcpConfig::papers(CongestionAlgorithm::NEWRENO)
}

/// Without rates a window of W packets takes a round trip for each W packets, and the first stage
/// has its own: 10 ms and as many rounds of 600 ms as the proxy's window needs, less the last way
/// back.
#[test]
fn two_stages_take_what_their_rounds_do() {
    let at_once = TcpConfig { initial_window: Packets::new(1000), ..newreno() };
    for (packets, window, rounds) in [(100, 100, 1), (100, 50, 2), (100, 33, 4), (7, 1, 7)] {
        let proxy = ProxyConfig { window: Packets::new(window), ..ProxyConfig::default() };
        let setup = geo(flow(at_once.clone(), file(packets)), between(proxy));
        let expected = 10 + 300 + 600 * (rounds - 1);
        assert_eq!(completion_ms(&setup), expected, "{packets} packets, window {window}");
    }
    // Slow start on either side: 2, 4, 8, ... packets in rounds of 20 ms feed one of 600 ms.
    let setup = geo(flow(newreno(), file(62)), between(ProxyConfig::default()));
    assert_eq!(completion_ms(&setup), 10 + 300 + 4 * 600);
    // A long first stage decides instead: four rounds of 600 ms before the last 32 packets. After
    // so long a pause the proxy begins with 2 packets again, and needs four rounds of 20 ms more.
    let mut setup = setup;
    (setup.forward, setup.backward) = (vec![wire(300), wire(10)], vec![wire(10), wire(300)]);
    assert_eq!(completion_ms(&setup), 300 + 10 + 4 * 600 + 4 * 20);
}

/// The proxy answers the SYN at 10 ms and opens its own connection then; the data are there at 30
/// ms, and leave when that is open, or at once if it is held open.
#[test]
fn the_handshake_is_split_too() {
    let linux = || TcpConfig::linux(CongestionAlgorithm::CUBIC);
    let whole = geo(flow(linux(), file(10)), Vec::new());
    assert_eq!(completion_ms(&whole), 620 + 310);
    let split = geo(flow(linux(), file(10)), between(ProxyConfig::default()));
    assert_eq!(completion_ms(&split), 10 + 600 + 300);
    let open = ProxyConfig { held_open: true, ..ProxyConfig::default() };
    let held = geo(flow(linux(), file(10)), between(open));
    assert_eq!(completion_ms(&held), 20 + 10 + 300);
}

/// A fast sender before a slow link: the proxy holds what its buffers take, nothing is lost, and
/// the link is never idle.
#[test]
fn back_pressure_bounds_what_the_proxy_holds() {
    for profile in [Profile::Papers, Profile::Linux] {
        let tcp =
            TcpConfig { profile: Some(profile), ..TcpConfig::linux(CongestionAlgorithm::CUBIC) };
        let proxy = ProxyConfig {
            buffer: Size(200_000),
            receive_buffer: Some(Size(50_000)),
            window: Packets::new(100),
            ..ProxyConfig::default()
        };
        let mut setup = setup(
            vec![leg(10_000_000, 10, Loss::None), leg(1_000_000, 300, Loss::None)],
            vec![wire(300), wire(10)],
            vec![flow(tcp, Bulk)],
            between(proxy),
        );
        setup.duration = Duration::from_secs(100);
        let outcome = run(&setup);
        let metrics = &outcome.flows[0];
        let held = metrics.proxies[0].most_held;
        assert!((225_000..=250_000).contains(&held), "{profile:?}: {held}");
        assert_eq!(
            (metrics.sender.retransmissions, metrics.sender.timeouts),
            (0, 0),
            "{profile:?}"
        );
        // 1448 of 1500 bytes are data; it takes two round trips or so to begin.
        let share = metrics.goodput() / (1e6 * 1448.0 / 1500.0);
        assert!((0.98..=1.0).contains(&share), "{profile:?}: {share}");
    }
}

/// A window that a proxy keeps under any losses.
#[test]
fn a_fixed_window_does_not_fall() {
    let lossy = || leg(8_000_000, 300, Loss::Random(Probability::new(0.01).unwrap()));
    let goodput = |proxy| {
        let (there, back) = (vec![wire(10), lossy()], vec![wire(300), wire(10)]);
        let bulk = flow(TcpConfig::linux(CongestionAlgorithm::NEWRENO), Bulk);
        let mut setup = setup(there, back, vec![bulk], between(proxy));
        setup.duration = Duration::from_secs(200);
        let outcome = run(&setup);
        (outcome.flows[0].goodput() / 1e6, outcome.flows[0].sender.retransmissions)
    };
    let (newreno, _) = goodput(ProxyConfig::default());
    let window = ProxyConfig { window: Packets::new(200), ..ProxyConfig::default() };
    let (fixed, again) = goodput(window);
    // 200 packets in 601.5 ms are 3.85 Mbit/s of payload; a loss in a hundred halves NewReno's
    // window.
    assert!(newreno < 0.6, "{newreno}");
    assert!((3.2..3.86).contains(&fixed) && again > 100, "{fixed} {again}");
}

/// Datagrams pass as if there were no proxy, beside a flow that is split; so does a run whose
/// proxies split nothing.
#[test]
fn what_a_proxy_cannot_read_passes_untouched() {
    let datagrams = Flow {
        transport: Arc::new(DatagramConfig { packet: Bytes(500) }),
        ..flow(
            newreno(),
            ConstantRate {
                rate: BitRate::from_bits_per_second(100_000).unwrap(),
                message: None,
                deadline: None,
            },
        )
    };
    let loss = || Loss::Random(Probability::new(0.05).unwrap());
    let outcome = |proxies| {
        let there = vec![leg(1_000_000, 10, loss()), leg(1_000_000, 300, loss())];
        let back = vec![wire(300), wire(10)];
        let mut setup = setup(there, back, vec![datagrams.clone()], proxies);
        setup.duration = Duration::from_secs(60);
        run(&setup)
    };
    let without = outcome(Vec::new());
    assert!(without.flows[0].bytes_in_order > 0);
    assert_eq!(outcome(between(ProxyConfig::default())), without);
}

/// The log tells of every stage: each byte is sent first, and received new, once in each.
#[test]
fn an_observer_sees_every_stage() {
    let setup = geo(flow(newreno(), file(100)), between(ProxyConfig::default()));
    let mut seen = Seen::default();
    let outcome = simulation::run(&setup, &mut seen).unwrap();
    assert_eq!(run(&setup), outcome, "an observer changes nothing");
    assert_eq!((seen.first, seen.new), (200 * MSS, 200 * MSS));
    assert_eq!(outcome.flows[0].sender.segments_sent, 200);
    let delay = outcome.flows[0].segment_delay.unwrap();
    assert_eq!(delay.min, Duration::from_millis(310), "from the source to the destination");
}

/// The ACKs that open a closed window may be lost: the stopped sender asks for it.
#[test]
fn a_lost_window_update_stops_nobody_for_ever() {
    for profile in [Profile::Papers, Profile::Linux] {
        let tcp =
            TcpConfig { profile: Some(profile), ..TcpConfig::linux(CongestionAlgorithm::NEWRENO) };
        let proxy = ProxyConfig { buffer: Size(3 * MSS), ..ProxyConfig::default() };
        let took = |lost: &[u64]| {
            let back = leg(1_000_000_000, 10, Loss::Packets(lost.into()));
            let setup = setup(
                vec![wire(10), wire(40)],
                vec![wire(40), back],
                vec![flow(tcp.clone(), file(30))],
                between(proxy.clone()),
            );
            completion_of(&setup)
        };
        let usual = took(&[]);
        let mut slower = 0;
        for lost in 0..30 {
            slower += u32::from(took(&[lost, lost + 1, lost + 2]) > usual);
        }
        assert!(slower > 0, "{profile:?}: no acknowledgement mattered");
    }
}

fn completion_of(setup: &Setup) -> Duration {
    run(setup).flows[0].completion().expect("the file arrived")
}

/// Each flow has its own buffers, and a proxy in the wrong place is refused.
#[test]
fn flows_share_a_proxy_and_not_its_buffers() {
    let proxy = ProxyConfig { buffer: Size(20_000), ..ProxyConfig::default() };
    let mut shared = setup(
        vec![leg(10_000_000, 10, Loss::None), leg(1_000_000, 300, Loss::None)],
        vec![wire(300), wire(10)],
        vec![flow(newreno(), Bulk), flow(newreno(), Bulk)],
        between(proxy.clone()),
    );
    shared.duration = Duration::from_secs(60);
    let outcome = run(&shared);
    for metrics in &outcome.flows {
        let held = metrics.proxies[0].most_held;
        assert!((30_000..=40_000).contains(&held), "{held}");
    }
    let told = |proxies| {
        let setup = geo(flow(newreno(), file(9)), proxies);
        simulation::run(&setup, &mut ()).unwrap_err().to_string()
    };
    let nowhere = vec![Proxy { config: proxy.clone(), forward: 3, backward: 1 }];
    assert_eq!(told(nowhere), SetupError::ProxyPlace { proxy: 0 }.to_string());
    let wrong = ProxyConfig { buffer: Size(9), ..proxy };
    assert!(told(between(wrong)).starts_with("proxy 0: buffer: 9 bytes take no full packet"));
}

fn any_tcp() -> impl Strategy<Value = TcpConfig> {
    (0usize..12, any::<bool>(), any::<bool>()).prop_map(|(number, linux, sack)| {
        let profile = if linux { Profile::Linux } else { Profile::Papers };
        let known: Vec<_> = CongestionAlgorithm::in_profile(profile).collect();
        let congestion = known[number % known.len()];
        let sack = sack || linux || congestion != CongestionAlgorithm::NEWRENO;
        TcpConfig { profile: Some(profile), sack, ..TcpConfig::linux(congestion) }
    })
}

fn any_proxy() -> impl Strategy<Value = ProxyConfig> {
    (any_tcp(), 1u64..200, 1u64..200, prop::option::of(1u64..100), any::<bool>()).prop_map(
        |(tcp, send, receive, window, held_open)| ProxyConfig {
            congestion: window.is_none().then_some(tcp.congestion),
            profile: tcp.profile,
            buffer: Size(send * MSS + send % 7),
            receive_buffer: Some(Size(receive * MSS + receive)),
            window: window.and_then(Packets::new),
            held_open: held_open && tcp.profile() == Profile::Linux,
            ..ProxyConfig::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With any losses, drops and closed windows on either side of any number of proxies, every byte
    /// arrives once, no proxy holds more than its buffers, and the same setup gives the same run.
    #[test]
    fn every_byte_arrives_once_and_no_buffer_overflows(
        tcp in any_tcp(),
        packets in 1u64..400,
        rest in 1u64..MSS,
        hops in prop::collection::vec(any_hop(), 1..4),
        back in prop::collection::vec(any_hop(), 1..4),
        proxies in prop::collection::vec((any_proxy(), 0usize..4, 0usize..4), 1..4),
        own_leg in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let proxies = in_order(proxies, &hops, &back);
        let size = packets * MSS + rest;
        let source_leg = own_leg.then(|| LegConfig::of_delay(Duration::from_millis(5)));
        let sender = Flow { source_leg, ..flow(tcp, File { size: Size(size) }) };
        let setup = Setup { seed: Seed(seed), ..setup(hops, back, vec![sender], proxies) };
        let mut seen = Seen::default();
        let outcome = simulation::run(&setup, &mut seen).unwrap();
        let metrics = &outcome.flows[0];
        prop_assert!(metrics.completed.is_some() && metrics.acknowledged >= metrics.completed);
        prop_assert_eq!(metrics.bytes_in_order, size);
        let stages = setup.proxies.len() as u64 + 1;
        prop_assert_eq!((seen.first, seen.new), (stages * size, stages * size));
        for (proxy, held) in setup.proxies.iter().zip(&metrics.proxies) {
            prop_assert_eq!(held.relayed, size);
            prop_assert!(held.most_held <= proxy.config.most_held(), "{:?} {:?}", held, proxy);
        }
        prop_assert_eq!(run(&setup), outcome);
    }
}
