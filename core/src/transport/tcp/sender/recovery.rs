//! What ACKs and timeouts do to the window.

use super::{BURST, PapersSender};
use crate::transport::tcp::congestion::Acked;
use crate::transport::tcp::endpoint::CongestionState;
use crate::transport::tcp::scoreboard::Findings;

impl PapersSender {
    pub(super) fn update_window(&mut self, acked: &Acked, findings: Findings) {
        if acked.segments > 0 && self.state != CongestionState::Recovery {
            self.control.on_ack(acked, &mut self.window);
        }
        if acked.segments > 0 && acked.undisturbed {
            return;
        }
        if self.state != CongestionState::Open && self.flight.first() > self.recovery_point {
            self.leave_recovery();
        } else if self.state != CongestionState::Recovery && findings.newly_lost {
            self.enter_recovery();
        }
    }

    fn enter_recovery(&mut self) {
        self.recovery_point = self.flight.next() - 1;
        self.pacing.start(self.window.cwnd);
        let reduction = self.control.on_loss(&self.window);
        self.window.reduce(reduction.cwnd, reduction.ssthresh);
        self.state = CongestionState::Recovery;
        self.counters.recovery_entries_by_dupacks += 1;
        self.counters.cwnd_reductions += 1;
    }

    fn leave_recovery(&mut self) {
        self.scoreboard.clear(&mut self.flight);
        if self.window.cwnd < self.window.ssthresh {
            let burst = self.flight.outstanding() + BURST;
            let burst = u32::try_from(burst).unwrap_or(u32::MAX);
            // The threshold is at least two segments, whatever the limit.
            self.window.cwnd = self.window.ssthresh.min(burst).min(self.window.max);
        }
        self.state = CongestionState::Open;
        self.control.on_open(self.flight.next());
        self.pacing.stop();
    }

    pub(super) fn enter_loss(&mut self) {
        let ssthresh = self.control.on_timeout(&self.window);
        self.window.reduce(1, ssthresh);
        self.recovery_point = self.flight.next() - 1;
        self.state = CongestionState::Loss;
        self.scoreboard.on_timeout(&mut self.flight);
        self.pacing.stop();
        self.timed = None;
        self.counters.timeouts += 1;
        self.counters.cwnd_reductions += 1;
    }
}
