//! The cycle of ProbeBW (draft-ietf-ccwg-bbr-04 section 5.3.3): down until the queue is gone, cruise
//! until it is time to probe, refill the pipe for a round trip, then up until bandwidth no longer
//! grows, the bound is met or too much is lost.

use rand::RngExt;

use super::bounds::{AFTER_LOSS, UNBOUNDED, share};
use super::{Bandwidth, Bbr3, Mode, UNIT, loss};
use crate::transport::tcp::congestion::{Sample, Window};
use crate::units::{Duration, Instant};

/// A probe comes after so long, and up to so much later (5.3.3.6) ...
const WAIT: Duration = Duration::from_secs(2);
const WAIT_SPREAD: u64 = 1_000_000; // microseconds
/// ... or after so many round trips, fewer if the product is smaller: Reno's would come then; less
/// none or one.
const MOST_ROUNDS: u64 = 63;
const ROUNDS_SPREAD: u64 = 2;
/// Doublings of growth while probing.
const MOST_DOUBLINGS: u32 = 30;

/// Section 5.3.3.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    Down,
    Cruise,
    Refill,
    Up,
}

impl Phase {
    /// At which gain segments are paced, in 1/256.
    pub(super) fn gain(self) -> u64 {
        match self {
            Self::Down => UNIT * 91 / 100,
            Self::Cruise | Self::Refill => UNIT,
            Self::Up => UNIT * 5 / 4,
        }
    }
}

/// What the ACKs that arrive tell of.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Acks {
    #[default]
    OfNoProbe,
    Refilling,
    /// The probe began less than a round trip ago; they tell of it; it ended so long ago.
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Where in the cycle a connection is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    acks: Acks,
    /// When the phase began that has a clock: down or up.
    began: Instant,
    wait: Duration,
    rounds_since_probe: u64,
    /// Losses tell of a probe: once each.
    pub(super) samples_are_of_probe: bool,
    prior_was_too_high: bool,
    /// The last probe met the bound, and nothing else stopped it.
    met_bound: bool,
    /// Growth of `inflight_hi`: one segment for so many acknowledged; twice as fast each round trip.
    up_count: u64,
    up_acked: u64,
    up_rounds: u32,
}

impl Default for Cycle {
    fn default() -> Self {
        Self {
            acks: Acks::default(),
            began: Instant::ZERO,
            wait: Duration::ZERO,
            rounds_since_probe: 0,
            samples_are_of_probe: false,
            prior_was_too_high: false,
            met_bound: false,
            up_count: UNBOUNDED,
            up_acked: 0,
            up_rounds: 0,
        }
    }
}

impl Cycle {
    pub(super) fn count_round(&mut self) {
        self.rounds_since_probe = (self.rounds_since_probe + 1).min(255);
    }

    /// Something else ends a probe.
    pub(super) fn stop_probe(&mut self) {
        self.acks = Acks::ProbeStopping;
    }

    fn steepen(&mut self, window: &Window) {
        self.up_count = (u64::from(window.cwnd()) >> self.up_rounds).max(1);
        self.up_rounds = (self.up_rounds + 1).min(MOST_DOUBLINGS);
    }
}

impl Bbr3 {
    /// An ACK, once Startup is over: the upper bound, then the phase.
    pub(super) fn update_cycle(&mut self, sample: &Sample, bandwidth: Bandwidth, window: &Window) {
        if !self.plateau.reached || self.adapt_upper(sample, window) {
            return;
        }
        let Mode::ProbeBw(phase) = self.mode else { return };
        match phase {
            Phase::Cruise => {
                self.refill_if_due(window);
            }
            Phase::Refill if self.round_start => {
                self.cycle.samples_are_of_probe = true;
                self.begin_up(bandwidth, window);
            }
            Phase::Refill => {}
            Phase::Up => self.end_up_if_due(sample, bandwidth, window),
            Phase::Down => {
                let in_network = self.in_network(sample, sample.prior_in_flight);
                let product = self.inflight(self.bounds.max_bandwidth(), UNIT);
                let drained = in_network <= self.bounds.with_headroom().min(product);
                if !self.refill_if_due(window) && drained {
                    self.begin_cruise();
                }
            }
        }
    }

    /// Section 5.5.10.4: the upper bound follows what is seen to be borne. Says whether a probe
    /// follows at once: the last one met the bound and nothing was lost.
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
            if self.mode == Mode::ProbeBw(Phase::Up) {
                self.raise_upper(sample, window);
            }
        }
        false
    }

    /// While the bound is what limits: one segment more for so many acknowledged.
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

    /// Section 5.5.10.4: too much was lost of `in_flight`: the bound falls there, not below 0.7 of
    /// what is wanted, once a probe; and a probe ends.
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
        if self.mode == Mode::ProbeBw(Phase::Up) {
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

    /// Section 5.3.3.6: time to probe, by the clock or by Reno's pace.
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
        self.mode = Mode::ProbeBw(Phase::Down);
    }

    pub(super) fn begin_cruise(&mut self) {
        if self.bounds.inflight_lo != UNBOUNDED {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
        self.mode = Mode::ProbeBw(Phase::Cruise);
    }

    fn begin_refill(&mut self) {
        self.bounds.reset_lower();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.met_bound = false;
        self.cycle.acks = Acks::Refilling;
        self.round_end = self.present.delivered;
        self.mode = Mode::ProbeBw(Phase::Refill);
    }

    fn begin_up(&mut self, bandwidth: Bandwidth, window: &Window) {
        self.cycle.acks = Acks::ProbeStarting;
        self.round_end = self.present.delivered;
        self.cycle.began = self.present.now;
        self.plateau.restart(bandwidth);
        self.mode = Mode::ProbeBw(Phase::Up);
        self.cycle.steepen(window);
    }
}
