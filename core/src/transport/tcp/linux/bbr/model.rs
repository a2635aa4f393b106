//! The model of the path, and the modes that probe it (section 4.1 and 4.3).

use rand::RngExt;

use super::cwnd::MIN_CWND;
use super::{BW_UNIT, Bandwidth, Bbr, HIGH_GAIN, Look, Mode, Sample, UNIT, Window, micros, narrow};
use crate::units::{Duration, Instant};

/// The inverse of [`HIGH_GAIN`] empties in a round trip the queue that it made (4.3.3).
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// Window in ProbeBW: twice the bandwidth-delay product, for delayed ACKs (4.2.3.2).
const CWND_GAIN: u64 = 2 * UNIT;
/// Pacing gains of ProbeBW, one for each least round-trip time (4.3.4.1).
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The pipe is full after so many round trips without growth by a quarter (4.3.2.2).
const FULL_ROUNDS: u32 = 3;
/// How long a least round-trip time counts (4.1.2.3), and how long ProbeRTT lasts (4.3.5).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

impl Bbr {
    /// Takes in an ACK: bandwidth and round-trip time, then what they say of the mode.
    pub(super) fn update_model(&mut self, sample: &Sample, window: &mut Window) {
        self.update_bandwidth(sample);
        self.update_aggregation(sample, window);
        if self.mode == Mode::ProbeBw && self.is_phase_over(sample) {
            self.advance_cycle(sample.totals.delivered_at);
        }
        self.look_for_full_pipe(sample);
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

    /// Sections 4.1.1.3 and 4.1.1.4: the most of ten round trips; what the application limited
    /// counts only if it is more.
    fn update_bandwidth(&mut self, sample: &Sample) {
        self.round_start = false;
        let Some((delivered, interval)) = valid(sample) else { return };
        if sample.rate.prior_delivered >= self.round_end {
            self.round_end = sample.totals.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.conserving = false;
        }
        let look = self.look(sample.totals, sample.lost > 0, sample.rate.app_limited);
        self.sample_long_term(&look);
        let bandwidth = u128::from(delivered) * u128::from(BW_UNIT) / u128::from(interval);
        let bandwidth = Bandwidth::try_from(bandwidth).unwrap_or(Bandwidth::MAX);
        if !sample.rate.app_limited || bandwidth >= self.bandwidth.get() {
            self.bandwidth.update(self.rounds, bandwidth);
        }
    }

    pub(super) fn sample_long_term(&mut self, look: &Look) {
        if self.long_term.expires(look, self.mode == Mode::ProbeBw) {
            self.enter_probe_bw(look.totals.delivered_at);
        } else if self.long_term.sample(look) {
            self.pacing_gain = UNIT;
        }
    }

    fn update_aggregation(&mut self, sample: &Sample, window: &Window) {
        if sample.acked == 0 || valid(sample).is_none() {
            return;
        }
        let (at, round_start) = (sample.totals.delivered_at, self.round_start);
        let bandwidth = self.model();
        self.aggregation.on_delivered(at, sample.acked, bandwidth, window.cwnd, round_start);
    }

    /// Section 4.3.4.3: a phase lasts a least round-trip time; probing up goes on until losses or
    /// a queue show that it had an effect, going down ends as soon as the queue is gone.
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

    /// What is left in flight when the next segment leaves.
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

    /// Section 4.3.4.2: in any phase but the one that drains.
    pub(super) fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - self.rng.random_range(0..CYCLE.len() - 1);
        self.advance_cycle(now);
    }

    /// Section 4.3.2.2.
    fn look_for_full_pipe(&mut self, sample: &Sample) {
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

    /// Section 4.3.3.
    fn drain(&mut self, sample: &Sample, window: &mut Window) {
        let product = self.inflight(self.bandwidth.get(), UNIT);
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            window.ssthresh = narrow(product);
        }
        if self.mode == Mode::Drain && self.in_network(sample, sample.in_flight) <= product {
            self.enter_probe_bw(sample.totals.delivered_at);
        }
    }

    /// Sections 4.1.2.3 and 4.3.5: the least of ten seconds; if nothing was as low for so long,
    /// the window goes down to four for 200 ms and a round trip, to see behind the queue.
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
            self.save_cwnd(window);
            self.mode = Mode::ProbeRtt;
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

    pub(super) fn try_to_end_probe_rtt(
        &mut self,
        now: Instant,
        delivered_at: Instant,
        window: &mut Window,
    ) {
        if self.probe_rtt_until.is_none_or(|until| now <= until) {
            return;
        }
        self.min_rtt_at = now;
        window.set(window.cwnd.max(self.prior_cwnd));
        if self.full {
            self.enter_probe_bw(delivered_at);
        } else {
            self.mode = Mode::Startup;
        }
    }
}

/// Segments delivered, and the microseconds that took, of a valid sample.
fn valid(sample: &Sample) -> Option<(u64, u64)> {
    let delivered = sample.rate.delivered?;
    let interval = micros(sample.rate.interval?);
    (interval > 0).then_some((delivered, interval))
}
