//! Writes packets in order of time, although their fates are known only later.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};

use super::pcapng::{self, Heading};
use super::place::{Place, mark};
use crate::simulation::{Discarded, Units};
use crate::transport::End;

/// A capture that is being written. A packet is announced when it is sent ([`Timeline::begin`]) and
/// completed when its fate is known ([`Timeline::end`]). Records older than every packet in flight
/// are written, so that memory is bounded by the packets in flight and those sent meanwhile.
///
/// ```
/// use clift::capture::{Fate, Seen, Timeline};
/// let mut timeline = Timeline::new(Vec::new(), 0, 80, 1)?;
/// let ticket = timeline.begin(1_000);
/// let packet = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0xb6, 0xc9, 192, 0, 2, 1, 192, 0, 2, 2];
/// let seen = Seen {
///     frame: packet.to_vec(),
///     size: 20,
///     on_link: Some(1_500),
///     arrived: Some(2_000),
///     fate: Fate::Delivered(1_000),
///     ..Seen::default()
/// };
/// timeline.end(ticket, &seen);
/// timeline.write_until(3_000)?;
/// assert_eq!(timeline.finish()?, 3);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Timeline<W> {
    out: W,
    /// Added to all times.
    epoch: u64,
    snap: u32,
    records: BinaryHeap<Reverse<Record>>,
    /// Send time of each packet, from the oldest in flight on; `None` if its fate is known.
    open: VecDeque<Option<u64>>,
    /// The number of the first of these.
    base: u64,
    /// Number of events so far, which orders records of equal time.
    events: u64,
    written: u64,
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub struct Ticket {
    number: u64,
    at: u64,
    event: u64,
}

/// Fate of a captured packet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Fate {
    /// Still in flight at the end of the run.
    #[default]
    Open,
    /// It reached the other host after this time, in ns.
    Delivered(u64),
    /// It reached the other host after this time, in ns, which discarded its data.
    Discarded(u64, Discarded),
    /// Given up by the link, or the leg, with this number on its path (from 1), this many ns after
    /// it was sent.
    Lost(u64, u32),
    /// Dropped because the queue of the hop with this number was full.
    QueueFull(u32),
    /// Too large for the hop with this number.
    TooLarge(u32),
}

/// A packet whose fate is known, or that was in flight at the end. Times are in ns from the start.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The end that sent it.
    pub from: End,
    /// The path that it took, of several; else 0.
    pub path: u8,
    /// The IP packet, or its first bytes, with the addresses at the sender.
    pub frame: Vec<u8>,
    /// Its length.
    pub size: u32,
    /// Start of its transmission over the link.
    pub on_link: Option<u64>,
    /// Arrival at the other host.
    pub arrived: Option<u64>,
    /// Its fate.
    pub fate: Fate,
    /// Time in the queue of the link.
    pub queued: Option<u64>,
    /// Units that links sent for it.
    pub units: Units,
    /// How often its bytes were sent before.
    pub retransmission: u16,
    /// Size of the packet on the link, if it differs from its length.
    pub counts: Option<u32>,
    /// Delay of its delivery in real time.
    pub late: Option<u64>,
    /// Time at which a queue marked it (ECN).
    pub marked: Option<u64>,
    /// What it led to, to end its comment; empty: nothing.
    pub led_to: String,
}

/// A block of the file, ordered by time, then by the order of events.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Record {
    at: u64,
    event: u64,
    place: Place,
    block: Vec<u8>,
}

impl<W: Write> Timeline<W> {
    /// Starts a file whose times count from `epoch` ns after 1970, with `snap` bytes of each
    /// packet. Each of `paths` has its own interfaces.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut out: W, epoch: u64, snap: u32, paths: u8) -> io::Result<Self> {
        out.write_all(&pcapng::section(concat!("clift ", env!("CARGO_PKG_VERSION"))))?;
        for path in 0..paths {
            for place in Place::ALL {
                let of_path = if paths > 1 { format!(" {path}") } else { String::new() };
                let name = format!("{}{of_path}", place.name());
                out.write_all(&pcapng::interface(&name, place.description(), snap))?;
            }
        }
        Ok(Self {
            out,
            epoch,
            snap,
            records: BinaryHeap::new(),
            open: VecDeque::new(),
            base: 0,
            events: 0,
            written: 0,
        })
    }

    /// Records that a packet is sent at `at`, which never decreases.
    pub fn begin(&mut self, at: u64) -> Ticket {
        let number = self.base + self.open.len() as u64;
        self.open.push_back(Some(at));
        Ticket { number, at, event: self.event() }
    }

    /// Records the fate of a packet, at the time at which it became known.
    pub fn end(&mut self, ticket: Ticket, seen: &Seen) {
        if let Some(place) = self.open.get_mut((ticket.number - self.base) as usize) {
            *place = None;
        }
        while let Some(None) = self.open.front() {
            self.open.pop_front();
            self.base += 1;
        }
        let comment = seen.to_string();
        let (source, target, heading) = match seen.from {
            End::Sender => (Place::Sender, Place::Receiver, Heading::Out),
            End::Receiver => (Place::Receiver, Place::Sender, Heading::In),
        };
        let mut put = |at, event, place: Place, heading| {
            let mut kept = seen.frame[..seen.frame.len().min(self.snap as usize)].to_vec();
            place.translate(&mut kept);
            if place != source && seen.marked.is_some_and(|marked| marked <= at) {
                mark(&mut kept);
            }
            let nanos = self.epoch.saturating_add(at);
            let interface = place as u32 + u32::from(seen.path) * Place::ALL.len() as u32;
            let block = pcapng::packet(interface, nanos, heading, seen.size, &kept, &comment);
            self.records.push(Reverse(Record { at, event, place, block }));
        };
        put(ticket.at, ticket.event, source, Heading::Out);
        if let Some(at) = seen.on_link {
            put(at, ticket.event, Place::Link, heading);
        }
        if let Some(at) = seen.arrived {
            self.events += 1;
            put(at, self.events, target, Heading::In);
        }
    }

    /// Writes records older than `now` and than every packet in flight.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_until(&mut self, now: u64) -> io::Result<()> {
        let safe = self.open.front().copied().flatten().map_or(now, |oldest| oldest.min(now));
        while self.records.peek().is_some_and(|Reverse(record)| record.at < safe) {
            let Some(Reverse(record)) = self.records.pop() else { break };
            self.out.write_all(&record.block)?;
            self.written += 1;
        }
        Ok(())
    }

    /// Writes the remaining records.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<u64> {
        self.open.clear();
        self.write_until(u64::MAX)?;
        self.out.flush()?;
        Ok(self.written)
    }

    fn event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }
}
