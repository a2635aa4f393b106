//! Departures told by every kind of link: when the packets left the queue, and nothing else
//! changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{adaptive_harq, hybrid, live};
use clift::link::{
    Admission, Behind, DropReason, InstrumentedLink, LinkEvent, Packet, PacketId, Transit,
};
use clift::trace::{LinkTrace, Packing};
use clift::units::{Bytes, Duration, Instant};
use proptest::prelude::*;
use support::{link_strategies, ntn_strategies};

type BoxedLink = Box<dyn InstrumentedLink + Send>;

proptest! {
    #[test]
    fn of_a_link_over_a_link_trace(
        mut case in link_strategies::case(), rule in link_strategies::resequencing(),
    ) {
        // Packets that share LLDUs are reported a nanosecond later, and a tick releases its packets
        // at once.
        let mut parts = case.trace.parts().clone();
        parts.loading.tick = Duration::ZERO;
        parts.loading.phase = Duration::ZERO;
        case.trace = Arc::new(LinkTrace::from_parts(parts));
        case.config.fragmentation.packing = Some(Packing::Packet);
        let packets: Vec<_> = case.arrivals.iter().copied().zip(case.sizes.iter().copied()).collect();
        check(|| Box::new(case.link()), &packets, DepartureTiming::AtOnce, FOR_EVER);
        check(|| Box::new(Behind::serialised(case.link())), &packets, DepartureTiming::AtOnce, FOR_EVER);
        check(|| Box::new(Behind::reordered(case.link(), rule)), &packets, DepartureTiming::AtOnce, FOR_EVER);
    }

    #[test]
    fn of_a_live_link(case in live::traffic()) {
        check(|| case.link(), &case.packets, DepartureTiming::AtOnce, FOR_EVER);
    }

    #[test]
    fn of_a_hybrid_link(case in hybrid::case()) {
        let packets: Vec<_> = case.arrivals.iter().copied().zip(case.sizes.iter().copied()).collect();
        check(|| Box::new(hybrid::link(&case)), &packets, DepartureTiming::AtOnce, FOR_EVER);
    }

    #[test]
    fn of_adaptive_harq(case in adaptive_harq::case()) {
        let packets: Vec<_> = case.packets.iter().map(|&(at, size)| (at as i64, size)).collect();
        check(|| case.link(0), &packets, DepartureTiming::AtOnce, FOR_EVER);
    }

    #[test]
    fn of_a_3gpp_link(case in ntn_strategies::case()) {
        check(|| Box::new(case.link()), &case.arrivals, DepartureTiming::AfterTheSlotsInstant, case.end);
    }
}

const FOR_EVER: i64 = i64::MAX;

/// How soon a link that is polled when it asks to be tells a departure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DepartureTiming {
    AtOnce,
    /// A slot takes what comes at its instant, so it is used when that is over.
    AfterTheSlotsInstant,
}

/// Sends (arrival, bytes) over links that are polled when they ask to be, up to `end`, and over
/// some that are polled at arrivals only.
fn check(make: impl Fn() -> BoxedLink, packets: &[(i64, u32)], told: DepartureTiming, end: i64) {
    let silent = drive(make(), packets, None, end);
    assert!(silent.iter().all(|event| departure(event).is_none()), "told though nobody asked");
    let mut link = make();
    link.notify_departures();
    let events = drive(link, packets, Some(told), end);
    let others: Vec<_> =
        events.iter().copied().filter(|event| departure(event).is_none()).collect();
    assert_eq!(others, silent, "something else changed");

    let mut departed = BTreeMap::new();
    for (packet, at) in events.iter().filter_map(departure) {
        assert_eq!(departed.insert(packet, at), None, "told twice");
        assert!(ns(at) >= packets[packet.0 as usize].0, "it left before it came");
    }
    for transit in events.iter().filter_map(transit) {
        assert_eq!(departed.get(&transit.packet), Some(&transit.departed));
    }

    let mut link = make();
    link.notify_departures();
    let (mut rarely, mut now) = (Vec::new(), 0);
    for (number, &(arrival, size)) in packets.iter().enumerate() {
        now = arrival;
        rarely.extend(std::iter::from_fn(|| link.poll(at(now))));
        let _ = link.enqueue(at(now), Packet::new(PacketId(number as u64), Bytes(size)));
    }
    let end = events.last().map_or(now, |event| ns(event.at()).max(now)).saturating_add(1).min(end);
    rarely.extend(std::iter::from_fn(|| link.poll(at(end))));
    rarely.retain(|event| events.last().is_some_and(|last| event.at() <= last.at()));
    assert_eq!(rarely, events);
}

/// What came out of a link up to `end`, in the order in which it did. `told`: departures are
/// expected, and count the queue.
fn drive(
    mut link: BoxedLink,
    packets: &[(i64, u32)],
    told: Option<DepartureTiming>,
    end: i64,
) -> Vec<LinkEvent> {
    let (mut events, mut waiting, mut now) = (Vec::<LinkEvent>::new(), 0, 0);
    let mut poll = |link: &mut BoxedLink, now: i64, waiting: &mut usize| {
        let mut due = link.poll_timeout();
        while let Some(event) = link.poll(at(now)) {
            let late =
                told == Some(DepartureTiming::AfterTheSlotsInstant) && departure(&event).is_some();
            let named = due.is_some_and(|due| ns(due) <= ns(event.at()) + i64::from(late));
            assert!(named && event.at() <= at(now), "unannounced or early");
            assert!(events.last().is_none_or(|last| last.at() <= event.at()), "out of order");
            *waiting -= usize::from(departure(&event).is_some());
            events.push(event);
            due = link.poll_timeout();
        }
        assert!(link.poll_timeout().is_none_or(|due| due > at(now)));
        if told.is_some() {
            assert_eq!(link.queue_len(at(now)), *waiting, "at {now}");
        }
    };
    for (number, &(arrival, size)) in packets.iter().enumerate() {
        while let Some(due) = link.poll_timeout().filter(|&due| ns(due) < arrival) {
            now = ns(due).max(now);
            poll(&mut link, now, &mut waiting);
        }
        now = arrival;
        poll(&mut link, now, &mut waiting);
        let packet = Packet::new(PacketId(number as u64), Bytes(size));
        let room = told.is_some() && link.has_room(at(now), packet.size);
        match link.enqueue(at(now), packet) {
            Admission::Queued => {
                assert!(
                    room || told != Some(DepartureTiming::AtOnce),
                    "no room for a packet that was taken"
                );
                waiting += 1;
            }
            Admission::Dropped(reason) => {
                assert!(!room || reason == DropReason::TooLarge, "room for a packet that was not");
            }
        }
        if told.is_some() {
            poll(&mut link, now, &mut waiting);
        }
    }
    while let Some(due) = link.poll_timeout().filter(|&due| ns(due) <= end) {
        now = ns(due).max(now);
        poll(&mut link, now, &mut waiting);
    }
    events
}

fn departure(event: &LinkEvent) -> Option<(PacketId, Instant)> {
    match *event {
        LinkEvent::Departed { packet, at } => Some((packet, at)),
        _ => None,
    }
}

fn transit(event: &LinkEvent) -> Option<&Transit> {
    match event {
        LinkEvent::Delivered(transit) | LinkEvent::Lost(transit) => Some(transit),
        _ => None,
    }
}

fn at(nanos: i64) -> Instant {
    Instant::from_nanos(nanos as u64)
}

fn ns(at: Instant) -> i64 {
    at.as_nanos() as i64
}
