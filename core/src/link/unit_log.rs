//! What a live link sent, unit by unit: a log for plots, off unless asked for.

use crate::link::StreamRange;
use crate::units::Instant;

/// One unit sent over a live link: a slot that it used.
///
/// ```
/// use clift::link::{Transmission, TransmissionKind};
/// use clift::units::Instant;
/// // Data unit 7, of the link's first packet, sent for the second time and erased again.
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
    /// When it was sent: `t` of its slot.
    pub at: Instant,
    /// What it was.
    pub kind: TransmissionKind,
    /// Number of the data unit, in the order of first transmission; of a repair unit the number of
    /// its block.
    pub unit: u64,
    /// How often the data unit was sent before; of a repair unit the round that asked for it,
    /// 0: none did, it follows its block.
    pub attempt: u32,
    /// When it is at the far end, propagation included; `None`: erased.
    pub arrival: Option<Instant>,
    /// First and last of the packets that it carries a part of, or repairs: places among the
    /// packets that the link admitted, from 0 ([`crate::link::Transit::order`]).
    pub packets: (u64, u64),
    /// What the first of them carries of a byte stream.
    pub carries: Option<StreamRange>,
}

/// What a unit was sent for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum TransmissionKind {
    /// Data, for the first time.
    New = 0,
    /// Data that was sent before.
    Again = 1,
    /// Redundancy of a block.
    Repair = 2,
}

/// The log of a link: empty, and no work, until it is switched on.
#[derive(Clone, Debug, Default)]
pub struct UnitLog(Option<Vec<Transmission>>);

impl UnitLog {
    /// Writes from now on.
    pub fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Notes a transmission, which is made only if the log is on.
    #[inline]
    pub fn note(&mut self, transmission: impl FnOnce() -> Transmission) {
        if let Some(log) = &mut self.0 {
            log.push(transmission());
        }
    }

    /// What was noted since the last call.
    pub fn take(&mut self) -> Vec<Transmission> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
