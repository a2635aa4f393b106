//! The reordering degree: the number of segments that may overtake a segment that is not lost. It
//! starts at three and rises to the observed value (RFC 8985 section 3.3.2, RFC 4653; Linux:
//! `tcp_reordering`).

/// Initial reordering degree.
const INITIAL: u32 = 3;

/// Estimator of the reordering degree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    degree: u32,
    max: u32,
    seen: bool,
}

impl Reordering {
    pub(super) fn new(max: u32) -> Self {
        Self { degree: INITIAL, max: max.max(INITIAL), seen: false }
    }

    /// Records that segment `low`, sent once, was delivered after the segment below `end`
    /// (`tcp_check_sack_reordering`). Returns true if they were out of order.
    pub(super) fn observe(&mut self, low: u64, end: u64) -> bool {
        if low >= end {
            return false;
        }
        let distance = u32::try_from(end - low).unwrap_or(u32::MAX);
        self.degree = self.degree.max(distance.min(self.max));
        self.seen = true;
        true
    }

    /// Without SACK: more duplicate ACKs arrived than `most` segments can cause. The degree becomes
    /// that number, also if it was higher (`tcp_check_reno_reordering`).
    pub(super) fn on_many_duplicates(&mut self, most: u64) {
        self.degree = u32::try_from(most).unwrap_or(u32::MAX).min(self.max);
        self.seen = true;
    }

    /// A timeout occurred although duplicates had proved the loss: the degree is too high.
    pub(super) fn on_timeout(&mut self, sacked: u64) {
        if sacked >= u64::from(INITIAL) {
            self.degree = INITIAL;
        }
    }

    /// The reordering degree.
    pub(super) fn degree(&self) -> u32 {
        self.degree
    }

    /// True if any reordering was seen.
    pub(super) fn seen(&self) -> bool {
        self.seen
    }

    /// True if the degree has risen. The window then grows with every delivery, in order or not
    /// (`tcp_may_raise_cwnd`).
    pub(super) fn is_high(&self) -> bool {
        self.degree > INITIAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_degree_rises_to_the_observed_value_up_to_its_limit() {
        let mut reordering = Reordering::new(300);
        assert!(!reordering.observe(5, 5));
        assert!(!reordering.seen());
        assert!(reordering.observe(5, 7));
        assert_eq!((reordering.degree(), reordering.is_high()), (3, false));
        reordering.observe(5, 45);
        assert_eq!((reordering.degree(), reordering.is_high()), (40, true));
        reordering.observe(5, 4_500);
        assert_eq!(reordering.degree(), 300);
        reordering.on_timeout(2);
        assert_eq!(reordering.degree(), 300);
        reordering.on_timeout(3);
        assert_eq!(reordering.degree(), 3);
    }

    #[test]
    fn many_duplicate_acks_set_the_degree() {
        let mut reordering = Reordering::new(300);
        reordering.on_many_duplicates(2);
        assert_eq!((reordering.degree(), reordering.seen()), (2, true));
        reordering.on_many_duplicates(400);
        assert_eq!(reordering.degree(), 300);
    }
}
