//! The buffer that reads TCP sequence numbers, against an obvious one (Tauran 2017, section 4.1).

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use clift::link::{
    Admission, Behind, InstrumentedLink, LinkCounters, LinkEvent, Packet, PacketId, Resequencing,
    StreamRange, Transit,
};
use clift::units::{Bytes, Instant};
use proptest::prelude::*;
use support::link_strategies::{Case, case};

proptest! {
    #[test]
    fn it_does_what_an_obvious_buffer_does(
        case in case(), carried in prop::collection::vec(carried(), 40), rule in rule(), step in 0i64..90
    ) {
        let (plain, admitted, _) = drive(&mut case.link(), &case, &carried, 0);
        let mut buffered = Behind::reordered(case.link(), rule);
        let (events, _, counters) = drive(&mut buffered, &case, &carried, step);
        let (expected, held, flushes) = obvious_buffer(&plain, &admitted, &carried, rule);
        prop_assert_eq!(&events, &expected);
        prop_assert_eq!((counters.held, counters.flushes), (held, flushes));
        prop_assert!(events.is_sorted_by_key(LinkEvent::at));
    }

    #[test]
    fn nothing_is_lost_or_made_and_nothing_leaves_before_it_arrives(
        case in case(), carried in prop::collection::vec(carried(), 40), rule in rule()
    ) {
        let (plain, _, _) = drive(&mut case.link(), &case, &carried, 0);
        let mut buffered = Behind::reordered(case.link(), rule);
        let (events, _, counters) = drive(&mut buffered, &case, &carried, 0);
        let arrived: BTreeMap<u64, Transit> = plain.iter().filter_map(delivered).map(|t| (t.order, t)).collect();
        let left: Vec<Transit> = events.iter().filter_map(delivered).collect();
        prop_assert!(left.iter().all(|t| t.at >= arrived[&t.order].at));
        let kept = plain.len() - events.len();
        prop_assert_eq!(counters.delivered as usize, left.len());
        prop_assert!(left.len() + kept == arrived.len());
        let Resequencing::TcpSequence { packets, .. } = rule else { unreachable!() };
        // Three flows, each with its own buffer that never fills up.
        prop_assert!(packets.is_none_or(|size| kept < 3 * size.get() as usize));
    }

    #[test]
    fn what_carries_nothing_passes(case in case(), rule in rule()) {
        let (plain, _, _) = drive(&mut case.link(), &case, &[], 0);
        let (events, _, _) = drive(&mut Behind::reordered(case.link(), rule), &case, &[], 0);
        prop_assert_eq!(plain, events);
    }
}

/// Segments of three short streams, sent again now and then, in part too; and acknowledgements.
fn carried() -> impl Strategy<Value = Option<StreamRange>> {
    let segment = (0u32..3, 0u64..12, prop_oneof![4 => Just(10u64), 1 => 1u64..25]).prop_map(
        |(flow, number, len)| StreamRange { flow, start: number * 10, end: number * 10 + len },
    );
    prop_oneof![1 => Just(None), 8 => segment.prop_map(Some)]
}

fn rule() -> impl Strategy<Value = Resequencing> {
    (prop::option::of(1u32..6), any::<bool>(), any::<bool>()).prop_map(
        |(packets, flush_when_full, flush_on_loss)| Resequencing::TcpSequence {
            packets: packets.and_then(NonZeroU32::new),
            flush_when_full,
            flush_on_loss,
        },
    )
}

/// Every rule by the letter: look through all that is held, again and again.
fn obvious_buffer(
    plain: &[LinkEvent],
    admitted: &[usize],
    carried: &[Option<StreamRange>],
    rule: Resequencing,
) -> (Vec<LinkEvent>, u64, u64) {
    let Resequencing::TcpSequence { packets, flush_when_full, flush_on_loss } = rule else {
        unreachable!("only buffers on sequence numbers are drawn")
    };
    let range = |order: u64| carried[admitted[order as usize]];
    let mut expected = BTreeMap::new();
    for range in admitted.iter().filter_map(|&packet| carried[packet]) {
        expected.entry(range.flow).or_insert(range.start);
    }
    let (mut out, mut held, mut flushes) = (vec![], 0, 0);
    let mut buffer: Vec<(StreamRange, Transit)> = vec![];
    for event in plain {
        let (LinkEvent::Delivered(transit) | LinkEvent::Lost(transit)) = *event else {
            out.push(*event);
            continue;
        };
        let lost = matches!(event, LinkEvent::Lost(_));
        let Some(own) = range(transit.order) else {
            out.push(*event);
            continue;
        };
        let next = expected.get_mut(&own.flow).unwrap();
        let mut flush = lost && flush_on_loss;
        if lost {
            out.push(*event);
        } else if own.start <= *next {
            out.push(*event);
            *next = own.end.max(*next);
        } else {
            held += 1;
            buffer.push((own, transit));
            let mine = buffer.iter().filter(|(range, _)| range.flow == own.flow);
            if packets.is_some_and(|size| mine.clone().count() == size.get() as usize) {
                flush = flush_when_full;
                if !flush {
                    *next = mine.map(|(range, _)| range.start).min().unwrap();
                }
            }
        }
        let mut flushed = 0;
        loop {
            let mine = buffer.iter().enumerate().filter(|(_, (range, _))| range.flow == own.flow);
            // Of equals the one that came first: `min_by_key` takes the first.
            let Some((place, &(range, late))) = mine.min_by_key(|(_, (range, _))| range.start)
            else {
                break;
            };
            if !flush && (lost || range.start > *next) {
                break;
            }
            flushed += u64::from(flush);
            *next = range.end.max(*next);
            out.push(LinkEvent::Delivered(Transit { at: transit.at, ..late }));
            buffer.remove(place);
        }
        flushes += u64::from(flushed > 0);
    }
    (out, held, flushes)
}

/// What came out, the packets admitted in order, and the counters.
fn drive(
    link: &mut impl InstrumentedLink,
    case: &Case,
    carried: &[Option<StreamRange>],
    step: i64,
) -> (Vec<LinkEvent>, Vec<usize>, LinkCounters) {
    let (mut events, mut admitted, mut now) = (vec![], vec![], 0);
    for (number, (&arrival, &size)) in case.arrivals.iter().zip(&case.sizes).enumerate() {
        while step > 0 && now + step < arrival {
            now += step;
            events.extend(std::iter::from_fn(|| link.poll(at(now))));
        }
        now = arrival;
        events.extend(std::iter::from_fn(|| link.poll(at(now))));
        let mut packet = Packet::new(PacketId(number as u64), Bytes(size));
        packet.carries = carried.get(number).copied().flatten();
        if link.enqueue(at(now), packet) == Admission::Queued {
            admitted.push(number);
        }
    }
    while let Some(due) = link.poll_timeout() {
        while let Some(event) = link.poll(due) {
            assert_eq!(event.at(), due, "came out early or late");
            events.push(event);
        }
    }
    (events, admitted, link.counters())
}

fn delivered(event: &LinkEvent) -> Option<Transit> {
    match event {
        LinkEvent::Delivered(transit) => Some(*transit),
        _ => None,
    }
}

fn at(nanos: i64) -> Instant {
    Instant::from_nanos(nanos as u64)
}
