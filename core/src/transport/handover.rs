//! Handovers that a terminal knows before they happen.

use std::sync::Arc;

use crate::units::{BitRate, Duration, Instant};

/// A handover, and what is known of the way after it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Handover {
    /// When.
    pub at: Instant,
    /// From then until data can be sent again.
    pub gap: Duration,
    /// One-way delay of the link after it, with the delays behind the link; `None` if unknown.
    pub delay: Option<Duration>,
    /// Rate of the link after it, until the next handover; `None` if unknown.
    pub rate: Option<BitRate>,
}

/// The handovers on the way of a connection, in order of time.
///
/// ```
/// use clift::transport::{Handover, Timetable};
/// use clift::units::{Duration, Instant};
/// let at = |s| Instant::ZERO + Duration::from_secs(s);
/// let handover = |s| Handover { at: at(s), gap: Duration::ZERO, delay: None, rate: None };
/// let timetable = Timetable::new(vec![handover(30), handover(15)]);
/// assert_eq!(timetable.next(at(15)), Some(&handover(30)));
/// assert_eq!(timetable.last(at(15)), Some(&handover(15)));
/// assert_eq!((timetable.last(at(14)), timetable.next(at(30))), (None, None));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Timetable(Arc<[Handover]>);

impl Timetable {
    /// A timetable of these handovers.
    pub fn new(mut handovers: Vec<Handover>) -> Self {
        handovers.sort_unstable();
        Self(handovers.into())
    }

    /// The first handover after `now`; `None`: there is none.
    pub fn next(&self, now: Instant) -> Option<&Handover> {
        self.0.get(self.begun(now))
    }

    /// The last handover until `now`; `None`: there was none.
    pub fn last(&self, now: Instant) -> Option<&Handover> {
        self.0[..self.begun(now)].last()
    }

    /// All of them.
    pub fn handovers(&self) -> &[Handover] {
        &self.0
    }

    fn begun(&self, now: Instant) -> usize {
        self.0.partition_point(|handover| handover.at <= now)
    }
}
