//! The load on the air: coded bits by the instant at which they are sent.

use std::collections::VecDeque;

/// Coded bits that were sent, and those that will be.
///
/// The attempts of one number start in the order of their packets, so each number has a plain ring.
#[derive(Clone, Debug)]
pub(super) struct Air {
    planned: Vec<VecDeque<(i64, u64)>>,
    /// Coded bits, and attempts after the first, sent so far.
    pub(super) bits: u64,
    pub(super) retransmissions: u64,
    /// How far that is.
    pub(super) until: i64,
}

impl Air {
    pub(super) fn new(attempts: usize) -> Self {
        Self { planned: vec![VecDeque::new(); attempts], bits: 0, retransmissions: 0, until: -1 }
    }

    /// An attempt of this number will send `bits` at `at`, which never falls for a number.
    #[inline]
    pub(super) fn plan(&mut self, attempt: usize, at: i64, bits: u64) {
        self.planned[attempt].push_back((at, bits));
    }

    /// What starts up to `now` is sent.
    #[inline]
    pub(super) fn advance(&mut self, now: i64) {
        self.until = self.until.max(now);
        for (attempt, planned) in self.planned.iter_mut().enumerate() {
            while let Some(&(at, bits)) = planned.front()
                && at <= now
            {
                planned.pop_front();
                self.bits += bits;
                self.retransmissions += u64::from(attempt > 0);
            }
        }
    }

    /// Coded bits sent up to `until`, no earlier than what was advanced to.
    pub(super) fn bits_at(&self, until: i64) -> u64 {
        let soon = self.planned.iter().flat_map(|planned| {
            planned.iter().take_while(|&&(at, _)| at <= until).map(|&(_, bits)| bits)
        });
        self.bits + soon.sum::<u64>()
    }
}
