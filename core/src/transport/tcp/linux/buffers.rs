//! The socket buffers that hold data written by the application and not sent yet. The last segment
//! of a buffer may be alone: it leaves without waiting for more and may carry PSH.
//!
//! The application writes 64 kB at a time, ahead of TCP. The first buffer holds the initial window;
//! later ones hold as many whole segments as fit into half of the first receive window
//! (`tcp_bound_to_half_wnd`). A full buffer carries PSH if more than half a window was written
//! since the last end of a write or the last buffer with PSH (`forced_push`, `tcp_mark_push` in
//! `tcp.c`).

use crate::transport::tcp::config::TcpConfig;

/// Bytes per write of the application.
const WRITE: u64 = 65_536;
/// The largest buffer, in bytes (`GSO_LEGACY_MAX_SIZE` less headers).
const LARGEST: u64 = 65_215;

/// The buffer of the next new segment.
#[derive(Clone, Copy, Debug)]
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
}

impl Buffers {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let mss = u64::from(config.mss().0.max(1));
        let half = u64::from(config.first_window()) / 2;
        Self {
            mss,
            half,
            size: (half.min(LARGEST) / mss).max(1) * mss,
            end: u64::from(config.initial_window()) * mss,
            pushed: 0,
            carries_push: false,
        }
    }

    /// Bytes from `start`, the next byte to send, to the end of its buffer.
    pub(super) fn left(&mut self, start: u64) -> u64 {
        while self.end <= start {
            self.end += self.size;
            let write = (self.end - 1) / WRITE * WRITE;
            self.pushed = self.pushed.max(write);
            self.carries_push = self.end - self.pushed > self.half;
            if self.carries_push {
                self.pushed = self.end;
            }
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
    use crate::transport::tcp::congestion::CongestionAlgorithm;

    /// As Linux 7.2.13 sends in virtual time: after the first ten segments, buffers of 22 segments,
    /// of which the fifth, 7th, ... 15th, 18th and 20th carry PSH.
    #[test]
    fn buffers_hold_half_a_window_and_some_carry_push() {
        let mut config = TcpConfig::linux(CongestionAlgorithm::CUBIC);
        config.linux.get_or_insert_default().window_growth = true;
        let mut buffers = Buffers::new(&config);
        assert_eq!(buffers.left(0), 10 * 1448);
        assert_eq!(buffers.left(10 * 1448), 22 * 1448);
        let last = |buffer: u64| (10 + 22 * buffer - 1) * 1448;
        let pushed: Vec<u64> = (4..21).filter(|&at| buffers.ends_with_push(last(at))).collect();
        assert_eq!(pushed, [5, 7, 9, 11, 13, 15, 18, 20]);
        assert!(!buffers.ends_with_push(last(22) - 1448), "one before its end");
    }
}
