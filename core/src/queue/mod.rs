//! Active queue management before a link.
//!
//! By default a link has its drop-tail queue ([`QueueLimit`]). With active queue management, the
//! link takes only the packets to be sent next, as the driver of a network card does, and all
//! others wait here: [`CoDel`] (RFC 8289), [`FqCoDel`] (RFC 8290), [`Pie`] (RFC 8033) or
//! [`DualPi2`] (RFC 9332).
//!
//! ```
//! use clift::queue::{Aqm, CoDel};
//! use clift::units::Duration;
//! let aqm: Aqm = "codel(interval 600 ms)".parse()?;
//! assert_eq!(aqm, Aqm::CoDel(CoDel { interval: Duration::from_millis(600), ..CoDel::default() }));
//! # Ok::<(), String>(())
//! ```

mod codel;
mod dualpi2;
mod fq_codel;
mod managed;
mod own;
mod pie;
mod text;

pub use codel::CoDel;
pub use dualpi2::{DualPi2, Marks};
pub use fq_codel::FqCoDel;
pub(crate) use managed::Managed;
pub use own::{BuildQueue, OwnQueue, QueueDiscipline, QueueKind, QueuedPacket, ReadQueue};
pub use pie::Pie;

use std::collections::VecDeque;
use std::fmt;

use crate::link::{Packet, QueueLimit};
use crate::seed::{Seed, Stream};
use crate::units::{Bytes, Duration, Ecn, Instant};

/// The queues of the core.
static BUILT_IN: [QueueKind; 5] = [
    QueueKind {
        name: "none",
        summary: "Drops packets only when the queue is full.",
        text: "none",
        read: &|arguments| arguments.end().map(|()| Aqm::None),
    },
    codel::KIND,
    fq_codel::KIND,
    pie::KIND,
    dualpi2::KIND,
];

/// Active queue management, which drops or marks packets before the queue is full. In text
/// `"codel"`,
/// `"fq-codel(quantum 1514 B)"`, `"pie(target 20 ms)"`, `"dualpi2(step 2 ms)"`; "none" is a
/// drop-tail queue.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Aqm {
    /// Drop-tail.
    #[default]
    None,
    /// Controlled Delay.
    CoDel(CoDel),
    /// A CoDel queue for each flow.
    FqCoDel(FqCoDel),
    /// Proportional Integral controller Enhanced.
    Pie(Pie),
    /// A user-defined queue.
    Own(OwnQueue),
    /// Two queues, one of them for flows that react to each mark.
    DualPi2(DualPi2),
}

impl Aqm {
    /// An empty queue with `limit`; `None` for drop-tail, which links provide. `number`
    /// distinguishes the hops of a run.
    pub(crate) fn build(&self, limit: QueueLimit, seed: Seed, number: u32) -> Option<Queue> {
        let rng = || seed.rng(Stream::Queue(number));
        Some(match *self {
            Self::None => return None,
            Self::CoDel(own) => Queue::CoDel(codel::Single::new(own, limit)),
            Self::FqCoDel(own) => Queue::FqCoDel(fq_codel::Flows::new(own, limit)),
            Self::Pie(own) => Queue::Pie(Box::new(pie::Queue::new(own, limit, rng()))),
            Self::Own(ref own) => Queue::Own(own.build(limit, rng())),
            Self::DualPi2(own) => Queue::DualPi2(Box::new(dualpi2::Queues::new(own, limit, rng()))),
        })
    }
}

/// A queue with active management. The queues of the core are enum variants, not trait objects:
/// their work per packet takes little longer than a dynamic call.
#[derive(Debug)]
pub(crate) enum Queue {
    CoDel(codel::Single),
    FqCoDel(fq_codel::Flows),
    Pie(Box<pie::Queue>),
    DualPi2(Box<dualpi2::Queues>),
    Own(Box<dyn Discipline>),
}

/// Calls the queue that a [`Queue`] holds.
macro_rules! of_kind {
    ($of:expr, $queue:ident => $call:expr) => {
        match $of {
            Queue::CoDel($queue) => $call,
            Queue::FqCoDel($queue) => $call,
            Queue::Pie($queue) => $call,
            Queue::DualPi2($queue) => $call,
            Queue::Own($queue) => $call,
        }
    };
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, now: Instant, held: WaitingPacket, dropped: &mut Vec<WaitingPacket>) {
        of_kind!(self, queue => queue.enqueue(now, held, dropped));
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<WaitingPacket>) -> Option<WaitingPacket> {
        of_kind!(self, queue => queue.dequeue(now, dropped))
    }

    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn passes(&mut self, now: Instant, held: &WaitingPacket) -> bool {
        of_kind!(self, queue => queue.passes(now, held))
    }

    #[inline(always)] // as `passes`
    fn is_at_rest(&self, now: Instant) -> bool {
        of_kind!(self, queue => queue.is_at_rest(now))
    }

    #[inline]
    fn has_room(&self, size: Bytes) -> bool {
        of_kind!(self, queue => queue.has_room(size))
    }

    #[inline]
    fn len(&self) -> usize {
        of_kind!(self, queue => queue.len())
    }
}

/// Name of the counter of packets marked by the queue.
pub(crate) const MARKED: &str = "packets_marked";

/// A waiting packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WaitingPacket {
    /// Its number.
    pub(crate) packet: u64,
    flow: u32,
    pub(crate) size: Bytes,
    pub(crate) entered: Instant,
    /// True if it carries data.
    pub(crate) data: bool,
    /// The ECN field: whether the packet may be marked, or is.
    ecn: Ecn,
    /// True if it was marked here.
    pub(crate) marked: bool,
}

impl WaitingPacket {
    /// A packet that arrives at `now`.
    #[inline]
    pub(crate) fn new(packet: &Packet, now: Instant) -> Self {
        let Packet { id, flow, size, ecn, .. } = *packet;
        let data = packet.carries.is_some();
        Self { packet: id.0, flow, size, entered: now, data, ecn, marked: false }
    }

    /// Marks the packet if allowed; returns whether it is marked.
    fn mark(&mut self) -> bool {
        let allowed = self.ecn.is_capable();
        if allowed {
            self.marked |= self.ecn != Ecn::Ce;
            self.ecn = Ecn::Ce;
        }
        allowed
    }
}

/// Packets in the order of their arrival, and their bytes.
#[derive(Clone, Debug, Default)]
struct Fifo {
    waiting: VecDeque<WaitingPacket>,
    bytes: u64,
}

impl Fifo {
    #[inline(always)] // called for every packet: a call costs as much as what it does
    fn push(&mut self, held: WaitingPacket) {
        self.bytes += u64::from(held.size.0);
        self.waiting.push_back(held);
    }

    #[inline(always)] // as `push`
    fn pop(&mut self) -> Option<WaitingPacket> {
        let held = self.waiting.pop_front()?;
        self.bytes -= u64::from(held.size.0);
        Some(held)
    }

    #[inline]
    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Waiting time of the first packet.
    fn delay(&self, now: Instant) -> Duration {
        self.waiting.front().map_or(Duration::ZERO, |head| now.saturating_since(head.entered))
    }
}

/// The first update after `now` of a controller that rests: one every `update` from `next` on.
fn missed(next: Instant, update: Duration, now: Instant) -> Instant {
    let missed = now.saturating_since(next).as_nanos() / update.as_nanos();
    next + Duration::from_nanos((missed + 1) * update.as_nanos())
}

/// Decides which packet is sent next and which are dropped. A packet is marked by
/// [`WaitingPacket::mark`],
/// at the latest when it is taken out. `now` never decreases.
pub(crate) trait Discipline: fmt::Debug + Send {
    /// A packet arrives; it, or others instead, may be dropped.
    fn enqueue(&mut self, now: Instant, held: WaitingPacket, dropped: &mut Vec<WaitingPacket>);

    /// The packet to send now; others may be dropped.
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<WaitingPacket>) -> Option<WaitingPacket>;

    /// Takes a packet in and out again at once, where none waits; false: it did nothing, and the packet
    /// has to take the long way. Most packets meet an empty queue.
    fn passes(&mut self, _now: Instant, _held: &WaitingPacket) -> bool {
        false
    }

    /// True if none waits and taking out changes nothing.
    fn is_at_rest(&self, _now: Instant) -> bool {
        false
    }

    /// True if there is room for a packet of `size`.
    fn has_room(&self, size: Bytes) -> bool;

    /// Number of waiting packets.
    fn len(&self) -> usize;
}
