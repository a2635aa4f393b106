//! What a sender does for a congestion control that has a model of the path instead of reacting to
//! losses: delivery rates in, window and pace out.

use super::bbr::{Sample, Totals};
use super::sacks::Said;
use super::sender::{Connection, LinuxSender};
use crate::units::Instant;

impl LinuxSender {
    /// Data may leave from now on.
    pub(super) fn begin(&mut self, now: Instant) {
        self.connection = Connection::Established;
        self.note_shortage();
        self.control.on_established(now, self.rtt.smoothed(), self.delivered, &self.window);
        self.update_pace();
    }

    /// The application had nothing left to send although more could have been in flight.
    pub(super) fn note_shortage(&mut self) {
        let in_flight = self.flight.outstanding();
        let spare = in_flight < u64::from(self.window.cwnd) && self.flight.lost_count() == 0;
        if let Some(delivery) = self.delivery.as_mut().filter(|_| spare) {
            delivery.on_app_limited(self.delivered, in_flight);
        }
    }

    pub(super) fn update_pace(&mut self) {
        if let Some(pace) = self.control.pace() {
            self.spacing.set_pace(pace);
        }
    }

    /// Counts of the connection for a congestion control that has a model.
    pub(super) fn totals(&self) -> Totals {
        let delivered_at = self.delivery.as_ref().map_or(Instant::ZERO, |it| it.delivered_at());
        Totals { delivered: self.delivered, lost: self.declared_lost, delivered_at }
    }

    /// What an ACK says becomes part of the model, which sets window and pace.
    pub(super) fn update_model(&mut self, now: Instant, said: &Said, acked: u64, lost: u64) {
        let Some(delivery) = &mut self.delivery else { return };
        let sample = Sample {
            now,
            rate: delivery.finish(now, self.delivered, acked, self.rtt.least()),
            rtt: said.control_rtt,
            delayed: said.maybe_delayed,
            acked,
            lost,
            prior_in_flight: said.prior_in_flight,
            in_flight: self.flight.outstanding(),
            totals: self.totals(),
            phase: self.phase,
            departure: self.spacing.departure(now),
            smoothed: self.rtt.smoothed(),
        };
        self.control.on_sample(&sample, &mut self.window);
        self.update_pace();
        if self.control.is_limiting_itself()
            && let Some(delivery) = &mut self.delivery
        {
            delivery.on_app_limited(self.delivered, sample.in_flight);
        }
    }

    #[inline]
    pub(super) fn note_sent(&mut self, now: Instant, number: u64) {
        if let Some(delivery) = &mut self.delivery {
            let (first, idle) = (self.flight.first(), self.flight.is_empty());
            delivery.on_sent(now, first, number, idle, self.delivered);
        }
    }

    /// Whether an unused window decays.
    pub(super) fn decays(&self) -> bool {
        self.options.slow_start_after_idle && self.delivery.is_none()
    }
}
