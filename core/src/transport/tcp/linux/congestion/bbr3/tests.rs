//! By hand: a path of 100 ms that delivers 100 segments per round trip, with one ACK per round
//! trip.

use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::transport::tcp::config::{CongestionAlgorithm, TcpConfig};
use crate::transport::tcp::linux::congestion::test_path::{Path, RTT};

const PRODUCT: u64 = 100;

impl Path<Bbr3> {
    /// The round-trip time falls by a nanosecond with every ACK, so that ProbeRTT is never due.
    fn new(seed: u64) -> Self {
        let bbr = Bbr3::new(1448, ChaCha8Rng::seed_from_u64(seed));
        Self::over(bbr, &TcpConfig::linux(CongestionAlgorithm::BBR3), Duration::from_nanos(1))
    }

    /// Runs until the pipe is full and drained.
    fn in_cruise(seed: u64) -> Self {
        let mut path = Self::new(seed);
        for (acked, left) in [(20, 40), (40, 80), (80, 160), (100, 200), (100, 200), (100, 200)] {
            path.ack(acked, 0, left);
        }
        while path.bbr.mode != Mode::ProbeBw(ProbePhase::Cruise) {
            path.ack(PRODUCT, 0, 90);
        }
        path
    }

    fn until(&mut self, phase: ProbePhase) -> u64 {
        let began = self.now;
        while self.bbr.mode != Mode::ProbeBw(phase) {
            self.ack(PRODUCT, 0, 90);
        }
        self.now.saturating_since(began).as_nanos() / 1_000_000
    }
}

/// 5.6.2: ten segments of 1448 bytes in 100 ms, times 2.77 (710/256), less 1 %.
#[test]
fn the_initial_rate_is_2_77_windows_per_round_trip() {
    let path = Path::<Bbr3>::new(1);
    let exact = 10.0 * 1448.0 / 0.1 * 710.0 / 256.0 * 0.99;
    assert!((path.bbr.rate as f64 / exact - 1.0).abs() < 1e-3, "{}", path.bbr.rate);
}

/// 5.3.1.2 and 5.3.2: bandwidth 20, 40, 80, 100 per round trip. 100 exceeds 80 by a quarter; three
/// round trips without further growth start Drain, until at most the product is in flight.
#[test]
fn startup_ends_after_three_round_trips_without_growth() {
    let mut path = Path::<Bbr3>::new(1);
    let mut modes = Vec::new();
    for (acked, left) in
        [(20, 40), (40, 80), (80, 160), (100, 200), (100, 200), (100, 200), (100, 200), (100, 100)]
    {
        path.ack(acked, 0, left);
        modes.push(path.bbr.mode);
    }
    use Mode::{Drain, Startup};
    let down = Mode::ProbeBw(ProbePhase::Down);
    assert_eq!(modes, [Startup, Startup, Startup, Startup, Startup, Startup, Drain, down]);
    assert_eq!(path.window.ssthresh(), 101, "bandwidth is rounded up");
    assert_eq!(path.bbr.bounds.inflight_hi, UNBOUNDED);
}

/// 5.3.1.3: in recovery, six ACKs of a round trip that report losses, with more than 2 % lost, end
/// Startup and set the inflight bound. Five such ACKs do not, nor do few losses.
#[test]
fn losses_end_startup() {
    for (acks, lost_of_each, ends) in [(5, 2, false), (6, 2, true), (6, 0, false)] {
        let mut path = Path::<Bbr3>::new(1);
        path.ack(20, 0, 40);
        path.ack(40, 0, 80);
        path.state = CongestionState::Recovery;
        let prior = path.delivered;
        path.ack(10, 1, 70); // loss begins a round trip
        for nth in 1..acks {
            let in_round = |sample: &mut Sample| {
                sample.rate.prior_delivered = prior - 1;
                sample.rate.lost = nth * lost_of_each;
                sample.rate.in_flight = 80;
            };
            path.ack_of(10, 1, 70, in_round);
        }
        assert_eq!(path.bbr.mode, Mode::Startup);
        path.ack_of(10, 0, 70, |sample| {
            sample.rate.lost = 6 * lost_of_each;
            sample.rate.in_flight = 80;
        });
        assert_eq!(path.bbr.plateau.reached, ends, "{acks} {lost_of_each}");
        assert_eq!(path.bbr.bounds.inflight_hi < UNBOUNDED, ends);
    }
}

/// 5.3.3: Cruise until two to three seconds after the last probe, Refill for a round trip, Up until
/// three round trips without bandwidth growth, then Down and Cruise.
#[test]
fn the_cycle_runs_through_down_cruise_refill_and_up() {
    let mut waits = Vec::new();
    for seed in 0..40 {
        let mut path = Path::<Bbr3>::in_cruise(seed);
        path.until(ProbePhase::Down);
        let down_at = path.now;
        path.until(ProbePhase::Cruise);
        assert_eq!(path.bbr.pacing_gain, 256);
        path.until(ProbePhase::Refill);
        let waited = path.now.saturating_since(down_at).as_nanos() / 1_000_000;
        assert!((2_000..=3_100).contains(&waited), "{waited}");
        waits.push(waited);
        let (pacing, cwnd) = path.bbr.gains();
        assert_eq!((pacing, cwnd), (256, 512));
        assert_eq!(path.until(ProbePhase::Up), 100);
        assert_eq!(path.bbr.gains(), (320, 576));
        assert_eq!(path.until(ProbePhase::Down), 300);
        assert_eq!(path.bbr.pacing_gain, 232);
    }
    waits.sort_unstable();
    waits.dedup();
    assert!(waits.len() > 5, "drawn: {waits:?}");
}

/// 5.3.3.6: with a product of 10 segments Reno would probe after 10 round trips.
#[test]
fn a_small_product_is_probed_at_renos_pace() {
    let mut path = Path::<Bbr3>::new(3);
    for (acked, left) in [(10, 20), (10, 20), (10, 20), (10, 20), (10, 8), (10, 8), (10, 8)] {
        path.ack(acked, 0, left);
    }
    assert_eq!(path.bbr.mode, Mode::ProbeBw(ProbePhase::Cruise));
    let mut rounds = 0;
    while path.bbr.mode != Mode::ProbeBw(ProbePhase::Refill) {
        path.ack(10, 0, 8);
        rounds += 1;
    }
    assert!((7..=10).contains(&rounds), "{rounds}");
}

/// 5.5.10.4: more than 2 % lost while probing: the bound is the inflight at which the threshold was
/// crossed, the probe ends, and Cruise leaves 15 % of the bound free. The next probe stops at the
/// bound. As nothing was lost, another probe follows at once and raises the bound.
#[test]
fn a_lossy_probe_sets_the_inflight_bound() {
    let mut path = Path::<Bbr3>::in_cruise(1);
    path.until(ProbePhase::Up);
    path.ack_of(121, 4, 125, |sample| sample.prior_in_flight = 125);
    assert_eq!(path.bbr.mode, Mode::ProbeBw(ProbePhase::Down));
    // 124 in flight before the segment, budget ceil(2.42) = 3: the third loss crosses the
    // threshold.
    let bound = path.bbr.bounds.inflight_hi;
    assert_eq!(bound, loss::bearable_inflight(3, 125));
    assert!((124..=126).contains(&bound), "{bound}");
    path.until(ProbePhase::Cruise);
    let headroom = u64::from(path.window.cwnd());
    assert!(headroom <= bound * 85 / 100 + 2, "{headroom} {bound}");
    path.until(ProbePhase::Up);
    path.ack(PRODUCT, 0, 100);
    path.ack_of(PRODUCT, 0, 125, |sample| sample.prior_in_flight = bound);
    assert_eq!(path.bbr.mode, Mode::ProbeBw(ProbePhase::Down));
    path.ack(PRODUCT, 0, 120);
    assert_eq!(path.bbr.mode, Mode::ProbeBw(ProbePhase::Refill));
    assert_eq!(path.until(ProbePhase::Up), 100);
    path.ack_of(PRODUCT, 0, 120, |sample| {
        sample.cwnd_limited = true;
    });
    let cwnd = path.window.cwnd();
    assert!(u64::from(cwnd) <= bound, "{cwnd}");
    path.ack_of(PRODUCT, 0, 120, |sample| sample.cwnd_limited = true);
    assert!(path.bbr.bounds.inflight_hi > bound);
}

/// 5.5.10.3: a loss in Cruise lowers the window to the deliveries or to 0.7, until the next probe.
/// Losses below 2 % do not change the upper bound.
#[test]
fn a_loss_lowers_the_short_term_bounds_until_the_next_probe() {
    let mut path = Path::<Bbr3>::in_cruise(1);
    let before = path.bbr.bounds.bandwidth();
    path.state = CongestionState::Recovery;
    path.bbr.reduce(Loss::Detected, &path.window);
    (0..4).for_each(|_| path.ack(99, 1, 90)); // before the first loss 100 had been delivered
    path.ack(99, 0, 90);
    assert!(path.bbr.bounds.inflight_lo < UNBOUNDED);
    assert_eq!(path.bbr.bounds.inflight_hi, UNBOUNDED);
    // 99 of 100 were delivered: the bandwidth falls only slightly.
    let after = path.bbr.bounds.bandwidth();
    assert!(after < before && after >= before * 98 / 100, "{before} {after}");
    path.state = CongestionState::Open;
    path.until(ProbePhase::Refill);
    assert_eq!(path.bbr.bounds.inflight_lo, UNBOUNDED);
    assert_eq!(path.bbr.bounds.bandwidth(), path.bbr.bounds.max_bandwidth());
}

/// 5.3.4: after five seconds without a lower round-trip time, half the product stays in flight
/// until 200 ms and one round trip have passed. Then the window is restored and the connection
/// cruises.
#[test]
fn round_trip_time_is_probed_every_five_seconds() {
    let mut path = Path::<Bbr3>::in_cruise(1);
    let since = path.bbr.min_rtt.recent_at;
    while path.bbr.mode != Mode::ProbeRtt {
        path.ack_of(PRODUCT, 0, 90, |sample| sample.rtt = Some(RTT + RTT));
    }
    let waited = path.now.saturating_since(since);
    assert!(waited > Duration::from_secs(5) && waited <= Duration::from_millis(5_100));
    assert_eq!(path.window.cwnd(), 51);
    let before = path.bbr.prior_cwnd;
    path.ack(40, 0, 50);
    let drained = path.now;
    while path.bbr.mode == Mode::ProbeRtt {
        assert_eq!(path.window.cwnd(), 51);
        path.ack(50, 0, 50);
    }
    assert_eq!(path.now.saturating_since(drained), RTT * 3);
    assert_eq!(path.bbr.mode, Mode::ProbeBw(ProbePhase::Cruise));
    assert!(path.window.cwnd() >= before.min(200), "{} {before}", path.window.cwnd());
    let least = path.bbr.min_rtt.get().unwrap();
    assert!(least <= RTT, "as low as in the ten seconds before: {least}");
}

/// A spurious reduction restores bounds and window.
#[test]
fn a_spurious_loss_changes_nothing() {
    let mut path = Path::<Bbr3>::in_cruise(1);
    let (cwnd, bounds) = (path.window.cwnd(), path.bbr.bounds.bandwidth());
    path.bbr.reduce(Loss::Detected, &path.window);
    path.state = CongestionState::Recovery;
    (0..4).for_each(|_| path.ack(50, 50, 50));
    assert!(path.window.cwnd() < cwnd && path.bbr.bounds.bandwidth() < bounds);
    path.state = CongestionState::Open;
    path.bbr.on_undo(Totals::default());
    path.ack(PRODUCT, 0, 90);
    assert!(path.window.cwnd() >= cwnd.min(200));
    assert_eq!(path.bbr.bounds.bandwidth(), bounds);
}
