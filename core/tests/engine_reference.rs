//! The engine against the plain path: the same flow, written twice, must send the same segments
//! at the same nanoseconds.
//!
//! At 8 Mbit/s a byte takes exactly a microsecond, so that neither of the two rounds.

use std::sync::Arc;

use clift::application::{Application, Bulk, File};
use clift::link::QueueLimit;
use clift::metrics::HopMetrics;
use clift::queue::Aqm;
use clift::seed::Seed;
use clift::simulation::{
    self, Event, Flow, Hop, LegConfig, Loss, Observer, Outcome, Routing, Setup, Wants,
};
use clift::transport::tcp::{CongestionAlgorithm, DelayedAck, TcpConfig};
use clift::units::{BitRate, Bytes, Duration, Instant, Packets, Size};
use proptest::prelude::*;

use support::plain_path::{self, Fate, Path, Run, Supply};

const RATE: u64 = 8_000_000;

/// When which byte was sent.
#[derive(Default)]
struct Sent(Vec<(u64, u64)>);

impl Observer for Sent {
    fn wants(&self) -> Wants {
        Wants { events: true, ..Wants::default() }
    }
    fn event(&mut self, at: Instant, event: &Event) {
        if let Event::Sent { seq, .. } = *event {
            self.0.push((at.as_nanos(), seq));
        }
    }
}

fn ours(tcp: &TcpConfig, path: Path, bytes: Option<u64>, lost: &[u64]) -> (Outcome, Sent) {
    let forward = LegConfig {
        rate: BitRate::from_bits_per_second(RATE),
        delay: Duration::from_millis(path.rtt_ms).half().into(),
        queue: QueueLimit::Packets(path.waiting as u32),
        aqm: Aqm::None,
        loss: Loss::Packets(Arc::from(lost)),
    };
    let backward = LegConfig { queue: QueueLimit::Unlimited, loss: Loss::None, ..forward.clone() };
    let application: Arc<dyn Application> = match bytes {
        None => Arc::new(Bulk),
        Some(bytes) => Arc::new(File { size: Size(bytes) }),
    };
    let setup = Setup {
        seed: Seed(1),
        duration: Duration::from_nanos(SECONDS * 1_000_000_000 - 1),
        stop_when_done: false,
        forward: vec![Hop::Leg(forward)],
        backward: vec![Hop::Leg(backward)],
        flows: vec![Flow {
            start: Instant::ZERO,
            transport: Arc::new(tcp.clone()),
            application,
            source_leg: None,
        }],
        proxies: Vec::new(),
        changes: Vec::new(),
        routing: Routing::default(),
    };
    let mut sent = Sent::default();
    let outcome = simulation::run(&setup, &mut sent).unwrap();
    (outcome, sent)
}

const SECONDS: u64 = 40;

fn reference(tcp: &TcpConfig, path: Path, bytes: Option<u64>, lost: &[u64]) -> Run {
    let supply = bytes.map_or(Supply::Unlimited, Supply::Bytes);
    plain_path::run_in_nanoseconds(tcp, path, supply, SECONDS, &mut |position| {
        if lost.binary_search(&position).is_ok() { Fate::Lost } else { Fate::Delivered }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_segment_leaves_at_the_same_nanosecond(
        cubic in any::<bool>(),
        rtt_ms in 2u64..300,
        waiting in 1usize..300,
        window in prop::option::of(2u64..200),
        // A nanosecond more: packets take whole microseconds, and where one arrives as the timer
        // expires, the order depends on when a part counts a packet as on its way.
        delayed_ack in prop::option::of(Just(Duration::from_nanos(40_000_001))),
        packet in 100u32..1500,
        bytes in prop::option::of(1u64..3_000_000),
        lost in prop::collection::btree_set(0u64..6000, 0..40),
    ) {
        let algorithm =
            if cubic { CongestionAlgorithm::CUBIC } else { CongestionAlgorithm::NEWRENO };
        let mut tcp = TcpConfig::papers(algorithm);
        tcp.cwnd_max = window.and_then(Packets::new);
        tcp.delayed_ack = delayed_ack.map(DelayedAck::After);
        tcp.packet = Bytes(packet);
        let path = Path { bits_per_second: RATE, rtt_ms, waiting };
        let lost: Vec<u64> = lost.into_iter().collect();

        let expected = reference(&tcp, path, bytes, &lost);
        let (outcome, sent) = ours(&tcp, path, bytes, &lost);
        for (ours, theirs) in sent.0.iter().zip(&expected.sent) {
            prop_assert_eq!(ours, theirs);
        }
        prop_assert_eq!(sent.0.len(), expected.sent.len());
        let flow = &outcome.flows[0];
        prop_assert_eq!(flow.sender.segments_sent, expected.sender.segments_sent);
        prop_assert_eq!(flow.sender.retransmissions, expected.sender.retransmissions);
        prop_assert_eq!(flow.sender.timeouts, expected.sender.timeouts);
        prop_assert_eq!(flow.receiver.duplicate_segments, expected.receiver.duplicate_segments);
        prop_assert_eq!(flow.bytes_in_order, expected.receiver.bytes_in_order);
        let HopMetrics::Leg(leg) = outcome.forward[0] else { panic!("a leg") };
        prop_assert_eq!(leg.counters.dropped, expected.queue_drops);
        if let Some(completed) = flow.completed {
            prop_assert_eq!(completed.as_nanos(), expected.last_arrival);
        }
    }
}
