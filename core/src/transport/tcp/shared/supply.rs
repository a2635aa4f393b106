//! What a sender may send for the first time: the application's data in full segments, as far as
//! the receiver's window reaches.

use crate::transport::tcp::config::TcpConfig;
use crate::transport::{Limit, Segment};

/// The application's data, and the receiver's window. Bytes are counted from the first.
#[derive(Debug)]
pub(crate) struct Supply {
    mss: u32,
    /// Bytes the application has handed over; `u64::MAX`: it never runs dry.
    supplied: u64,
    closed: bool,
    /// First byte beyond the receive window.
    permitted: u64,
}

impl Supply {
    /// No data yet.
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self {
            mss: config.mss().0,
            supplied: 0,
            closed: false,
            permitted: u64::from(config.first_window()),
        }
    }

    /// The application hands over `bytes` more; `false`: it has closed, and nothing is taken.
    pub(crate) fn add(&mut self, bytes: u64) -> bool {
        if !self.closed {
            self.supplied = self.supplied.saturating_add(bytes);
        }
        !self.closed
    }

    /// The application hands over nothing more. Of data without end, the end is what was `sent`.
    pub(crate) fn close(&mut self, sent: u64) {
        self.closed = true;
        if self.supplied == u64::MAX {
            self.supplied = sent;
        }
    }

    /// Whether the application hands over nothing more.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Bytes that the application has handed over from `start` on.
    pub(crate) fn beyond(&self, start: u64) -> u64 {
        self.supplied.saturating_sub(start)
    }

    /// Bytes that the receiver's window allows from `start` on.
    pub(crate) fn permitted_beyond(&self, start: u64) -> u64 {
        self.permitted.saturating_sub(start)
    }

    /// What keeps the next segment, which would start at `start`, from leaving; a sender whose
    /// congestion `window` is full waits for that, unless it stands at its configured `most`.
    #[inline]
    pub(crate) fn limit(&self, start: u64, is_full: bool, window: u32, most: u32) -> Limit {
        match self.beyond(start) {
            0 if self.closed => Limit::Path,
            0 => Limit::Application,
            _ if is_full && window < most => Limit::Path,
            _ if is_full => Limit::MostWindow,
            _ if self.segment_at(start).is_none() => Limit::ReceiveWindow,
            _ => Limit::Path,
        }
    }

    /// Whether the application has closed and all of it is `acknowledged`.
    pub(crate) fn is_complete(&self, acknowledged: u64) -> bool {
        self.closed && acknowledged == self.supplied
    }

    /// An ACK may move the receive window on; says whether it does.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Segment) -> bool {
        let permitted = ack.ack + u64::from(ack.window);
        let moves = permitted > self.permitted;
        self.permitted = self.permitted.max(permitted);
        moves
    }

    /// Bytes of the segment that starts at `start`, behind everything sent, if it may leave: a full
    /// segment, or the rest of the data; never a segment cut by the receive window.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(crate) fn segment_at(&self, start: u64) -> Option<u32> {
        let len = self.supplied.saturating_sub(start).min(u64::from(self.mss)) as u32;
        (len > 0 && start + u64::from(len) <= self.permitted).then_some(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::CongestionAlgorithm;
    use crate::units::{Bytes, Size};

    fn supply() -> Supply {
        let mut config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
        config.packet = Bytes(1000 + config.headers());
        config.receive_window = Some(Size(2500));
        Supply::new(&config)
    }

    #[test]
    fn full_segments_and_the_rest_but_none_that_the_window_cuts() {
        let mut supply = supply();
        assert_eq!(supply.segment_at(0), None);
        assert!(supply.add(3400));
        assert_eq!(supply.segment_at(0), Some(1000));
        assert_eq!(supply.segment_at(1000), Some(1000));
        assert_eq!(supply.segment_at(2000), None, "500 of it are permitted");
        assert_eq!(supply.limit(2000, false, 9, 9), Limit::ReceiveWindow);
        assert_eq!(supply.limit(2000, true, 8, 9), Limit::Path, "the window is checked first");
        assert!(supply.on_ack(&Segment { ack: 1000, window: 2500, ..Segment::default() }));
        assert_eq!(supply.segment_at(3000), Some(400));
        assert!(!supply.on_ack(&Segment { ack: 1000, window: 0, ..Segment::default() }));
        assert_eq!(supply.segment_at(3000), Some(400), "a window never moves back");
        assert_eq!(supply.segment_at(3400), None);
        assert_eq!(supply.limit(3400, false, 9, 9), Limit::Application);
        assert_eq!(supply.limit(3000, true, 9, 9), Limit::MostWindow);
        supply.close(3400);
        assert_eq!(supply.limit(3400, false, 9, 9), Limit::Path, "the rest is on its way");
    }

    #[test]
    fn of_data_without_end_what_was_sent_is_the_end() {
        let mut supply = supply();
        assert!(supply.add(u64::MAX) && supply.add(5));
        assert!(!supply.is_complete(0));
        supply.close(2000);
        assert!(!supply.add(1));
        assert_eq!((supply.is_complete(1000), supply.is_complete(2000)), (false, true));
    }
}
