//! Log of the units sent by a live link, for plots; off by default.

use crate::link::StreamRange;
use crate::units::Instant;

/// One unit sent over a live link in one slot.
///
/// ```
/// use clift::link::{Transmission, TransmissionKind};
/// use clift::units::Instant;
/// // Data unit 7, of the link's first packet, retransmitted once and erased again.
/// let sent = Transmission {
///     at: Instant::from_nanos(1_000),
///     kind: TransmissionKind::Again,
///     unit: 7,
///     attempt: 1,
///     arrival: None,
///     packets: (0, 0),
///     carries: None,
/// };
/// assert_eq!(sent.kind as u8, 1);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Transmission {
    /// Send time: `t` of its slot.
    pub at: Instant,
    /// Kind of the unit.
    pub kind: TransmissionKind,
    /// Number of the data unit, in order of first transmission; for a repair unit the number of its
    /// block.
    pub unit: u64,
    /// Earlier transmissions of the data unit; for a repair unit the round that requested it, 0 if
    /// it was sent unrequested after its block.
    pub attempt: u32,
    /// Arrival at the far end, including propagation; `None`: erased.
    pub arrival: Option<Instant>,
    /// First and last packet of which the unit carries or repairs a part: numbers among the packets
    /// that the link admitted, from 0 ([`crate::link::Transit::order`]).
    pub packets: (u64, u64),
    /// Byte range of the stream that the first packet carries.
    pub carries: Option<StreamRange>,
}

/// Kind of a unit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum TransmissionKind {
    /// First transmission of data.
    New = 0,
    /// Retransmission of data.
    Again = 1,
    /// Redundancy of a block.
    Repair = 2,
}

/// The log of a link: empty and without cost until it is switched on.
#[derive(Clone, Debug, Default)]
pub struct UnitLog(Option<Vec<Transmission>>);

impl UnitLog {
    /// Starts the log.
    pub fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Logs a transmission; the closure runs only if the log is on.
    #[inline]
    pub fn note(&mut self, transmission: impl FnOnce() -> Transmission) {
        if let Some(log) = &mut self.0 {
            log.push(transmission());
        }
    }

    /// The transmissions logged since the last call.
    pub fn take(&mut self) -> Vec<Transmission> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
