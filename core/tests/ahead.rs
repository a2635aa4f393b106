//! A lone flow runs ahead: the results are those of its events one by one.

use std::sync::Arc;

use clift::application::{Application, Bulk, ConstantRate, File, Until};
use clift::channel::{ErasureChannel, GilbertElliott, RegularSlots};
use clift::link::{DelaySeries, Propagation, QueueLimit};
use clift::queue::Aqm;
use clift::scheme::{LinkConfig, Scheme, Timing};
use clift::seed::Seed;
use clift::simulation::{
    self, Change, ChangeKind, Flow, Hop, LegConfig, Loss, Observer, Routing, Sample, Setup, Wants,
};
use clift::transport::Protocol;
use clift::transport::datagram::DatagramConfig;
use clift::transport::tcp::{CongestionAlgorithm, DelayedAck, LinuxOptions, Profile, TcpConfig};
use clift::units::{BitRate, Bytes, Duration, Instant, Packets, Probability, Size};
use proptest::prelude::*;

/// What an observer saw. One that wants the states of senders sees its run's events one by one.
#[derive(Default)]
struct Seen {
    one_by_one: bool,
    every: Option<Duration>,
    samples: Vec<String>,
}

impl Observer for Seen {
    fn wants(&self) -> Wants {
        Wants { senders: self.one_by_one, ..Wants::default() }
    }

    fn sample_interval(&self) -> Option<Duration> {
        self.every
    }

    fn sample(&mut self, sample: &Sample) {
        self.samples.push(format!("{sample:?}"));
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(time: u64) -> Instant {
    Instant::ZERO + ms(time)
}

/// Many times are whole milliseconds, so that events meet: 1500 bytes take one at 12 Mbit/s.
fn legs() -> impl Strategy<Value = Hop> {
    let rate = prop_oneof![
        3 => Just(12_000_000u64),
        2 => Just(300_000),
        2 => 100_000u64..20_000_000,
        1 => Just(0)
    ];
    let delay = prop_oneof![
        3 => prop_oneof![Just(1u64), Just(40), Just(200), 1u64..300]
            .prop_map(|delay| Propagation::Fixed(ms(delay))),
        1 => (1u64..300, 1u64..300, 0u64..9000, any::<bool>()).prop_map(|(a, b, then, keep_order)| {
            let steps = vec![(Instant::ZERO, ms(a)), (at(1 + then), ms(b))];
            Propagation::Varying { series: Arc::new(DelaySeries::new(steps).unwrap()), keep_order }
        }),
    ];
    let queue = prop_oneof![
        Just(QueueLimit::Unlimited),
        (1u32..80).prop_map(QueueLimit::Packets),
        (3_000u64..90_000).prop_map(QueueLimit::Bytes)
    ];
    let loss = prop_oneof![
        4 => Just(Loss::None),
        3 => (0.0f64..0.1).prop_map(|p| Loss::Random(Probability::new(p).unwrap())),
        1 => prop::collection::btree_set(0u64..400, 0..9)
            .prop_map(|lost| Loss::Packets(lost.into_iter().collect())),
        1 => prop::collection::btree_map(0u64..400, 1u64..400, 1..6).prop_map(|held| Loss::Data {
            lost: Arc::new([]),
            held: held.into_iter().map(|(packet, time)| (packet, ms(time))).collect(),
        }),
        1 => (0u64..5000, 1u64..1500)
            .prop_map(|(from, long)| Loss::Outages([(at(from), at(from + long))].into())),
    ];
    let aqm = prop_oneof![6 => Just("none"), 1 => Just("codel"), 1 => Just("pie")];
    (rate, delay, queue, loss, aqm).prop_map(|(rate, delay, queue, loss, aqm)| {
        let aqm = aqm.parse::<Aqm>().unwrap();
        Hop::Leg(LegConfig { rate: BitRate::from_bits_per_second(rate), delay, queue, aqm, loss })
    })
}

fn links() -> impl Strategy<Value = Hop> {
    let schemes = ["none", "ARQ", "HARQ(10/12)", "HARQ2(4,2,2)", "FEC(10/12)"];
    let slots =
        prop_oneof![(Just(1_000_000u64), Just(1500u32)), (200_000u64..3_000_000, 33u32..1500)];
    (
        0..schemes.len(),
        slots,
        0.0f64..0.2,
        1.0f64..9.0,
        prop_oneof![Just(0u64), Just(500), 2u64..600],
        1u32..200,
    )
        .prop_map(move |(scheme, (every, lldu), p, burst, rtt, queue)| {
            let every = Duration::from_nanos(every);
            let slots = RegularSlots { count: 9000, every, decode: every, lldu: Bytes(lldu) };
            let channel = GilbertElliott::from_mean(p, burst, 0.0, 1.0).unwrap();
            let phy = channel.trace(&slots, Seed(7), 0).unwrap();
            let scheme: Scheme = schemes[scheme].parse().unwrap_or(Scheme::None);
            let trace = scheme.apply(&phy, Timing { rtt: ms(rtt), feedback: None });
            let queue = QueueLimit::Packets(queue);
            Hop::Link(LinkConfig { queue, wrap: true, ..LinkConfig::new(Arc::new(trace)) })
        })
}

fn way() -> impl Strategy<Value = Vec<Hop>> {
    prop::collection::vec(prop_oneof![2 => legs(), 1 => links()], 1..4)
}

fn transports() -> impl Strategy<Value = Arc<dyn Protocol>> {
    let tcp = |profile: Profile| {
        let all: Vec<_> = CongestionAlgorithm::in_profile(profile).collect();
        let flags = prop::array::uniform11(any::<bool>());
        // Mostly timestamps and SACK; windows in segments and in bytes.
        let options = (prop::bool::weighted(0.8), prop::bool::weighted(0.9), flags);
        let window = prop::option::weighted(0.3, 20_000u64..900_000);
        (prop::sample::select(all), any::<bool>(), 2u64..300, options, window).prop_map(
            move |(algorithm, delays, most, (timestamps, sack, flags), window)| {
                let mut tcp = match profile {
                    Profile::Papers => TcpConfig::papers(algorithm),
                    _ => TcpConfig::linux(algorithm),
                };
                tcp.cwnd_max = Packets::new(most);
                tcp.timestamps = timestamps;
                tcp.receive_window = window.map(Size);
                if profile == Profile::Papers {
                    tcp.delayed_ack = delays.then_some(DelayedAck::After(ms(40)));
                    tcp.sack = sack || algorithm != CongestionAlgorithm::NEWRENO;
                } else if delays {
                    tcp.sack = sack;
                    let [growth, pacing, bursts, ticks, quick, compression, ..] = flags;
                    let [.., probe, hystart, undo, dsack, ecn] = flags;
                    tcp.ecn = ecn.then_some(true);
                    tcp.linux = Some(LinuxOptions {
                        window_growth: growth,
                        pacing,
                        burst_deferral: bursts,
                        timer_ticks: ticks,
                        quick_ack: quick,
                        sack_compression: compression,
                        tail_loss_probe: probe,
                        hystart,
                        undo,
                        dsack,
                        ..LinuxOptions::default()
                    });
                }
                Arc::new(tcp) as Arc<dyn Protocol>
            },
        )
    };
    prop_oneof![
        4 => tcp(Profile::Papers),
        4 => tcp(Profile::Linux),
        1 => Just(Arc::new(DatagramConfig { packet: Bytes(1500) }) as Arc<dyn Protocol>),
    ]
}

fn applications() -> impl Strategy<Value = Arc<dyn Application>> {
    let file = (1u64..900_000).prop_map(|size| Arc::new(File { size: Size(size) }) as Arc<_>);
    // A segment each millisecond, or about each.
    let rate = prop_oneof![Just(11_584_000u64), 300_000u64..12_000_000].prop_map(|rate| {
        let rate = BitRate::from_bits_per_second(rate).unwrap();
        Arc::new(ConstantRate { rate, message: Some(Bytes(1448)), deadline: None }) as Arc<_>
    });
    let bulk = Just(Arc::new(Bulk) as Arc<dyn Application>);
    let whole = prop_oneof![3 => bulk, 2 => file, 2 => rate];
    prop_oneof![
        3 => whole.clone(),
        1 => (whole, 500u64..8000).prop_map(|(application, end)| {
            Arc::new(Until { application, end: at(end) }) as Arc<dyn Application>
        }),
    ]
}

proptest! {
    #[test]
    fn results_are_those_of_events_one_by_one(
        (forward, backward) in (way(), way()),
        (transport, application, start) in (transports(), applications(), 0u64..300),
        access in prop::option::weighted(0.3, legs()),
        (stop_when_done, every) in (any::<bool>(), prop::option::of(1u64..2000)),
        change in prop::option::weighted(0.3, (0u64..8000, 1u32..50)),
        seed in 0u64..1000,
    ) {
        let source_leg = access.and_then(|hop| match hop { Hop::Leg(leg) => Some(leg), _ => None });
        let mut flow = Flow { start: at(start), transport, application, source_leg };
        if flow.transport.tcp().is_none() {
            let rate = BitRate::from_bits_per_second(900_000).unwrap();
            flow.application = Arc::new(ConstantRate { rate, message: None, deadline: None });
        }
        let changes = change.into_iter().flat_map(|(time, packets)| {
            let keep = ChangeKind::KeepWindow { flow: 0, connection: 0 };
            let queue = ChangeKind::Queue { hop: 0, limit: QueueLimit::Packets(packets) };
            [Change { at: at(time), what: keep }, Change { at: at(time + 5), what: queue }]
        });
        let setup = Setup {
            seed: Seed(seed),
            duration: Duration::from_secs(9),
            stop_when_done,
            forward,
            backward,
            flows: vec![flow],
            proxies: Vec::new(),
            changes: changes.collect(),
            routing: Routing::default(),
        };
        let run = |one_by_one| {
            let mut seen = Seen { one_by_one, every: every.map(ms), ..Seen::default() };
            let outcome = simulation::run(&setup, &mut seen);
            (outcome, seen.samples)
        };
        let (ahead, one_by_one) = (run(false), run(true));
        prop_assert_eq!(ahead, one_by_one);
    }
}

/// One flow for 5 s over a hop each way.
fn lone_flow(
    forward: Hop,
    backward: Hop,
    transport: TcpConfig,
    application: Arc<dyn Application>,
) -> Setup {
    Setup {
        seed: Seed(1),
        duration: Duration::from_secs(5),
        stop_when_done: false,
        forward: vec![forward],
        backward: vec![backward],
        flows: vec![Flow {
            start: Instant::ZERO,
            transport: Arc::new(transport),
            application,
            source_leg: None,
        }],
        proxies: Vec::new(),
        changes: Vec::new(),
        routing: Routing::default(),
    }
}

/// A segment each millisecond, and acknowledgements held back by whole milliseconds: the receiver's timer is
/// often set for an instant for which it was set before, and at which a segment arrives.
#[test]
fn a_timer_that_is_set_again_keeps_its_place_among_the_events_of_its_instant() {
    let loss = Loss::Random(Probability::new(0.01).unwrap());
    let rate = BitRate::from_bits_per_second(11_584_000).unwrap();
    let application = ConstantRate { rate, message: Some(Bytes(1448)), deadline: None };
    for seed in 0..12 {
        let forward = Hop::Leg(LegConfig { loss: loss.clone(), ..LegConfig::of_delay(ms(20)) });
        let backward = Hop::Leg(LegConfig::of_delay(ms(20)));
        let transport = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
        let setup = Setup {
            seed: Seed(seed),
            ..lone_flow(forward, backward, transport, Arc::new(application))
        };
        let run = |one_by_one| {
            simulation::run(&setup, &mut Seen { one_by_one, ..Seen::default() }).unwrap()
        };
        assert_eq!(run(false), run(true), "seed {seed}");
    }
}

/// The packets of a block that is repaired arrive at one instant. What arrives after the end of the run does
/// not count.
#[test]
fn a_run_ends_with_its_transfer_where_packets_arrive_together() {
    let (every, rtt) = (ms(1), ms(20));
    let slots = RegularSlots { count: 9000, every, decode: every, lldu: Bytes(500) };
    let channel = GilbertElliott::from_mean(0.1, 3.0, 0.0, 1.0).unwrap();
    let phy = channel.trace(&slots, Seed(7), 0).unwrap();
    let scheme: Scheme = "HARQ(10/12)".parse().unwrap();
    let link = LinkConfig::new(Arc::new(scheme.apply(&phy, Timing { rtt, feedback: None })));
    for size in (1..200).map(|number| 3_571 * number) {
        let forward = Hop::Link(LinkConfig { wrap: true, ..link.clone() });
        let backward = Hop::Leg(LegConfig::of_delay(ms(1)));
        let transport = TcpConfig::papers(CongestionAlgorithm::HYBLA);
        let application = Arc::new(File { size: Size(size) });
        let setup =
            Setup { stop_when_done: true, ..lone_flow(forward, backward, transport, application) };
        let run = |one_by_one| {
            simulation::run(&setup, &mut Seen { one_by_one, ..Seen::default() }).unwrap()
        };
        assert_eq!(run(false), run(true), "{size} bytes");
    }
}
