//! When the source sent each byte first, for the delays from end to end through proxies.

use std::collections::VecDeque;

use crate::units::Instant;

/// First transmissions of the source that have not gone through all proxies, in order.
#[derive(Debug, Default)]
pub(super) struct Births {
    /// First byte and time.
    sent: VecDeque<(u64, Instant)>,
}

impl Births {
    /// The source sends the bytes from `start` on for the first time.
    pub(super) fn add(&mut self, start: u64, now: Instant) {
        self.sent.push_back((start, now));
    }

    /// When byte `at` was sent first.
    pub(super) fn of(&self, at: u64) -> Option<Instant> {
        let behind = self.sent.partition_point(|&(start, _)| start <= at);
        self.sent.get(behind.checked_sub(1)?).map(|&(_, time)| time)
    }

    /// Bytes below `at` are not asked for again.
    pub(super) fn forget(&mut self, at: u64) {
        while self.sent.get(1).is_some_and(|&(next, _)| next <= at) {
            self.sent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_as_old_as_the_packet_that_brought_it() {
        let at = Instant::from_nanos;
        let mut births = Births::default();
        assert_eq!(births.of(0), None);
        births.add(0, at(5));
        births.add(100, at(7));
        assert_eq!(
            [0, 99, 100, 149].map(|byte| births.of(byte)),
            [5, 5, 7, 7].map(|t| Some(at(t)))
        );
        births.forget(99);
        assert_eq!(births.of(99), Some(at(5)));
        births.forget(100);
        assert_eq!((births.of(99), births.of(100)), (None, Some(at(7))));
    }
}
