//! The 3GPP link against a slow second implementation, and the laws that it obeys.

use std::collections::BTreeMap;

use clift::link::{Admission, Instrument, InstrumentedLink, Link, LinkEvent, Packet, PacketId};
use clift::scheme::ntn::{NtnPhy, RlcConfig};
use clift::units::{Bytes, Duration, Instant, Probability, Timer};
use proptest::prelude::*;
use support::ntn_reference::{self, Case, End};
use support::ntn_strategies::case;

#[derive(Debug, Default, PartialEq)]
struct Driven {
    ends: Vec<End>,
    dropped: Vec<usize>,
    trace_ended: bool,
    longest_queue: usize,
}

/// Sends the packets of a case; polls every `step` ns besides (0: only at arrivals and the end).
fn drive(link: &mut dyn InstrumentedLink, case: &Case, step: i64) -> Driven {
    let mut driven = Driven::default();
    let mut arrivals = case.arrivals.iter().enumerate().peekable();
    let mut times: Vec<i64> = case.arrivals.iter().map(|arrival| arrival.0).collect();
    times.push(case.end);
    if step > 0 {
        times.extend((0..case.end).step_by(step as usize));
    }
    times.sort_unstable();
    for now in times {
        poll(link, now, &mut driven);
        while let Some((id, &(_, size))) = arrivals.next_if(|(_, (at, _))| *at == now) {
            let packet = Packet::new(PacketId(id as u64), Bytes(size));
            if let Admission::Dropped(_) = link.enqueue(at(now), packet) {
                driven.dropped.push(id);
            }
            driven.longest_queue = driven.longest_queue.max(link.queue_len(at(now)));
        }
    }
    driven
}

fn poll(link: &mut dyn Link, now: i64, driven: &mut Driven) {
    while let Some(event) = link.poll(at(now)) {
        let (transit, delivered) = match event {
            LinkEvent::Delivered(transit) => (transit, true),
            LinkEvent::Lost(transit) => (transit, false),
            other => {
                assert!(matches!(other, LinkEvent::TraceEnded { .. }));
                driven.trace_ended = true;
                continue;
            }
        };
        assert!(transit.at <= at(now));
        driven.ends.push(End {
            packet: transit.packet.0 as usize,
            delivered,
            at: transit.at.as_nanos() as i64,
            departed: transit.departed.as_nanos() as i64,
            blocks: transit.lldus,
        });
    }
}

fn at(now: i64) -> Instant {
    Instant::from_nanos(now as u64)
}

proptest! {
    #[test]
    fn a_second_implementation_agrees_to_the_nanosecond(case in case()) {
        let expected = ntn_reference::run(&case);
        let mut link = case.link();
        let driven = drive(&mut link, &case, 0);
        link.catch_up(at(case.end));
        let same = driven.ends.iter().zip(&expected.ends).take_while(|(a, b)| a == b).count();
        prop_assert_eq!(driven.ends.get(same), expected.ends.get(same), "after {}", same);
        prop_assert_eq!(&driven.dropped, &expected.dropped);
        prop_assert_eq!(driven.trace_ended, expected.trace_ended);
        let counts: BTreeMap<_, _> = link.details().into_iter().filter(|(_, n)| *n > 0).collect();
        prop_assert_eq!(counts, expected.counts);
    }

    #[test]
    fn it_makes_no_difference_how_often_one_polls(case in case(), step in 1i64..40) {
        let (mut rarely, mut often) = (case.link(), case.link());
        prop_assert_eq!(drive(&mut rarely, &case, 0), drive(&mut often, &case, step));
        prop_assert_eq!(rarely.details(), often.details());
        prop_assert_eq!(rarely.counters(), often.counters());
        prop_assert_eq!(rarely.usage(at(case.end)), often.usage(at(case.end)));
    }

    #[test]
    fn packets_are_conserved_and_nothing_comes_before_its_time(case in case()) {
        let mut link = case.link();
        let driven = drive(&mut link, &case, 0);
        let counters = link.counters();
        let delivered: Vec<End> = driven.ends.iter().copied().filter(|end| end.delivered).collect();
        prop_assert_eq!(counters.offered as usize, case.arrivals.len());
        prop_assert_eq!(counters.dropped as usize, driven.dropped.len());
        prop_assert_eq!(counters.delivered as usize, delivered.len());
        prop_assert_eq!(counters.lost as usize, driven.ends.len() - delivered.len());
        let mut ids: Vec<usize> = driven.ends.iter().map(|end| end.packet).chain(driven.dropped).collect();
        ids.sort_unstable();
        prop_assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "an end for each");
        prop_assert!(driven.ends.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let bytes: u64 = delivered.iter().map(|end| u64::from(case.arrivals[end.packet].1)).sum();
        prop_assert_eq!(counters.bytes_delivered, bytes);
        for end in &delivered {
            prop_assert!(end.departed >= case.arrivals[end.packet].0);
            prop_assert!(end.at > end.departed && end.blocks > 0);
        }
        if case.config.pdcp.in_order {
            prop_assert!(delivered.windows(2).all(|pair| pair[0].packet < pair[1].packet));
            prop_assert_eq!(counters.overtaken, 0);
        }
        let usage = link.usage(at(case.end));
        prop_assert!(usage.used <= usage.slots, "{:?}", usage);
    }

    #[test]
    fn a_poll_at_the_time_it_asks_for_leaves_nothing_due(case in case()) {
        let mut link = case.link();
        for (id, &(arrival, size)) in case.arrivals.iter().enumerate() {
            while link.poll(at(arrival)).is_some() {}
            let _ = link.enqueue(at(arrival), Packet::new(PacketId(id as u64), Bytes(size)));
        }
        while let Some(due) = link.poll_timeout().filter(|&due| due <= at(case.end)) {
            while let Some(event) = link.poll(due) {
                prop_assert_eq!(event.at(), due);
            }
            prop_assert!(link.poll_timeout().is_none_or(|next| next > due));
        }
    }

    #[test]
    fn no_packet_is_left_behind(case in case()) {
        let Some(case) = lively(case) else { return Ok(()) };
        let mut link = case.link();
        for (id, &(arrival, size)) in case.arrivals.iter().enumerate() {
            while link.poll(at(arrival)).is_some() {}
            let _ = link.enqueue(at(arrival), Packet::new(PacketId(id as u64), Bytes(size)));
        }
        while let Some(due) = link.poll_timeout().filter(|&due| due < at(2_000_000)) {
            while link.poll(due).is_some() {}
        }
        let counters = link.counters();
        prop_assert_eq!(counters.pending(), 0);
        prop_assert_eq!(link.poll_timeout(), None, "nothing to do");
        let lossless = matches!(case.config.rlc, RlcConfig::Am(am) if am.max_retx.get().is_none_or(|most| most == 0))
            && case.config.timers().reordering.is_none();
        if lossless {
            prop_assert_eq!(counters.delivered, counters.offered - counters.dropped);
        }
    }
}

/// The case with errors that leave a chance to every transmission, and without what blocks a link
/// by design: PDCP that waits for ever for a packet that does not come, and packets discarded after
/// a PDU that left the poll to them (TS 38.322 section 5.3.3.2 polls with PDUs only).
fn lively(mut case: Case) -> Option<Case> {
    let NtnPhy::Random { bler, .. } = &mut case.config.phy else { return None };
    let less = |p: Probability| Probability::new(p.get().min(0.7)).unwrap();
    *bler = bler.iter().map(|&p| less(p)).collect();
    if let Some(handovers) = &mut case.config.handovers {
        // Time enough between them for every repair.
        handovers.every += Duration::from_nanos(50_000);
    }
    let control = &mut case.config.control;
    control.missed_grant = less(control.missed_grant);
    let given_up = match case.config.rlc {
        RlcConfig::Um(_) => true,
        RlcConfig::Am(am) => am.max_retx.get().is_some_and(|most| most > 0),
    };
    let pdcp = &mut case.config.pdcp;
    if let RlcConfig::Am(_) = case.config.rlc {
        pdcp.discard = Timer::Infinite;
    }
    if given_up || pdcp.discard.get().is_some() {
        let wait = pdcp.t_reordering.and_then(Timer::get).unwrap_or(Duration::from_nanos(50));
        pdcp.t_reordering = Some(Timer::After(wait));
    }
    Some(case)
}
