//! Queues that manage themselves: what waits before a link, and what is dropped of it.
//!
//! Without one a link has its drop-tail queue ([`QueueLimit`]). With one it takes only what is to be
//! sent next, as the driver of a network card does, and all else waits here: [`CoDel`] (RFC 8289),
//! [`FqCoDel`] (RFC 8290), [`Pie`] (RFC 8033) or [`DualPi2`] (RFC 9332).
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
pub use own::{
    BuildQueue, CheckQueue, OwnQueue, QueueDiscipline, QueueKind, QueueNameTaken, QueuedPacket,
    register_queue,
};
pub use pie::Pie;

use std::fmt;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::link::{Packet, QueueLimit};
use crate::seed::{Seed, Stream};
use crate::units::{Bytes, Ecn, Instant};

/// Active queue management: what drops packets before a queue is full. In text `"codel"`,
/// `"fq-codel(quantum 1514 B)"`, `"pie(target 20 ms)"`, `"dualpi2(step 2 ms)"`; "none" is a drop-tail queue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Aqm {
    /// Drop-tail.
    #[default]
    None,
    /// Controlled Delay.
    CoDel(CoDel),
    /// A queue under CoDel for each flow.
    FqCoDel(FqCoDel),
    /// Proportional Integral controller Enhanced.
    Pie(Pie),
    /// A queue from outside the core.
    Own(OwnQueue),
    /// Two queues, one of them for flows that react to each mark.
    DualPi2(DualPi2),
}

impl Aqm {
    /// An empty queue of at most `limit`; `None` for drop-tail, which links have themselves. `number`
    /// tells the hops of a run apart.
    pub(crate) fn build(self, limit: QueueLimit, seed: Seed, number: u32) -> Option<Queue> {
        Some(match self {
            Self::None => return None,
            Self::CoDel(parameters) => Queue::CoDel(codel::Single::new(parameters, limit)),
            Self::FqCoDel(parameters) => Queue::FqCoDel(fq_codel::Flows::new(parameters, limit)),
            Self::Pie(parameters) => {
                let rng = seed.rng(Stream::Queue(number));
                Queue::Pie(Box::new(pie::Queue::new(parameters, limit, rng)))
            }
            Self::Own(own) => Queue::Own(own.build(limit, seed.rng(Stream::Queue(number)))),
            Self::DualPi2(parameters) => {
                let rng = seed.rng(Stream::Queue(number));
                Queue::DualPi2(Box::new(dualpi2::Queues::new(parameters, limit, rng)))
            }
        })
    }
}

/// A queue that manages itself. Those of the core are called without a pointer to a trait: what they do for
/// a packet takes little longer than such a call.
#[derive(Debug)]
pub(crate) enum Queue {
    CoDel(codel::Single),
    FqCoDel(fq_codel::Flows),
    Pie(Box<pie::Queue>),
    DualPi2(Box<dualpi2::Queues>),
    Own(Box<dyn Discipline>),
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, now: Instant, held: Held, dropped: &mut Vec<Held>) {
        match self {
            Self::CoDel(queue) => queue.enqueue(now, held, dropped),
            Self::FqCoDel(queue) => queue.enqueue(now, held, dropped),
            Self::Pie(queue) => queue.enqueue(now, held, dropped),
            Self::DualPi2(queue) => queue.enqueue(now, held, dropped),
            Self::Own(queue) => queue.enqueue(now, held, dropped),
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Held>) -> Option<Held> {
        match self {
            Self::CoDel(queue) => queue.dequeue(now, dropped),
            Self::FqCoDel(queue) => queue.dequeue(now, dropped),
            Self::Pie(queue) => queue.dequeue(now, dropped),
            Self::DualPi2(queue) => queue.dequeue(now, dropped),
            Self::Own(queue) => queue.dequeue(now, dropped),
        }
    }

    #[inline]
    fn has_room(&self, size: Bytes) -> bool {
        match self {
            Self::CoDel(queue) => queue.has_room(size),
            Self::FqCoDel(queue) => queue.has_room(size),
            Self::Pie(queue) => queue.has_room(size),
            Self::DualPi2(queue) => queue.has_room(size),
            Self::Own(queue) => queue.has_room(size),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::CoDel(queue) => queue.len(),
            Self::FqCoDel(queue) => queue.len(),
            Self::Pie(queue) => queue.len(),
            Self::DualPi2(queue) => queue.len(),
            Self::Own(queue) => queue.len(),
        }
    }
}

/// What a link calls its count of packets that its queue marked.
pub(crate) const MARKED: &str = "packets_marked";

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// Its number.
    pub(crate) packet: u64,
    flow: u32,
    pub(crate) size: Bytes,
    pub(crate) entered: Instant,
    /// Whether it carries data.
    pub(crate) data: bool,
    /// Whether it may be marked, or was.
    ecn: Ecn,
    /// Whether it was marked here.
    pub(crate) marked: bool,
}

impl Held {
    /// A packet that comes at `now`.
    #[inline]
    pub(crate) fn new(packet: &Packet, now: Instant) -> Self {
        let Packet { id, flow, size, ecn, .. } = *packet;
        let data = packet.carries.is_some();
        Self { packet: id.0, flow, size, entered: now, data, ecn, marked: false }
    }

    /// Marks it where that is allowed; says whether it is marked now.
    fn mark(&mut self) -> bool {
        let allowed = self.ecn.is_capable();
        if allowed {
            self.marked |= self.ecn != Ecn::Ce;
            self.ecn = Ecn::Ce;
        }
        allowed
    }
}

/// Between 0 and 1.
fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// What decides which packet is sent next, and which never. A packet is marked by
/// [`Held::mark`], at the latest when it is taken out. `now` never falls.
pub(crate) trait Discipline: fmt::Debug + Send {
    /// A packet arrives; it, or others in its place, may be dropped.
    fn enqueue(&mut self, now: Instant, held: Held, dropped: &mut Vec<Held>);

    /// The packet that is sent now; others may be dropped.
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Held>) -> Option<Held>;

    /// Whether a packet of `size` finds room.
    fn has_room(&self, size: Bytes) -> bool;

    /// Packets that wait.
    fn len(&self) -> usize;
}
