//! The socket buffers that hold data written by the application and not sent yet. The last segment
//! of a buffer may be alone: it leaves without waiting for more and may carry PSH.
//!
//! The application writes 64 kB at a time, ahead of TCP. A buffer holds as many whole segments as fit
//! into half of the first receive window (`tcp_bound_to_half_wnd`). Segments leave while the
//! application writes for the first time (`tcp_push_one`), and the rest of their buffer is filled
//! up again: the first buffer ends later. A full buffer carries PSH if more than half a window was
//! written since the last end of a write or the last buffer with PSH (`forced_push`, `tcp_mark_push`
//! in `tcp.c`).

use crate::transport::tcp::config::TcpConfig;
use crate::units::Instant;

/// Bytes per write of the application.
const WRITE: u64 = 65_536;
/// The largest buffer, in bytes (`GSO_LEGACY_MAX_SIZE` less headers).
const LARGEST: u64 = 65_215;

/// The buffer of the next new segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffers {
    mss: u64,
    /// Half of the first receive window, in bytes.
    half: u64,
    /// Size of a buffer in bytes.
    size: u64,
    /// End of the current buffer.
    end: u64,
    /// End of the data written when PSH was last set.
    pushed: u64,
    carries_push: bool,
    /// When the first segments left and the application wrote.
    began: Option<Instant>,
}

impl Buffers {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let mss = u64::from(config.mss().0.max(1));
        let half = u64::from(config.first_window()) / 2;
        Self { mss, half, size: (half.min(LARGEST) / mss).max(1) * mss, ..Self::default() }
    }

    /// Segments up to `end` leave as one group.
    #[inline]
    pub(super) fn on_group(&mut self, now: Instant, end: u64) {
        if *self.began.get_or_insert(now) == now {
            self.fill_to(end + self.size);
        }
    }

    /// The buffer holds the data up to `end`.
    fn fill_to(&mut self, end: u64) {
        self.end = end;
        self.pushed = self.pushed.max((end - 1) / WRITE * WRITE);
        if end - self.pushed > self.half {
            self.pushed = end;
            self.carries_push = true;
        }
    }

    /// Bytes that leave as one packet from `start` on, unless that is more than `most`: a buffer that
    /// holds less grows by the next one and no other (`tcp_grow_skb`).
    #[inline]
    pub(super) fn packet(&mut self, start: u64, most: u64) -> u64 {
        let left = self.left(start);
        left.max(most.min(left + self.size))
    }

    /// Bytes from `start`, the next byte to send, to the end of its buffer.
    pub(super) fn left(&mut self, start: u64) -> u64 {
        while self.end <= start {
            self.carries_push = false;
            self.fill_to(self.end + self.size);
        }
        self.end - start
    }

    /// True if the segment at `start` is the last one of a buffer that carries PSH.
    pub(super) fn ends_with_push(&mut self, start: u64) -> bool {
        self.left(start) <= self.mss && self.carries_push
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::config::CongestionAlgorithm;

    /// As Linux 7.2.13 sends in virtual time: after the first ten segments, buffers of 22 segments,
    /// of which the fifth, 7th, ... 15th, 18th and 20th carry PSH.
    #[test]
    fn buffers_hold_half_a_window_and_some_carry_push() {
        let mut config = TcpConfig::linux(CongestionAlgorithm::CUBIC);
        config.linux.get_or_insert_default().window_growth = true;
        let mut buffers = Buffers::new(&config);
        for sent in [0, 5, 10] {
            buffers.on_group(Instant::ZERO, sent * 1448);
            assert_eq!(buffers.left(sent * 1448), 22 * 1448);
        }
        let last = |buffer: u64| (10 + 22 * buffer - 1) * 1448;
        let pushed: Vec<u64> = (4..21).filter(|&at| buffers.ends_with_push(last(at))).collect();
        assert_eq!(pushed, [5, 7, 9, 11, 13, 15, 18, 20]);
        assert!(!buffers.ends_with_push(last(22) - 1448), "one before its end");
    }

    /// As Linux 7.2.13 sends over 471 ms, where Hybla begins with 18 segments: 33 segments and 984 bytes
    /// leave after 464 bytes at the edge of the window.
    #[test]
    fn a_buffer_grows_by_the_next_one() {
        let mut buffers = Buffers::new(&TcpConfig::linux(CongestionAlgorithm::HYBLA));
        buffers.on_group(Instant::ZERO, 9 * 1448);
        buffers.on_group(Instant::ZERO, 18 * 1448);
        let start = 138 * 1448 + 464;
        buffers.on_group(Instant::from_nanos(1), start);
        assert_eq!(buffers.packet(start, 44 * 1448), 33 * 1448 + 984);
        assert_eq!(buffers.packet(start, 20 * 1448), 20 * 1448, "more than its buffer holds");
        assert_eq!(buffers.packet(start, 2 * 1448), 11 * 1448 + 984, "less");
    }
}
