//! TCP over several paths.

use std::sync::Arc;

use clift::application::{Application, Bulk, ConstantRate, File};
use clift::diagnosis::{Budget, Cause, Diagnosis, diagnose};
use clift::link::QueueLimit;
use clift::metrics::{FlowMetrics, Outcome};
use clift::queue::Aqm;
use clift::seed::Seed;
use clift::simulation::{
    Flow, Hop, LegConfig, Loss, Routing, RunError, Setup, SetupError, Ways, run,
};
use clift::transport::tcp::{
    CongestionAlgorithm, Multipath, PathScheduler, PathSchedulerChoice, PathSchedulerKind,
    PathState, TcpConfig, Waiting,
};
use clift::units::{BitRate, Bytes, Duration, Instant, Probability, Size};
use proptest::prelude::*;

fn leg(kbps: u64, delay_ms: u64, queue: u32, loss: Loss) -> Hop {
    Hop::Leg(LegConfig {
        rate: BitRate::from_bits_per_second(kbps * 1000),
        delay: Duration::from_millis(delay_ms).into(),
        queue: QueueLimit::Packets(queue),
        aqm: Aqm::None,
        loss,
    })
}

fn plain(kbps: u64, delay_ms: u64, queue: u32) -> Hop {
    leg(kbps, delay_ms, queue, Loss::None)
}

fn tcp(congestion: &str) -> TcpConfig {
    TcpConfig::linux(congestion.parse().unwrap())
}

fn flow(congestion: &str, application: impl Application + 'static) -> Flow {
    Flow {
        start: Instant::ZERO,
        transport: Arc::new(tcp(congestion)),
        application: Arc::new(application),
        source_leg: None,
    }
}

fn multipath(
    congestion: &str,
    scheduler: &str,
    paths: usize,
    application: impl Application + 'static,
) -> Flow {
    let tcp = tcp(congestion);
    let scheduler = scheduler.parse::<PathSchedulerChoice>().unwrap();
    let transport = Arc::new(Multipath { tcp, paths, scheduler });
    Flow { transport, ..flow(congestion, application) }
}

/// A run of one flow over paths of one hop each; acknowledgements return without a queue.
fn over(hops: Vec<Hop>, flow: Flow, seconds: u64) -> Setup {
    let backward = hops.iter().map(|hop| Hop::way_back(std::slice::from_ref(hop)).remove(0));
    let backward: Vec<Hop> = backward.collect();
    let count = hops.len() as u32;
    let way = |path: u32| Ways { to_receiver: vec![path], to_sender: vec![count + path] };
    let further = (1..count).map(way).collect();
    Setup {
        seed: Seed(1),
        duration: Duration::from_secs(seconds),
        stop_when_done: true,
        forward: hops,
        backward,
        flows: vec![flow],
        proxies: Vec::new(),
        routing: Routing {
            ways: vec![way(0)],
            further: [(0, further)].into_iter().filter(|_| count > 1).collect(),
            ..Routing::default()
        },
        changes: Vec::new(),
    }
}

fn outcome(setup: &Setup) -> Outcome {
    run(setup, &mut ()).unwrap()
}

fn mbps(flow: &FlowMetrics) -> f64 {
    flow.goodput() / 1e6
}

/// The layer above the subflows adds nothing to a connection with one path: the same packets leave
/// at the same times, if no burst waits to become longer, for a subflow does not know what comes next,
/// and if no part of a segment leaves at the edge of a growing window, for a subflow sends whole ones.
/// With random losses a window may grow an acknowledgement earlier or later.
#[test]
fn with_one_path_it_is_plain_tcp() {
    for congestion in ["newreno", "cubic", "hybla", "lia", "olia", "balia"] {
        let both = |hop: Hop| {
            let mut tcp = tcp(congestion);
            let options = tcp.linux.get_or_insert_default();
            (options.burst_deferral, options.window_growth) = (false, false);
            let scheduler = "least rtt".parse::<PathSchedulerChoice>().unwrap();
            let paths = Arc::new(Multipath { tcp: tcp.clone(), paths: 1, scheduler });
            let file = File { size: Size(20_000_000) };
            let paths = Flow { transport: paths, ..flow(congestion, file) };
            let plain = Flow { transport: Arc::new(tcp), ..flow(congestion, file) };
            [paths, plain].map(|flow| outcome(&over(vec![hop.clone()], flow, 120)))
        };
        let [paths, plain] = both(plain(8000, 40, 60));
        assert_eq!(paths.forward, plain.forward, "{congestion}");
        assert_eq!(paths.flows[0].sender, plain.flows[0].sender);
        assert_eq!(paths.flows[0].completed, plain.flows[0].completed);
        assert_eq!(paths.flows[0].in_order_delay, plain.flows[0].in_order_delay);
        assert!(plain.flows[0].completed.is_some());
        let loss = Loss::Random(Probability::new(0.002).unwrap());
        let [paths, plain] = both(leg(8000, 40, 60, loss));
        let ratio = paths.flows[0].goodput() / plain.flows[0].goodput();
        assert!((0.98..1.02).contains(&ratio), "{congestion}: {ratio}");
    }
}

/// Without a second path, Linux's coupled controls use Reno itself, credit included.
#[test]
fn a_coupled_control_over_one_path_is_new_reno() {
    let of = |congestion| {
        let loss = Loss::Random(Probability::new(0.02).unwrap());
        outcome(&over(vec![leg(2000, 25, 60, loss)], flow(congestion, Bulk), 60))
    };
    let reno = of("newreno");
    for congestion in ["lia", "olia", "balia"] {
        assert_eq!(of(congestion), reno, "{congestion}");
    }
}

#[test]
fn paths_without_losses_carry_the_sum_of_their_rates() {
    for (scheduler, expected) in [
        ("least rtt", 15.0),
        ("earliest completion", 15.0),
        ("blocking estimation", 15.0),
        ("least linger", 15.0),
        ("round robin", 15.0),
        ("redundant", 10.0),
    ] {
        for congestion in ["newreno", "cubic", "bbr", "lia"] {
            // Deep queues: a round trip of data waits in each.
            let hops = vec![plain(10_000, 15, 400), plain(5000, 150, 400)];
            let outcome = outcome(&over(hops, multipath(congestion, scheduler, 2, Bulk), 60));
            let flow = &outcome.flows[0];
            // 24 bytes of a packet are the data sequence signal.
            let share = mbps(flow) / (expected * 1424.0 / 1500.0);
            assert!((0.93..1.001).contains(&share), "{scheduler}, {congestion}: {share}");
            assert_eq!(flow.paths.len(), 2);
        }
    }
}

/// Over one bottleneck, a coupled connection with two paths takes about what one TCP takes, and an
/// uncoupled one about what two take (RFC 6356 section 1.1).
#[test]
fn coupled_subflows_share_a_bottleneck_like_one_tcp() {
    let share = |congestion: &str| {
        let mut setup =
            over(vec![plain(20_000, 25, 100)], multipath(congestion, "least rtt", 2, Bulk), 300);
        let way = setup.routing.ways[0].clone();
        setup.routing.further.insert(0, vec![way.clone()]);
        setup.routing.ways.push(way);
        setup.flows.push(flow("newreno", Bulk));
        let outcome = outcome(&setup);
        outcome.flows[0].goodput() / outcome.flows[1].goodput()
    };
    for congestion in ["lia", "olia", "balia"] {
        let ratio = share(congestion);
        assert!((0.75..1.35).contains(&ratio), "{congestion}: {ratio}");
    }
    let ratio = share("newreno");
    assert!((1.6..2.6).contains(&ratio), "{ratio}");
}

/// A path loses all packets from 10 s on. What it held leaves over the other one, and the
/// connection goes on.
#[test]
fn the_other_path_goes_on_when_one_fails() {
    let outage = || Loss::Outages([(at(10), at(1000))].into());
    for failing in 0..2 {
        let mut hops = vec![plain(10_000, 20, 100), plain(5000, 100, 100)];
        let Hop::Leg(leg) = &mut hops[failing] else { panic!("a leg") };
        leg.loss = outage();
        let setup =
            over(hops, multipath("cubic", "least rtt", 2, File { size: Size(40_000_000) }), 200);
        let outcome = outcome(&setup);
        let flow = &outcome.flows[0];
        assert_eq!(flow.bytes_in_order, 40_000_000, "path {failing} fails");
        assert!(flow.paths[1 - failing].reinjected > 0);
        assert_eq!(flow.paths[failing].reinjected, 0);
    }
}

/// A path comes back after an outage of five seconds and carries data again.
#[test]
fn a_path_that_comes_back_is_used_again() {
    let back = |spans: &[(Instant, Instant)]| {
        let failing = leg(10_000, 20, 100, Loss::Outages(spans.into()));
        let setup = over(
            vec![failing, plain(1000, 100, 100)],
            multipath("cubic", "least rtt", 2, Bulk),
            60,
        );
        outcome(&setup).flows[0].clone()
    };
    let (short, long) = (back(&[(at(10), at(15))]), back(&[(at(10), at(100))]));
    assert!(
        short.paths[0].report.receiver.bytes_in_order
            > 2 * long.paths[0].report.receiver.bytes_in_order
    );
    assert!(mbps(&short) > 6.0 && mbps(&long) < 3.5, "{} {}", mbps(&short), mbps(&long));
}

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// A small shared window holds a fast path back for data on a slow one; a scheduler that estimates
/// this, or the completion of the transfer, loses less.
#[test]
fn a_slow_path_blocks_a_small_shared_window() {
    let goodput = |scheduler: &str, window: u64| {
        let mut flow = multipath("cubic", scheduler, 2, Bulk);
        let tcp = TcpConfig {
            receive_window: Some(Size(window)),
            ..TcpConfig::linux(CongestionAlgorithm::CUBIC)
        };
        let scheduler = scheduler.parse::<PathSchedulerChoice>().unwrap();
        flow.transport = Arc::new(Multipath { tcp, paths: 2, scheduler });
        let outcome = outcome(&over(vec![plain(20_000, 20, 100), plain(2000, 300, 100)], flow, 60));
        (mbps(&outcome.flows[0]), outcome.flows[0].reordering.unwrap().most_held)
    };
    let (small, held) = goodput("least rtt", 300_000);
    assert!(held < 300_000);
    let (large, _) = goodput("least rtt", 10_000_000);
    let (estimated, _) = goodput("blocking estimation", 300_000);
    assert!(small < 0.6 * large, "{small} {large}");
    assert!(estimated > 1.3 * small, "{estimated} {small}");
}

/// Data for the slow path fill Linux's send buffers, which both paths share: the fast path waits, even
/// where the receiver has room. A kernel 7.2 carries 1.8 Mbit/s over these paths.
#[test]
fn a_slow_path_blocks_the_shared_send_buffer() {
    let goodput = |scheduler| {
        let hops = vec![plain(620, 300, 11), plain(4560, 25, 10)];
        mbps(&outcome(&over(hops, multipath("newreno", scheduler, 2, Bulk), 30)).flows[0])
    };
    let (linux, windows) = (goodput("least linger"), goodput("least rtt"));
    assert!(linux < 2.8 && windows > 4.0, "{linux} {windows}");
}

#[test]
fn routes_and_paths_must_agree() {
    let hops = vec![plain(10_000, 15, 400), plain(5000, 150, 400)];
    let setup = over(hops, multipath("cubic", "least rtt", 3, Bulk), 1);
    let error = run(&setup, &mut ()).unwrap_err();
    let expected = SetupError::Paths { flow: 0, transport: 3, routes: 2 };
    assert_eq!(error, RunError::Setup(expected));
}

fn diagnosed(setup: &Setup) -> Diagnosis {
    let (outcome, found) = diagnose(setup, &|| true).unwrap();
    let goodput: u64 = outcome.flows.iter().map(|flow| flow.bytes_in_order * 8).sum();
    let budget = &found.budget;
    let spent: u64 = budget.parts.iter().map(|part| part.bits).sum();
    assert_eq!((budget.goodput_bits, budget.goodput_bits + spent), (goodput, budget.capacity_bits));
    for share in &found.shares {
        let spent: u64 = share.parts.iter().map(|part| part.bits).sum();
        assert_eq!(share.goodput_bits + spent, share.capacity_bits);
    }
    found
}

/// The capacity of several paths is that of the narrowest set of hops of which each path crosses
/// one: here the hops of each path, unless what they share is slower than both.
#[test]
fn a_budget_covers_the_narrowest_hops_of_all_paths() {
    for (shared, expected) in [(60_000, vec![0, 1]), (25_000, vec![2]), (6000, vec![2])] {
        let hops = vec![plain(20_000, 20, 100), plain(10_000, 280, 400), plain(shared, 1, 100)];
        let mut setup = over(hops, multipath("cubic", "least rtt", 2, Bulk), 20);
        let way = |path: u32| Ways { to_receiver: vec![path, 2], to_sender: vec![3 + path] };
        setup.routing.ways = vec![way(0)];
        setup.routing.further = [(0, vec![way(1)])].into();
        let found = diagnosed(&setup);
        assert_eq!(found.budget.hops, expected, "{shared}");
        let rate = if expected.len() == 2 { 30_000 } else { shared };
        let capacity = found.budget.capacity_bits as f64 / 20e3;
        assert!((capacity / rate as f64 - 1.0).abs() < 0.01, "{capacity} {rate}");
        let senders = found.moment(at(10), Duration::from_millis(100)).senders;
        assert_eq!(senders.iter().map(|sender| sender.1).collect::<Vec<_>>(), [0, 1]);
    }
}

/// Leaves the second path empty.
#[derive(Debug)]
struct First;

impl PathScheduler for First {
    fn choose(&mut self, paths: &[PathState], _: Waiting) -> Option<usize> {
        paths.iter().position(|path| path.number == 0 && path.room > 0)
    }
}

#[test]
fn a_path_without_data_costs_the_path_scheduler() {
    let mut registry = clift::Registry::new();
    let first = PathSchedulerKind {
        name: "first",
        aliases: &[],
        summary: "The first path alone.",
        build: &|_| Box::new(First),
    };
    registry.add(first).unwrap();
    let hops = vec![plain(2000, 20, 30), plain(3000, 50, 30)];
    let setup = registry.within(|| over(hops, multipath("newreno", "first", 2, Bulk), 30));
    let found = diagnosed(&setup);
    let [first, second] = &found.shares[..] else { panic!("two hops") };
    let share = |budget: &Budget, cause| budget.bits(cause) as f64 / budget.capacity_bits as f64;
    assert!(share(second, Cause::Scheduler) > 0.99, "{second:?}");
    assert_eq!(second.goodput_bits, 0);
    assert_eq!(first.bits(Cause::Scheduler), 0, "{first:?}");
}

/// The edge of a subflow's window cuts a segment here, whose rest leaves in a packet with data that do
/// not follow it.
#[test]
fn a_packet_with_parts_of_two_segments_loses_no_data() {
    let loss = Loss::Random(Probability::new(0.012842065620803447).unwrap());
    let hops = vec![leg(536, 45, 33, loss), plain(839, 58, 5)];
    let window = Some(Size(140_456));
    let size = Size(230_233);
    let mut flow = flow("newreno", File { size });
    let tcp = TcpConfig { receive_window: window, ..tcp("newreno") };
    let scheduler = "round robin".parse().unwrap();
    flow.transport = Arc::new(Multipath { tcp, paths: 2, scheduler });
    assert_eq!(outcome(&over(hops, flow, 400)).flows[0].bytes_in_order, size.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// For any paths, the receiver gets each byte once, in order, and the same run gives the
    /// same bits.
    #[test]
    fn every_byte_arrives_once(
        paths in prop::collection::vec((500u64..5000, 1u64..200, 3u32..60, 0.0..0.03f64), 1..4),
        congestion in prop::sample::select(vec!["newreno", "cubic", "bbr", "lia", "olia", "balia"]),
        scheduler in prop::sample::select(vec![
            "least rtt", "earliest completion", "blocking estimation", "least linger", "round robin",
            "redundant",
        ]),
        size in 1u64..600_000,
        window in prop::option::of(3000u64..300_000),
        outage in prop::option::of((0u64..5, 0u64..20)),
        messages in any::<bool>(),
    ) {
        let count = paths.len();
        let mut hops: Vec<Hop> = paths.into_iter().map(|(kbps, delay, queue, loss)| {
            leg(kbps, delay, queue, Loss::Random(Probability::new(loss).unwrap()))
        }).collect();
        if let (Some((from, lasts)), Some(Hop::Leg(last))) = (outage, hops.last_mut()) {
            last.loss = Loss::Outages([(at(from), at(from + lasts))].into());
        }
        let tcp = TcpConfig {
            receive_window: window.map(Size),
            ..TcpConfig::linux(congestion.parse().unwrap())
        };
        let scheduler = scheduler.parse::<PathSchedulerChoice>().unwrap();
        let mut flow = if messages {
            let rate = BitRate::from_bits_per_second(100_000).unwrap();
            flow(congestion, ConstantRate { rate, message: Some(Bytes(700)), deadline: None })
        } else {
            flow(congestion, File { size: Size(size) })
        };
        flow.transport = Arc::new(Multipath { tcp, paths: count, scheduler });
        let setup = over(hops, flow, 400);
        let first = outcome(&setup);
        prop_assert_eq!(&first, &outcome(&setup));
        diagnosed(&setup);
        let flow = &first.flows[0];
        if !messages {
            prop_assert_eq!(flow.bytes_in_order, size);
            prop_assert!(flow.acknowledged.is_some());
        }
        let carried: u64 = flow.paths.iter().map(|path| path.report.receiver.bytes_in_order).sum();
        prop_assert!(carried >= flow.bytes_in_order);
        let again: u64 = flow.paths.iter().map(|path| path.reinjected).sum();
        if scheduler.name() != "redundant" {
            let held = flow.reordering.map_or(0, |reordering| reordering.most_held);
            let most = flow.bytes_in_order + again + held;
            prop_assert!(carried <= most, "{} > {}", carried, most);
        }
    }
}
