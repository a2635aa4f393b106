//! Proportional rate reduction (RFC 6937) as Linux has it: while losses are repaired the window is
//! what is in flight plus what this ACK allows.

/// Accounts of one recovery, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Window when the loss was detected.
    prior_cwnd: u64,
    delivered: u64,
    sent: u64,
}

/// What an ACK in recovery said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// Segments it delivered.
    pub(super) delivered: u64,
    /// Segments in flight now.
    pub(super) in_flight: u64,
    /// It advanced the cumulative acknowledgement and nothing was declared lost: the slow start
    /// of RFC 6937 section 3.1 is safe.
    pub(super) safe: bool,
}

impl Prr {
    /// Recovery begins with a window of `cwnd`.
    pub(super) fn start(cwnd: u32) -> Self {
        Self { prior_cwnd: u64::from(cwnd.max(1)), delivered: 0, sent: 0 }
    }

    /// A segment was sent in recovery.
    #[inline]
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// The window after an ACK that delivered something. Above the threshold: in proportion to
    /// what is delivered; below it: as much as is delivered, and one more where that is safe.
    /// The first retransmission always leaves.
    pub(super) fn window(&mut self, ssthresh: u32, ack: Delivery) -> u32 {
        let ssthresh = u64::from(ssthresh);
        self.delivered += ack.delivered;
        let allowed = if ack.in_flight > ssthresh {
            (ssthresh * self.delivered).div_ceil(self.prior_cwnd).saturating_sub(self.sent)
        } else {
            let conserving = self.delivered.saturating_sub(self.sent).max(ack.delivered);
            (conserving + u64::from(ack.safe)).min(ssthresh - ack.in_flight)
        };
        let allowed = allowed.max(u64::from(self.sent == 0));
        u32::try_from(ack.in_flight + allowed).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6937 section 4, first example: window 20 halved, one loss, 19 duplicate ACKs: a
    /// segment leaves on the first one (the retransmission) and then on every other one, and at
    /// the end in flight meets the threshold.
    #[test]
    fn one_loss_of_twenty() {
        let mut prr = Prr::start(20);
        let mut in_flight = 20u64;
        let mut sent = Vec::new();
        for ack in 1..=19 {
            in_flight -= 1;
            if ack < 3 {
                continue; // not yet in recovery; limited transmit is not part of the example
            }
            if ack == 3 {
                in_flight -= 1; // declared lost
            }
            let delivered = if ack == 3 { 3 } else { 1 };
            let window = prr.window(10, Delivery { delivered, in_flight, safe: false });
            while in_flight < u64::from(window) {
                in_flight += 1;
                prr.on_sent();
                sent.push(ack);
            }
        }
        // ceil(10·delivered/20): 2 at the third ACK, then one more at 5, 7, ... At the 17th in
        // flight has met the threshold, and from there on as much leaves as arrives.
        assert_eq!(sent, [3, 3, 5, 7, 9, 11, 13, 15, 18, 19]);
        assert_eq!(in_flight, 10);
    }

    /// Many losses: in flight falls below the threshold, and segments leave as others arrive,
    /// one more for ACKs that advance without new losses (the reduction bound).
    #[test]
    fn below_the_threshold_as_much_leaves_as_arrives() {
        let mut prr = Prr::start(20);
        let mut window = |delivered, in_flight, safe| {
            let window = prr.window(10, Delivery { delivered, in_flight, safe });
            (0..u64::from(window) - in_flight).for_each(|_| prr.on_sent());
            u64::from(window) - in_flight
        };
        assert_eq!(window(1, 4, false), 1);
        assert_eq!(window(1, 4, false), 1);
        assert_eq!(window(2, 3, true), 3);
        assert_eq!(window(9, 8, true), 2); // no further than the threshold
    }
}
