//! BBR version 1 as in Linux (`tcp_bbr.c`). Section numbers refer to
//! draft-cardwell-iccrg-bbr-congestion-control-00. Linux adds long-term bandwidth (policers), ACK
//! aggregation, a pacing margin of 1 %, and gains rounded to 1/256.
//!
//! A path model of the maximum bandwidth over ten round trips and the minimum round-trip time over
//! ten seconds sets the pacing rate and the window. Losses have little effect.

pub(super) mod aggregation;
pub(super) mod bandwidth;
mod long_term;
mod max_filter;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use self::aggregation::Aggregation;
use self::bandwidth::{BW_UNIT, Bandwidth, UNIT, bytes_per_second, micros};
use self::long_term::{LongTerm, PolicerSample};
use self::max_filter::MaxFilter;
use crate::transport::tcp::congestion::{
    Ack, CongestionControl, CongestionState, Loss, Pace, Reduction, Sample, Totals, Window,
};
use crate::units::{Duration, Instant};

/// 2/ln 2, the smallest gain that doubles the rate each round trip (4.3.2.1), rounded up.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
/// Window of the bandwidth filter, in round trips (4.1.1.3).
const BANDWIDTH_ROUNDS: u64 = 10;
/// Below this rate in bytes/s (1.2 Mbit/s) a burst has one segment, otherwise two.
const SINGLE_RATE: u64 = 1_200_000 / 8;
/// Maximum burst size in segments.
const MAX_QUANTUM: u64 = 127;

/// The inverse of [`HIGH_GAIN`]: drains in one round trip the queue that Startup built (4.3.3).
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// Window gain in ProbeBW: twice the bandwidth-delay product, to allow for delayed ACKs (4.2.3.2).
const CWND_GAIN: u64 = 2 * UNIT;
/// Pacing gains of ProbeBW; each applies for one minimum round-trip time (4.3.4.1).
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The pipe counts as full after this many round trips without growth by a quarter (4.3.2.2).
const FULL_ROUNDS: u32 = 3;
/// Lifetime of a minimum round-trip time (4.1.2.3), and duration of ProbeRTT (4.3.5).
pub(super) const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
pub(super) const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// Minimum window (4.2.3.3), and the window before the first model.
pub(super) const MIN_CWND: u32 = 4;
const INITIAL_CWND: u64 = 10;

/// The states of section 4.3.1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR: the path model and the state machine.
#[derive(Debug)]
pub(crate) struct Bbr {
    mss: u32,
    rng: ChaCha8Rng,
    mode: Mode,
    bandwidth: MaxFilter,
    long_term: LongTerm,
    aggregation: Aggregation,
    /// Number of round trips, and the delivered count that ends the current one (4.1.1.4).
    rounds: u64,
    round_end: u64,
    round_start: bool,
    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round: bool,
    /// Window to restore after ProbeRTT and recoveries (4.2.3.4), and the congestion state at the
    /// last ACK.
    prior_cwnd: u32,
    prior_state: CongestionState,
    conserving: bool,
    idle_restart: bool,
    /// Full-pipe detection: whether the pipe is full, the bandwidth to exceed, and the number of
    /// round trips that did not exceed it.
    full: bool,
    full_bandwidth: Bandwidth,
    full_rounds: u32,
    pacing_gain: u64,
    cwnd_gain: u64,
    cycle: usize,
    cycle_at: Instant,
    /// Pacing rate in bytes/s.
    rate: u64,
    seen_rtt: bool,
}

impl Bbr {
    /// A control for segments of `mss` bytes.
    pub(crate) fn new(mss: u32, rng: ChaCha8Rng) -> Self {
        Self {
            mss,
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
            prior_state: CongestionState::Open,
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

    /// Bandwidth in use: the policer's rate if one was detected, else the filter's maximum
    /// (`bbr_bw`).
    fn model(&self) -> Bandwidth {
        self.long_term.get().unwrap_or_else(|| self.bandwidth.get())
    }

    /// Section 4.2.1: sets the pacing rate from the model. Until the pipe is full the rate only
    /// rises (`bbr_set_pacing_rate`).
    fn set_rate(&mut self, window: &Window, smoothed: Option<Duration>) {
        if !self.seen_rtt && smoothed.is_some() {
            self.guess_rate(window, smoothed);
        }
        let rate = self.paced(self.model(), self.pacing_gain);
        if self.full || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Initial rate: the window divided by the round-trip time, or by 1 ms without a sample
    /// (`bbr_init_pacing_rate_from_rtt`).
    fn guess_rate(&mut self, window: &Window, smoothed: Option<Duration>) {
        self.seen_rtt = smoothed.is_some();
        let rtt = smoothed.map_or(1000, |rtt| micros(rtt).max(1));
        self.rate = self.paced(u64::from(window.cwnd()) * BW_UNIT / rtt, HIGH_GAIN);
    }

    fn paced(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        bytes_per_second(bandwidth, self.mss, gain)
    }

    /// Section 4.2.2: burst size in segments, one millisecond at the pacing rate.
    fn quantum(&self) -> u64 {
        let least = if self.rate < SINGLE_RATE { 1 } else { 2 };
        (self.rate / 1024 / u64::from(self.mss)).max(least).min(MAX_QUANTUM)
    }

    fn policer_sample(&self, totals: Totals, losses: bool, app_limited: bool) -> PolicerSample {
        PolicerSample { totals, losses, app_limited, round_start: self.round_start, mss: self.mss }
    }

    /// Updates the model on an ACK: bandwidth, round-trip time, then the state machine
    /// (`bbr_update_model`).
    fn update_model(&mut self, sample: &Sample, window: &mut Window) {
        self.update_bandwidth(sample);
        self.update_aggregation(sample, window);
        if self.mode == Mode::ProbeBw && self.is_phase_over(sample) {
            self.advance_cycle(sample.totals.delivered_at);
        }
        self.check_full_pipe(sample);
        self.drain(sample, window);
        self.update_min_rtt(sample, window);
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.get().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    /// Sections 4.1.1.3 and 4.1.1.4: updates the maximum over ten round trips. An
    /// application-limited sample counts only if it exceeds the maximum (`bbr_update_bw`).
    fn update_bandwidth(&mut self, sample: &Sample) {
        self.round_start = false;
        let Some((delivered, interval)) = valid(sample) else { return };
        if sample.rate.prior_delivered >= self.round_end {
            self.round_end = sample.totals.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserving = false;
        }
        let policer = self.policer_sample(sample.totals, sample.lost > 0, sample.rate.app_limited);
        self.sample_long_term(&policer);
        let bandwidth = u128::from(delivered) * u128::from(BW_UNIT) / u128::from(interval);
        let bandwidth = Bandwidth::try_from(bandwidth).unwrap_or(Bandwidth::MAX);
        if !sample.rate.app_limited || bandwidth >= self.bandwidth.get() {
            self.bandwidth.update(self.rounds, bandwidth);
        }
    }

    fn sample_long_term(&mut self, sample: &PolicerSample) {
        if self.long_term.expires(sample, self.mode == Mode::ProbeBw) {
            self.enter_probe_bw(sample.totals.delivered_at);
        } else if self.long_term.sample(sample) {
            self.pacing_gain = UNIT;
        }
    }

    fn update_aggregation(&mut self, sample: &Sample, window: &Window) {
        if sample.acked == 0 || valid(sample).is_none() {
            return;
        }
        if self.round_start {
            self.aggregation.begin_round(aggregation::ROUNDS);
        }
        let (at, bandwidth) = (sample.totals.delivered_at, self.model());
        self.aggregation.on_delivered(at, sample.acked, bandwidth, window.cwnd());
    }

    /// Section 4.3.4.3: a phase lasts one minimum round-trip time. Probing up continues until a
    /// loss or a queue shows its effect; draining ends as soon as the queue is gone
    /// (`bbr_is_next_cycle_phase`).
    fn is_phase_over(&self, sample: &Sample) -> bool {
        let lasted = sample.totals.delivered_at.saturating_since(self.cycle_at);
        let full_length = self.min_rtt.is_some_and(|rtt| lasted > rtt);
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let in_network = self.in_network(sample, sample.prior_in_flight);
        let bandwidth = self.bandwidth.get();
        if self.pacing_gain > UNIT {
            let queued = in_network >= self.inflight(bandwidth, self.pacing_gain);
            return full_length && (sample.lost > 0 || queued);
        }
        full_length || in_network <= self.inflight(bandwidth, UNIT)
    }

    /// Segments left in the network when the next segment departs (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, sample: &Sample, in_flight: u64) -> u64 {
        let wait = micros(sample.departure.saturating_since(sample.now));
        let delivered = u128::from(self.model()) * u128::from(wait) / u128::from(BW_UNIT);
        let probing = if self.pacing_gain > UNIT { self.quantum() } else { 0 };
        (in_flight + probing).saturating_sub(u64::try_from(delivered).unwrap_or(u64::MAX))
    }

    fn advance_cycle(&mut self, now: Instant) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at = now;
    }

    /// Section 4.3.4.2: starts in a random phase other than the draining one.
    fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - self.rng.random_range(0..CYCLE.len() - 1);
        self.advance_cycle(now);
    }

    /// Section 4.3.2.2 (`bbr_check_full_bw_reached`).
    fn check_full_pipe(&mut self, sample: &Sample) {
        if self.full || !self.round_start || sample.rate.app_limited {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_bandwidth * 5 / 4 {
            self.full_bandwidth = bandwidth;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// Section 4.3.3 (`bbr_check_drain`).
    fn drain(&mut self, sample: &Sample, window: &mut Window) {
        let product = self.inflight(self.bandwidth.get(), UNIT);
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.set_ssthresh(narrow(product));
        }
        if self.mode == Mode::Drain && self.in_network(sample, sample.in_flight) <= product {
            self.enter_probe_bw(sample.totals.delivered_at);
        }
    }

    /// Sections 4.1.2.3 and 4.3.5: tracks the minimum over ten seconds. If the minimum is older,
    /// the window falls to four segments for 200 ms and one round trip, so that the queue empties
    /// and the true minimum shows (`bbr_update_min_rtt`).
    fn update_min_rtt(&mut self, sample: &Sample, window: &mut Window) {
        let now = sample.now;
        let expired = self.min_rtt.is_some() && now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|least| rtt < least) || (expired && !sample.delayed))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            // In this order: a window saved before counts too (`bbr_save_cwnd`).
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sample, window);
        }
        if sample.rate.delivered.is_some_and(|delivered| delivered > 0) {
            self.idle_restart = false;
        }
    }

    fn probe_rtt(&mut self, sample: &Sample, window: &mut Window) {
        if self.probe_rtt_until.is_none() {
            if sample.in_flight <= u64::from(MIN_CWND) {
                self.probe_rtt_until = Some(sample.now + PROBE_RTT_TIME);
                self.probe_rtt_round = false;
                self.round_end = sample.totals.delivered;
            }
            return;
        }
        self.probe_rtt_round |= self.round_start;
        if self.probe_rtt_round {
            self.try_to_end_probe_rtt(sample.now, sample.totals.delivered_at, window);
        }
    }

    fn try_to_end_probe_rtt(&mut self, now: Instant, delivered_at: Instant, window: &mut Window) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_at = now;
        window.set_cwnd(window.cwnd().max(self.prior_cwnd));
        if self.full {
            self.enter_probe_bw(delivered_at);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Section 4.2.3.2: `gain` times the bandwidth-delay product, in segments.
    fn product(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        let Some(rtt) = self.min_rtt else { return INITIAL_CWND };
        let product = (u128::from(bandwidth) * u128::from(micros(rtt)) * u128::from(gain)) >> 8;
        u64::try_from(product.div_ceil(u128::from(BW_UNIT))).unwrap_or(u64::MAX)
    }

    /// Adds an allowance for bursts in the offload of sender and receiver: three quanta, rounded up
    /// to an even number, and two more while probing, because a small window would prevent the
    /// probe (`bbr_quantization_budget`).
    fn with_quanta(&self, segments: u64) -> u64 {
        let even = segments.saturating_add(3 * self.quantum() + 1) & !1;
        even.saturating_add(if self.mode == Mode::ProbeBw && self.cycle == 0 { 2 } else { 0 })
    }

    fn inflight(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        self.with_quanta(self.product(bandwidth, gain))
    }

    /// Section 4.2.3.6.
    fn set_cwnd(&mut self, sample: &Sample, window: &mut Window) {
        if sample.acked > 0 {
            let cwnd = self.modulate(sample, window.cwnd());
            window.set_cwnd(cwnd);
        }
        if self.mode == Mode::ProbeRtt {
            window.set_cwnd(window.cwnd().min(MIN_CWND));
        }
    }

    fn modulate(&mut self, sample: &Sample, cwnd: u32) -> u32 {
        let acked = narrow(sample.acked);
        let cwnd = match self.recover(sample, cwnd) {
            Ok(conserved) => return conserved,
            Err(cwnd) => cwnd,
        };
        let bandwidth = self.model();
        let mut target = self.product(bandwidth, self.cwnd_gain);
        if self.full {
            target = target.saturating_add(self.aggregation.room(bandwidth));
        }
        let target = narrow(self.with_quanta(target));
        let grown = cwnd.saturating_add(acked);
        let cwnd = if self.full {
            grown.min(target)
        } else if cwnd < target || sample.totals.delivered < INITIAL_CWND {
            grown
        } else {
            cwnd
        };
        cwnd.max(MIN_CWND)
    }

    /// Section 4.2.3.4: packet conservation in the first round trip of a recovery (`Ok`). `Err`
    /// holds the window to continue from: the saved one after the recovery
    /// (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover(&mut self, sample: &Sample, cwnd: u32) -> Result<u32, u32> {
        let conserved = narrow(sample.in_flight + sample.acked);
        let mut cwnd =
            if sample.lost > 0 { cwnd.saturating_sub(narrow(sample.lost)).max(1) } else { cwnd };
        let prior = std::mem::replace(&mut self.prior_state, sample.state);
        if sample.state == CongestionState::Recovery && prior != CongestionState::Recovery {
            self.conserving = true;
            self.round_end = sample.totals.delivered;
            cwnd = conserved;
        } else if prior >= CongestionState::Recovery && sample.state < CongestionState::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        if self.conserving { Ok(cwnd.max(conserved)) } else { Err(cwnd) }
    }

    /// Saves the window at the start of a recovery or of ProbeRTT.
    fn save_cwnd(&mut self, window: &Window) {
        let reduced = self.prior_state >= CongestionState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if reduced { self.prior_cwnd.max(window.cwnd()) } else { window.cwnd() };
    }
}

impl CongestionControl for Bbr {
    fn has_model(&self) -> bool {
        true
    }

    fn on_established(
        &mut self,
        now: Instant,
        smoothed: Option<Duration>,
        delivered: u64,
        window: &mut Window,
    ) {
        self.min_rtt = smoothed;
        self.min_rtt_at = now;
        self.round_end = delivered;
        self.aggregation.restart(now);
        self.guess_rate(window, smoothed);
    }

    fn on_sample(&mut self, sample: &Sample, window: &mut Window) {
        self.update_model(sample, window);
        self.set_rate(window, sample.srtt);
        self.set_cwnd(sample, window);
    }

    fn grow(&mut self, _: &Ack, _: &mut Window) {}

    /// Leaves the threshold unchanged: BBR does not use it.
    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        self.save_cwnd(window);
        Reduction { ssthresh: window.ssthresh(), cwnd: window.cwnd() }
    }

    /// A spurious loss: restarts full-pipe detection and policer detection.
    fn on_undo(&mut self, totals: Totals) {
        self.full_bandwidth = 0;
        self.full_rounds = 0;
        self.long_term.reset(totals);
    }

    fn on_timeout(&mut self, _: Instant, _: u64, totals: Totals) {
        self.prior_state = CongestionState::Loss;
        self.full_bandwidth = 0;
        self.round_start = true; // as if a round trip ended
        let policer = self.policer_sample(totals, true, false);
        self.sample_long_term(&policer);
    }

    /// Section 4.3.4.4: after an idle period, segments leave at the estimated bandwidth and no
    /// faster.
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

    /// ProbeRTT sends less than the capacity, so that its rate samples do not show the bandwidth.
    fn is_limiting_itself(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }
}

/// Segments delivered and the sampling interval in microseconds, if the sample is valid.
pub(super) fn valid(sample: &Sample) -> Option<(u64, u64)> {
    let delivered = sample.rate.delivered?;
    let interval = micros(sample.rate.interval?);
    (interval > 0).then_some((delivered, interval))
}

pub(super) fn narrow(segments: u64) -> u32 {
    u32::try_from(segments).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
