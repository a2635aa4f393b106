//! User-defined queues, registered by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::{Aqm, BUILT_IN, Discipline, WaitingPacket};
use crate::config::{Arguments, Row};
use crate::link::QueueLimit;
use crate::units::{Bytes, Instant};

/// A packet that arrives at a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueuedPacket {
    /// Its number among the packets that found room, from 0.
    pub number: u64,
    /// Its flow.
    pub flow: u32,
    /// IP packet, headers included.
    pub size: Bytes,
    /// Time of arrival.
    pub arrived: Instant,
}

/// Decides which packet is sent next and which are dropped. `now` never decreases.
pub trait QueueDiscipline: fmt::Debug + Send {
    /// A packet arrives that fits into the queue's limit. The numbers of packets dropped, this one
    /// or others, are added to `dropped`.
    fn enqueue(&mut self, now: Instant, packet: QueuedPacket, dropped: &mut Vec<u64>);

    /// The number of the packet to send now; others may be dropped. Called again when that packet
    /// has left and when another arrives.
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<u64>) -> Option<u64>;
}

/// Builds a queue from its arguments; random draws come from the given stream.
pub type BuildQueue = dyn Fn(&[&str], ChaCha8Rng) -> Box<dyn QueueDiscipline> + Send + Sync;

/// Reads the arguments of a queue.
pub type ReadQueue = dyn Fn(Arguments<'_>) -> Result<Aqm, String> + Send + Sync;

/// A kind of queue: an entry of the registry.
///
/// ```
/// use std::collections::VecDeque;
///
/// use clift::Registry;
/// use clift::queue::{Aqm, OwnQueue, QueueDiscipline, QueueKind, QueuedPacket};
/// use clift::units::Instant;
///
/// /// Last in, first out.
/// #[derive(Debug, Default)]
/// struct Stack(Vec<u64>);
///
/// impl QueueDiscipline for Stack {
///     fn enqueue(&mut self, _: Instant, packet: QueuedPacket, _: &mut Vec<u64>) {
///         self.0.push(packet.number);
///     }
///
///     fn dequeue(&mut self, _: Instant, _: &mut Vec<u64>) -> Option<u64> {
///         self.0.pop()
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.add(QueueKind {
///     name: "stack",
///     summary: "Last in, first out.",
///     text: "stack",
///     read: &|arguments| {
///         arguments.end()?;
///         Ok(OwnQueue::new("stack", &[], &|_, _| Box::new(Stack::default())))
///     },
/// })?;
/// let read = |text: &str| registry.within(|| text.parse::<Aqm>());
/// assert_eq!(read("Stack")?.to_string(), "stack");
/// assert!(read("stack(2)").unwrap_err().contains("`2` means nothing here"));
/// assert!(read("stak").unwrap_err().ends_with("or \"stack\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct QueueKind {
    /// The name with which its text starts; case is ignored.
    pub name: &'static str,
    /// One-sentence description.
    pub summary: &'static str,
    /// Example of its text: "own", "own(limit 3)".
    pub text: &'static str,
    /// Reads the arguments in parentheses after the name; the error says briefly what is wrong.
    pub read: &'static ReadQueue,
}

impl fmt::Debug for QueueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QueueKind").field(&self.name).finish()
    }
}

impl Row for QueueKind {
    const PART: &'static str = "a queue";
    const BUILT_IN: &'static [Self] = &BUILT_IN;

    fn name(&self) -> &'static str {
        self.name
    }
}

/// A user-defined queue with its arguments.
#[derive(Clone)]
pub struct OwnQueue {
    name: &'static str,
    /// The arguments as written.
    arguments: Arc<[String]>,
    build: &'static BuildQueue,
}

impl OwnQueue {
    /// The queue of this kind with these arguments; `build` makes an empty one.
    #[allow(clippy::new_ret_no_self)] // as all queues are chosen
    pub fn new(name: &'static str, arguments: &[&str], build: &'static BuildQueue) -> Aqm {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Aqm::Own(Self { name, arguments, build })
    }

    /// An empty queue with `limit`.
    pub(super) fn build(&self, limit: QueueLimit, rng: ChaCha8Rng) -> Box<dyn Discipline> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let own = (self.build)(&arguments, rng);
        Box::new(Bounded { own, limit, bytes: 0, held: BTreeMap::new(), next: 0, gone: Vec::new() })
    }
}

impl PartialEq for OwnQueue {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.arguments == other.arguments
    }
}

impl Eq for OwnQueue {}

impl fmt::Debug for OwnQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for OwnQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.arguments {
            [] => f.write_str(self.name),
            all => write!(f, "{}({})", self.name, all.join(", ")),
        }
    }
}

/// A user-defined queue with its limit and the waiting packets.
#[derive(Debug)]
struct Bounded {
    own: Box<dyn QueueDiscipline>,
    limit: QueueLimit,
    bytes: u64,
    /// By number.
    held: BTreeMap<u64, WaitingPacket>,
    next: u64,
    /// Reused buffer.
    gone: Vec<u64>,
}

impl Bounded {
    /// Removes a waiting packet; `None` if it does not wait here.
    fn take(&mut self, number: u64) -> Option<WaitingPacket> {
        let held = self.held.remove(&number)?;
        self.bytes -= u64::from(held.size.0);
        Some(held)
    }

    fn take_gone(&mut self, mut gone: Vec<u64>, dropped: &mut Vec<WaitingPacket>) {
        dropped.extend(gone.drain(..).filter_map(|number| self.take(number)));
        self.gone = gone;
    }
}

impl Discipline for Bounded {
    fn enqueue(&mut self, now: Instant, held: WaitingPacket, dropped: &mut Vec<WaitingPacket>) {
        if !self.has_room(held.size) {
            dropped.push(held);
            return;
        }
        let number = self.next;
        self.next += 1;
        self.bytes += u64::from(held.size.0);
        self.held.insert(number, held);
        let WaitingPacket { flow, size, entered, .. } = held;
        let mut gone = std::mem::take(&mut self.gone);
        self.own.enqueue(now, QueuedPacket { number, flow, size, arrived: entered }, &mut gone);
        self.take_gone(gone, dropped);
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<WaitingPacket>) -> Option<WaitingPacket> {
        if self.held.is_empty() {
            return None;
        }
        let mut gone = std::mem::take(&mut self.gone);
        let next = self.own.dequeue(now, &mut gone);
        self.take_gone(gone, dropped);
        self.take(next?)
    }

    fn has_room(&self, size: Bytes) -> bool {
        self.limit.has_room(self.held.len(), self.bytes, size)
    }

    fn len(&self) -> usize {
        self.held.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Packet, PacketId};

    /// Sends the newest packet first and drops all packets of flow 7, on arrival or later.
    #[derive(Debug, Default)]
    struct Newest(Vec<QueuedPacket>);

    impl QueueDiscipline for Newest {
        fn enqueue(&mut self, _: Instant, packet: QueuedPacket, dropped: &mut Vec<u64>) {
            match packet.flow {
                7 => dropped.push(packet.number),
                _ => self.0.push(packet),
            }
        }

        fn dequeue(&mut self, _: Instant, dropped: &mut Vec<u64>) -> Option<u64> {
            let newest = self.0.pop()?;
            dropped.extend(self.0.drain(..).filter(|it| it.flow == 8).map(|it| it.number));
            Some(newest.number)
        }
    }

    #[test]
    fn waiting_packets_count_against_the_limit() {
        let own = Box::<Newest>::default();
        let limit = QueueLimit::Bytes(3000);
        let (held, gone) = (BTreeMap::new(), Vec::new());
        let mut queue = Bounded { own, limit, bytes: 0, held, next: 0, gone };
        let mut dropped = Vec::new();
        let mut put = |queue: &mut Bounded, number, flow| {
            let packet = Packet { flow, ..Packet::new(PacketId(number), Bytes(1000)) };
            let held = WaitingPacket::new(&packet, Instant::ZERO);
            queue.enqueue(Instant::ZERO, held, &mut dropped);
            dropped.drain(..).map(|held: WaitingPacket| held.packet).collect::<Vec<_>>()
        };
        assert_eq!(put(&mut queue, 40, 7), [40]);
        assert_eq!(put(&mut queue, 41, 8), [] as [u64; 0]);
        assert_eq!(put(&mut queue, 42, 8), [] as [u64; 0]);
        assert_eq!(put(&mut queue, 43, 1), [] as [u64; 0]);
        assert_eq!(put(&mut queue, 44, 1), [44], "no room");
        assert_eq!((queue.len(), queue.has_room(Bytes(1))), (3, false));
        let mut dropped = Vec::new();
        let sent = queue.dequeue(Instant::ZERO, &mut dropped).unwrap();
        assert_eq!(sent.packet, 43);
        assert_eq!(dropped.iter().map(|held| held.packet).collect::<Vec<_>>(), [41, 42]);
        assert_eq!((queue.len(), queue.bytes), (0, 0));
    }
}
