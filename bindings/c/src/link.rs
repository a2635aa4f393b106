//! A link for a C host.

use std::collections::BTreeSet;
use std::ffi::{CString, c_char};

use clift::link::{
    Admission, DropReason, Instrument, Link, LinkEvent, Packet, PacketId, StreamRange,
};
use clift::simulation::Way;
use clift::units::{Bytes, Instant};
use serde_json::{Map, Value, json};

use crate::CLIFT_NEVER;
use crate::error::{Fallible, c_string, guarded, hand_out};

/// A link; made by `clift_link_new`, `clift_scenario_link` and similar functions, freed by
/// `clift_link_free`. Only one thread at a time may use it.
#[allow(non_camel_case_types)]
pub struct clift_link {
    way: Way,
    /// Time of the last call.
    now: Instant,
    /// Numbers of the packets whose fate the host has not polled.
    packets: BTreeSet<u64>,
    /// Error of the last call; `None` if it succeeded.
    fault: Option<CString>,
    /// A panic left the link in an unknown state.
    broken: bool,
}

/// The largest IP packet, in bytes: IPv6 without a jumbo payload.
const LARGEST_PACKET: u32 = 40 + 65_535;

/// The packet is in the queue.
pub const CLIFT_QUEUED: i32 = 0;
/// The queue was full; the packet is dropped.
pub const CLIFT_FULL: i32 = 1;
/// The link does not carry packets of this size; the packet is dropped.
pub const CLIFT_TOO_LARGE: i32 = 2;
/// The call was not valid and had no effect; `clift_link_error` returns the reason.
pub const CLIFT_WRONG: i32 = -1;

/// The packet was delivered at the far end.
pub const CLIFT_DELIVERED: u32 = 0;
/// The link gave the packet up.
pub const CLIFT_LOST: u32 = 1;
/// The packet left the queue, so there may be room for another one.
pub const CLIFT_DEPARTED: u32 = 2;
/// The trace ended while this packet was waiting for slots. Reported once; no packet behind it is
/// delivered.
pub const CLIFT_TRACE_ENDED: u32 = 3;

/// An event of a packet.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct clift_event {
    /// CLIFT_DELIVERED, CLIFT_LOST, CLIFT_DEPARTED or CLIFT_TRACE_ENDED.
    pub kind: u32,
    /// Always zero.
    pub pad: u32,
    /// The host's number of the packet.
    pub packet: u64,
    /// Time of the event in ns; at most the `now_ns` of the poll that returned it.
    pub at_ns: u64,
}

/// Counters of a link, in packets and bytes.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Default)]
pub struct clift_counters {
    /// Packets enqueued, including dropped ones.
    pub offered: u64,
    /// Packets dropped by the queue or because of their size.
    pub dropped: u64,
    /// Packets whose delivery the host has polled.
    pub delivered: u64,
    /// Packets whose loss the host has polled.
    pub lost: u64,
    /// Bytes of the delivered packets.
    pub bytes_delivered: u64,
    /// Packets waiting in the queue.
    pub waiting: u64,
    /// Slots that passed; 0 for a wired leg. Over a link trace this is an estimate: the data LLDUs
    /// that passed, times the mean number of slots per data LLDU in the whole trace.
    pub slots: f64,
    /// Slots used, including repairs.
    pub slots_used: f64,
}

impl clift_link {
    pub(crate) fn new(mut way: Way) -> Self {
        way.notify_departures();
        Self { way, now: Instant::ZERO, packets: BTreeSet::new(), fault: None, broken: false }
    }

    /// Runs a call at a time; keeps a fault for `clift_link_error`.
    fn call<T>(&mut self, action: impl FnOnce(&mut Self) -> Fallible<T>) -> Option<T> {
        let broken = self.broken;
        self.broken = true;
        let done = guarded(|| match broken {
            true => Err("an earlier call had an internal error; free the link".to_owned()),
            false => Ok(action(self)),
        });
        match done {
            Ok(done) => {
                self.broken = false;
                self.fault = done.as_ref().err().map(|message| c_string(message));
                done.ok()
            }
            Err(message) => {
                self.fault = Some(c_string(&message));
                None
            }
        }
    }

    /// Keeps the fault of a call that cannot be made.
    fn wrong(&mut self, fault: &str) -> i32 {
        self.fault = Some(c_string(fault));
        CLIFT_WRONG
    }

    /// Moves the time of the last call to `now`. All earlier events must have been polled: a packet
    /// that departed before `now` would otherwise still take a place in the queue.
    fn advance(&mut self, now: u64) -> Fallible<Instant> {
        let now = Instant::from_nanos(now);
        if now < self.now {
            return Err(format!(
                "the time went back from {} to {} ns",
                self.now.as_nanos(),
                now.as_nanos()
            ));
        }
        if let Some(due) = self.way.poll_timeout().filter(|&due| due < now) {
            return Err(format!(
                "an event is due at {} ns, before {} ns; poll it first",
                due.as_nanos(),
                now.as_nanos()
            ));
        }
        self.now = now;
        Ok(now)
    }

    fn enqueue(&mut self, now: u64, packet: Packet) -> i32 {
        let taken = self.call(|link| {
            if !(1..=LARGEST_PACKET).contains(&packet.size.0) {
                return Err(format!(
                    "a packet has 1 to {LARGEST_PACKET} bytes, not {}",
                    packet.size.0
                ));
            }
            if link.packets.contains(&packet.id.0) {
                return Err(format!(
                    "packet {} is on the link already; a number is free once the packet is \
                     delivered, lost or dropped",
                    packet.id.0
                ));
            }
            let now = link.advance(now)?;
            Ok(match link.way.enqueue(now, packet) {
                Admission::Queued => {
                    link.packets.insert(packet.id.0);
                    CLIFT_QUEUED
                }
                Admission::Dropped(DropReason::TooLarge) => CLIFT_TOO_LARGE,
                Admission::Dropped(_) => CLIFT_FULL,
            })
        });
        taken.unwrap_or(CLIFT_WRONG)
    }
}

/// Enqueues a packet of `bytes` bytes (the whole IP packet, at most 65575) that arrives at
/// `now_ns`. `packet` is the host's number for it, which no other packet on the link has. `now_ns`
/// must not decrease from call to call; all events before `now_ns` must have been polled, and those
/// at `now_ns` should have been. Returns CLIFT_QUEUED, CLIFT_FULL, CLIFT_TOO_LARGE or CLIFT_WRONG.
/// A link that orders packets by TCP sequence numbers returns CLIFT_WRONG; use
/// `clift_link_enqueue_in`.
///
/// # Safety
/// `link` must be null or a valid handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_enqueue(
    link: *mut clift_link,
    now_ns: u64,
    packet: u64,
    bytes: u32,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return CLIFT_WRONG };
    if link.way.reads_streams() {
        return link
            .wrong("the link needs the stream position of packets; use clift_link_enqueue_in");
    }
    link.enqueue(now_ns, Packet::new(PacketId(packet), Bytes(bytes)))
}

/// As `clift_link_enqueue`, for a packet that carries bytes `first` to `end` - 1 of the stream of
/// `flow`. Positions follow the sequence numbers of TCP, counted from 0 without wrapping. Set
/// `first` = `end` for a packet without stream data (an acknowledgement, a datagram).
///
/// # Safety
/// As for `clift_link_enqueue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_enqueue_in(
    link: *mut clift_link,
    now_ns: u64,
    packet: u64,
    bytes: u32,
    flow: u64,
    first: u64,
    end: u64,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return CLIFT_WRONG };
    let Ok(number) = u32::try_from(flow) else {
        return link.wrong(&format!("flow {flow}: give at most {}", u32::MAX));
    };
    if end < first {
        return link.wrong(&format!("the end of bytes {first} to {end} is before their start"));
    }
    let id = Packet::new(PacketId(packet), Bytes(bytes));
    let carries = StreamRange { flow: number, start: first, end };
    link.enqueue(now_ns, if first == end { id } else { id.carrying(carries) })
}

/// Returns the time at which to poll the link next, or CLIFT_NEVER if nothing happens until a
/// further packet arrives. Every call may change this time.
///
/// # Safety
/// `link` must be null or a valid handle that no other call changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_next(link: *const clift_link) -> u64 {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_ref() }) else { return CLIFT_NEVER };
    if link.broken {
        return CLIFT_NEVER;
    }
    let next = guarded(|| Ok(link.way.poll_timeout()));
    next.ok().flatten().map_or(CLIFT_NEVER, |at| at.as_nanos())
}

/// Returns the next event up to `now_ns`, oldest first: 1 if `event` was filled, 0 if no event is
/// left (`clift_link_next` is then later than `now_ns`), or CLIFT_WRONG.
///
/// # Safety
/// `link` must be null or a valid handle that no other call uses; `event` must point to a structure
/// that may be overwritten.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_poll(
    link: *mut clift_link,
    now_ns: u64,
    event: *mut clift_event,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return CLIFT_WRONG };
    if event.is_null() {
        return link.wrong("`event` is null");
    }
    let polled = link.call(|link| {
        let now = Instant::from_nanos(now_ns);
        link.now = link.now.max(now);
        let happened = link.way.poll(now);
        if let Some(LinkEvent::Delivered(transit) | LinkEvent::Lost(transit)) = &happened {
            link.packets.remove(&transit.packet.0);
        }
        Ok(happened)
    });
    let happened = match polled {
        None => return CLIFT_WRONG,
        Some(None) => return 0,
        Some(Some(happened)) => happened,
    };
    let (kind, id) = match happened {
        LinkEvent::Delivered(transit) => (CLIFT_DELIVERED, transit.packet),
        LinkEvent::Lost(transit) => (CLIFT_LOST, transit.packet),
        LinkEvent::Departed { packet, .. } => (CLIFT_DEPARTED, packet),
        LinkEvent::TraceEnded { packet, .. } => (CLIFT_TRACE_ENDED, packet),
        // The core may define further kinds of events, which this version of the interface does not
        // know.
        _ => return CLIFT_WRONG,
    };
    let at_ns = happened.at().as_nanos();
    // SAFETY: guaranteed by the caller.
    unsafe { *event = clift_event { kind, pad: 0, packet: id.0, at_ns } };
    1
}

/// Returns 1 if the queue has room for a packet of `bytes` at `now_ns`, 0 if not, or CLIFT_WRONG.
/// `now_ns` must not decrease from call to call, and all events before it must have been polled. A
/// host that holds packets back asks again after the next CLIFT_DEPARTED.
///
/// # Safety
/// As for `clift_link_enqueue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_room(link: *mut clift_link, now_ns: u64, bytes: u32) -> i32 {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return CLIFT_WRONG };
    let room = link.call(|link| {
        let now = link.advance(now_ns)?;
        Ok(link.way.has_room(now, Bytes(bytes)))
    });
    room.map_or(CLIFT_WRONG, i32::from)
}

/// Returns 1 if the link needs the stream position of packets (`clift_link_enqueue_in`), 0 if not,
/// or CLIFT_WRONG without a link.
///
/// # Safety
/// `link` must be null or a valid handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_reads_streams(link: *const clift_link) -> i32 {
    // SAFETY: guaranteed by the caller.
    unsafe { link.as_ref() }.map_or(CLIFT_WRONG, |link| i32::from(link.way.reads_streams()))
}

/// Fills `counters` with the values at `now_ns`; returns 0 or CLIFT_WRONG. Over several hops, slots
/// and waiting packets are sums.
///
/// # Safety
/// As for `clift_link_poll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_counters(
    link: *mut clift_link,
    now_ns: u64,
    counters: *mut clift_counters,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return CLIFT_WRONG };
    if counters.is_null() {
        return link.wrong("`counters` is null");
    }
    let counted = link.call(|link| {
        link.now = link.now.max(Instant::from_nanos(now_ns));
        link.way.catch_up(link.now);
        Ok(counted(&link.way, link.now))
    });
    let Some(counted) = counted else { return CLIFT_WRONG };
    // SAFETY: guaranteed by the caller.
    unsafe { *counters = counted };
    0
}

fn counted(way: &Way, now: Instant) -> clift_counters {
    let own = way.counters();
    let mut all = clift_counters {
        offered: own.offered,
        dropped: own.dropped,
        delivered: own.delivered,
        lost: own.lost,
        bytes_delivered: own.bytes_delivered,
        ..clift_counters::default()
    };
    for hop in way.hops() {
        let usage = hop.usage(now);
        all.waiting += hop.queue_len(now) as u64;
        all.slots += usage.slots;
        all.slots_used += usage.used;
    }
    all
}

/// Returns all counters of the hops at `now_ns` as JSON: a list with one object per hop, with
/// `offered`, `dropped`, `delivered`, `lost`, `waiting`, `longest_queue`, `overtaken`, `held`,
/// `flushes`, `slots`, `slots_used`, `slots_beside` and further counters of this kind of link.
/// Returns null on failure. Free the text with `clift_string_free`.
///
/// # Safety
/// As for `clift_link_enqueue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_report(link: *mut clift_link, now_ns: u64) -> *mut c_char {
    // SAFETY: guaranteed by the caller.
    let Some(link) = (unsafe { link.as_mut() }) else { return std::ptr::null_mut() };
    let text = link.call(|link| {
        link.now = link.now.max(Instant::from_nanos(now_ns));
        link.way.catch_up(link.now);
        let hops: Vec<Value> = link.way.hops().map(|hop| report(hop, link.now)).collect();
        Ok(json!(hops).to_string())
    });
    let mut handed = std::ptr::null_mut();
    // SAFETY: `error` points to a local variable.
    unsafe { hand_out(&raw mut handed, text.as_deref()) };
    handed
}

fn report(hop: &(impl Instrument + ?Sized), now: Instant) -> Value {
    let (counters, usage) = (hop.counters(), hop.usage(now));
    let mut report: Map<String, Value> = Map::new();
    let counts = [
        ("offered", counters.offered),
        ("dropped", counters.dropped),
        ("delivered", counters.delivered),
        ("lost", counters.lost),
        ("waiting", hop.queue_len(now) as u64),
        ("longest_queue", counters.longest_queue),
        ("overtaken", counters.overtaken),
        ("held", counters.held),
        ("flushes", counters.flushes),
    ];
    let details = hop.details();
    for (name, count) in counts.into_iter().chain(details) {
        report.insert(name.to_owned(), json!(count));
    }
    let slots =
        [("slots", usage.slots), ("slots_used", usage.used), ("slots_beside", usage.beside)];
    for (name, share) in slots {
        report.insert(name.to_owned(), json!(share));
    }
    Value::Object(report)
}

/// Returns the reason why the last call with this link returned CLIFT_WRONG or null; null if it
/// succeeded. The link owns the text, which is valid until the next call; do not free it.
///
/// # Safety
/// `link` must be null or a valid handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_error(link: *const clift_link) -> *const c_char {
    // SAFETY: guaranteed by the caller.
    let fault = unsafe { link.as_ref() }.and_then(|link| link.fault.as_ref());
    fault.map_or(std::ptr::null(), |fault| fault.as_ptr())
}

/// Frees a link; accepts null.
///
/// # Safety
/// `link` must be null or a valid handle, and must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_free(link: *mut clift_link) {
    if !link.is_null() {
        // SAFETY: guaranteed by the caller.
        drop(unsafe { Box::from_raw(link) });
    }
}
