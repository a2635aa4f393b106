//! BBR version 3 as in its authors' Linux tree (github.com/google/bbr, branch `v3`, `tcp_bbr.c`).
//! Section numbers refer to draft-ietf-ccwg-bbr-04. Where the draft and the tree differ, this
//! module follows the tree.
//!
//! Besides version 1's model (bandwidth and minimum round-trip time) it keeps bounds (`bounds`):
//! the data in flight that the path carried without losing more than 2 % (`inflight_hi`), and, from
//! a loss to the next bandwidth probe, the recent deliveries (`bw_lo`, `inflight_lo`). It probes
//! for bandwidth every two or three seconds, or as often as Reno would (`cycle`).
//!
//! Not modelled: ECN, rehashing of flow labels (PLB), which needs ECN, and host-dependent parts
//! (`fast_ack_mode`; the shortcut for ACKs of an application-limited connection).

mod bounds;
mod cycle;
mod loss;
mod min_rtt;
mod plateau;
mod probe_bw;
mod probe_rtt;

use rand_chacha::ChaCha8Rng;

use self::bounds::{Bounds, UNBOUNDED};
use self::cycle::{Cycle, ProbePhase};
use self::min_rtt::MinRtt;
use self::plateau::Plateau;
use super::bbr::aggregation::{Aggregation, ROUNDS};
use super::bbr::bandwidth::{BW_UNIT, Bandwidth, UNIT, bytes_per_second, micros};
use super::bbr::{MIN_CWND, narrow, valid};
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::{
    Ack, CongestionControl, Loss, LostSegment, Pace, Reduction, Sample, Totals, Window,
};
use crate::units::{Duration, Instant};

/// 4 ln 2, the smallest gain that doubles the rate each round trip (5.3.1), rounded up.
const STARTUP_GAIN: u64 = UNIT * 277 / 100 + 1;
/// Drains in one round trip the queue that Startup built (5.3.2).
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// Window gain: twice the bandwidth-delay product, to allow for delayed ACKs (5.6.1); a quarter of
/// the product more in the Up phase.
const CWND_GAIN: u64 = 2 * UNIT;
const CWND_GAIN_UP: u64 = CWND_GAIN + UNIT / 4;
/// Startup ends on losses above the threshold of `loss` that this many ACKs of a round trip report
/// (5.3.1.3).
const FULL_LOSSES: u32 = 6;
/// Burst allowance beyond one millisecond at the pacing rate: this many bytes, halved for every 512
/// µs of the minimum round-trip time.
const BURST: u64 = 65_536;
const BURST_SHIFT: u64 = 9;
/// Burst size: minimum in segments, and maximum in bytes (`GSO_LEGACY_MAX_SIZE` less headers).
const LEAST_QUANTUM: u64 = 2;
const MOST_BYTES: u64 = BURST - 1 - 320;

/// The states of section 5.1.1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw(ProbePhase),
    ProbeRtt,
}

/// Time and delivered count at the last event.
#[derive(Clone, Copy, Debug, Default)]
struct Present {
    now: Instant,
    delivered: u64,
}

/// BBRv3: the path model and the state machine.
#[derive(Debug)]
pub(crate) struct Bbr3 {
    mss: u32,
    rng: ChaCha8Rng,
    initial_cwnd: u32,
    mode: Mode,
    present: Present,
    bounds: Bounds,
    plateau: Plateau,
    cycle: Cycle,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    /// Delivered count that ends this round trip, and whether the current ACK begins one (5.5.1).
    round_end: u64,
    round_start: bool,
    /// The same for the round trips of loss detection.
    loss_round_end: u64,
    loss_round_start: bool,
    /// ACKs with losses in the current round trip of Startup.
    losses_in_round: u32,
    /// Window to restore after ProbeRTT and recoveries, and the congestion state at the last ACK.
    prior_cwnd: u32,
    prior_state: CongestionState,
    /// True after a spurious reduction: the next ACK restores the window.
    undone: bool,
    idle_restart: bool,
    pacing_gain: u64,
    /// Pacing rate in bytes/s.
    rate: u64,
    seen_rtt: bool,
}

impl Bbr3 {
    /// A control for segments of `mss` bytes.
    pub(crate) fn new(mss: u32, rng: ChaCha8Rng) -> Self {
        Self {
            mss,
            rng,
            initial_cwnd: 10,
            mode: Mode::Startup,
            present: Present::default(),
            bounds: Bounds::default(),
            plateau: Plateau::default(),
            cycle: Cycle::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            round_end: 0,
            round_start: false,
            loss_round_end: 0,
            loss_round_start: false,
            losses_in_round: 0,
            prior_cwnd: 0,
            prior_state: CongestionState::Open,
            undone: false,
            idle_restart: false,
            pacing_gain: STARTUP_GAIN,
            rate: 0,
            seen_rtt: false,
        }
    }

    /// Section 5.6.2: sets the pacing rate from the model. Until the pipe is full the rate only
    /// rises.
    fn set_rate(&mut self, window: &Window, smoothed: Option<Duration>, gain: u64) {
        if !self.seen_rtt && smoothed.is_some() {
            self.guess_rate(window, smoothed);
        }
        let rate = bytes_per_second(self.bounds.bandwidth(), self.mss, gain);
        if self.plateau.reached || rate > self.rate {
            self.rate = rate;
        }
    }

    /// Initial rate: the window divided by the round-trip time, or by 1 ms without a sample.
    fn guess_rate(&mut self, window: &Window, smoothed: Option<Duration>) {
        self.seen_rtt = smoothed.is_some();
        let rtt = smoothed.map_or(1000, |rtt| micros(rtt).max(1));
        let bandwidth = u64::from(window.cwnd()) * BW_UNIT / rtt;
        self.rate = bytes_per_second(bandwidth, self.mss, STARTUP_GAIN);
    }

    /// Section 5.6.3: burst size in segments, one millisecond at the pacing rate, and more if the
    /// round-trip time is short (`bbr_tso_segs_generic`).
    fn quantum(&self) -> u64 {
        let halvings = self.min_rtt.get().map_or(u64::MAX, |rtt| micros(rtt) >> BURST_SHIFT);
        let burst = if halvings < 32 { BURST >> halvings } else { 0 };
        let bytes = ((self.rate >> 10) + burst).min(MOST_BYTES);
        (bytes / u64::from(self.mss)).clamp(LEAST_QUANTUM, 127)
    }

    /// Updates the round trips on an ACK (5.5.1) and the latest deliveries.
    fn begin_rounds(&mut self, sample: &Sample, bandwidth: Bandwidth) {
        (self.round_start, self.loss_round_start) = (false, false);
        let Some((delivered, _)) = valid(sample) else { return };
        if sample.rate.prior_delivered >= self.round_end {
            self.round_end = sample.totals.delivered;
            self.round_start = true;
            self.cycle.count_round();
        }
        if sample.acked == 0 {
            return;
        }
        self.bounds.note_delivery(bandwidth, delivered);
        if sample.rate.prior_delivered >= self.loss_round_end {
            self.loss_round_end = sample.totals.delivered;
            self.loss_round_start = true;
        }
    }

    /// Updates the model on an ACK, then the state machine (5.2.3).
    fn update_model(&mut self, sample: &Sample, bandwidth: Bandwidth, window: &mut Window) {
        self.update_bounds(sample, bandwidth, window);
        self.update_aggregation(sample, window);
        self.check_losses_in_startup(sample);
        self.plateau.update(bandwidth, sample, self.round_start);
        self.drain(sample, window);
        self.update_cycle(sample, bandwidth, window);
        self.update_min_rtt(sample, window);
    }

    /// Section 5.5.10: an application-limited sample counts only if it exceeds the maximum.
    fn update_bounds(&mut self, sample: &Sample, bandwidth: Bandwidth, window: &Window) {
        if valid(sample).is_none() || sample.acked == 0 {
            return;
        }
        if !sample.rate.app_limited || bandwidth >= self.bounds.max_bandwidth() {
            self.bounds.take_bandwidth(bandwidth);
        }
        self.bounds.loss_in_round |= sample.lost > 0;
        if self.loss_round_start {
            if !self.is_probing() {
                self.bounds.adapt_lower(window.cwnd());
            }
            self.bounds.loss_in_round = false;
        }
    }

    /// True in the phases in which a loss is attributed to the probe; otherwise a loss lowers the
    /// short-term bounds.
    fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::Startup | Mode::ProbeBw(ProbePhase::Refill | ProbePhase::Up))
    }

    fn update_aggregation(&mut self, sample: &Sample, window: &Window) {
        if sample.acked == 0 || valid(sample).is_none() {
            return;
        }
        if self.round_start {
            self.aggregation.begin_round(if self.plateau.reached { ROUNDS } else { 1 });
        }
        let (at, bandwidth) = (sample.totals.delivered_at, self.bounds.bandwidth());
        self.aggregation.on_delivered(at, sample.acked, bandwidth, window.cwnd());
    }

    /// Section 5.3.1.3: a round trip of a recovery with too many losses ends Startup.
    fn check_losses_in_startup(&mut self, sample: &Sample) {
        if self.plateau.reached {
            return;
        }
        self.losses_in_round += u32::from(sample.lost > 0);
        if !self.loss_round_start {
            return;
        }
        if sample.state == CongestionState::Recovery
            && self.losses_in_round >= FULL_LOSSES
            && loss::is_too_high(sample.rate.lost, sample.rate.in_flight)
        {
            self.plateau.reached = true;
            let product = self.inflight(self.bounds.max_bandwidth(), UNIT);
            self.bounds.inflight_hi = product.max(self.bounds.inflight_latest);
            return;
        }
        self.losses_in_round = 0;
    }

    /// Section 5.3.2.
    fn drain(&mut self, sample: &Sample, window: &mut Window) {
        if self.mode == Mode::Startup && self.plateau.reached {
            self.mode = Mode::Drain;
            window.set_ssthresh(narrow(self.inflight(self.bounds.max_bandwidth(), UNIT)));
            self.bounds.reset_signals();
        }
        if self.mode == Mode::Drain
            && self.in_network(sample, sample.in_flight)
                <= self.inflight(self.bounds.max_bandwidth(), UNIT)
        {
            self.begin_down();
        }
    }

    /// Segments left in the network when the next segment departs (`bbr_packets_in_net_at_edt`).
    fn in_network(&self, sample: &Sample, in_flight: u64) -> u64 {
        let wait = micros(sample.departure.saturating_since(sample.now));
        let delivered =
            u128::from(self.bounds.bandwidth()) * u128::from(wait) / u128::from(BW_UNIT);
        let rising = if self.pacing_gain > UNIT { self.quantum() } else { 0 };
        (in_flight + rising).saturating_sub(u64::try_from(delivered).unwrap_or(u64::MAX))
    }

    /// Section 5.6.4.2: `gain` times the bandwidth-delay product, in segments.
    fn product(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        let Some(rtt) = self.min_rtt.get() else { return u64::from(self.initial_cwnd) };
        let product = (u128::from(bandwidth) * u128::from(micros(rtt)) * u128::from(gain)) >> 8;
        u64::try_from(product.div_ceil(u128::from(BW_UNIT))).unwrap_or(u64::MAX)
    }

    /// At least three bursts (at the sender, in the network, at the receiver) and the minimum
    /// window; two segments more while probing, because a small window would prevent the probe
    /// (`bbr_quantization_budget`).
    fn with_budget(&self, segments: u64) -> u64 {
        let up = self.mode == Mode::ProbeBw(ProbePhase::Up);
        let least = (3 * self.quantum()).max(u64::from(MIN_CWND));
        segments.max(least).saturating_add(if up { 2 } else { 0 })
    }

    fn inflight(&self, bandwidth: Bandwidth, gain: u64) -> u64 {
        self.with_budget(self.product(bandwidth, gain))
    }

    /// Target for the data in flight: the product, or the window if losses reduced it
    /// (`bbr_target_inflight`).
    fn target_inflight(&self, window: &Window) -> u64 {
        self.inflight(self.bounds.bandwidth(), UNIT).min(u64::from(window.cwnd()))
    }

    fn gains(&self) -> (u64, u64) {
        match self.mode {
            Mode::Startup => (STARTUP_GAIN, CWND_GAIN),
            Mode::Drain => (DRAIN_GAIN, CWND_GAIN),
            Mode::ProbeBw(ProbePhase::Up) => (ProbePhase::Up.gain(), CWND_GAIN_UP),
            Mode::ProbeBw(phase) => (phase.gain(), CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        }
    }

    /// Section 5.6.4.6.
    fn set_cwnd(&self, sample: &Sample, gain: u64, window: &mut Window) {
        if sample.acked > 0 {
            let bandwidth = self.bounds.bandwidth();
            let room = self.aggregation.room(bandwidth);
            let wanted = self.product(bandwidth, gain).saturating_add(room);
            let target = narrow(self.with_budget(wanted));
            let cwnd = window.cwnd();
            let grown = cwnd.saturating_add(narrow(sample.acked));
            let cwnd = if self.plateau.reached {
                grown.min(target)
            } else if cwnd < target || cwnd < 2 * self.initial_cwnd {
                grown
            } else {
                cwnd
            };
            window.set_cwnd(cwnd.max(MIN_CWND));
        }
        if self.mode == Mode::ProbeRtt {
            window.set_cwnd(window.cwnd().min(narrow(self.probe_rtt_cwnd())));
        }
        self.bound_cwnd(window);
    }

    /// Section 5.6.4.7: applies the bounds of the current phase to the window.
    fn bound_cwnd(&self, window: &mut Window) {
        let upper = match self.mode {
            Mode::ProbeRtt | Mode::ProbeBw(ProbePhase::Cruise) => self.bounds.with_headroom(),
            Mode::ProbeBw(_) => self.bounds.inflight_hi,
            Mode::Startup | Mode::Drain => UNBOUNDED,
        };
        let bound = upper.min(self.bounds.inflight_lo).max(u64::from(MIN_CWND));
        window.set_cwnd(window.cwnd().min(narrow(bound)));
    }

    /// Saves the window at the start of a recovery or of ProbeRTT.
    fn save_cwnd(&mut self, window: &Window) {
        let reduced = self.prior_state >= CongestionState::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if reduced { self.prior_cwnd.max(window.cwnd()) } else { window.cwnd() };
    }

    /// Restores the window after the repairs of a timeout, or after a spurious reduction.
    fn give_back(&mut self, state: CongestionState, window: &mut Window) {
        let repaired = self.prior_state == CongestionState::Loss && state != CongestionState::Loss;
        if std::mem::take(&mut self.undone) || repaired {
            window.set_cwnd(window.cwnd().max(self.prior_cwnd));
        }
    }
}

impl CongestionControl for Bbr3 {
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
        self.present = Present { now, delivered };
        self.initial_cwnd = window.cwnd().min(127);
        self.min_rtt.begin(now, smoothed);
        self.round_end = delivered;
        self.loss_round_end = delivered + 1;
        self.aggregation.restart(now);
        self.guess_rate(window, smoothed);
    }

    fn on_sample(&mut self, sample: &Sample, window: &mut Window) {
        self.present = Present { now: sample.now, delivered: sample.totals.delivered };
        self.give_back(sample.state, window);
        let bandwidth = valid(sample).map_or(0, |(delivered, interval)| {
            let scaled = u128::from(delivered) * u128::from(BW_UNIT);
            u64::try_from(scaled.div_ceil(u128::from(interval))).unwrap_or(UNBOUNDED)
        });
        self.begin_rounds(sample, bandwidth);
        self.update_model(sample, bandwidth, window);
        let (pacing, cwnd) = self.gains();
        self.pacing_gain = pacing;
        self.set_rate(window, sample.srtt, pacing);
        self.set_cwnd(sample, cwnd, window);
        if self.loss_round_start && !sample.of_probe {
            self.bounds.begin_round(bandwidth, sample.rate.delivered.unwrap_or(0));
        }
        self.prior_state = sample.state;
    }

    fn grow(&mut self, _: &Ack, _: &mut Window) {}

    /// Leaves the threshold unchanged: BBR does not use it.
    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        self.save_cwnd(window);
        self.bounds.save();
        Reduction { ssthresh: window.ssthresh(), cwnd: window.cwnd() }
    }

    /// Section 5.5.10.2: a loss starts a round trip in which deliveries are observed. While
    /// probing, too many losses end the probe.
    fn on_segment_lost(&mut self, lost: &LostSegment, window: &Window) {
        self.present = Present { now: lost.now, delivered: lost.totals.delivered };
        if !std::mem::replace(&mut self.bounds.loss_in_round, true) {
            self.loss_round_end = lost.totals.delivered;
        }
        if !self.cycle.samples_are_of_probe {
            return;
        }
        let in_flight = lost.in_flight.unwrap_or(self.bounds.inflight_latest + lost.lost);
        if loss::is_too_high(lost.lost, in_flight) {
            let bearable = match lost.in_flight {
                Some(in_flight) => loss::bearable_inflight(lost.lost, in_flight),
                None => in_flight,
            };
            self.on_too_much_in_flight(bearable, lost.app_limited, window);
        }
    }

    fn on_undo(&mut self, _: Totals) {
        self.plateau.restart(0);
        self.bounds.undo();
        self.undone = true;
    }

    /// The path may have changed: bandwidth may grow again. The window has been reduced by now;
    /// [`CongestionControl::reduce`] saved its former value.
    fn on_timeout(&mut self, _: Instant, _: u64, _: Totals) {
        self.prior_state = CongestionState::Loss;
        self.plateau.restart(0);
        if !self.is_probing() && self.bounds.inflight_lo == UNBOUNDED {
            self.bounds.inflight_lo = u64::from(self.prior_cwnd);
        }
    }

    /// Section 5.4.1: after an idle period, segments leave at the estimated bandwidth and no
    /// faster.
    fn on_idle(&mut self, now: Instant, _: Duration, app_limited: bool, window: &mut Window) {
        if !app_limited {
            return;
        }
        self.present.now = now;
        self.idle_restart = true;
        self.aggregation.restart(now);
        match self.mode {
            Mode::ProbeBw(_) => self.set_rate(window, None, UNIT),
            Mode::ProbeRtt => self.try_to_end_probe_rtt(window),
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

#[cfg(test)]
mod tests;
