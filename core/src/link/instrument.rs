//! Measurements of a link.

use crate::config::delegate;
use crate::link::{Link, LinkCounters, QueueLimit, Transmission, Usage};
use crate::units::Instant;

/// Name of the counter of slots that passed unused although packets waited.
pub(crate) const STALLED: &str = "stalled_slots";

/// Instruments of a link. Reading them has no effect on packets.
pub trait Instrument {
    /// Packets waiting in the queue at `now`, not counting the one being sent.
    fn queue_len(&self, now: Instant) -> usize;

    /// Totals up to now.
    fn counters(&self) -> LinkCounters;

    /// Slots that passed from time zero to `until`, and the slots that packets used.
    fn usage(&self, until: Instant) -> Usage;

    /// Further counters of this kind of link, by name (units retransmitted, frames given up, ...);
    /// the names are those of a run's summary.
    fn details(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Processes all slots up to `until`, so that [`Instrument::queue_len`],
    /// [`Instrument::counters`],
    /// [`Instrument::usage`] and [`Instrument::details`] are up to date; packets still leave
    /// through
    /// [`Link::poll`] only. A link that is driven by its traffic may otherwise lag behind, as far
    /// as this is not visible outside. The call never moves [`Link::poll_timeout`] forward.
    fn catch_up(&mut self, _until: Instant) {}

    /// Logs every transmission of a unit from now on; no effect on a link whose units are
    /// precomputed.
    fn log_units(&mut self) {}

    /// The transmissions logged since the last call, in order of time.
    fn take_units(&mut self) -> Vec<Transmission> {
        Vec::new()
    }

    /// Sets another limit of the queue; packets that wait stay. Returns false if the link has no
    /// drop-tail queue whose limit can change.
    fn set_queue(&mut self, _limit: QueueLimit) -> bool {
        false
    }
}

/// A link with its instruments.
pub trait InstrumentedLink: Link + Instrument {}

impl<L: Link + Instrument + ?Sized> InstrumentedLink for L {}

/// A link of any kind, as built by [`LinkConfig::build`](crate::scheme::LinkConfig::build).
pub type BuiltLink = Box<dyn InstrumentedLink + Send>;

impl<L: Instrument + ?Sized> Instrument for Box<L> {
    delegate! { (**self) =>
        fn queue_len(&self, now: Instant) -> usize;
        fn counters(&self) -> LinkCounters;
        fn usage(&self, until: Instant) -> Usage;
        fn details(&self) -> Vec<(&'static str, u64)>;
        fn catch_up(&mut self, until: Instant);
        fn log_units(&mut self);
        fn take_units(&mut self) -> Vec<Transmission>;
        fn set_queue(&mut self, limit: QueueLimit) -> bool;
    }
}
