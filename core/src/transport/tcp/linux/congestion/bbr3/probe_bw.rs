//! ProbeBW (draft-ietf-ccwg-bbr-04 section 5.3.3): Down until the queue is gone,
//! Cruise until the next probe is due, Refill for one round trip, then Up until bandwidth stops
//! growing, the bound is reached or losses are too high.

use rand::RngExt;

use super::bounds::{AFTER_LOSS, UNBOUNDED, share};
use super::cycle::{Acks, ProbePhase};
use super::{Bandwidth, Bbr3, Mode, UNIT, loss};
use crate::transport::tcp::congestion::{Sample, Window};
use crate::units::Duration;

/// Time between probes: at least this, plus a random time up to the spread (5.3.3.6) ...
const WAIT: Duration = Duration::from_secs(2);
const WAIT_SPREAD: u64 = 1_000_000; // microseconds
/// ... or this many round trips, less if the bandwidth-delay product is smaller, because Reno would
/// probe then; minus a random zero or one.
const MOST_ROUNDS: u64 = 63;
const ROUNDS_SPREAD: u64 = 2;
impl Bbr3 {
    /// Handles an ACK after Startup: updates the upper bound, then the phase.
    pub(super) fn update_cycle(&mut self, sample: &Sample, bandwidth: Bandwidth, window: &Window) {
        if !self.plateau.reached || self.adapt_upper(sample, window) {
            return;
        }
        let Mode::ProbeBw(phase) = self.mode else { return };
        match phase {
            ProbePhase::Cruise => {
                self.refill_if_due(window);
            }
            ProbePhase::Refill if self.round_start => {
                self.cycle.samples_are_of_probe = true;
                self.begin_up(bandwidth, window);
            }
            ProbePhase::Refill => {}
            ProbePhase::Up => self.end_up_if_due(sample, bandwidth, window),
            ProbePhase::Down => {
                let in_network = self.in_network(sample, sample.prior_in_flight);
                let product = self.inflight(self.bounds.max_bandwidth(), UNIT);
                let drained = in_network <= self.bounds.with_headroom().min(product);
                if !self.refill_if_due(window) && drained {
                    self.begin_cruise();
                }
            }
        }
    }

    /// Section 5.5.10.4: adapts the upper bound to what the path carries
    /// (`bbr_adapt_upper_bounds`). Returns true if the next probe follows at once, because the last
    /// one reached the bound without losses.
    fn adapt_upper(&mut self, sample: &Sample, window: &Window) -> bool {
        if self.cycle.acks == Acks::ProbeStarting && self.round_start {
            self.cycle.acks = Acks::ProbeFeedback;
        }
        let in_probe_bw = matches!(self.mode, Mode::ProbeBw(_));
        if self.cycle.acks == Acks::ProbeStopping && self.round_start {
            self.cycle.samples_are_of_probe = false;
            self.cycle.acks = Acks::OfNoProbe;
            if in_probe_bw && !sample.rate.app_limited {
                self.bounds.forget_a_cycle();
            }
            if in_probe_bw && self.cycle.met_bound && !self.cycle.prior_was_too_high {
                self.begin_refill();
                return true;
            }
        }
        let (lost, in_flight) = (sample.rate.lost, sample.rate.in_flight);
        if loss::is_too_high(lost, in_flight) {
            if self.cycle.samples_are_of_probe {
                self.on_too_much_in_flight(in_flight, sample.rate.app_limited, window);
            }
        } else if self.bounds.inflight_hi != UNBOUNDED {
            self.bounds.inflight_hi = self.bounds.inflight_hi.max(in_flight);
            if self.mode == Mode::ProbeBw(ProbePhase::Up) {
                self.raise_upper(sample, window);
            }
        }
        false
    }

    /// If the bound limits sending, raises it by one segment per `up_count` acknowledged
    /// (`bbr_probe_inflight_hi_upward`).
    fn raise_upper(&mut self, sample: &Sample, window: &Window) {
        if !sample.cwnd_limited || u64::from(window.cwnd()) < self.bounds.inflight_hi {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.up_acked += sample.acked;
        let more = cycle.up_acked / cycle.up_count;
        cycle.up_acked -= more * cycle.up_count;
        self.bounds.inflight_hi = self.bounds.inflight_hi.saturating_add(more);
        if self.round_start {
            cycle.steepen(window);
        }
    }

    /// Section 5.5.10.4 (`bbr_handle_inflight_too_high`): too many losses at `in_flight` lower the
    /// bound to that value, but not below 0.7 of the target, once per probe, and end the probe.
    pub(super) fn on_too_much_in_flight(
        &mut self,
        in_flight: u64,
        app_limited: bool,
        window: &Window,
    ) {
        self.cycle.prior_was_too_high = true;
        self.cycle.samples_are_of_probe = false;
        if !app_limited {
            let least = share(self.target_inflight(window), AFTER_LOSS);
            self.bounds.inflight_hi = in_flight.max(least);
        }
        if self.mode == Mode::ProbeBw(ProbePhase::Up) {
            self.begin_down();
        }
    }

    fn end_up_if_due(&mut self, sample: &Sample, bandwidth: Bandwidth, window: &Window) {
        let in_network = self.in_network(sample, sample.prior_in_flight);
        if self.cycle.prior_was_too_high && in_network >= self.bounds.inflight_hi {
            self.cycle.met_bound = true;
        } else if sample.cwnd_limited && u64::from(window.cwnd()) >= self.bounds.inflight_hi {
            return self.plateau.restart(bandwidth); // the bound hinders bandwidth
        } else if !self.plateau.now {
            return;
        }
        self.cycle.prior_was_too_high = false;
        self.begin_down();
    }

    /// Section 5.3.3.6: starts a probe if the time or Reno's number of round trips has passed.
    fn refill_if_due(&mut self, window: &Window) -> bool {
        let waited = self.present.now > self.cycle.began + self.cycle.wait;
        let rounds = MOST_ROUNDS.min(self.target_inflight(window));
        let due = waited || self.cycle.rounds_since_probe >= rounds;
        if due {
            self.begin_refill();
        }
        due
    }

    pub(super) fn begin_down(&mut self) {
        self.bounds.reset_signals();
        self.cycle.up_count = UNBOUNDED;
        self.cycle.rounds_since_probe = self.rng.random_range(0..ROUNDS_SPREAD);
        self.cycle.wait = WAIT + Duration::from_micros(self.rng.random_range(0..WAIT_SPREAD));
        self.cycle.began = self.present.now;
        self.cycle.stop_probe();
        self.round_end = self.present.delivered;
        self.mode = Mode::ProbeBw(ProbePhase::Down);
    }

    pub(super) fn begin_cruise(&mut self) {
        if self.bounds.inflight_lo != UNBOUNDED {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
        self.mode = Mode::ProbeBw(ProbePhase::Cruise);
    }

    fn begin_refill(&mut self) {
        self.bounds.reset_lower();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.met_bound = false;
        self.cycle.acks = Acks::Refilling;
        self.round_end = self.present.delivered;
        self.mode = Mode::ProbeBw(ProbePhase::Refill);
    }

    fn begin_up(&mut self, bandwidth: Bandwidth, window: &Window) {
        self.cycle.acks = Acks::ProbeStarting;
        self.round_end = self.present.delivered;
        self.cycle.began = self.present.now;
        self.plateau.restart(bandwidth);
        self.mode = Mode::ProbeBw(ProbePhase::Up);
        self.cycle.steepen(window);
    }
}
