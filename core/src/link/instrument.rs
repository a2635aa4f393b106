//! What a link shows of itself.

use crate::link::{Link, LinkCounters, Transmission, Usage};
use crate::units::Instant;

/// The instruments of a link: reading them never changes what becomes of a packet.
pub trait Instrument {
    /// Packets waiting in the queue at `now`, not counting the one being sent.
    fn queue_len(&self, now: Instant) -> usize;

    /// Totals so far.
    fn counters(&self) -> LinkCounters;

    /// The slots that passed from time zero to `until`, and those that packets used.
    fn usage(&self, until: Instant) -> Usage;

    /// What this kind of link counts besides, by name (units sent again, frames given up, ...);
    /// the names are those of a run's summary.
    fn details(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Works off what happened up to `until`, so that [`Instrument::queue_len`],
    /// [`Instrument::counters`], [`Instrument::usage`] and [`Instrument::details`] are as of then;
    /// packets come out of [`Link::poll`] only. A link that is driven by its traffic may otherwise
    /// lag behind by as much as nobody can see from outside. [`Link::poll_timeout`] never moves
    /// forward by it.
    fn catch_up(&mut self, _until: Instant) {}

    /// Has every transmission of a unit noted from now on; nothing to note in a link whose units
    /// are known beforehand.
    fn log_units(&mut self) {}

    /// The transmissions noted since the last call, by time.
    fn take_units(&mut self) -> Vec<Transmission> {
        Vec::new()
    }
}

/// A link with its instruments, as [`LinkConfig::build`](crate::scheme::LinkConfig::build) makes it.
pub trait InstrumentedLink: Link + Instrument {}

impl<L: Link + Instrument + ?Sized> InstrumentedLink for L {}

impl<L: Instrument + ?Sized> Instrument for Box<L> {
    fn queue_len(&self, now: Instant) -> usize {
        (**self).queue_len(now)
    }

    fn counters(&self) -> LinkCounters {
        (**self).counters()
    }

    fn usage(&self, until: Instant) -> Usage {
        (**self).usage(until)
    }

    fn details(&self) -> Vec<(&'static str, u64)> {
        (**self).details()
    }

    fn catch_up(&mut self, until: Instant) {
        (**self).catch_up(until);
    }

    fn log_units(&mut self) {
        (**self).log_units();
    }

    fn take_units(&mut self) -> Vec<Transmission> {
        (**self).take_units()
    }
}
