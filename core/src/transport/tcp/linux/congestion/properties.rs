//! Properties of every congestion control of profile `linux`, for random sequences of events.

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::transport::tcp::config::{CongestionAlgorithm, Profile, TcpConfig};
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::{
    Ack, CongestionControl, Loss, LostSegment, Pace, Rate, Sample, Totals, Window,
};
use crate::units::{Duration, Instant, Packets};

/// An event of a congestion control.
#[derive(Clone, Copy, Debug)]
enum Operation {
    /// An ACK with arbitrary numbers.
    Ack {
        acked: u64,
        lost: u64,
        interval_us: u64,
        rtt_us: u64,
        in_flight: u64,
        limited: bool,
    },
    Loss,
    Timeout,
    /// All losses are repaired, or the reduction is undone.
    Repaired {
        undone: bool,
    },
    Idle {
        app_limited: bool,
    },
}

fn operation() -> impl Strategy<Value = (u64, Operation)> {
    let time = prop_oneof![0u64..3, 1_000u64..3_000_000, Just(1 << 45)];
    let segments = prop_oneof![0u64..4, 0u64..200, Just(1 << 30)];
    let ack = (segments.clone(), segments.clone(), time.clone(), time, segments, any::<bool>());
    let what = prop_oneof![
        12 => ack.prop_map(|(acked, lost, interval_us, rtt_us, in_flight, limited)| {
            Operation::Ack { acked, lost, interval_us, rtt_us, in_flight, limited }
        }),
        1 => Just(Operation::Loss),
        1 => Just(Operation::Timeout),
        2 => any::<bool>().prop_map(|undone| Operation::Repaired { undone }),
        1 => any::<bool>().prop_map(|app_limited| Operation::Idle { app_limited }),
    ];
    (prop_oneof![0u64..200_000, Just(20_000_000)], what)
}

/// A congestion control with a minimal model of its sender.
struct TestConnection {
    control: Box<dyn CongestionControl>,
    window: Window,
    now: Instant,
    totals: Totals,
    state: CongestionState,
}

impl TestConnection {
    fn new(config: &TcpConfig) -> Self {
        let mut control = config.congestion.build(config, ChaCha8Rng::seed_from_u64(7));
        let mut window = Window::new(config);
        control.on_established(Instant::ZERO, None, 0, &mut window);
        let (now, state) = (Instant::ZERO, CongestionState::Open);
        Self { control, window, now, totals: Totals::default(), state }
    }

    fn reduce(&mut self, loss: Loss) {
        let ssthresh = self.control.reduce(loss, &self.window).ssthresh;
        self.window.set_ssthresh(ssthresh);
    }

    fn apply(&mut self, after_us: u64, operation: Operation) {
        self.now = self.now + Duration::from_micros(after_us);
        match operation {
            Operation::Ack { acked, lost, interval_us, rtt_us, in_flight, limited } => {
                let prior_delivered = self.totals.delivered;
                self.totals.delivered += acked;
                self.totals.lost += lost;
                self.totals.delivered_at = self.now;
                let rtt = Duration::from_micros(rtt_us);
                let rate = Rate {
                    delivered: (acked > 0).then_some(acked),
                    interval: (interval_us > 1).then(|| Duration::from_micros(interval_us)),
                    prior_delivered,
                    app_limited: limited,
                    in_flight,
                    lost,
                };
                let sample = Sample {
                    now: self.now,
                    rate,
                    rtt: (rtt_us > 0).then_some(rtt),
                    delayed: limited,
                    acked,
                    lost,
                    prior_in_flight: in_flight + acked,
                    in_flight,
                    totals: self.totals,
                    state: self.state,
                    departure: self.now,
                    srtt: (rtt_us > 0).then_some(rtt),
                    cwnd_limited: limited,
                    of_probe: acked == 1,
                };
                let mut ack = Ack {
                    now: self.now,
                    segments: u32::try_from(acked).unwrap_or(u32::MAX),
                    una: 1448 * self.totals.delivered,
                    first: self.totals.delivered,
                    next: self.totals.delivered + in_flight,
                    rtt: sample.rtt,
                    srtt: sample.srtt,
                    state: self.state,
                    undisturbed: acked > 0 && lost == 0,
                    ..Ack::default()
                };
                self.control.on_ack(&ack, &mut self.window);
                if lost > 0 && self.control.has_model() {
                    let (now, totals) = (self.now, self.totals);
                    let in_flight = (!limited).then_some(in_flight);
                    let lost = LostSegment { now, in_flight, lost, app_limited: false, totals };
                    self.control.on_segment_lost(&lost, &self.window);
                }
                if self.control.has_model() {
                    self.control.on_sample(&sample, &mut self.window);
                } else if self.state != CongestionState::Recovery {
                    ack.limited = Some(!limited);
                    self.control.grow(&ack, &mut self.window);
                }
            }
            Operation::Loss => {
                self.reduce(Loss::Detected);
                self.state = CongestionState::Recovery;
            }
            Operation::Timeout => {
                self.reduce(Loss::Timeout);
                self.window.set_cwnd(1);
                self.control.on_timeout(self.now, 9, self.totals);
                self.state = CongestionState::Loss;
            }
            Operation::Repaired { undone } => {
                if undone {
                    self.control.on_undo(self.totals);
                }
                let loss = match std::mem::take(&mut self.state) {
                    CongestionState::Loss => Loss::Timeout,
                    _ => Loss::Detected,
                };
                self.control.on_repaired(loss, self.totals.delivered, &mut self.window);
            }
            Operation::Idle { app_limited } => {
                let idle = Duration::from_micros(after_us);
                self.control.on_idle(self.now, idle, app_limited, &mut self.window);
            }
        }
    }
}

proptest! {
    /// The window stays between one segment and its limit, thresholds are at least two, pacing
    /// rates are positive, and the same events give the same results.
    #[test]
    fn windows_stay_within_their_limits(
        algorithm in prop::sample::select(
            CongestionAlgorithm::in_profile(Profile::Linux).collect::<Vec<_>>()
        ),
        cwnd_max in prop::option::of(1u64..2_000),
        operations in prop::collection::vec(operation(), 1..120),
    ) {
        let config = TcpConfig { cwnd_max: cwnd_max.and_then(Packets::new), ..TcpConfig::linux(algorithm) };
        let limit = match algorithm.name() {
            "hybla" => config.window_limit().min(65_535),
            "compound" => u32::MAX,
            _ => config.window_limit(),
        };
        let mut twins = [TestConnection::new(&config), TestConnection::new(&config)];
        for (after, operation) in operations {
            for connection in &mut twins {
                connection.apply(after, operation);
                let (cwnd, ssthresh) = (connection.window.cwnd(), connection.window.ssthresh());
                prop_assert!((1..=limit).contains(&cwnd), "{:?}: {}", operation, cwnd);
                prop_assert!(ssthresh >= 2, "{:?}: {}", operation, ssthresh);
                let pace = connection.control.pace();
                // Prague sets no pacing rate before its first round trip.
                if pace.is_some() || algorithm.name() != "prague" {
                    prop_assert_eq!(pace.is_some(), connection.control.has_model());
                }
                let fine = |pace: Pace| {
                    pace.bytes_per_second > 0 && (1..=127).contains(&pace.quantum)
                };
                prop_assert!(pace.is_none_or(fine), "{:?}: {:?}", operation, pace);
            }
            prop_assert_eq!(twins[0].window.cwnd(), twins[1].window.cwnd());
            prop_assert_eq!(twins[0].control.pace(), twins[1].control.pace());
        }
    }
}
