//! The link against a slow, obvious reference, and the laws that every link obeys.

use std::collections::BTreeMap;

use clift::link::{
    Admission, Behind, Instrument, InstrumentedLink, Link, LinkEvent, Packet, PacketFate, PacketId,
    Resequencing, Transit, deliver,
};
use clift::trace::Packing;
use clift::units::{Bytes, Instant};
use proptest::prelude::*;
use support::link_reference::{self, Fate};
use support::link_strategies::{Case, case, resequencing};

proptest! {
    #[test]
    fn every_packet_meets_the_fate_that_the_reference_gives_it(case in case(), later in 0i64..500) {
        let expected = link_reference::run(&case.trace, &case.config, &case.arrivals, &case.sizes);
        let mut link = case.link();
        let outcome = drive(&mut link, &case, 0);
        let later = case.arrivals.last().unwrap() + later;
        let waiting = (0..case.sizes.len()).filter(|&packet| {
            outcome.admitted[packet] && expected.gone[packet].is_none_or(|at| at > later)
        });
        prop_assert_eq!(link.queue_len(at(later)), waiting.count());
        for (packet, &fate) in expected.fates.iter().enumerate() {
            prop_assert_eq!(outcome.fate(packet), fate, "packet {}", packet);
            if let Some(transit) = outcome.transit(packet) {
                prop_assert_eq!(Some(ns(transit.departed)), expected.departed[packet]);
                prop_assert_eq!(ns(transit.entered), case.arrivals[packet]);
                prop_assert_eq!(transit.lldus as usize, expected.lldus[packet].len());
                prop_assert_eq!(transit.size.0, case.sizes[packet]);
            }
        }
        prop_assert_eq!(outcome.trace_ended, expected.trace_ended);
        prop_assert_eq!(&outcome.waiting, &expected.waiting);
        let counters = outcome.counters;
        prop_assert_eq!(counters.longest_queue as usize, expected.waiting.iter().copied().max().unwrap_or(0));
        prop_assert_eq!(counters.lldus_taken as usize, expected.lldus.iter().map(Vec::len).sum::<usize>());
        let carried = (0..case.sizes.len()).filter(|&packet| expected.departed[packet].is_some());
        prop_assert_eq!(counters.bytes_carried, carried.map(|packet| u64::from(case.sizes[packet])).sum::<u64>());
    }

    #[test]
    fn events_come_in_order_of_time_then_admission_however_often_one_polls(
        case in case(), step in 1i64..200
    ) {
        let rarely = drive(&mut case.link(), &case, 0);
        let often = drive(&mut case.link(), &case, step);
        prop_assert_eq!(&rarely.events, &often.events);
        prop_assert!(is_sorted(&rarely.events));
        let mut link = case.link();
        for (packet, (&arrival, &size)) in case.arrivals.iter().zip(&case.sizes).enumerate() {
            let _ = link.enqueue(at(arrival), Packet::new(PacketId(packet as u64), Bytes(size)));
        }
        while let Some(due) = link.poll_timeout() {
            prop_assert_eq!(link.poll(due).map(|event| event.at()), Some(due));
        }
        prop_assert!(link.poll(Instant::MAX).is_none());
        let boxed: Box<dyn InstrumentedLink> = Box::new(case.link());
        prop_assert_eq!(&drive(&mut Box::new(boxed), &case, 0).events, &rarely.events);
    }

    #[test]
    fn packets_are_conserved_and_lldus_used_once_in_order(case in case()) {
        let mut link = case.link();
        let outcome = drive(&mut link, &case, 0);
        let counters = outcome.counters;
        let pending = (0..case.sizes.len()).filter(|&p| outcome.fate(p) == Fate::Pending).count() as u64;
        prop_assert_eq!(counters.pending(), pending);
        prop_assert_eq!(counters.offered, case.sizes.len() as u64);
        prop_assert_eq!(counters.delivered, outcome.delivered().count() as u64);
        let bytes: u64 = outcome.delivered().map(|transit| u64::from(transit.size.0)).sum();
        prop_assert_eq!(counters.bytes_delivered, bytes);
        // No LLDU twice: departures stand in the order of admission, and differ unless packets share.
        let mut all: Vec<Transit> = outcome.events.iter().filter_map(transit_of).collect();
        all.sort_by_key(|transit| transit.order);
        let shared = all.windows(2).any(|pair| pair[0].departed == pair[1].departed);
        prop_assert!(all.windows(2).all(|pair| pair[0].departed <= pair[1].departed));
        let packing = case.config.fragmentation.packing.or(case.trace.parts().loading.packing);
        prop_assert!(!shared || packing == Some(Packing::Bytes));
        let usage = link.usage(at(*case.arrivals.last().unwrap()));
        prop_assert!(usage.share() <= 1.0, "{:?}", usage);
        prop_assert!(all.windows(2).all(|pair| pair[0].packet < pair[1].packet));
        let one_way = case.trace.parts().rtt.half();
        prop_assert!(all.iter().all(|transit| transit.departed >= transit.entered));
        prop_assert!(all.iter().all(|transit| transit.at > transit.departed + one_way));
        let overtaken = outcome.delivered().enumerate().filter(|(i, late)| {
            outcome.delivered().take(*i).any(|earlier| earlier.order > late.order)
        });
        prop_assert_eq!(counters.overtaken, overtaken.count() as u64);
    }

    /// What was used and what came by, LLDU by LLDU.
    #[test]
    fn usage_counts_slots_or_their_bytes(case in case(), later in 0i64..500) {
        let expected = link_reference::run(&case.trace, &case.config, &case.arrivals, &case.sizes);
        let mut link = case.link();
        drive(&mut link, &case, 0);
        let until = case.arrivals.last().unwrap() + later;
        let usage = link.usage(at(until));
        let parts = case.trace.parts();
        // Packets pass over LLDUs of their tick, which then count as ahead.
        if parts.loading.tick.as_nanos() > 0 {
            return Ok(());
        }
        let data: u64 = (0..case.trace.len()).map(|i| u64::from(case.trace.bytes(i))).sum();
        let (all, used) = match &parts.sizes {
            Some(sizes) => (sizes.all, sizes.used),
            None => (parts.slots * u64::from(parts.lldu.0), parts.slots_used * u64::from(parts.lldu.0)),
        };
        let slots = |bytes: u64, share: u64| match data {
            0 => 0.0,
            _ => bytes as f64 * share as f64 / data as f64 / f64::from(parts.lldu.0),
        };
        let taken: u64 = expected
            .lldus
            .iter()
            .flatten()
            .map(|&i| expected.came[i])
            .filter(|&(t, _)| t <= until)
            .map(|(_, bytes)| u64::from(bytes))
            .sum();
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
        prop_assert!(close(usage.used, slots(taken, used)), "{:?}", usage);
        if let Some(passed) = expected.passed(until) {
            prop_assert!(close(usage.slots, slots(passed, all)), "{:?}", usage);
        }
    }

    #[test]
    fn deliver_is_the_same_as_driving_the_link(case in case()) {
        let size = case.sizes[0];
        let case = Case { sizes: vec![size; case.arrivals.len()], ..case };
        let outcome = drive(&mut case.link(), &case, 0);
        let results = deliver(&mut case.link(), &case.arrivals, Bytes(size)).unwrap();
        for packet in 0..case.arrivals.len() {
            let (at, fate) = match outcome.fate(packet) {
                Fate::Delivered(at) => (at, PacketFate::Delivered),
                Fate::Lost(_) => (-1, PacketFate::Lost),
                Fate::Dropped => (-1, PacketFate::QueueFull),
                Fate::Pending => (-1, PacketFate::Pending),
            };
            prop_assert_eq!((results.delivered[packet], results.fate[packet]), (at, fate));
        }
    }

    #[test]
    fn overlap_moves_releases_apart_in_order_of_computed_release(case in case()) {
        // The rate is that of the slots: bytes of an LLDU in a gap, in the mean.
        let parts = case.trace.parts();
        let (bytes, slots) = match &parts.sizes {
            Some(sizes) => (sizes.all as i64, parts.slots as i64),
            None => (i64::from(parts.lldu.0), 1),
        };
        let plain = drive(&mut case.link(), &case, 0);
        let papers = drive(&mut Behind::serialised(case.link()), &case, 0);
        let mut expected = Vec::new();
        let mut free = i64::MIN;
        for event in plain.events.iter().filter(|event| transit_of(event).is_some()) {
            let transit = transit_of(event).unwrap();
            let sending = (i64::from(transit.size.0) * slots * parts.gap + bytes / 2) / bytes;
            let at = ns(transit.at).max(free.saturating_add(sending));
            free = at;
            expected.push(moved(event, at));
        }
        let released: Vec<_> = papers.events.iter().copied().filter(|e| transit_of(e).is_some()).collect();
        prop_assert_eq!(released, expected);
        prop_assert!(is_sorted_by_time(&papers.events));
        prop_assert_eq!(papers.trace_ended, plain.trace_ended);
        prop_assert_eq!(papers.counters.delivered, plain.counters.delivered);
        prop_assert_eq!(papers.counters.pending(), plain.counters.pending());
        let often = drive(&mut Behind::serialised(case.link()), &case, 7);
        prop_assert_eq!(often.events, papers.events);
    }

    #[test]
    fn in_order_releases_a_packet_when_all_before_it_have_ended(case in case()) {
        let plain = drive(&mut case.link(), &case, 0);
        let ordered = drive(&mut Behind::reordered(case.link(), Resequencing::InOrder), &case, 3);
        let ends: BTreeMap<u64, i64> =
            plain.events.iter().filter_map(transit_of).map(|t| (t.order, ns(t.at))).collect();
        let delivered: BTreeMap<u64, i64> = ordered.delivered().map(|t| (t.order, ns(t.at))).collect();
        for transit in plain.delivered() {
            let up_to: Option<Vec<i64>> = (0..=transit.order).map(|o| ends.get(&o).copied()).collect();
            let release = up_to.and_then(|ends| ends.into_iter().max());
            prop_assert_eq!(delivered.get(&transit.order).copied(), release);
        }
        prop_assert_eq!(ordered.counters.overtaken, 0);
        let orders: Vec<u64> = ordered.delivered().map(|t| t.order).collect();
        prop_assert!(orders.is_sorted());
        prop_assert!(is_sorted_by_time(&ordered.events));
        prop_assert_eq!(ordered.trace_ended, plain.trace_ended);
    }

    #[test]
    fn a_bounded_buffer_does_what_an_obvious_one_does(case in case(), rule in resequencing()) {
        let plain = drive(&mut case.link(), &case, 0);
        let buffered = drive(&mut Behind::reordered(case.link(), rule), &case, 5);
        let (expected, held, flushes) = obvious_buffer(&plain.events, rule);
        prop_assert_eq!(&buffered.events, &expected);
        prop_assert_eq!((buffered.counters.held, buffered.counters.flushes), (held, flushes));
        for transit in buffered.delivered() {
            prop_assert!(plain.delivered().any(|t| t.order == transit.order && t.at <= transit.at));
        }
    }

    #[test]
    fn two_links_in_series_are_the_second_fed_with_what_the_first_delivers(case in case()) {
        let first = drive(&mut case.link(), &case, 0);
        let onward = Case {
            arrivals: first.delivered().map(|transit| ns(transit.at)).collect(),
            sizes: first.delivered().map(|transit| transit.size.0).collect(),
            ..case.clone()
        };
        let second = link_reference::run(&case.trace, &case.config, &onward.arrivals, &onward.sizes);
        let mut hops = [case.link(), case.link()];
        let mut arrived = BTreeMap::new();
        let mut sent = 0;
        loop {
            let arrival = case.arrivals.get(sent).map(|&at| at as u64);
            let due = hops.iter().filter_map(Link::poll_timeout).min().map(Instant::as_nanos);
            let Some(now) = arrival.into_iter().chain(due).min().map(Instant::from_nanos) else { break };
            // The far hop first: departures come before arrivals.
            while let Some(event) = hops[1].poll(now) {
                if let LinkEvent::Delivered(transit) = event {
                    arrived.insert(transit.packet, ns(transit.at));
                }
            }
            while let Some(event) = hops[0].poll(now) {
                if let LinkEvent::Delivered(transit) = event {
                    let _ = hops[1].enqueue(transit.at, Packet::new(transit.packet, transit.size));
                }
            }
            if arrival == Some(now.as_nanos()) {
                let _ = hops[0].enqueue(now, Packet::new(PacketId(sent as u64), Bytes(case.sizes[sent])));
                sent += 1;
            }
        }
        for (transit, fate) in first.delivered().zip(&second.fates) {
            let expected = if let &Fate::Delivered(at) = fate { Some(at) } else { None };
            prop_assert_eq!(arrived.get(&transit.packet).copied(), expected);
        }
    }
}

/// All that a link did in one run.
struct Outcome {
    admitted: Vec<bool>,
    waiting: Vec<usize>,
    events: Vec<LinkEvent>,
    trace_ended: Option<(usize, i64)>,
    counters: clift::link::LinkCounters,
}

impl Outcome {
    fn transit(&self, packet: usize) -> Option<Transit> {
        self.events.iter().filter_map(transit_of).find(|transit| transit.packet.0 == packet as u64)
    }

    fn delivered(&self) -> impl Iterator<Item = Transit> + '_ {
        self.events.iter().filter_map(|event| match event {
            LinkEvent::Delivered(transit) => Some(*transit),
            _ => None,
        })
    }

    fn fate(&self, packet: usize) -> Fate {
        if !self.admitted[packet] {
            return Fate::Dropped;
        }
        let mut own = self.events.iter().filter(|event| {
            transit_of(event).is_some_and(|transit| transit.packet.0 == packet as u64)
        });
        let fate = match own.next() {
            Some(LinkEvent::Delivered(transit)) => Fate::Delivered(ns(transit.at)),
            Some(LinkEvent::Lost(transit)) => Fate::Lost(ns(transit.at)),
            _ => Fate::Pending,
        };
        assert!(own.next().is_none(), "packet {packet} ended twice");
        fate
    }
}

/// Drives a link as a host does; with a `step`, polls it that often besides.
fn drive(link: &mut impl InstrumentedLink, case: &Case, step: i64) -> Outcome {
    let mut outcome = Outcome {
        admitted: vec![],
        waiting: vec![],
        events: vec![],
        trace_ended: None,
        counters: link.counters(),
    };
    let mut polled = -1;
    for (packet, (&arrival, &size)) in case.arrivals.iter().zip(&case.sizes).enumerate() {
        poll_until(link, &mut polled, arrival, step, &mut outcome);
        let admission =
            link.enqueue(at(arrival), Packet::new(PacketId(packet as u64), Bytes(size)));
        outcome.admitted.push(admission == Admission::Queued);
        outcome.waiting.push(link.queue_len(at(arrival)));
    }
    while let Some(due) = link.poll_timeout() {
        poll_until(link, &mut polled, ns(due), step, &mut outcome);
    }
    outcome.counters = link.counters();
    outcome
}

fn poll_until(
    link: &mut impl Link,
    polled: &mut i64,
    until: i64,
    step: i64,
    outcome: &mut Outcome,
) {
    let steps = (1..=40).map(|k| *polled + k * step).filter(|&now| step > 0 && now < until);
    for now in steps.chain([until]).collect::<Vec<_>>() {
        let mut due = link.poll_timeout();
        while let Some(event) = link.poll(at(now)) {
            assert!(due.is_some_and(|due| due <= event.at()), "came out unannounced");
            assert!(event.at() <= at(now), "came out early");
            assert!(ns(event.at()) >= *polled, "came out late");
            if let LinkEvent::TraceEnded { packet, at } = event {
                assert!(outcome.trace_ended.is_none());
                outcome.trace_ended = Some((packet.0 as usize, ns(at)));
            }
            outcome.events.push(event);
            due = link.poll_timeout();
        }
        assert!(link.poll_timeout().is_none_or(|due| due > at(now)));
        *polled = now;
    }
}

fn obvious_buffer(events: &[LinkEvent], rule: Resequencing) -> (Vec<LinkEvent>, u64, u64) {
    let Resequencing::Bounded { packets, flush_when_full, flush_on_loss } = rule else {
        unreachable!("only bounded buffers are drawn")
    };
    let (mut out, mut held, mut flushes) = (vec![], 0, 0);
    let mut expected = 0;
    let mut buffer: BTreeMap<u64, LinkEvent> = BTreeMap::new();
    let mut given_up: Vec<u64> = vec![];
    for event in events {
        let now = ns(event.at());
        let mut flush = false;
        match event {
            LinkEvent::Delivered(transit) if transit.order < expected => out.push(*event),
            LinkEvent::Delivered(transit) => {
                buffer.insert(transit.order, *event);
                if transit.order > expected {
                    held += 1;
                    if buffer.len() == packets.get() as usize {
                        flush = flush_when_full;
                        expected = *buffer.keys().next().unwrap();
                    }
                }
            }
            LinkEvent::Lost(transit) => {
                out.push(*event);
                given_up.push(transit.order);
                flush = flush_on_loss;
            }
            _ => out.push(*event),
        }
        if flush && !buffer.is_empty() {
            flushes += 1;
            expected = buffer.keys().next_back().unwrap() + 1;
            out.extend(buffer.values().map(|event| moved(event, now)));
            buffer.clear();
        }
        loop {
            if let Some(event) = buffer.remove(&expected) {
                out.push(moved(&event, now));
            } else if !given_up.contains(&expected) {
                break;
            }
            expected += 1;
        }
    }
    (out, held, flushes)
}

fn moved(event: &LinkEvent, now: i64) -> LinkEvent {
    match *event {
        LinkEvent::Delivered(transit) => LinkEvent::Delivered(Transit { at: at(now), ..transit }),
        LinkEvent::Lost(transit) => LinkEvent::Lost(Transit { at: at(now), ..transit }),
        event => event,
    }
}

fn transit_of(event: &LinkEvent) -> Option<Transit> {
    match event {
        LinkEvent::Delivered(transit) | LinkEvent::Lost(transit) => Some(*transit),
        _ => None,
    }
}

fn is_sorted(events: &[LinkEvent]) -> bool {
    is_sorted_by_time(events)
        && events.windows(2).all(|pair| match (transit_of(&pair[0]), transit_of(&pair[1])) {
            (Some(a), Some(b)) => (a.at, a.order) < (b.at, b.order),
            _ => true,
        })
}

fn is_sorted_by_time(events: &[LinkEvent]) -> bool {
    events.is_sorted_by_key(LinkEvent::at)
}

fn ns(instant: Instant) -> i64 {
    instant.as_nanos() as i64
}

fn at(nanos: i64) -> Instant {
    Instant::from_nanos(nanos as u64)
}
