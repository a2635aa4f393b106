//! Whether the pipe is full: bandwidth has not grown by a quarter in three round trips
//! (draft-ietf-ccwg-bbr-04 section 5.3.1.2; in Startup and while bandwidth is probed for).

use super::Bandwidth;

/// Round trips without growth, and the growth, in quarters, that counts.
const ROUNDS: u32 = 3;
const GROWTH: (u64, u64) = (5, 4);

/// What bandwidth must outgrow, and how often it has not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Plateau {
    bandwidth: Bandwidth,
    rounds: u32,
    /// It is full by what was seen since the last restart.
    pub(super) now: bool,
    /// It was full once: Startup is over.
    pub(super) reached: bool,
}

/// What an ACK shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) bandwidth: Bandwidth,
    pub(super) round_start: bool,
    pub(super) app_limited: bool,
}

impl Plateau {
    /// Growth is looked for anew, from `bandwidth`.
    pub(super) fn restart(&mut self, bandwidth: Bandwidth) {
        *self = Self { bandwidth, reached: self.reached, ..Self::default() };
    }

    /// What the application limits says nothing.
    pub(super) fn look(&mut self, look: Look) {
        if self.now || look.app_limited {
            return;
        }
        if u128::from(look.bandwidth) * u128::from(GROWTH.1)
            >= u128::from(self.bandwidth) * u128::from(GROWTH.0)
        {
            return self.restart(look.bandwidth);
        }
        if look.round_start {
            self.rounds += 1;
            self.now = self.rounds >= ROUNDS;
            self.reached |= self.now;
        }
    }
}
