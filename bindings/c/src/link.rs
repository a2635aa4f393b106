//! A link in the hands of a C host.

use std::ffi::{CString, c_char};

use clift::link::{
    Admission, DropReason, Instrument, Link, LinkEvent, Packet, PacketId, StreamRange,
};
use clift::simulation::Way;
use clift::units::{Bytes, Instant};
use serde_json::{Map, Value, json};

use crate::CLIFT_NEVER;
use crate::error::{Fallible, c_string, guarded, hand_out};

/// A link; made by `clift_link_new` and its kin, freed by `clift_link_free`. One thread at a time
/// may use it.
#[allow(non_camel_case_types)]
pub struct clift_link {
    way: Way,
    /// The time of the last call.
    now: Instant,
    /// Why the last call failed; null for none.
    fault: Option<CString>,
    /// A panic left it in an unknown state.
    broken: bool,
}

/// The queue took the packet.
pub const CLIFT_QUEUED: i32 = 0;
/// The queue was full; the packet is gone.
pub const CLIFT_FULL: i32 = 1;
/// The link carries no packet of this size; it is gone.
pub const CLIFT_TOO_LARGE: i32 = 2;
/// The call was wrong, and nothing happened; `clift_link_error` says why.
pub const CLIFT_WRONG: i32 = -1;

/// The packet is at the far end.
pub const CLIFT_DELIVERED: u32 = 0;
/// The link gave the packet up.
pub const CLIFT_LOST: u32 = 1;
/// The packet left the queue, so that there may be room for another.
pub const CLIFT_DEPARTED: u32 = 2;
/// The trace ended while this packet waits for slots; comes once, and nothing behind it gets further.
pub const CLIFT_TRACE_ENDED: u32 = 3;

/// Something that happened to a packet.
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct clift_event {
    /// CLIFT_DELIVERED, CLIFT_LOST, CLIFT_DEPARTED or CLIFT_TRACE_ENDED.
    pub kind: u32,
    /// Zero.
    pub pad: u32,
    /// The host's number of the packet.
    pub packet: u64,
    /// When, in ns; at most the `now_ns` of the poll that returned it.
    pub at_ns: u64,
}

/// What a link counted so far, in packets and bytes.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Default)]
pub struct clift_counters {
    /// Packets enqueued, those that were dropped included.
    pub offered: u64,
    /// Packets dropped by the queue, or for their size.
    pub dropped: u64,
    /// Packets whose delivery was polled.
    pub delivered: u64,
    /// Packets whose loss was polled.
    pub lost: u64,
    /// Bytes of the packets delivered.
    pub bytes_delivered: u64,
    /// Packets that wait in the queue.
    pub waiting: u64,
    /// Slots that passed; 0 for a wired leg. Over a link trace an estimate: the data LLDUs that came by,
    /// times the slots for each that the whole trace has.
    pub slots: f64,
    /// Slots used, repairs included.
    pub slots_used: f64,
}

impl clift_link {
    pub(crate) fn new(mut way: Way) -> Self {
        way.notify_departures();
        Self { way, now: Instant::ZERO, fault: None, broken: false }
    }

    /// Runs a call at an instant; a fault is kept for `clift_link_error`.
    fn call<T>(&mut self, action: impl FnOnce(&mut Self) -> Fallible<T>) -> Option<T> {
        let broken = self.broken;
        self.broken = true;
        let done = guarded(|| match broken {
            true => Err("an earlier call failed within CLIFT; free the link".to_owned()),
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

    fn enqueue(&mut self, now: u64, packet: Packet) -> i32 {
        let taken = self.call(|link| {
            let now = Instant::from_nanos(now);
            if now < link.now {
                return Err(format!(
                    "time went back from {} to {} ns",
                    link.now.as_nanos(),
                    now.as_nanos()
                ));
            }
            if packet.size.0 == 0 {
                return Err("a packet has at least one byte".to_owned());
            }
            link.now = now;
            Ok(match link.way.enqueue(now, packet) {
                Admission::Queued => CLIFT_QUEUED,
                Admission::Dropped(DropReason::TooLarge) => CLIFT_TOO_LARGE,
                Admission::Dropped(_) => CLIFT_FULL,
            })
        });
        taken.unwrap_or(CLIFT_WRONG)
    }
}

/// The link of a handle.
///
/// # Safety
/// `link` must be null or a living handle that no other call uses.
unsafe fn known<'l>(link: *mut clift_link) -> Option<&'l mut clift_link> {
    // SAFETY: the caller's promise.
    unsafe { link.as_mut() }
}

/// A packet of `bytes` (those of the IP packet) arrives at `now_ns`, which never falls; `packet` is
/// the host's number for it. What is due at `now_ns` must have been polled. Returns CLIFT_QUEUED,
/// CLIFT_FULL, CLIFT_TOO_LARGE or CLIFT_WRONG: a link that orders packets by TCP's sequence numbers
/// refuses this call.
///
/// # Safety
/// `link` must be null or a living handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_enqueue(
    link: *mut clift_link,
    now_ns: u64,
    packet: u64,
    bytes: u32,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(link) = (unsafe { known(link) }) else { return CLIFT_WRONG };
    if link.way.reads_streams() {
        let fault = "the link looks at what packets carry of a stream; use clift_link_enqueue_in";
        link.fault = Some(c_string(fault));
        return CLIFT_WRONG;
    }
    link.enqueue(now_ns, Packet::new(PacketId(packet), Bytes(bytes)))
}

/// As `clift_link_enqueue`, for a packet that carries bytes `first` to `end` - 1 of the stream of
/// `flow`, as the sequence number of a TCP segment says, counted from 0 without wrapping; `first` =
/// `end` for one that carries nothing (an acknowledgement, a datagram).
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
    // SAFETY: the caller's promise.
    let Some(link) = (unsafe { known(link) }) else { return CLIFT_WRONG };
    let wrong = match u32::try_from(flow) {
        Err(_) => Some(format!("flow {flow}: give at most {}", u32::MAX)),
        Ok(_) if end < first => Some(format!("bytes {first} to {end} end before they begin")),
        Ok(_) => None,
    };
    if let Some(wrong) = wrong {
        link.fault = Some(c_string(&wrong));
        return CLIFT_WRONG;
    }
    let id = Packet::new(PacketId(packet), Bytes(bytes));
    let carries = StreamRange { flow: flow as u32, start: first, end };
    link.enqueue(now_ns, if first == end { id } else { id.carrying(carries) })
}

/// When the link is to be polled next; CLIFT_NEVER: not before a further packet. It may move with
/// every call.
///
/// # Safety
/// `link` must be null or a living handle that no other call changes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_next(link: *const clift_link) -> u64 {
    // SAFETY: the caller's promise.
    let Some(link) = (unsafe { link.as_ref() }) else { return CLIFT_NEVER };
    if link.broken {
        return CLIFT_NEVER;
    }
    let next = guarded(|| Ok(link.way.poll_timeout()));
    next.ok().flatten().map_or(CLIFT_NEVER, |at| at.as_nanos())
}

/// The next thing that happened up to `now_ns`, oldest first: returns 1 and fills `event`, 0 for
/// nothing more for now (`clift_link_next` is then later than `now_ns`), or CLIFT_WRONG.
///
/// # Safety
/// `link` must be null or a living handle that no other call uses; `event` must point to one that
/// may be overwritten.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_poll(
    link: *mut clift_link,
    now_ns: u64,
    event: *mut clift_event,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(link) = (unsafe { known(link) }) else { return CLIFT_WRONG };
    if event.is_null() {
        link.fault = Some(c_string("no place for the event was given"));
        return CLIFT_WRONG;
    }
    let polled = link.call(|link| {
        let now = Instant::from_nanos(now_ns);
        link.now = link.now.max(now);
        Ok(link.way.poll(now))
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
        // A kind that a later core may have is not one that this interface has promised.
        _ => return CLIFT_WRONG,
    };
    let at_ns = happened.at().as_nanos();
    // SAFETY: the caller's promise.
    unsafe { *event = clift_event { kind, pad: 0, packet: id.0, at_ns } };
    1
}

/// Whether the queue has room for a packet of `bytes` at `now_ns`, which never falls: 1, 0, or
/// CLIFT_WRONG. A host that holds packets back asks again at the next CLIFT_DEPARTED.
///
/// # Safety
/// As for `clift_link_enqueue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_room(link: *mut clift_link, now_ns: u64, bytes: u32) -> i32 {
    // SAFETY: the caller's promise.
    let Some(link) = (unsafe { known(link) }) else { return CLIFT_WRONG };
    let room = link.call(|link| {
        link.now = link.now.max(Instant::from_nanos(now_ns));
        Ok(link.way.has_room(link.now, Bytes(bytes)))
    });
    room.map_or(CLIFT_WRONG, i32::from)
}

/// Whether the link must be told what packets carry of a stream, by `clift_link_enqueue_in`: 1 or 0;
/// CLIFT_WRONG without a link.
///
/// # Safety
/// `link` must be null or a living handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_reads_streams(link: *const clift_link) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { link.as_ref() }.map_or(CLIFT_WRONG, |link| i32::from(link.way.reads_streams()))
}

/// Fills `counters` as of `now_ns`; returns 0 or CLIFT_WRONG. Over several hops slots and what waits
/// are summed.
///
/// # Safety
/// As for `clift_link_poll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_counters(
    link: *mut clift_link,
    now_ns: u64,
    counters: *mut clift_counters,
) -> i32 {
    // SAFETY: the caller's promise.
    let Some(link) = (unsafe { known(link) }) else { return CLIFT_WRONG };
    if counters.is_null() {
        link.fault = Some(c_string("no place for the counters was given"));
        return CLIFT_WRONG;
    }
    let counted = link.call(|link| {
        link.now = link.now.max(Instant::from_nanos(now_ns));
        link.way.catch_up(link.now);
        Ok(counted(&link.way, link.now))
    });
    let Some(counted) = counted else { return CLIFT_WRONG };
    // SAFETY: the caller's promise.
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

/// All that the instruments of the hops show as of `now_ns`, as JSON: a list of one object a hop with
/// `offered`, `dropped`, `delivered`, `lost`, `waiting`, `longest_queue`, `overtaken`, `held`,
/// `flushes`, `slots`, `slots_used`, `slots_beside` and what this kind of link counts besides. Null
/// if that cannot be; freed by `clift_string_free`.
///
/// # Safety
/// As for `clift_link_enqueue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_report(link: *mut clift_link, now_ns: u64) -> *mut c_char {
    // SAFETY: the caller's promise.
    let Some(link) = (unsafe { known(link) }) else { return std::ptr::null_mut() };
    let text = link.call(|link| {
        link.now = link.now.max(Instant::from_nanos(now_ns));
        link.way.catch_up(link.now);
        let hops: Vec<Value> = link.way.hops().map(|hop| report(hop, link.now)).collect();
        Ok(json!(hops).to_string())
    });
    let mut handed = std::ptr::null_mut();
    // SAFETY: it points to a place of ours.
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

/// Why the last call with this link returned CLIFT_WRONG or null; null if it did not. The text is
/// the link's own, good until the next call; it must not be freed.
///
/// # Safety
/// `link` must be null or a living handle that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_error(link: *const clift_link) -> *const c_char {
    // SAFETY: the caller's promise.
    let fault = unsafe { link.as_ref() }.and_then(|link| link.fault.as_ref());
    fault.map_or(std::ptr::null(), |fault| fault.as_ptr())
}

/// Frees a link; null is left alone.
///
/// # Safety
/// `link` must be null or a living handle, and is not to be used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_free(link: *mut clift_link) {
    if !link.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(link) });
    }
}
