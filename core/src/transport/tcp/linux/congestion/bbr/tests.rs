//! By hand: a path of 100 ms that delivers 20 segments per round trip, with one ACK per round trip.

use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::transport::tcp::config::{CongestionAlgorithm, TcpConfig};
use crate::transport::tcp::linux::congestion::test_path::{Path, RTT};

impl Path<Bbr> {
    fn new(seed: u64) -> Self {
        let bbr = Bbr::new(1448, ChaCha8Rng::seed_from_u64(seed));
        Self::over(bbr, &TcpConfig::linux(CongestionAlgorithm::BBR), Duration::ZERO)
    }

    /// Runs until the pipe is full and drained: bandwidth 20 segments per round trip.
    fn in_probe_bw(seed: u64) -> Self {
        let mut path = Self::new(seed);
        for (acked, left) in [(10, 29), (20, 58), (20, 58), (20, 58), (20, 20)] {
            path.ack(acked, 0, left);
        }
        assert_eq!(path.bbr.mode, Mode::ProbeBw);
        path
    }
}

/// Sections 4.2.1.2 and 4.3.2.1: ten segments of 1448 bytes in 100 ms, times 739/256, less 1 %:
/// 413,8.. bytes/s of payload.
#[test]
fn the_initial_rate_is_2_89_windows_per_round_trip() {
    let path = Path::<Bbr>::new(1);
    assert_eq!((HIGH_GAIN, path.bbr.pacing_gain), (739, 739));
    let exact = 10.0 * 1448.0 / 0.1 * 739.0 / 256.0 * 0.99;
    assert!((path.bbr.rate as f64 / exact - 1.0).abs() < 1e-3, "{}", path.bbr.rate);
}

/// Section 4.3.2.2: bandwidth 10, then 20 for four round trips. The third round trip without growth
/// by a quarter ends Startup. The gain is then the inverse until 20 segments and three quanta are
/// in flight. A quantum is one segment at that rate: 24, rounded to an even number.
#[test]
fn startup_ends_after_three_round_trips_without_growth() {
    let mut path = Path::<Bbr>::new(1);
    let mut modes = Vec::new();
    for (acked, left) in [(10, 29), (20, 58), (20, 58), (20, 58), (20, 58), (20, 25), (20, 24)] {
        path.ack(acked, 0, left);
        modes.push(path.bbr.mode);
    }
    use Mode::{Drain, ProbeBw, Startup};
    assert_eq!(modes, [Startup, Startup, Startup, Startup, Drain, Drain, ProbeBw]);
    // When Startup ended, the rate was at least 2.4 Mbit/s: two segments per burst.
    assert_eq!(path.window.ssthresh(), 26);
}

/// Section 4.3.2.2: application-limited samples do not show whether the pipe is full.
#[test]
fn an_idle_application_does_not_end_startup() {
    let mut path = Path::<Bbr>::new(1);
    for _ in 0..20 {
        path.ack_of(5, 0, 10, |sample| sample.rate.app_limited = true);
    }
    assert_eq!((path.bbr.mode, path.bbr.full_rounds), (Mode::Startup, 0));
    // They do not lower the bandwidth either.
    let mut path = Path::<Bbr>::in_probe_bw(1);
    let bandwidth = path.bbr.model();
    for _ in 0..20 {
        path.ack_of(5, 0, 5, |sample| sample.rate.app_limited = true);
    }
    assert_eq!(path.bbr.model(), bandwidth);
}

/// Section 4.3.4: 5/4, 3/4 and six times 1, one round trip each, from a phase other than 3/4.
#[test]
fn gains_follow_the_cycle() {
    let mut first = Vec::new();
    for seed in 0..40 {
        let mut path = Path::<Bbr>::in_probe_bw(seed);
        first.push(path.bbr.cycle);
        let mut gains = Vec::new();
        for round in 0..40 {
            // The clock advances slightly more than one round trip; the probe fills 5/4 of it.
            path.now = path.now + Duration::from_micros(round);
            path.ack(20, 0, 40);
            gains.push(path.bbr.pacing_gain);
        }
        let up = gains.iter().position(|&gain| gain == 320).unwrap();
        assert_eq!(gains[up..up + 9], [320, 192, 256, 256, 256, 256, 256, 256, 320]);
    }
    first.sort_unstable();
    first.dedup();
    assert_eq!(first, [0, 2, 3, 4, 5, 6, 7]);
}

/// Section 4.2.3.2: twice 20, three quanta of two, and two more while probing. The ACKs of a whole
/// round trip are an aggregate of 20, which gets extra window for up to 100 ms.
#[test]
fn the_window_is_twice_the_product_plus_aggregation() {
    let mut path = Path::<Bbr>::in_probe_bw(1);
    (0..40).for_each(|_| path.ack(20, 0, 40));
    let probing = if path.bbr.cycle == 0 { 2 } else { 0 };
    let room = path.bbr.aggregation.room(path.bbr.model());
    assert!((19..=20).contains(&room), "{room}");
    assert_eq!(u64::from(path.window.cwnd()), (40 + room + 6).div_ceil(2) * 2 + probing);
}

/// Section 4.3.5: after ten seconds without a lower round-trip time, the window is 4 until 200 ms
/// and one round trip with at most 4 in flight have passed. Then the window is restored.
#[test]
fn round_trip_time_is_probed_every_ten_seconds() {
    let mut path = Path::<Bbr>::in_probe_bw(1);
    let since = path.bbr.min_rtt_at;
    while path.bbr.mode != Mode::ProbeRtt {
        path.ack_of(20, 0, 40, |sample| sample.rtt = Some(RTT * 2));
    }
    let waited = path.now.saturating_since(since);
    assert!(waited > Duration::from_secs(10) && waited <= Duration::from_millis(10_100));
    assert_eq!((path.window.cwnd(), path.bbr.min_rtt), (4, Some(RTT * 2)));
    let before = path.bbr.prior_cwnd;
    path.ack(36, 0, 4);
    let drained = path.now;
    while path.bbr.mode == Mode::ProbeRtt {
        assert_eq!(path.window.cwnd(), 4);
        path.ack(4, 0, 4);
    }
    assert_eq!(path.now.saturating_since(drained), RTT * 3);
    assert!(path.window.cwnd() >= before);
    assert_eq!((path.bbr.mode, path.bbr.min_rtt), (Mode::ProbeBw, Some(RTT)));
}

/// `bbr_update_min_rtt` changes the mode before `bbr_save_cwnd`, which then keeps the larger one of
/// this window and the one saved before.
#[test]
fn probing_the_round_trip_time_keeps_a_larger_saved_window() {
    let mut path = Path::<Bbr>::in_probe_bw(1);
    path.window.set_cwnd(500);
    path.bbr.reduce(Loss::Detected, &path.window);
    while path.bbr.mode != Mode::ProbeRtt {
        path.ack_of(20, 0, 40, |sample| sample.rtt = Some(RTT * 2));
    }
    assert_eq!(path.bbr.prior_cwnd, 500);
}

/// Section 4.2.3.4: in the first round trip of a recovery one segment leaves per segment delivered;
/// afterwards lost segments reduce the window. The end of the recovery restores the window.
#[test]
fn recovery_conserves_packets_for_a_round_trip() {
    let mut path = Path::<Bbr>::in_probe_bw(1);
    (0..20).for_each(|_| path.ack(20, 0, 40));
    let before = path.window.cwnd();
    assert_eq!(path.bbr.reduce(Loss::Detected, &path.window).ssthresh, path.window.ssthresh());
    path.state = CongestionState::Recovery;
    path.ack(3, 2, 35);
    assert_eq!(path.window.cwnd(), 38);
    path.ack_of(1, 1, 37, |sample| sample.rate.prior_delivered = 0); // the same round trip
    assert_eq!(path.window.cwnd(), 38);
    assert!(path.bbr.conserving);
    path.ack(20, 0, 20);
    assert!(!path.bbr.conserving && path.window.cwnd() > 38);
    path.state = CongestionState::Open;
    path.ack(20, 0, 20);
    assert!(path.window.cwnd() >= before);
}

/// A lower bandwidth is accepted after ten round trips.
#[test]
fn bandwidth_is_the_maximum_of_ten_round_trips() {
    let mut path = Path::<Bbr>::in_probe_bw(1);
    let bandwidth = path.bbr.model();
    assert_eq!(bandwidth, 20 * BW_UNIT / 100_000);
    for _ in 0..10 {
        path.ack(10, 0, 20);
        assert_eq!(path.bbr.model(), bandwidth);
    }
    path.ack(10, 0, 20);
    assert_eq!(path.bbr.model(), 10 * BW_UNIT / 100_000);
}
