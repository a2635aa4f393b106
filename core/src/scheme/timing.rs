//! The delays of the loop that a scheme closes.

use crate::trace::PhyTrace;
use crate::units::Duration;

/// The two delays of the loop that a scheme closes.
///
/// ```
/// use clift::scheme::Timing;
/// use clift::units::Duration;
/// let timing = Timing { rtt: Duration::from_millis(500), feedback: None };
/// assert_eq!(timing.feedback(Duration::from_millis(36)), Duration::from_millis(536));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timing {
    /// Round-trip time of the link.
    pub rtt: Duration,
    /// From a slot's `t` until the sender can act on its loss; RTT + `d_nom` unless set, and over a
    /// trace whose `d` are the delays of the way there `d_nom` and [`PhyTrace::way_back`].
    pub feedback: Option<Duration>,
}

impl Timing {
    /// The feedback time, given the nominal decoding time.
    pub fn feedback(self, nominal: Duration) -> Duration {
        self.feedback.unwrap_or_else(|| {
            Duration::from_nanos(self.rtt.as_nanos().saturating_add(nominal.as_nanos()))
        })
    }

    /// The feedback time over `phy`.
    pub fn feedback_over(self, phy: &PhyTrace) -> Duration {
        let nominal = phy.nominal_decoding();
        if self.feedback.is_none() && self.rtt == Duration::ZERO {
            return nominal + phy.way_back(self.rtt);
        }
        self.feedback(nominal)
    }

    /// The feedback time over `phy` in ns, as the schemes compute with it. A time longer than any
    /// trace is cut to the largest slot time.
    pub(super) fn feedback_ns(self, phy: &PhyTrace) -> i64 {
        i64::try_from(self.feedback_over(phy).as_nanos()).unwrap_or(i64::MAX)
    }
}

/// `d_nom` in the schemes' arithmetic; the trace keeps it below 2^61.
pub(super) fn nominal_ns(phy: &PhyTrace) -> i64 {
    phy.nominal_decoding().as_nanos() as i64
}
