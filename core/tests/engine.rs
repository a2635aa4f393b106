//! The engine: laws that hold for every run, and cases whose outcome is known.

use std::ops::ControlFlow;
use std::sync::Arc;

use clift::application::{Application, Bulk, ConstantRate, File};
use clift::channel::{ErasureChannel, GilbertElliott, RegularSlots};
use clift::link::{DelaySeries, Fragmentation, Propagation, QueueLimit};
use clift::metrics::{FlowMetrics, HopMetrics};
use clift::queue::Aqm;
use clift::scenario::{Scenario, Store};
use clift::scheme::LinkConfig;
use clift::scheme::{LinkTrace, Scheme, Timing};
use clift::seed::Seed;
use clift::simulation::{
    self, Event, Flow, Hop, LegConfig, Loss, Observer, Outcome, Routing, RunError, Setup,
    SetupError, Wants,
};
use clift::trace::Folder;
use clift::transport::datagram::DatagramConfig;
use clift::transport::tcp::{CongestionAlgorithm, Profile, TcpConfig};
use clift::units::{BitRate, Bytes, Duration, Instant, Packets, Probability, Size};
use proptest::prelude::*;

const RTT: Duration = Duration::from_millis(500);

/// The `internet` link of Kuhn 2014 over a Gilbert-Elliott channel: 33-byte LLDUs at 0.263 Mbit/s.
fn internet(p: f64, burst: f64, scheme: &str, seconds: u64) -> Arc<LinkTrace> {
    let slots = RegularSlots {
        count: seconds * 1_000_000_000 / 1_003_802,
        every: Duration::from_nanos(1_003_802),
        decode: Duration::from_millis(36),
        lldu: Bytes(33),
    };
    let channel = GilbertElliott::from_mean(p, burst, 0.0, 1.0).unwrap();
    let phy = channel.trace(&slots, Seed(7), 0).unwrap();
    let scheme: Scheme = scheme.parse().unwrap();
    Arc::new(scheme.apply(&phy, Timing { rtt: RTT, feedback: None }))
}

fn link(trace: &Arc<LinkTrace>, queue: u32) -> Hop {
    Hop::Link(LinkConfig {
        medium: Arc::clone(trace) as _,
        queue: QueueLimit::Packets(queue),
        aqm: Aqm::None,
        fragmentation: Fragmentation::default(),
        start_offset: Duration::ZERO,
        wrap: true,
        overlap_papers: false,
        reorder: None,
        coding: None,
    })
}

fn leg(rate: u64, delay_ms: u64, queue: u32, loss: Loss) -> Hop {
    Hop::Leg(LegConfig {
        rate: BitRate::from_bits_per_second(rate),
        delay: Duration::from_millis(delay_ms).into(),
        queue: QueueLimit::Packets(queue),
        aqm: Aqm::None,
        loss,
    })
}

fn fixed_delay(delay: Duration) -> Hop {
    Hop::Leg(LegConfig::of_delay(delay))
}

fn tcp(algorithm: CongestionAlgorithm, application: impl Application + 'static) -> Flow {
    let transport = Arc::new(TcpConfig::papers(algorithm));
    Flow { start: Instant::ZERO, transport, application: Arc::new(application), source_leg: None }
}

fn setup(forward: Vec<Hop>, flows: Vec<Flow>, seconds: u64) -> Setup {
    Setup {
        seed: Seed(1),
        duration: Duration::from_secs(seconds),
        stop_when_done: false,
        forward,
        backward: vec![fixed_delay(RTT.half())],
        flows,
        proxies: Vec::new(),
        changes: Vec::new(),
        routing: Routing::default(),
    }
}

fn run(setup: &Setup) -> Outcome {
    simulation::run(setup, &mut ()).unwrap()
}

/// 100,000 bytes over the loss-free `internet` link: the loss-free cells of table 3 in Kuhn 2014,
/// as ns-2 gives them (last of 70 packets received).
#[test]
fn the_loss_free_cells_of_table_3() {
    let cells = [("ARQ", 4.57, 3.96), ("HARQ(10/12)", 5.11, 4.59), ("HARQ(10/15)", 5.91, 5.53)];
    for (scheme, others, hybla) in cells {
        let trace = internet(0.0, 1.0, scheme, 60);
        for algorithm in CongestionAlgorithm::in_profile(Profile::Papers) {
            let expected = if algorithm == CongestionAlgorithm::HYBLA { hybla } else { others };
            let flow = tcp(algorithm, File { size: Size(100_000) });
            let mut setup = setup(vec![link(&trace, 1000)], vec![flow], 60);
            setup.stop_when_done = true;
            let completion = run(&setup).flows[0].completion().unwrap().as_secs_f64();
            assert!((completion - expected).abs() < 0.02, "{scheme} {algorithm}: {completion}");
        }
    }
}

/// FTP over the loss-free link: figure 10 of Kuhn 2014 counts 1500-byte IP packets.
#[test]
fn the_loss_free_ftp_rates_of_figure_10() {
    for (scheme, expected) in [("ARQ", 258.0), ("HARQ(10/12)", 215.0), ("HARQ(10/15)", 173.0)] {
        let trace = internet(0.0, 1.0, scheme, 450);
        let flow = tcp(CongestionAlgorithm::CUBIC, Bulk);
        let outcome = run(&setup(vec![link(&trace, 1000)], vec![flow], 400));
        let rate = outcome.flows[0].ip_throughput() / 1e3;
        assert!((rate / expected - 1.0).abs() < 0.02, "{scheme}: {rate}");
    }
}

/// 70 segments in windows of 2, 4, 8, 10, ...: nine rounds of 250 ms, the way that has a hop.
#[test]
fn a_way_without_a_hop_takes_no_time() {
    let tcp =
        TcpConfig { cwnd_max: Packets::new(10), ..TcpConfig::papers(CongestionAlgorithm::NEWRENO) };
    let file = File { size: Size(100_000) };
    let flow = Flow { transport: Arc::new(tcp), ..self::tcp(CongestionAlgorithm::NEWRENO, file) };
    let hop = || vec![fixed_delay(RTT.half())];
    for (forward, backward, rounds) in [(vec![], hop(), 8), (hop(), vec![], 9)] {
        let outcome = run(&Setup { backward, ..setup(forward, vec![flow.clone()], 60) });
        let expected = RTT.half() * rounds;
        assert_eq!(outcome.flows[0].completion(), Some(expected));
        assert_eq!(outcome.flows[0].sender.segments_sent, 70);
    }
}

#[test]
fn two_links_in_series_add_their_delays() {
    let trace = internet(0.0, 1.0, "none", 60);
    let flow = Flow {
        transport: Arc::new(DatagramConfig { packet: Bytes(61) }),
        ..tcp(
            CongestionAlgorithm::NEWRENO,
            ConstantRate {
                rate: BitRate::from_bits_per_second(264).unwrap(), // a message a second
                message: Some(Bytes(33)),
                deadline: Some(Duration::from_micros(574_600)),
            },
        )
    };
    let outcome = run(&setup(vec![link(&trace, 10), link(&trace, 10)], vec![flow], 50));
    let messages = outcome.flows[0].messages.unwrap();
    let delay = messages.delay.unwrap();
    // Two LLDUs on each link: at least a slot, the decoding and RTT/2, at most another slot more.
    let least = Duration::from_nanos(2 * (1_003_802 + 36_000_000 + 250_000_000));
    assert!(delay.min >= least, "{:?}", delay.min);
    assert!(delay.max <= least + Duration::from_nanos(2 * 1_003_802), "{:?}", delay.max);
    assert!(messages.in_time > 0 && messages.in_time < messages.received, "{messages:?}");
    assert!(messages.sent - messages.received <= 1, "{messages:?}");
}

#[test]
fn the_other_direction_may_be_a_link_of_its_own() {
    let trace = internet(0.02, 2.0, "none", 450);
    let forward = leg(2_300_000, 250, 200, Loss::None);
    let mut setup = setup(vec![forward], vec![tcp(CongestionAlgorithm::CUBIC, Bulk)], 60);
    setup.backward = vec![link(&trace, 1000)];
    let outcome = run(&setup);
    let HopMetrics::Link(acks) = &outcome.backward[0] else { panic!("a link") };
    assert!(acks.counters.lost > 0, "acknowledgements are lost on it");
    assert!(outcome.flows[0].bytes_in_order > 100_000, "and the flow lives with that");
}

/// A path that falls from 80 to 20 ms after a second, with datagrams every 10 ms: those sent in the
/// last 60 ms before are overtaken, unless the leg keeps order.
#[test]
fn a_path_that_gets_shorter_lets_packets_overtake_unless_it_keeps_order() {
    let ms = Duration::from_millis;
    let steps = vec![(Instant::ZERO, ms(80)), (Instant::ZERO + ms(1000), ms(20))];
    let series = Arc::new(DelaySeries::new(steps).unwrap());
    let rate = BitRate::from_bits_per_second(800_000).unwrap();
    let application = ConstantRate { rate, message: Some(Bytes(1000)), deadline: Some(ms(80)) };
    let flow = Flow {
        start: Instant::ZERO,
        transport: Arc::new(DatagramConfig { packet: Bytes(1028) }),
        application: Arc::new(application),
        source_leg: None,
    };
    for keep_order in [false, true] {
        let delay = Propagation::Varying { series: Arc::clone(&series), keep_order };
        let leg = Hop::Leg(LegConfig::of_delay(delay));
        let mut log = Log::default();
        simulation::run(&setup(vec![leg], vec![flow.clone()], 2), &mut log).unwrap();
        let arrived: Vec<(u64, u64)> = log
            .0
            .iter()
            .filter_map(|(at, event)| match event {
                Event::Received { seq, .. } => Some((at.as_nanos() / 1_000_000, seq / 1000)),
                _ => None,
            })
            .collect();
        for number in 95..100 {
            let at = arrived.iter().find(|&&(_, seq)| seq == number).unwrap().0;
            assert_eq!(at, 10 * number + 80);
        }
        let in_order = arrived.is_sorted_by_key(|&(_, seq)| seq);
        assert_eq!(in_order, keep_order, "{arrived:?}");
        // Sent at 1 s over the short path: alone it takes 20 ms, kept in order it waits.
        let first_short = arrived.iter().find(|&&(_, seq)| seq == 100).unwrap().0;
        assert_eq!(first_short, if keep_order { 1070 } else { 1020 });
    }
}

#[test]
fn flows_of_the_same_kind_share_fairly() {
    let flow = tcp(CongestionAlgorithm::NEWRENO, Bulk);
    let hop = leg(2_300_000, 20, 20, Loss::None);
    let mut setup = setup(vec![hop], vec![flow; 4], 200);
    for (number, flow) in setup.flows.iter_mut().enumerate() {
        flow.start = Instant::ZERO + Duration::from_millis(130) * number as u64;
    }
    setup.backward = vec![fixed_delay(Duration::from_millis(20))];
    let outcome = run(&setup);
    assert!(outcome.fairness() > 0.8, "{}", outcome.fairness());
    assert!(outcome.goodput() > 0.9 * 2_300_000.0 * 1448.0 / 1500.0, "{}", outcome.goodput());
}

#[test]
fn a_further_flow_does_not_shift_the_losses_of_a_leg() {
    let loss = Loss::Random(Probability::new(0.01).unwrap());
    let flow = || Flow {
        transport: Arc::new(DatagramConfig { packet: Bytes(1500) }),
        ..tcp(
            CongestionAlgorithm::NEWRENO,
            ConstantRate {
                rate: BitRate::from_bits_per_second(1_000_000).unwrap(),
                message: Some(Bytes(1000)),
                deadline: None,
            },
        )
    };
    let alone = setup(vec![leg(9_000_000, 5, 100, loss)], vec![flow()], 100);
    let mut other_source = alone.clone();
    let own_leg = LegConfig {
        rate: BitRate::from_bits_per_second(8_000_000),
        delay: Duration::ZERO.into(),
        queue: QueueLimit::Unlimited,
        aqm: Aqm::None,
        loss: Loss::Random(Probability::new(0.5).unwrap()),
    };
    other_source.flows[0].source_leg = Some(LegConfig { loss: Loss::None, ..own_leg });
    // Same packets in the same order on the shared leg: the same ones are lost.
    assert_eq!(lost(&run(&alone)), lost(&run(&other_source)));
}

fn lost(outcome: &Outcome) -> u64 {
    match &outcome.forward[0] {
        HopMetrics::Leg(leg) => leg.counters.lost,
        HopMetrics::Link(link) => link.counters.lost,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_trace_that_ends_too_early_is_an_error_and_wrapping_cures_it() {
    let trace = internet(0.0, 1.0, "ARQ", 20);
    let mut hop = link(&trace, 1000);
    let flow = tcp(CongestionAlgorithm::CUBIC, Bulk);
    assert!(simulation::run(&setup(vec![hop.clone()], vec![flow.clone()], 60), &mut ()).is_ok());
    if let Hop::Link(link) = &mut hop {
        link.wrap = false;
    }
    let error = simulation::run(&setup(vec![hop.clone()], vec![flow.clone()], 60), &mut ());
    assert!(matches!(error, Err(RunError::TraceEnded { .. })), "{error:?}");
    assert!(simulation::run(&setup(vec![hop], vec![flow], 15), &mut ()).is_ok());
}

#[test]
fn a_dialogue_in_which_no_time_passes_is_an_error() {
    let text = r#"
        duration = "3 s"
        application = { type = "request", request = "300 B", response = "40 kB" }
        [[path]]
        leg = {}
        "#;
    let scenario = Scenario::parse("x.toml", text, &[], &clift::Registry::new()).unwrap();
    let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new(""))).unwrap();
    let error = simulation::run(&setup, &mut ());
    assert_eq!(error, Err(RunError::NoTimePasses { at: Instant::ZERO }));
}

/// Where flows arrive at random, a run may have none.
#[test]
fn a_run_without_flows_lasts_its_whole_duration() {
    let mut setup = setup(vec![leg(1_000_000, 1, 10, Loss::None)], vec![], 10);
    setup.stop_when_done = true;
    let outcome = simulation::run(&setup, &mut ()).unwrap();
    assert_eq!((outcome.ended, outcome.goodput()), (Instant::ZERO + setup.duration, 0.0));
}

#[test]
fn setups_that_cannot_be_run_are_refused() {
    let bulk = tcp(CongestionAlgorithm::CUBIC, Bulk);
    let hop = leg(1_000_000, 1, 10, Loss::None);
    let refused = |setup: &Setup| match simulation::run(setup, &mut ()) {
        Err(RunError::Setup(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&setup(vec![hop.clone()], vec![bulk.clone()], 0)), SetupError::NoTime);
    assert_eq!(refused(&setup(vec![], vec![bulk.clone()], 10)), SetupError::Unlimited);
    let udp = Flow { transport: Arc::new(DatagramConfig { packet: Bytes(1500) }), ..bulk };
    assert_eq!(refused(&setup(vec![hop], vec![udp], 10)), SetupError::BulkDatagrams { flow: 0 });
}

#[test]
fn an_observer_can_stop_a_run() {
    struct Stop;
    impl Observer for Stop {
        fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let flow = tcp(CongestionAlgorithm::CUBIC, Bulk);
    let setup = setup(vec![leg(50_000_000, 1, 100, Loss::None)], vec![flow], 100);
    assert!(matches!(
        simulation::run(&setup, &mut Stop),
        Err(RunError::Interrupted { at }) if at < Instant::ZERO + setup.duration
    ));
}

/// Writes down everything that happens.
#[derive(Default)]
struct Log(Vec<(Instant, Event)>);

impl Observer for Log {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }
    fn event(&mut self, at: Instant, event: &Event) {
        self.0.push((at, *event));
    }
}

/// A setup with a bit of everything.
fn mixed(seed: u64, p: f64, scheme: &str, queue: u32, flows: usize) -> Setup {
    let trace = internet(p, 1.5, scheme, 100);
    let forward = vec![
        leg(400_000, 5, queue, Loss::Random(Probability::new(0.002).unwrap())),
        link(&trace, queue),
        leg(10_000_000, 20, 100, Loss::None),
    ];
    let mut all = Vec::new();
    for number in 0..flows {
        let algorithms: Vec<_> = CongestionAlgorithm::in_profile(Profile::Papers).collect();
        let algorithm = algorithms[number % algorithms.len()];
        let application: Arc<dyn Application> = match number % 3 {
            0 => Arc::new(Bulk),
            1 => Arc::new(File { size: Size(30_000) }),
            _ => Arc::new(ConstantRate {
                rate: BitRate::from_bits_per_second(8_000).unwrap(),
                message: Some(Bytes(500)),
                deadline: None,
            }),
        };
        let start = Instant::ZERO + Duration::from_millis(700) * number as u64;
        all.push(Flow { start, application, ..tcp(algorithm, Bulk) });
    }
    Setup { seed: Seed(seed), ..setup(forward, all, 60) }
}

#[test]
fn the_same_setup_gives_the_same_events_on_any_thread() {
    let setup = mixed(3, 0.02, "ARQ", 20, 5);
    let log = |setup: &Setup| {
        let mut log = Log::default();
        let outcome = simulation::run(setup, &mut log).unwrap();
        (outcome, log.0)
    };
    let expected = log(&setup);
    assert_eq!(run(&setup), expected.0, "an observer changes nothing");
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| log(&setup))).collect();
        for thread in threads {
            assert!(thread.join().unwrap() == expected);
        }
    });
    assert_ne!(run(&mixed(4, 0.02, "ARQ", 20, 5)), expected.0, "another seed, another run");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_packet_and_every_byte_is_accounted_for(
        seed in any::<u64>(),
        p in 0.0..0.2,
        scheme in prop::sample::select(vec!["none", "ARQ", "ARQ(max 1)", "HARQ(10/12)", "FEC(10/12)"]),
        queue in 1u32..60,
        flows in 1usize..6,
    ) {
        let setup = mixed(seed, p, scheme, queue, flows);
        let mut log = Log::default();
        let outcome = simulation::run(&setup, &mut log).unwrap();
        conserved(&outcome)?;
        delivered_once_in_order(&log, &outcome)?;
    }
}

/// Packets: what enters a hop leaves it, is dropped, lost or pending; what leaves one enters the
/// next.
fn conserved(outcome: &Outcome) -> Result<(), TestCaseError> {
    let sent: u64 = outcome.flows.iter().map(|flow| flow.sender.segments_sent).sum();
    let mut entering = sent;
    for hop in &outcome.forward {
        entering = match hop {
            HopMetrics::Leg(leg) => {
                let c = leg.counters;
                prop_assert_eq!(c.offered, entering);
                prop_assert!(c.offered >= c.dropped + c.lost + leg.pending);
                c.offered - c.dropped - c.lost - leg.pending
            }
            HopMetrics::Link(link) => {
                let c = link.counters;
                prop_assert_eq!(c.offered, entering);
                prop_assert_eq!(c.offered, c.dropped + c.delivered + c.lost + link.pending);
                c.delivered
            }
            other => panic!("{other:?}"),
        };
    }
    Ok(())
}

/// Bytes: the receiver's in-order stream is made of what was received, each byte once; nothing
/// is received that was not sent before, and not earlier than the path takes.
fn delivered_once_in_order(log: &Log, outcome: &Outcome) -> Result<(), TestCaseError> {
    for (number, flow) in outcome.flows.iter().enumerate() {
        let mut sent_at = std::collections::BTreeMap::new();
        let mut received = std::collections::BTreeSet::new();
        let (mut in_order, mut duplicates, mut bytes) = (0u64, 0u64, 0u64);
        for &(at, event) in &log.0 {
            match event {
                Event::Sent { flow, seq, len, .. } if flow as usize == number => {
                    sent_at.entry((seq, len)).or_insert(at);
                }
                Event::Received { flow, seq, len, duplicate } if flow as usize == number => {
                    let first = sent_at.get(&(seq, len));
                    prop_assert!(first.is_some_and(|&first| at >= first + RTT.half()));
                    prop_assert_eq!(duplicate, !received.insert((seq, len)));
                    duplicates += u64::from(duplicate);
                    bytes += if duplicate { 0 } else { u64::from(len) };
                }
                _ => {}
            }
        }
        for &(seq, len) in &received {
            if seq != in_order {
                break;
            }
            in_order += u64::from(len);
        }
        prop_assert_eq!(in_order, flow.bytes_in_order);
        prop_assert!(bytes >= in_order);
        prop_assert_eq!(
            duplicates,
            flow.receiver.duplicate_segments + flow.receiver.stale_segments
        );
        retransmissions_add_up(flow)?;
    }
    Ok(())
}

fn retransmissions_add_up(flow: &FlowMetrics) -> Result<(), TestCaseError> {
    prop_assert!(flow.sender.retransmissions <= flow.sender.segments_sent);
    prop_assert!(flow.receiver.duplicate_segments <= flow.sender.retransmissions);
    let acknowledged: u64 = flow.sender.acknowledged_by_transmissions.iter().sum();
    prop_assert!(acknowledged <= flow.sender.segments_sent - flow.sender.retransmissions);
    Ok(())
}
