//! How sending goes on while the window falls.

/// Rate halving as ns-2's `Agent/TCP/Linux` has it: from the entry into recovery, an allowance
/// above the new window falls by one segment for every one sent, so that one segment leaves for
/// about two ACKs, until it meets the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateHalving {
    /// 0 outside of recovery, where it stays.
    allowance: u64,
}

impl RateHalving {
    /// Recovery begins; `cwnd` is the window before the reduction, in segments.
    pub(super) fn start(&mut self, cwnd: u32) {
        self.allowance = u64::from(cwnd);
    }

    /// Recovery is over, or a timeout made it void.
    pub(super) fn stop(&mut self) {
        self.allowance = 0;
    }

    /// Whether it holds segments back, or lets more leave than the window does.
    pub(super) fn is_on(&self) -> bool {
        self.allowance > 0
    }

    /// Something happened (an ACK, a timeout, data to send): at most one segment beyond those
    /// outstanding may leave because of it.
    #[inline]
    pub(super) fn on_event(&mut self, outstanding: u64) {
        if self.allowance > 0 {
            self.allowance = self.allowance.min(outstanding + 1);
        }
    }

    /// A segment was sent; `outstanding` counts it.
    #[inline]
    pub(super) fn on_sent(&mut self, outstanding: u64) {
        if self.allowance > 0 {
            self.allowance = self.allowance.min(outstanding.saturating_sub(1).max(1));
        }
    }

    /// How many segments may be outstanding with a window of `cwnd` segments.
    #[inline]
    pub(super) fn limit(&self, cwnd: u32) -> u64 {
        self.allowance.max(u64::from(cwnd))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Window 20 cut to 5 with 20 outstanding: while SACKs take one segment each out of the
    /// pipe, a segment leaves on every second one.
    #[test]
    fn one_segment_for_two_acks() {
        let mut pacing = RateHalving::default();
        pacing.start(20);
        let mut outstanding = 20u64;
        let mut sent = Vec::new();
        for ack in 1..=20 {
            outstanding -= 1;
            pacing.on_event(outstanding);
            while outstanding < pacing.limit(5) {
                outstanding += 1;
                pacing.on_sent(outstanding);
                sent.push(ack);
            }
        }
        assert_eq!(sent[..6], [1, 3, 5, 7, 9, 11]);
        assert!(outstanding >= 5);
    }
}
