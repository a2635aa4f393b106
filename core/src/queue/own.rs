//! Queues from outside the core, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use super::{Discipline, Held};
use crate::link::QueueLimit;
use crate::units::{Bytes, Instant};

/// A packet that comes to a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueuedPacket {
    /// Its number among those that found room, from 0.
    pub number: u64,
    /// Its flow.
    pub flow: u32,
    /// IP packet, headers included.
    pub size: Bytes,
    /// When it came.
    pub arrived: Instant,
}

/// What decides which packet is sent next, and which never. `now` never falls.
pub trait QueueDiscipline: fmt::Debug + Send {
    /// A packet comes, for which the queue's limit has room. Numbers of packets that are dropped, it
    /// or others, go to `dropped`.
    fn enqueue(&mut self, now: Instant, packet: QueuedPacket, dropped: &mut Vec<u64>);

    /// The number of the packet that is sent now; others may be dropped. It is asked again when that
    /// packet has left, and when another comes.
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<u64>) -> Option<u64>;
}

/// Makes a queue of its arguments; what it draws comes from the stream.
pub type BuildQueue = dyn Fn(&[&'static str], ChaCha8Rng) -> Box<dyn QueueDiscipline> + Send + Sync;

/// Whether a queue can be made of its arguments.
pub type CheckQueue = dyn Fn(&[&'static str]) -> Result<(), String> + Send + Sync;

/// A kind of queue: a row of the registry.
pub struct QueueKind {
    /// The name that its text begins with; upper and lower case do not matter.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// A text that shows its form: "own", "own(limit 3)".
    pub text: &'static str,
    /// Says in a few words what is wrong with what stands in parentheses behind its name, parted at
    /// commas.
    pub check: &'static CheckQueue,
    /// Makes one, empty.
    pub build: &'static BuildQueue,
}

impl fmt::Debug for QueueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QueueKind").field(&self.name).finish()
    }
}

static ADDED: RwLock<Vec<&QueueKind>> = RwLock::new(Vec::new());

/// The names of the core's own.
const BUILT_IN: [&str; 4] = ["none", "codel", "fq-codel", "pie"];

impl QueueKind {
    /// Those registered, oldest first.
    pub fn added() -> Vec<&'static Self> {
        ADDED.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Adds a kind of queue, for this process and for good: its text chooses it wherever that of queue
/// management stands.
///
/// ```
/// use std::collections::VecDeque;
///
/// use clift::queue::{Aqm, QueueDiscipline, QueueKind, QueuedPacket, register_queue};
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
/// register_queue(QueueKind {
///     name: "stack",
///     summary: "Last in, first out.",
///     text: "stack",
///     check: &|arguments| match arguments {
///         [] => Ok(()),
///         _ => Err("a stack has no arguments".to_owned()),
///     },
///     build: &|_, _| Box::new(Stack::default()),
/// })?;
/// assert_eq!("Stack".parse::<Aqm>().unwrap().to_string(), "stack");
/// assert!("stack(2)".parse::<Aqm>().unwrap_err().contains("a stack has no arguments"));
/// assert!("stak".parse::<Aqm>().unwrap_err().ends_with("or \"stack\""));
/// # Ok::<(), clift::queue::QueueNameTaken>(())
/// ```
///
/// # Errors
/// If there is one of its name.
pub fn register_queue(kind: QueueKind) -> Result<(), QueueNameTaken> {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    let names = BUILT_IN.into_iter().chain(added.iter().map(|known| known.name));
    if names.into_iter().any(|known| known.eq_ignore_ascii_case(kind.name)) {
        return Err(QueueNameTaken(kind.name));
    }
    added.push(Box::leak(Box::new(kind)));
    Ok(())
}

/// A name under which another queue is registered.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("there is a queue `{0}` already; choose another name")]
pub struct QueueNameTaken(pub &'static str);

/// A queue from outside the core with its arguments.
#[derive(Clone, Copy, Debug)]
pub struct OwnQueue {
    kind: &'static QueueKind,
    /// As they are written; kept once for each text.
    arguments: &'static [&'static str],
}

impl OwnQueue {
    /// The one that a text names; `None`: none of these.
    pub(super) fn parse(text: &str) -> Option<Result<Self, String>> {
        let (name, inside) = match text.trim().split_once('(') {
            None => (text.trim(), None),
            Some((name, inside)) => (name.trim_end(), Some(inside)),
        };
        let kind =
            QueueKind::added().into_iter().find(|kind| kind.name.eq_ignore_ascii_case(name))?;
        let arguments = match inside.map(|inside| inside.strip_suffix(')')) {
            None => Vec::new(),
            Some(None) => return Some(Err("the closing parenthesis is missing".to_owned())),
            Some(Some(inside)) => inside.split(',').map(str::trim).collect(),
        };
        let arguments = interned(&arguments);
        Some((kind.check)(arguments).map(|()| Self { kind, arguments }))
    }

    /// An empty one of at most `limit`.
    pub(super) fn build(self, limit: QueueLimit, rng: ChaCha8Rng) -> Box<dyn Discipline> {
        let own = (self.kind.build)(self.arguments, rng);
        Box::new(Bounded { own, limit, bytes: 0, held: BTreeMap::new(), next: 0, gone: Vec::new() })
    }
}

impl PartialEq for OwnQueue {
    fn eq(&self, other: &Self) -> bool {
        self.kind.name == other.kind.name && self.arguments == other.arguments
    }
}

impl Eq for OwnQueue {}

impl fmt::Display for OwnQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.arguments {
            [] => f.write_str(self.kind.name),
            all => write!(f, "{}({})", self.kind.name, all.join(", ")),
        }
    }
}

/// The same arguments for as long as the process lasts, so that they are plain values.
fn interned(arguments: &[&str]) -> &'static [&'static str] {
    static KNOWN: RwLock<Vec<&[&str]>> = RwLock::new(Vec::new());
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(same) = known.iter().find(|same| **same == arguments) {
        return same;
    }
    let kept = arguments.iter().map(|one| &*Box::leak(Box::<str>::from(*one)));
    let kept: &'static [&'static str] = Box::leak(kept.collect());
    known.push(kept);
    kept
}

/// A queue from outside within its limit, and what waits in it.
#[derive(Debug)]
struct Bounded {
    own: Box<dyn QueueDiscipline>,
    limit: QueueLimit,
    bytes: u64,
    /// By number.
    held: BTreeMap<u64, Held>,
    next: u64,
    /// Kept for its room.
    gone: Vec<u64>,
}

impl Bounded {
    /// Takes out a packet that waits; none of another number.
    fn take(&mut self, number: u64) -> Option<Held> {
        let held = self.held.remove(&number)?;
        self.bytes -= u64::from(held.size.0);
        Some(held)
    }

    fn take_gone(&mut self, mut gone: Vec<u64>, dropped: &mut Vec<Held>) {
        dropped.extend(gone.drain(..).filter_map(|number| self.take(number)));
        self.gone = gone;
    }
}

impl Discipline for Bounded {
    fn enqueue(&mut self, now: Instant, held: Held, dropped: &mut Vec<Held>) {
        if !self.has_room(held.size) {
            dropped.push(held);
            return;
        }
        let number = self.next;
        self.next += 1;
        self.bytes += u64::from(held.size.0);
        self.held.insert(number, held);
        let Held { flow, size, entered, .. } = held;
        let mut gone = std::mem::take(&mut self.gone);
        self.own.enqueue(now, QueuedPacket { number, flow, size, arrived: entered }, &mut gone);
        self.take_gone(gone, dropped);
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<Held>) -> Option<Held> {
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

    /// Sends the newest first and drops every packet of flow 7, on arrival or later.
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
    fn what_waits_is_counted_against_the_limit() {
        let own = Box::<Newest>::default();
        let limit = QueueLimit::Bytes(3000);
        let (held, gone) = (BTreeMap::new(), Vec::new());
        let mut queue = Bounded { own, limit, bytes: 0, held, next: 0, gone };
        let mut dropped = Vec::new();
        let mut put = |queue: &mut Bounded, number, flow| {
            let packet = Packet { flow, ..Packet::new(PacketId(number), Bytes(1000)) };
            let held = Held::new(&packet, Instant::ZERO);
            queue.enqueue(Instant::ZERO, held, &mut dropped);
            dropped.drain(..).map(|held: Held| held.packet).collect::<Vec<_>>()
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
