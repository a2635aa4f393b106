//! What must hold for every congestion control under any events.

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::transport::tcp::config::{CongestionAlgorithm, Profile, TcpConfig};
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Window};
use crate::units::{Duration, Instant, Packets};

/// Something that happens to a congestion control.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// An ACK, some time after the last event; sizes and times without rhyme or reason.
    Ack { after_ms: u64, segments: u32, outstanding: u64, sent: u64, rtt_us: u64, sacked: bool },
    /// As many ACKs as fill the window, each of one segment.
    Round { rtt_ms: u64 },
    /// SACKs prove a loss.
    Loss,
    /// The retransmission timer expires.
    Timeout,
    /// Everything is repaired.
    Repaired,
}

fn algorithm() -> impl Strategy<Value = CongestionAlgorithm> {
    let known: Vec<_> = CongestionAlgorithm::in_profile(Profile::Papers).collect();
    prop::sample::select(known)
}

fn operation() -> impl Strategy<Value = Operation> {
    let segments = prop_oneof![0u32..4, Just(1_000), Just(1 << 20)];
    let rtt_us = prop_oneof![0u64..100, 1_000u64..2_000_000, Just(1 << 40)];
    let after_ms = prop_oneof![0u64..1_000, Just(86_400_000)];
    let ack = (after_ms, segments, 0u64..100_000, 0u64..3_000, rtt_us, any::<bool>());
    prop_oneof![
        6 => ack.prop_map(|(after_ms, segments, outstanding, sent, rtt_us, sacked)| {
            Operation::Ack { after_ms, segments, outstanding, sent, rtt_us, sacked }
        }),
        3 => (1u64..1_500).prop_map(|rtt_ms| Operation::Round { rtt_ms }),
        1 => Just(Operation::Loss),
        1 => Just(Operation::Timeout),
        2 => Just(Operation::Repaired),
    ]
}

/// A congestion control and the sender around it, as far as it matters.
struct TestConnection {
    control: Box<dyn CongestionControl>,
    window: Window,
    limit: u32,
    now: Instant,
    first: u64,
    next: u64,
    state: CongestionState,
}

impl TestConnection {
    fn new(config: &TcpConfig) -> Self {
        let max = config.window_limit();
        let rng = ChaCha8Rng::seed_from_u64(7);
        let limit = match config.congestion.name() {
            "hybla" => 65_535,
            "compound" => u32::MAX,
            _ => max,
        };
        let (control, window) = (config.congestion.build(config, rng), Window::new(config));
        let state = CongestionState::Open;
        Self { control, window, limit, now: Instant::ZERO, first: 0, next: 2, state }
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Ack { after_ms, segments, outstanding, sent, rtt_us, sacked } => {
                self.now = self.now + Duration::from_millis(after_ms);
                self.next += sent;
                self.ack(segments, outstanding, Duration::from_micros(rtt_us), sacked);
            }
            Operation::Round { rtt_ms } => {
                let acks = self.window.cwnd().min(200);
                for _ in 0..acks {
                    self.now = self.now + Duration::from_micros(1_000 * rtt_ms / u64::from(acks));
                    self.next += 1;
                    let outstanding = u64::from(self.window.cwnd());
                    self.ack(1, outstanding, Duration::from_millis(rtt_ms), false);
                }
            }
            Operation::Loss if self.state != CongestionState::Recovery => {
                self.reduce(Loss::Detected);
                self.state = CongestionState::Recovery;
            }
            Operation::Loss => {}
            Operation::Timeout => {
                self.reduce(Loss::Timeout);
                self.state = CongestionState::Loss;
            }
            Operation::Repaired => {
                self.state = CongestionState::Open;
                self.control.on_repaired(Loss::Detected, self.next, &mut self.window);
            }
        }
    }

    fn reduce(&mut self, loss: Loss) {
        let reduction = self.control.reduce(loss, &self.window);
        assert!(reduction.ssthresh >= 2, "{reduction:?}");
        self.window.set_cwnd(if loss == Loss::Timeout { 1 } else { reduction.cwnd });
        self.window.set_ssthresh(reduction.ssthresh);
        self.window.forget_savings();
    }

    fn ack(&mut self, segments: u32, outstanding: u64, rtt: Duration, sacked: bool) {
        self.first = (self.first + u64::from(segments)).min(self.next);
        let (open, before) = (self.state == CongestionState::Open, self.window);
        let ack = Ack {
            now: self.now,
            segments,
            prior_in_flight: outstanding,
            una: self.first * 1448,
            first: self.first,
            next: self.next,
            echo: Some(Instant::ZERO + self.now.saturating_since(Instant::ZERO + rtt)),
            rtt: (rtt > Duration::ZERO).then_some(rtt),
            srtt: (rtt > Duration::ZERO).then_some(rtt),
            state: self.state,
            undisturbed: open && !sacked,
            marked: 0,
            limited: None,
        };
        self.window.count_acked(segments);
        self.control.on_ack(&ack, &mut self.window);
        if segments > 0 && self.state != CongestionState::Recovery {
            self.control.grow(&ack, &mut self.window);
        }
        assert_eq!(self.window.ssthresh(), before.ssthresh(), "only losses move the threshold");
    }
}

proptest! {
    /// At least one segment, never beyond the limit, the same again for the same operations.
    #[test]
    fn windows_stay_within_their_limits(
        algorithm in algorithm(),
        cwnd_max in prop::option::of(1u64..2_000),
        operations in prop::collection::vec(operation(), 1..80),
    ) {
        let config = TcpConfig { cwnd_max: cwnd_max.and_then(Packets::new), ..TcpConfig::papers(algorithm) };
        let mut twins = [TestConnection::new(&config), TestConnection::new(&config)];
        for operation in operations {
            for connection in &mut twins {
                connection.apply(operation);
                let cwnd = connection.window.cwnd();
                prop_assert!((1..=connection.limit).contains(&cwnd), "{:?}: {}", operation, cwnd);
            }
            prop_assert_eq!(twins[0].window.cwnd(), twins[1].window.cwnd());
        }
    }

    /// With the window full, round trips that last the same and nothing lost, it never falls after
    /// the first round, and in the end it has grown.
    #[test]
    fn windows_grow_while_nothing_is_lost(
        algorithm in algorithm(),
        rtt_ms in 5u64..750,
        rounds in 8usize..40,
    ) {
        let mut connection = TestConnection::new(&TcpConfig::papers(algorithm));
        connection.apply(Operation::Round { rtt_ms });
        let mut last = connection.window.cwnd();
        let first = last;
        for _ in 0..rounds {
            connection.apply(Operation::Round { rtt_ms });
            prop_assert!(connection.window.cwnd() >= last);
            last = connection.window.cwnd();
        }
        prop_assert!(last >= first + 8 || last == connection.limit, "{} to {}", first, last);
    }
}
