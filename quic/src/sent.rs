//! Tracks the sent bytes of a stream: time of first transmission, and number of retransmissions.

use std::collections::VecDeque;
use std::ops::Range;

use clift::units::Instant;

/// The unacknowledged pieces of a stream, in the sizes of their first transmission.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// Ascending and without gaps.
    pieces: VecDeque<Piece>,
    /// One after the last byte sent.
    end: u64,
}

#[derive(Debug)]
struct Piece {
    start: u64,
    first_sent: Instant,
    again: u16,
}

impl Sent {
    /// Records the transmission of a range; returns the time of its first transmission, and the
    /// number of earlier transmissions.
    pub(crate) fn send(&mut self, now: Instant, range: &Range<u64>) -> (Instant, u16) {
        let mut first = None;
        let before = range.start < self.end;
        if before {
            let place = self.pieces.partition_point(|piece| piece.start <= range.start);
            for piece in self.pieces.iter_mut().skip(place.saturating_sub(1)) {
                if piece.start >= range.end {
                    break;
                }
                piece.again = piece.again.saturating_add(1);
                first.get_or_insert((piece.first_sent, piece.again));
            }
        }
        if range.end > self.end {
            let start = range.start.max(self.end);
            self.pieces.push_back(Piece { start, first_sent: now, again: 0 });
            self.end = range.end;
        }
        // A timeout may retransmit bytes that are already acknowledged, before the acknowledgement
        // arrives.
        first.unwrap_or((now, u16::from(before)))
    }

    /// One after the last byte sent.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Everything before this byte is acknowledged. Calls `each` with the number of retransmissions
    /// of every piece.
    pub(crate) fn acknowledge(&mut self, before: u64, mut each: impl FnMut(u16)) {
        while let Some(piece) = self.pieces.front() {
            let end = self.pieces.get(1).map_or(self.end, |next| next.start);
            if end > before {
                break;
            }
            each(piece.again);
            self.pieces.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_keep_the_time_of_their_first_transmission() {
        let at = Instant::from_nanos;
        let mut sent = Sent::default();
        assert_eq!(sent.send(at(1), &(0..100)), (at(1), 0));
        assert_eq!(sent.send(at(2), &(100..200)), (at(2), 0));
        assert_eq!(sent.send(at(9), &(100..200)), (at(2), 1));
        assert_eq!(sent.send(at(10), &(50..120)), (at(1), 1));
        // The end of a piece sent earlier, and new bytes.
        assert_eq!(sent.send(at(11), &(150..300)), (at(2), 3));
        let mut again = Vec::new();
        sent.acknowledge(199, |times| again.push(times));
        assert_eq!(again, [1]);
        sent.acknowledge(300, |times| again.push(times));
        assert_eq!(again, [1, 3, 0]);
    }
}
