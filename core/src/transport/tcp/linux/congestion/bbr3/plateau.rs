//! Full-pipe detection: the bandwidth has not grown by a quarter in three round trips
//! (draft-ietf-ccwg-bbr-04 section 5.3.1.2; in Startup and in the Up phase).

use super::{Bandwidth, Sample};

/// Number of round trips without growth, and the growth in quarters that counts.
const ROUNDS: u32 = 3;
const GROWTH: (u64, u64) = (5, 4);

/// The bandwidth to exceed, and the number of round trips that did not exceed it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plateau {
    bandwidth: Bandwidth,
    rounds: u32,
    /// True if the pipe is full according to the samples since the last restart.
    pub(super) now: bool,
    /// True if the pipe was full once: Startup is over.
    pub(super) reached: bool,
}

impl Plateau {
    /// Restarts the search for bandwidth growth at `bandwidth`.
    pub(super) fn restart(&mut self, bandwidth: Bandwidth) {
        *self = Self { bandwidth, reached: self.reached, ..Self::default() };
    }

    /// Processes an ACK that shows `bandwidth`; application-limited samples are ignored.
    pub(super) fn update(&mut self, bandwidth: Bandwidth, sample: &Sample, round_start: bool) {
        if self.now || sample.rate.app_limited {
            return;
        }
        if u128::from(bandwidth) * u128::from(GROWTH.1)
            >= u128::from(self.bandwidth) * u128::from(GROWTH.0)
        {
            return self.restart(bandwidth);
        }
        if round_start {
            self.rounds += 1;
            self.now = self.rounds >= ROUNDS;
            self.reached |= self.now;
        }
    }
}
