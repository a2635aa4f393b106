//! Networks: nodes that forward, and links between them.

use std::sync::Arc;

use clift::application::{Application, Bulk, ConstantRate, File};
use clift::link::QueueLimit;
use clift::metrics::{HopMetrics, LegMetrics, Outcome};
use clift::queue::Aqm;
use clift::seed::Seed;
use clift::simulation::{
    self, Demand, Edge, Flow, Hop, LegConfig, Loss, Network, RouteError, Routing, RunError, Setup,
    SetupError,
};
use clift::transport::datagram::DatagramConfig;
use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
use clift::units::{BitRate, Bytes, Duration, Instant, Probability, Size};
use proptest::prelude::*;

fn leg(mbps: u64, delay_ms: u64) -> Hop {
    Hop::Leg(LegConfig {
        rate: BitRate::from_bits_per_second(mbps * 1_000_000),
        delay: Duration::from_millis(delay_ms).into(),
        queue: QueueLimit::Packets(50),
        aqm: Aqm::None,
        loss: Loss::None,
    })
}

fn edge(from: u32, to: u32, hop: Hop) -> Edge {
    Edge { from, to, hop }
}

fn flow(application: impl Application + 'static) -> Flow {
    Flow {
        start: Instant::ZERO,
        transport: Arc::new(TcpConfig::linux(CongestionAlgorithm::CUBIC)),
        application: Arc::new(application),
        source_leg: None,
    }
}

fn demand(source: u32, destination: u32, flow: Flow) -> Demand {
    Demand { source, destination, flow, route: None, return_route: None }
}

fn network(links: Vec<Edge>, demands: Vec<Demand>) -> Network {
    let (seed, duration) = (Seed(1), Duration::from_secs(60));
    Network { seed, duration, stop_when_done: false, links, demands }
}

fn leg_of(outcome: &Outcome, link: usize) -> &LegMetrics {
    match &outcome.forward[link] {
        HopMetrics::Leg(leg) => leg,
        other => panic!("link {link} is a leg, not {other:?}"),
    }
}

/// 0 to 3 by 1 or by 2, and back the same ways.
fn diamond() -> Vec<Edge> {
    vec![
        edge(0, 1, leg(10, 10)),
        edge(1, 3, leg(4, 30)),
        edge(0, 2, leg(10, 5)),
        edge(2, 3, leg(2, 90)),
        edge(3, 1, leg(10, 30)),
        edge(1, 0, leg(10, 10)),
        edge(3, 2, leg(10, 90)),
        edge(2, 0, leg(10, 5)),
    ]
}

/// Two flows by the two sides of a diamond do what each does alone over a chain of the same hops; by one
/// side they share its slowest link.
#[test]
fn the_sides_of_a_diamond_are_chains() {
    let links = diamond();
    let file = || flow(File { size: Size(3_000_000) });
    let both = vec![demand(0, 3, file()), demand(0, 3, file())];
    let mut apart = both.clone();
    (apart[1].route, apart[1].return_route) = (Some(vec![2, 3]), Some(vec![6, 7]));
    let apart = network(links.clone(), apart).run(&mut ()).unwrap();
    for (number, [there, back]) in [[[0, 1], [4, 5]], [[2, 3], [6, 7]]].into_iter().enumerate() {
        let hops = |numbers: [usize; 2]| numbers.map(|number| links[number].hop.clone()).to_vec();
        let alone = simulation::run(
            &Setup {
                seed: Seed(1),
                duration: Duration::from_secs(60),
                stop_when_done: false,
                forward: hops(there),
                backward: hops(back),
                flows: vec![file()],
                proxies: Vec::new(),
                changes: Vec::new(),
                routing: Routing::default(),
            },
            &mut (),
        );
        let alone = alone.unwrap();
        assert!(alone.flows[0].completed.is_some());
        assert_eq!(apart.flows[number], alone.flows[0]);
        for (hop, link) in there.into_iter().enumerate() {
            assert_eq!(apart.forward[link], alone.forward[hop]);
        }
    }
    // Without given routes both take the links of the lower numbers.
    let together = network(links, both).run(&mut ()).unwrap();
    assert_eq!(leg_of(&together, 2).counters.offered, 0);
    let took = |outcome: &Outcome| outcome.flows[0].completion().unwrap();
    assert!(took(&together) > took(&apart));
}

/// A flow over three links meets another one on each. It has the longest way and three queues, so that it
/// gets less than each of the others, and every link is busy.
#[test]
fn the_long_flow_of_a_parking_lot_gets_least() {
    let there = (0..3).map(|node| edge(node, node + 1, leg(4, 10)));
    let back = (0..3).map(|node| edge(node + 1, node, leg(100, 10)));
    let short = (0..3).map(|node| demand(node, node + 1, flow(Bulk)));
    let demands = std::iter::once(demand(0, 3, flow(Bulk))).chain(short).collect();
    let outcome = network(there.chain(back).collect(), demands).run(&mut ()).unwrap();
    let goodput: Vec<f64> = outcome.flows.iter().map(|flow| flow.goodput()).collect();
    assert!(goodput[0] > 1e5, "{goodput:?}");
    for link in 0..3 {
        assert!(goodput[1 + link] > goodput[0], "{goodput:?}");
        let sum = goodput[0] + goodput[1 + link];
        assert!((3.5e6..4e6).contains(&sum), "{goodput:?}");
    }
    // What comes to the first link is what both of its flows sent, SYNs and pure ACKs included.
    let sent = outcome.flows[0].sender.segments_sent + outcome.flows[1].sender.segments_sent;
    assert_eq!(leg_of(&outcome, 0).counters.offered, sent + 2 * 2);
}

#[test]
fn a_route_that_does_not_arrive_is_refused() {
    let told = |links, route: Option<Vec<u32>>| {
        let demand = Demand { route, ..demand(0, 3, flow(Bulk)) };
        let run = network(links, vec![demand]).run(&mut ());
        let Err(RunError::Setup(error)) = run else { panic!("it runs") };
        error
    };
    let mut one_way = diamond();
    one_way.truncate(4);
    let wrong = |error| SetupError::Route { flow: 0, error };
    assert_eq!(told(one_way, None), wrong(RouteError::NoWay { from: 3, to: 0 }));
    let told = |route: &[u32]| told(diamond(), Some(route.to_vec()));
    assert_eq!(told(&[0, 3]), wrong(RouteError::Broken { link: 3, at: 1 }));
    assert_eq!(told(&[0]), wrong(RouteError::Elsewhere { at: 1, to: 3 }));
    assert_eq!(told(&[0, 5, 2, 3]), wrong(RouteError::Loop { at: 0 }));
}

proptest! {
    /// Over any connected topology every datagram arrives, is dropped, is lost, or is under way at the
    /// end; and a run is a function of its setup.
    #[test]
    fn datagrams_are_conserved_over_random_topologies(
        nodes in 2u32..7,
        more in prop::collection::vec((0u32..7, 0u32..7), 0..8),
        flows in prop::collection::vec((0u32..7, 0u32..7, 1u64..9), 1..6),
        loss in 0.0..0.2,
        seed in any::<u64>(),
    ) {
        // A ring in one direction, so that every node reaches every other, and further links.
        let ring = (0..nodes).map(|node| (node, (node + 1) % nodes));
        let more = more.into_iter().map(|(from, to)| (from % nodes, to % nodes));
        let links = ring.chain(more.filter(|(from, to)| from != to)).zip(1u64..);
        let links = links.map(|((from, to), number)| edge(from, to, Hop::Leg(LegConfig {
            rate: BitRate::from_bits_per_second(500_000 * (1 + number % 4)),
            delay: Duration::from_millis(3 * number).into(),
            queue: QueueLimit::Packets(3),
            aqm: Aqm::None,
            loss: Loss::Random(Probability::new(loss).unwrap()),
        })));
        let demands = flows.into_iter().filter(|(from, to, _)| from % nodes != to % nodes);
        let demands: Vec<Demand> = demands.map(|(from, to, rate)| {
            let rate = BitRate::from_bits_per_second(rate * 200_000).unwrap();
            let own = ConstantRate { rate, message: None, deadline: None };
            let flow = Flow {
                transport: Arc::new(DatagramConfig { packet: Bytes(500) }),
                ..flow(own)
            };
            demand(from % nodes, to % nodes, flow)
        }).collect();
        prop_assume!(!demands.is_empty());
        let duration = Duration::from_secs(2);
        let network = Network {
            seed: Seed(seed), duration, ..network(links.collect(), demands)
        };
        let outcome = network.run(&mut ()).unwrap();
        let sent: u64 = outcome.flows.iter().map(|flow| flow.sender.segments_sent).sum();
        let arrived: u64 = outcome.flows.iter().map(|flow| flow.receiver.distinct_bytes / 500).sum();
        let gone: u64 = (0..outcome.forward.len()).map(|link| {
            let leg = leg_of(&outcome, link);
            leg.counters.dropped + leg.counters.lost + leg.pending
        }).sum();
        prop_assert_eq!(sent, arrived + gone);
        prop_assert_eq!(network.run(&mut ()).unwrap(), outcome);
    }
}
