//! The link: a state machine without I/O that carries packets on LLDUs.
//!
//! Every host (CLIFT's engine, ns-2, ns-3, a live emulator) drives the same object through
//! [`Link`].
//! [`TraceLink`] carries packets over a link trace (open loop). The links whose scheme runs with
//! the traffic (closed loop) are built in [`crate::scheme`]. [`Coded`] and [`Behind`]
//! wrap any link and are links themselves. [`deliver()`] feeds a list of arrivals to a link.
//!
//! ```
//! use std::sync::Arc;
//! use clift::link::{Link, LinkEvent, Packet, PacketId, TraceLink, TraceLinkConfig};
//! use clift::trace::{LinkTrace, Parts};
//! use clift::units::{Bytes, Duration, Instant};
//!
//! // Four LLDUs of 100 bytes, one per microsecond, decoded in 5 us; RTT 20 us.
//! let trace = LinkTrace::from_parts(Parts {
//!     t: vec![0, 1_000, 2_000, 3_000].into(),
//!     d: vec![5_000; 4].into(),
//!     lost: vec![],
//!     transmissions: vec![],
//!     recovered: (0, 0),
//!     slots_used: 4,
//!     rtt: Duration::from_micros(20),
//!     back: Duration::from_micros(10),
//!     lldu: Bytes(100),
//!     sizes: None,
//!     slots: 4,
//!     span: (0, 3_000),
//!     gap: 1_000,
//!     loading: Default::default(),
//! });
//! let mut link = TraceLink::new(Arc::new(trace), TraceLinkConfig::default())?;
//! let _ = link.enqueue(Instant::from_nanos(500), Packet::new(PacketId(7), Bytes(150)));
//! let due = link.poll_timeout().unwrap();
//! assert_eq!(due, Instant::from_nanos(2_000 + 5_000 + 10_000));
//! assert!(matches!(link.poll(due), Some(LinkEvent::Delivered(transit)) if transit.lldus == 2));
//! # Ok::<(), clift::config::Fault>(())
//! ```

mod allocator;
mod behind;
mod buffer;
pub(crate) mod clock;
mod coding;
pub(crate) mod counters;
mod delay_file;
mod delays;
mod deliver;
pub(crate) mod due;
mod instrument;
pub(crate) mod line;
pub(crate) mod live;
mod overlap;
mod packet;
pub(crate) mod packets;
mod propagation;
pub(crate) mod queue;
pub(crate) mod reordering;
pub(crate) mod schedule;
pub(crate) mod slots;
mod stream_order;
pub(crate) mod trace_link;
mod unit_log;
mod waits;

pub use behind::Behind;
pub use buffer::Resequencing;
pub use coding::{Code, Coded, Coding};
pub use counters::{LinkCounters, Usage};
pub use delay_file::DelayTable;
pub use delays::Delays;
pub(crate) use delays::check_delays;
pub use deliver::{Deliveries, PacketFate, deliver};
pub(crate) use instrument::STALLED;
pub use instrument::{BuiltLink, Instrument, InstrumentedLink};
pub use line::{Line, Unit};
pub use live::{LiveScheme, NOW};
pub use packet::{Packet, StreamRange};
pub use propagation::{DelaySeries, Propagation, TraceClock};
pub use queue::QueueLimit;
pub use slots::Slot;
pub use trace_link::{Fragmentation, TraceLink, TraceLinkConfig};
pub use unit_log::{Transmission, TransmissionKind, UnitLog};
pub(crate) use waits::{Passed, Waits};

use crate::config::{Fault, delegate};
use crate::units::{Bytes, Duration, Instant};

/// A link: the host passes packets and the time; the link returns its events and the time of the
/// next poll.
///
/// Call order: [`Link::enqueue`] with a `now` that never decreases; [`Link::poll`] at the time that
/// [`Link::poll_timeout`] returns (earlier has no effect), until it returns `None`. Events due at
/// `now` must be polled before a packet is enqueued at `now`: departures come before arrivals.
///
/// [`Link::poll_timeout`] may change with every call, and [`Link::poll`] may return nothing at that
/// time: a link that is driven by its traffic learns of a delivery only slot by slot. After `poll`
/// has returned `None`, `poll_timeout` is after `now`. A slot at `now` may still take a packet that
/// is enqueued at `now`.
pub trait Link {
    /// A packet arrives at the link's queue.
    fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission;

    /// Time of the next [`Link::poll`]; `None`: not before a further packet.
    fn poll_timeout(&self) -> Option<Instant>;

    /// The next event up to `now`, oldest first; `None` after the last one.
    fn poll(&mut self, now: Instant) -> Option<LinkEvent>;

    /// True if the queue has room for a packet of `size` at `now`, which never decreases. A host
    /// that holds packets back checks again at the next [`LinkEvent::Departed`]. A packet that is
    /// too large for the link is nevertheless dropped.
    fn has_room(&mut self, now: Instant, size: Bytes) -> bool;

    /// Requests [`LinkEvent::Departed`] for every packet; [`Link::poll_timeout`] then also includes
    /// those times. Must be called before the first packet. It has no other effect. A link whose
    /// slot still takes packets enqueued at its own instant (3GPP, packets that share slots by
    /// bytes) reports a departure one nanosecond later.
    fn notify_departures(&mut self);
}

/// The host's identifier of a packet, returned with its events.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct PacketId(pub u64);

/// Result of enqueueing a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Admission {
    /// The packet will be delivered, lost, or still be pending at the end.
    Queued,
    /// The packet was dropped.
    Dropped(DropReason),
}

/// The reason why a packet was dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// The packet is too large for the link.
    TooLarge,
}

/// An event of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LinkEvent {
    /// The packet reached the far end.
    Delivered(Transit),
    /// The link gave up the packet.
    Lost(Transit),
    /// The packet left the queue: its first LLDU is being sent, or its waiting time expired.
    /// Reported once per packet, only after [`Link::notify_departures`].
    Departed {
        /// The packet.
        packet: PacketId,
        /// When.
        at: Instant,
    },
    /// A queue marked the packet instead of dropping it
    /// ([`Ecn::Ce`](crate::units::Ecn::Ce)); precedes its delivery or loss. Only for packets that
    /// allow it ([`Ecn::is_capable`](crate::units::Ecn::is_capable)).
    Marked {
        /// The packet.
        packet: PacketId,
        /// When.
        at: Instant,
    },
    /// The trace ended while `packet` (and all packets behind it) wait for slots; reported once.
    TraceEnded {
        /// The first packet that cannot be sent.
        packet: PacketId,
        /// Time from which it cannot be sent.
        at: Instant,
    },
}

impl LinkEvent {
    /// Time of the event; at most the `now` of the poll that returned it.
    #[inline]
    pub fn at(&self) -> Instant {
        match *self {
            Self::Delivered(transit) | Self::Lost(transit) => transit.at,
            Self::Departed { at, .. } | Self::Marked { at, .. } | Self::TraceEnded { at, .. } => at,
        }
    }
}

/// The passage of one packet through a link.
///
/// Its one-way delay is `at - entered`, its queueing delay is `departed - entered`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Transit {
    /// The host's identifier of the packet.
    pub packet: PacketId,
    /// Its size when enqueued.
    pub size: Bytes,
    /// Data LLDUs used.
    pub lldus: u32,
    /// Its number among the packets admitted by this link, from 0.
    pub order: u64,
    /// Time of entering the queue.
    pub entered: Instant,
    /// Time of leaving the queue: `t` of its first LLDU.
    pub departed: Instant,
    /// Time of delivery or of giving up.
    pub at: Instant,
}

/// Latest simulated run time (73 years), so that sums of a few times do not overflow.
pub(crate) const HORIZON: i64 = 1 << 61;

/// That only links over a link trace support `option`.
pub(crate) fn only_traces(option: &str) -> Fault {
    Fault::at(format!("{option} needs a link trace; remove it for a live link"))
}

/// That a header leaves no room in an LLDU.
pub(crate) fn no_room(lldu: u32, header: u32) -> Fault {
    Fault::at(format!(
        "an LLDU of {lldu} bytes has no room for data after its header of {header}; \
         give a smaller header"
    ))
}

/// Nanoseconds of `instant`, limited to the horizon.
#[inline]
pub(crate) fn nanos(instant: Instant) -> i64 {
    instant.as_nanos().min(HORIZON as u64) as i64
}

/// Nanoseconds of `duration`, limited to the horizon.
#[inline]
pub(crate) fn span(duration: Duration) -> i64 {
    duration.as_nanos().min(HORIZON as u64) as i64
}

/// The instant `nanos` after time zero; time zero if negative.
#[inline]
pub(crate) fn instant(nanos: i64) -> Instant {
    Instant::from_nanos(nanos.max(0) as u64)
}

/// The earlier of two optional instants.
#[inline]
pub(crate) fn earliest<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl<L: Link + ?Sized> Link for Box<L> {
    delegate! { (**self) =>
        fn enqueue(&mut self, now: Instant, packet: Packet) -> Admission;
        fn poll_timeout(&self) -> Option<Instant>;
        fn poll(&mut self, now: Instant) -> Option<LinkEvent>;
        fn has_room(&mut self, now: Instant, size: Bytes) -> bool;
        fn notify_departures(&mut self);
    }
}
