//! Warnings about a trace.

use crate::trace::PhyTrace;
use crate::trace::notes::readable;
use crate::trace::step::StepDetector;

impl PhyTrace {
    /// Warnings, one line each: those of the import, and those from the trace itself.
    ///
    /// ```
    /// use clift::trace::PhyTrace;
    /// use clift::units::Bytes;
    /// let phy = PhyTrace::new(vec![0, 10].into(), vec![5, 5].into(), Bytes(33)).unwrap();
    /// assert_eq!(phy.warnings(), ["no slot is erased: a scheme can only cost here"]);
    /// ```
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.header().notes.warnings.clone();
        if self.header().unchecked {
            let cure = "clift trace convert writes it with one";
            warnings.push(format!("the file has no checksum, so damage is not noticed; {cure}"));
        }
        if self.d().iter().all(|&d| d > 0) {
            warnings.push("no slot is erased: a scheme can only cost here".to_owned());
        } else if self.d().iter().all(|&d| d == 0) {
            warnings.push("every slot is erased".to_owned());
        }
        if let Some((at, gap)) = self.stall() {
            warnings.push(format!("a gap of {} without a slot at {}", readable(gap), readable(at)));
        }
        let coarse = warnings.iter().any(|warning| warning.starts_with("a coarse clock"));
        // Frames of several sizes take multiples of a step to send, which is no step of a clock.
        let is_clear = !coarse && self.sizes().column().is_none();
        if let Some(step) = self.grid().filter(|_| is_clear) {
            warnings.push(format!(
                "a coarse clock: all decoding times differ by multiples of {}",
                readable(step)
            ));
        }
        warnings
    }

    /// Start and length of the longest gap between slots, if it is at least 100 ms and 20 median
    /// gaps.
    fn stall(&self) -> Option<(i64, i64)> {
        const LONG: i64 = 100_000_000;
        let usual = i64::try_from(self.median_gap().as_nanos()).unwrap_or(i64::MAX);
        let gaps = self.t().windows(2).map(|pair| (pair[1] - pair[0], pair[0]));
        let (gap, at) = gaps.max_by_key(|&(gap, _)| gap)?;
        (gap >= LONG && gap / 20 >= usual.max(1)).then_some((at, gap))
    }

    /// The common step of the decoding times of received slots, relative to the smallest.
    fn grid(&self) -> Option<i64> {
        let received = || self.d().iter().copied().filter(|&d| d > 0);
        let least = received().min()?;
        let mut grid = StepDetector::default();
        received().for_each(|d| grid.take(d - least));
        grid.step()
    }
}
