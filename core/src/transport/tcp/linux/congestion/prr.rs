//! Proportional rate reduction (RFC 6937) as in Linux (`tcp_cwnd_reduction`): during recovery the
//! window is the data in flight plus what this ACK allows.

/// State of one recovery, in segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Window when the loss was detected.
    prior_cwnd: u64,
    delivered: u64,
    sent: u64,
}

/// An ACK in recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// Segments that the ACK delivered.
    pub(super) delivered: u64,
    /// Segments in flight after the ACK.
    pub(super) in_flight: u64,
    /// True if the ACK advanced the cumulative acknowledgement and nothing was declared lost, so
    /// that the slow start of RFC 6937 section 3.1 is safe.
    pub(super) safe: bool,
}

impl Prr {
    /// Starts a recovery at a window of `cwnd`.
    pub(super) fn start(cwnd: u32) -> Self {
        Self { prior_cwnd: u64::from(cwnd.max(1)), delivered: 0, sent: 0 }
    }

    /// Counts a segment sent in recovery.
    #[inline]
    pub(super) fn on_sent(&mut self) {
        self.sent += 1;
    }

    /// The window after an ACK that delivered something. While more than ssthresh is in flight, the
    /// window is proportional to the segments delivered. Otherwise it grows by the segments
    /// delivered, plus one if that is safe. The first retransmission is always allowed.
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

    /// RFC 6937 section 4, first example: window 20 halved, one loss, 19 duplicate ACKs. One
    /// segment leaves on the first ACK (the retransmission), then on every other one. At the end
    /// the data in flight equal the threshold.
    #[test]
    fn a_single_loss_halves_the_window_in_proportion() {
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
        // ceil(10·delivered/20): 2 at the third ACK, then one more at 5, 7, ... At the 17th ACK the
        // data in flight equal the threshold; from then on one segment leaves per segment
        // delivered.
        assert_eq!(sent, [3, 3, 5, 7, 9, 11, 13, 15, 18, 19]);
        assert_eq!(in_flight, 10);
    }

    /// Many losses: the data in flight fall below the threshold. Each segment delivered lets one
    /// leave, and ACKs that advance without new losses let one more leave (the reduction bound).
    #[test]
    fn below_the_threshold_each_delivery_releases_a_segment() {
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
