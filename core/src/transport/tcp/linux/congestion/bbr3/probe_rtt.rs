//! ProbeRTT (draft-ietf-ccwg-bbr-04 section 5.3.4): after five seconds without a sample as low, half
//! a bandwidth-delay product stays in flight for 200 ms and one round trip, so that the queue empties
//! and the true minimum shows.

use super::{Bbr3, MIN_CWND, Mode, UNIT};
use crate::transport::tcp::congestion::{Sample, Window};
use crate::units::Duration;

/// ProbeRTT lasts this long, and keeps this fraction of the product in flight.
const PROBE_TIME: Duration = Duration::from_millis(200);
const PROBE_GAIN: u64 = UNIT / 2;

impl Bbr3 {
    /// Handles an ACK: enters or leaves ProbeRTT when due.
    pub(super) fn update_min_rtt(&mut self, sample: &Sample, window: &mut Window) {
        let due = self.min_rtt.sample(sample.now, sample.rtt, sample.delayed);
        if due && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.min_rtt.until = None;
            self.cycle.stop_probe();
            self.round_end = self.present.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(sample, window);
        }
        if sample.rate.delivered.is_some_and(|delivered| delivered > 0) {
            self.idle_restart = false;
        }
    }

    /// Target window in ProbeRTT.
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.product(self.bounds.bandwidth(), PROBE_GAIN).max(MIN_CWND.into())
    }

    fn probe_rtt(&mut self, sample: &Sample, window: &mut Window) {
        if self.min_rtt.until.is_none() {
            if sample.in_flight <= self.probe_rtt_cwnd() {
                self.min_rtt.until = Some(sample.now + PROBE_TIME);
                self.min_rtt.round_over = false;
                self.round_end = self.present.delivered;
            }
            return;
        }
        self.min_rtt.round_over |= self.round_start;
        if self.min_rtt.round_over {
            self.try_to_end_probe_rtt(window);
        }
    }

    /// Leaves ProbeRTT for Startup, or for a cycle whose next probe is far away.
    pub(super) fn try_to_end_probe_rtt(&mut self, window: &mut Window) {
        if self.min_rtt.until.is_none_or(|until| self.present.now <= until) {
            return;
        }
        self.min_rtt.recent_at = self.present.now;
        window.set_cwnd(window.cwnd().max(self.prior_cwnd));
        self.bounds.reset_lower();
        if self.plateau.reached {
            self.begin_down();
            self.begin_cruise();
        } else {
            self.mode = Mode::Startup;
        }
    }
}
