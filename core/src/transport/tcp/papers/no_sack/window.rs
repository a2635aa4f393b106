//! The window of ns-2's own agents: a real number of segments, and what duplicate ACKs add to it.

/// Congestion window, threshold and inflation.
#[derive(Clone, Copy, Debug)]
pub(super) struct InflatedWindow {
    /// Congestion window in segments; it grows beyond `max`, which only limits its use.
    cwnd: f64,
    /// Slow-start threshold in segments; `u32::MAX`: none yet.
    ssthresh: u32,
    /// Segments that duplicate ACKs say have left the network; not zero in fast recovery.
    inflation: u64,
    /// The most that is ever used; `u32::MAX`: no limit.
    max: u32,
}

impl InflatedWindow {
    /// The window before anything is acknowledged: one segment, the limit for a threshold.
    pub(super) fn new(max: u32) -> Self {
        Self { cwnd: 1.0, ssthresh: max, inflation: 0, max }
    }

    /// The congestion window in whole segments, within its limits.
    pub(super) fn cwnd(&self) -> u32 {
        (self.cwnd as u32).clamp(1, self.max)
    }

    /// Slow-start threshold in segments; `None` before there is one.
    pub(super) fn ssthresh(&self) -> Option<u32> {
        (self.ssthresh != u32::MAX).then_some(self.ssthresh)
    }

    /// What the duplicate ACKs of fast recovery add.
    pub(super) fn inflation(&self) -> u64 {
        self.inflation
    }

    /// The most that is ever used.
    pub(super) fn most(&self) -> u32 {
        self.max
    }

    /// How many segments may lie between the acknowledgement and the next one to send.
    pub(super) fn limit(&self) -> u64 {
        (self.cwnd as u64).saturating_add(self.inflation).min(u64::from(self.max))
    }

    /// Whether Limited Transmit (RFC 3042) lets `segments` lie there after this number of duplicate ACKs.
    pub(super) fn admits_after(&self, duplicates: u32, segments: u64) -> bool {
        segments <= u64::from(self.max) && segments as f64 <= self.cwnd + f64::from(duplicates)
    }

    /// The connection opens with `segments`.
    pub(super) fn open(&mut self, segments: u32) {
        self.cwnd = f64::from(segments);
    }

    /// An ACK of new data outside fast recovery: a segment more in slow start, a segment a window
    /// beyond (RFC 5681).
    pub(super) fn grow(&mut self) {
        self.cwnd += if self.cwnd < f64::from(self.ssthresh) { 1.0 } else { 1.0 / self.cwnd };
    }

    /// RFC 6582 section 3.2 step 2, but with half of the window where it says half of what is in
    /// flight; the inflation of step 3 follows once the lost segment is sent.
    pub(super) fn halve(&mut self) {
        let half = self.used() / 2.0;
        self.ssthresh = (half as u32).max(2);
        self.cwnd = half;
    }

    /// The retransmission timer expired with data outstanding.
    pub(super) fn collapse(&mut self) {
        self.cwnd = self.cwnd.max(1.0);
        self.ssthresh = ((self.used() / 2.0) as u32).max(2);
        self.cwnd = 1.0;
    }

    /// The retransmission timer expired with nothing outstanding.
    pub(super) fn idle(&mut self) {
        self.cwnd = 1.0;
    }

    /// `segments` are known to have left the network.
    pub(super) fn inflate(&mut self, segments: u64) {
        self.inflation += segments;
    }

    /// Fast recovery is over.
    pub(super) fn end_inflation(&mut self) {
        self.inflation = 0;
    }

    /// A partial ACK of `segments`: the window falls by as many, and rises by the one sent again
    /// (RFC 6582 section 3.2 step 3, partial acknowledgements).
    pub(super) fn deflate(&mut self, segments: u64) {
        if self.inflation > segments {
            self.inflation -= segments - 1;
            return;
        }
        let beyond = segments - self.inflation;
        self.cwnd = (self.cwnd - beyond as f64).max(1.0);
        self.inflation = 1;
    }

    /// The window as far as it is used.
    fn used(&self) -> f64 {
        (self.cwnd + self.inflation as f64).min(f64::from(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64, ssthresh: u32, inflation: u64) -> InflatedWindow {
        InflatedWindow { cwnd, ssthresh, inflation, max: 20 }
    }

    #[test]
    fn slow_start_then_a_segment_a_window() {
        let mut window = window(3.0, 4, 0);
        window.grow();
        assert_eq!(window.cwnd, 4.0);
        window.grow();
        assert_eq!(window.cwnd, 4.25);
        (0..4).for_each(|_| window.grow());
        assert_eq!(window.cwnd(), 5);
    }

    /// Window 11.5 of which duplicate ACKs say nothing: threshold 5, window 5.75.
    #[test]
    fn half_of_what_is_used() {
        let mut small = window(11.5, 20, 0);
        small.halve();
        assert_eq!((small.ssthresh(), small.cwnd), (Some(5), 5.75));
        let mut large = window(50.0, 20, 0);
        large.halve();
        assert_eq!((large.ssthresh(), large.cwnd), (Some(10), 10.0));
        let mut least = window(1.0, 20, 0);
        least.halve();
        assert_eq!((least.ssthresh(), least.cwnd, least.cwnd()), (Some(2), 0.5, 1));
    }

    #[test]
    fn a_partial_ack_deflates_the_inflation_first() {
        let mut window = window(10.0, 10, 8);
        window.deflate(3);
        assert_eq!((window.cwnd, window.inflation()), (10.0, 6));
        window.deflate(6);
        assert_eq!((window.cwnd, window.inflation()), (10.0, 1));
        window.deflate(5);
        assert_eq!((window.cwnd, window.inflation()), (6.0, 1));
        window.deflate(100);
        assert_eq!((window.cwnd, window.inflation()), (1.0, 1));
    }

    #[test]
    fn limits_hold() {
        let window = window(19.5, 10, 8);
        assert_eq!((window.limit(), window.cwnd()), (20, 19));
        assert!(window.admits_after(1, 20) && !window.admits_after(2, 21));
        assert!(!InflatedWindow::new(u32::MAX).admits_after(1, 3));
    }
}
