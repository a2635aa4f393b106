//! BBR version 1 as Linux has it (`tcp_bbr.c`): draft-cardwell-iccrg-bbr-congestion-control-00,
//! whose sections are named below, with what Linux added: long-term bandwidth (policers), ACK
//! aggregation, a pacing margin of 1 %, and gains rounded to 1/256.
//!
//! A model of the path, the most bandwidth of ten round trips and the least round-trip time of
//! ten seconds, says how fast segments leave and how many may be in flight; losses hardly matter.

mod aggregation;
mod cwnd;
mod long_term;
mod max_filter;
mod model;

use rand_chacha::ChaCha8Rng;

use self::aggregation::Aggregation;
pub(super) use self::long_term::Totals;
use self::long_term::{LongTerm, Look};
use self::max_filter::MaxFilter;
use super::delivery::Rate;
use super::repair::Phase;
use super::spacing::Pace;
use super::window::{Control, Window};
use crate::units::{Duration, Instant};

/// Segments per microsecond, times 2^24.
type Bandwidth = u64;
const BW_UNIT: Bandwidth = 1 << 24;
/// Gains are in 1/256.
const UNIT: u64 = 256;
/// 2/ln 2, the least gain that doubles the rate each round trip (4.3.2.1), rounded up.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Round trips of the bandwidth's maximum (4.1.1.3).
const BANDWIDTH_ROUNDS: u64 = 10;
/// Percent of the bandwidth at which segments leave, so that queues drain.
const PACED: u64 = 99;
/// Below this rate in bytes/s a single segment leaves at a time (1.2 Mbit/s), else two.
const SINGLE_RATE: u64 = 1_200_000 / 8;
/// At most so many leave at a time.
const MAX_QUANTUM: u64 = 127;

/// What an ACK tells the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) now: Instant,
    pub(super) rate: Rate,
    pub(super) rtt: Option<Duration>,
    /// The ACK may have been held back by the receiver.
    pub(super) delayed: bool,
    /// Segments it delivered, and declared lost.
    pub(super) acked: u64,
    pub(super) lost: u64,
    /// Segments in flight before and after it.
    pub(super) prior_in_flight: u64,
    pub(super) in_flight: u64,
    pub(super) totals: Totals,
    pub(super) phase: Phase,
    /// When the next segment may leave.
    pub(super) departure: Instant,
    pub(super) smoothed: Option<Duration>,
}

/// Section 4.3.1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The model and what is done with it.
#[derive(Debug)]
pub(super) struct Bbr {
    mss: u32,
    packet: u32,
    rng: ChaCha8Rng,
    mode: Mode,
    bandwidth: MaxFilter,
    long_term: LongTerm,
    aggregation: Aggregation,
    /// Round trips so far, and the count of deliveries that ends this one (4.1.1.4).
    rounds: u64,
    round_end: u64,
    round_start: bool,
    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round: bool,
    /// The window that ProbeRTT and recoveries give back (4.2.3.4), and the phase at the last ACK.
    prior_cwnd: u32,
    prior_phase: Phase,
    conserving: bool,
    idle_restart: bool,
    /// The pipe is full; if not, what bandwidth must outgrow, and round trips in which it did not.
    full: bool,
    full_bandwidth: Bandwidth,
    full_rounds: u32,
    pacing_gain: u64,
    cwnd_gain: u64,
    cycle: usize,
    cycle_at: Instant,
    /// Bytes/s at which segments leave.
    rate: u64,
    seen_rtt: bool,
}

impl Bbr {
    /// For segments of `mss` bytes in packets of `packet`.
    pub(super) fn new(mss: u32, packet: u32, rng: ChaCha8Rng) -> Self {
        Self {
            mss,
            packet,
            rng,
            mode: Mode::Startup,
            bandwidth: MaxFilter::new(BANDWIDTH_ROUNDS),
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            rounds: 0,
            round_end: 0,
            round_start: false,
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            probe_rtt_until: None,
            probe_rtt_round: false,
            prior_cwnd: 0,
            prior_phase: Phase::Open,
            conserving: false,
            idle_restart: false,
            full: false,
            full_bandwidth: 0,
            full_rounds: 0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            cycle: 0,
            cycle_at: Instant::ZERO,
            rate: 0,
            seen_rtt: false,
        }
    }

    /// The bandwidth that counts.
    fn model(&self) -> Bandwidth {
        self.long_term.get().unwrap_or_else(|| self.bandwidth.get())
    }

    /// Section 4.2.1: the rate follows the model; before the pipe is full it only rises.
    fn set_rate(&mut self, window: &Window, smoothed: Option<Duration>) {
        if !self.seen_rtt && smoothed.is_some() {
            self.guess_rate(window, smoothed);
        }
        let rate = self.paced(self.model(), self.pacing_gain);
        if self.full || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Before the first delivery: the window over the round-trip time, or over a millisecond.
    fn guess_rate(&mut self, window: &Window, smoothed: Option<Duration>) {
        self.seen_rtt = smoothed.is_some();
        let rtt = smoothed.map_or(1000, |rtt| micros(rtt).max(1));
        self.rate = self.paced(u64::from(window.cwnd) * BW_UNIT / rtt, HIGH_GAIN);
    }

    fn paced(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        let bandwidth = (u128::from(bandwidth) * u128::from(gain)) >> 8;
        bytes_per_second(u64::try_from(bandwidth).unwrap_or(u64::MAX), self.packet)
    }

    /// Section 4.2.2: segments that leave at a time, a millisecond's worth.
    fn quantum(&self) -> u64 {
        let least = if self.rate < SINGLE_RATE { 1 } else { 2 };
        (self.rate / 1024 / u64::from(self.mss)).max(least).min(MAX_QUANTUM)
    }

    fn look(&self, totals: Totals, losses: bool, app_limited: bool) -> Look {
        Look { totals, losses, app_limited, round_start: self.round_start, packet: self.packet }
    }
}

impl Control for Bbr {
    fn is_model(&self) -> bool {
        true
    }

    fn on_established(
        &mut self,
        now: Instant,
        smoothed: Option<Duration>,
        delivered: u64,
        window: &Window,
    ) {
        self.min_rtt = smoothed;
        self.min_rtt_at = now;
        self.round_end = delivered;
        self.aggregation.restart(now);
        self.guess_rate(window, smoothed);
    }

    fn on_sample(&mut self, sample: &Sample, window: &mut Window) {
        self.update_model(sample, window);
        self.set_rate(window, sample.smoothed);
        self.set_cwnd(sample, window);
    }

    fn grow(&mut self, _: Instant, _: u32, _: &mut Window) {}

    /// A loss does not move the threshold, which nothing here looks at.
    fn reduce(&mut self, window: &Window) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    /// The loss was none: growth is watched, and a policer looked for, from anew.
    fn on_undo(&mut self, totals: Totals) {
        self.full_bandwidth = 0;
        self.full_rounds = 0;
        self.long_term.reset(totals);
    }

    fn on_timeout(&mut self, _: Instant, _: u64, totals: Totals) {
        self.prior_phase = Phase::Loss;
        self.full_bandwidth = 0;
        self.round_start = true; // as if a round trip ended
        let look = self.look(totals, true, false);
        self.sample_long_term(&look);
    }

    /// Section 4.3.4.4: after idling, segments leave at the bandwidth and no faster.
    fn on_idle(&mut self, now: Instant, _: Duration, app_limited: bool, window: &mut Window) {
        if !app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw => self.rate = self.paced(self.model(), UNIT),
            Mode::ProbeRtt => self.try_to_end_probe_rtt(now, now, window),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn pace(&self) -> Option<Pace> {
        Some(Pace { bytes_per_second: self.rate.max(1), quantum: self.quantum() })
    }

    /// ProbeRTT sends less than the network takes: that is no sample of its bandwidth.
    fn is_limiting_itself(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }
}

fn micros(time: Duration) -> u64 {
    time.as_nanos() / 1000
}

fn narrow(segments: u64) -> u32 {
    u32::try_from(segments).unwrap_or(u32::MAX)
}

/// What a bandwidth is in bytes/s as packets, paced.
fn bytes_per_second(bandwidth: Bandwidth, packet: u32) -> u64 {
    let rate = u128::from(bandwidth) * u128::from(packet) * u128::from(1_000_000 / 100 * PACED);
    u64::try_from(rate >> 24).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
