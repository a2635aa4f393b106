//! Cases computed by hand, and the fast path against the slow one.

use proptest::prelude::*;

use super::*;
use crate::budget::Budget;
use crate::trace::{Parts, mahimahi};

proptest! {
    /// LLDUs of a packet that are all delivered are taken on a fast path. Without it, whichever rule
    /// applies gives every packet the same fate.
    #[test]
    fn the_fast_path_changes_nothing(
        // Decoding times; 0: lost after 7 ns, censored from `known` on.
        d in prop::collection::vec(prop_oneof![4 => 1i64..60, 1 => Just(0)], 2..40),
        known in 0usize..60,
        packets in prop::collection::vec((0u64..40, 1u32..150), 1..40),
        (wrap, offset) in (any::<bool>(), 0u64..300),
        (limit, end) in (0u32..6, prop::option::of(0u64..900)),
    ) {
        let lost = d.iter().zip(0..).filter(|&(&d, slot)| d == 0 && (slot as usize) < known);
        let lost = lost.map(|(_, slot)| (slot, 7)).collect();
        let offset = if wrap { offset } else { offset % (10 * d.len() as u64) };
        let config = TraceLinkConfig {
            queue: if limit > 0 { QueueLimit::Packets(limit) } else { QueueLimit::Unlimited },
            start_offset: Duration::from_nanos(offset),
            wrap,
            duration: end.map(Instant::from_nanos),
            ..TraceLinkConfig::default()
        };
        let mut fast = link(Parts { lost, ..parts(&d) }, config);
        let mut slow = TraceLink { is_plain: false, ..fast.clone() };
        let mut now = 0;
        for (number, (step, size)) in packets.into_iter().enumerate() {
            now += step;
            let now = Instant::from_nanos(now);
            let packet = Packet::new(PacketId(number as u64), Bytes(size));
            prop_assert_eq!(fast.enqueue(now, packet), slow.enqueue(now, packet));
            prop_assert_eq!(fast.poll_timeout(), slow.poll_timeout());
            prop_assert_eq!(fast.poll(now), slow.poll(now));
            prop_assert_eq!(fast.usage(now), slow.usage(now));
        }
        while let Some(event) = fast.poll(Instant::MAX) {
            prop_assert_eq!(Some(event), slow.poll(Instant::MAX));
        }
        prop_assert_eq!((slow.poll(Instant::MAX), fast.counters()), (None, slow.counters()));
    }
}

/// A trace with these `d`: LLDUs of 33 bytes, 10 ns apart; RTT 200 ns, every slot used.
fn parts(d: &[i64]) -> Parts {
    let slots = d.len() as i64;
    Parts {
        t: (0..slots).map(|slot| slot * 10).collect::<Vec<_>>().into(),
        d: d.to_vec().into(),
        lost: vec![],
        transmissions: vec![],
        recovered: (0, 0),
        slots_used: d.len() as u64,
        rtt: Duration::from_nanos(200),
        back: Duration::from_nanos(100),
        lldu: Bytes(33),
        sizes: None,
        slots: d.len() as u64,
        span: (0, slots * 10 - 10),
        gap: 10,
        loading: Loading::default(),
    }
}

fn link(parts: Parts, config: TraceLinkConfig) -> TraceLink {
    TraceLink::new(Arc::new(LinkTrace::from_parts(parts)), config).unwrap()
}

fn send(link: &mut TraceLink, now: u64, size: u32) {
    let id = PacketId(link.counters().offered);
    assert_eq!(
        link.enqueue(Instant::from_nanos(now), Packet::new(id, Bytes(size))),
        Admission::Queued
    );
}

fn delivered(link: &mut TraceLink) -> Vec<(u64, u64)> {
    let events = std::iter::from_fn(|| link.poll(Instant::MAX));
    events
        .map(|event| match event {
            LinkEvent::Delivered(transit) => (transit.packet.0, transit.at.as_nanos()),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_packet_of_1500_bytes_takes_46_lldus_of_33_bytes_or_47_in_the_papers() {
    let plain = link(parts(&[5]), TraceLinkConfig::default());
    assert_eq!(plain.lldus_for(Bytes(1500)), 46);
    assert_eq!(plain.lldus_for(Bytes(33 * 46)), 46);
    assert_eq!(plain.lldus_for(Bytes(33 * 46 + 1)), 47);
    let fragmentation = Fragmentation { extra_lldu: true, ..Fragmentation::default() };
    let papers = link(parts(&[5]), TraceLinkConfig { fragmentation, ..Default::default() });
    assert_eq!(papers.lldus_for(Bytes(1500)), 47);
    let fragmentation = Fragmentation {
        lldu_header: Bytes(3),
        packet_header: Bytes(1),
        extra_lldu: false,
        packing: None,
    };
    let headers = link(parts(&[5]), TraceLinkConfig { fragmentation, ..Default::default() });
    assert_eq!(headers.lldus_for(Bytes(1500)), 51); // ceil(1501 / 30)
}

#[test]
fn a_packet_under_repair_is_overtaken() {
    // Slots 0, 10, ... 50; the LLDU of slot 10 is recovered after 300 ns.
    let mut link = link(parts(&[5, 300, 5, 5, 5, 5]), TraceLinkConfig::default());
    send(&mut link, 0, 66);
    send(&mut link, 0, 66);
    send(&mut link, 35, 33);
    // Slots 0 10 | 20 30 | 40: max(t + d) + 100.
    assert_eq!(delivered(&mut link), [(1, 135), (2, 145), (0, 410)]);
    assert_eq!(link.counters().overtaken, 1);
}

#[test]
fn a_packet_with_a_lost_lldu_is_given_up_after_its_last_lldu() {
    let trace = Parts { lost: vec![(1, 70)], ..parts(&[5, 0, 95, 5]) };
    let mut link = link(trace, TraceLinkConfig::default());
    send(&mut link, 0, 99);
    // max(0 + 5, 10 + 70, 20 + 95) + 100.
    let event = link.poll(Instant::MAX).unwrap();
    assert!(matches!(event, LinkEvent::Lost(transit) if transit.at.as_nanos() == 215));
    assert_eq!(link.counters().lldus_taken, 3);
}

#[test]
fn a_wrapped_trace_continues_one_gap_after_its_last_slot() {
    let config = TraceLinkConfig {
        wrap: true,
        start_offset: Duration::from_nanos(30 * 7 + 20),
        ..TraceLinkConfig::default()
    };
    let mut link = link(parts(&[5, 6, 7]), config);
    // Run time 0 is trace time 20 of the eighth cycle; slots at 0, 10, 20, 30 with d 7, 5, 6, 7.
    send(&mut link, 0, 33);
    send(&mut link, 1, 66);
    send(&mut link, 25, 33);
    assert_eq!(delivered(&mut link), [(0, 107), (1, 126), (2, 137)]);
}

#[test]
fn a_waiting_packet_ends_a_run_only_if_the_trace_is_shorter() {
    let ended = |duration| {
        let duration = Some(Instant::from_nanos(duration));
        let mut link = link(parts(&[5; 3]), TraceLinkConfig { duration, ..Default::default() });
        send(&mut link, 0, 99);
        send(&mut link, 5, 33);
        std::iter::from_fn(|| link.poll(Instant::MAX)).find_map(|event| match event {
            LinkEvent::TraceEnded { packet, at } => Some((packet.0, at.as_nanos())),
            _ => None,
        })
    };
    // The last slot starts at 20 and lasts as long as the others.
    assert_eq!(ended(30), None);
    assert_eq!(ended(31), Some((1, 21)));
}

#[test]
fn usage_counts_repairs_within_the_elapsed_time() {
    // Two of three slots carry data, so that an LLDU counts as 1.5 slots.
    let trace = Parts { slots_used: 6, slots: 6, span: (0, 50), ..parts(&[5; 4]) };
    let mut link = link(trace, TraceLinkConfig::default());
    send(&mut link, 0, 50);
    let usage = link.usage(Instant::from_nanos(19));
    assert_eq!((usage.slots, usage.used), (3.0, 3.0));
    assert_eq!(usage.share(), 1.0);
    assert_eq!(link.usage(Instant::MAX).share(), 0.5);
    // Slots still ahead of a packet do not count yet.
    assert_eq!((link.usage(Instant::ZERO).used, link.usage(Instant::ZERO).share()), (1.5, 1.0));
    assert_eq!(usage.coding_ratio(&link.counters()), None);
    // A packet that still waits does not use slots.
    send(&mut link, 0, 33);
    assert_eq!(link.usage(Instant::from_nanos(19)).used, 3.0);
    assert_eq!(link.usage(Instant::from_nanos(20)).used, 4.5);
    while link.poll(Instant::MAX).is_some() {}
    let ratio = usage.coding_ratio(&link.counters()).unwrap();
    assert!((ratio - 83.0 / 148.5).abs() < 1e-12);
}

#[test]
fn an_invalid_link_is_refused_with_its_reason() {
    let trace = Arc::new(LinkTrace::from_parts(Parts { gap: 0, ..parts(&[5]) }));
    let wrap = TraceLinkConfig { wrap: true, ..TraceLinkConfig::default() };
    let error = TraceLink::new(Arc::clone(&trace), wrap).unwrap_err();
    assert!(error.to_string().contains("one slot cannot be wrapped"));
    let fragmentation = Fragmentation { lldu_header: Bytes(33), ..Fragmentation::default() };
    let headers = TraceLinkConfig { fragmentation, ..TraceLinkConfig::default() };
    let error = TraceLink::new(trace, headers).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("an LLDU of 33 bytes has no room for data after its header of 33;")
    );
}

#[test]
fn times_beyond_the_horizon_do_not_panic() {
    let wrap =
        TraceLinkConfig { wrap: true, start_offset: Duration::MAX, ..TraceLinkConfig::default() };
    for config in [wrap, TraceLinkConfig { wrap: false, ..wrap }] {
        let mut link = link(parts(&[5; 3]), config);
        send(&mut link, 0, 33);
        send(&mut link, u64::MAX - 1, u32::MAX);
        while link.poll(Instant::MAX).is_some() {}
        assert_eq!(link.counters().delivered, u64::from(config.wrap));
        assert_eq!(link.counters().offered, 2);
        let _ = link.usage(Instant::MAX);
    }
}

/// Results of mahimahi's own class (`src/frontend/link_queue.cc` and its drop-tail queue at
/// revision ae477d4, driven by a simulated clock): opportunities in ms, packets by arrival in ms
/// and bytes, departures in ms; `None` if dropped.
#[test]
fn departures_match_the_queue_of_mahimahi() {
    type Case<'a> = (&'a [u64], QueueLimit, &'a [(u64, u32)], &'a [Option<u64>]);
    let cases: [Case<'_>; 6] = [
        (
            &[2, 2, 2, 4, 29],
            QueueLimit::Unlimited,
            &[(0, 1000), (0, 1000), (0, 1499), (0, 1500), (1, 576), (3, 576)],
            &[Some(2), Some(2), Some(2), Some(4), Some(4), Some(29)],
        ),
        (
            &[3, 4],
            QueueLimit::Bytes(6650),
            &[(6, 747), (6, 1161), (6, 1205), (6, 831), (6, 1371), (22, 1491)],
            &[Some(7), Some(8), Some(11), Some(11), Some(12), Some(23)],
        ),
        (
            &[3, 3, 3, 7, 8, 12],
            QueueLimit::Packets(3),
            &[(13, 52), (15, 52), (15, 52), (15, 52), (15, 52), (15, 52), (15, 52)],
            &[Some(15), Some(19), Some(19), Some(19), None, None, None],
        ),
        (
            &[2, 2],
            QueueLimit::Unlimited,
            &[(14, 1500), (19, 1500), (19, 1500), (19, 1500), (19, 1500)],
            &[Some(16), Some(20), Some(20), Some(22), Some(22)],
        ),
        (
            &[3, 3, 3, 3],
            QueueLimit::Unlimited,
            &[(19, 102), (21, 499), (25, 867), (27, 129), (29, 1014)],
            &[Some(21), Some(24), Some(27), Some(30), Some(30)],
        ),
        (
            &[1, 5, 9, 11],
            QueueLimit::Bytes(4937),
            &[(1, 52), (1, 52), (1, 52), (2, 52)],
            &[Some(5); 4],
        ),
    ];
    for (opportunities, queue, packets, expected) in cases {
        let text: String = opportunities.iter().map(|ms| format!("{ms}\n")).collect();
        let phy =
            mahimahi::read(text.as_bytes(), mahimahi::OPPORTUNITY, &Budget::unlimited()).unwrap();
        let parts =
            Parts { t: phy.t().clone(), d: phy.d().clone(), ..Parts::of(&phy, Duration::ZERO) };
        let mut link = link(parts, TraceLinkConfig { queue, wrap: true, ..Default::default() });
        let mut left = vec![None; packets.len()];
        for (number, &(ms, size)) in packets.iter().enumerate() {
            // The arrival time within its millisecond has no effect.
            let now = Instant::from_nanos(ms * 1_000_000 + 100_000 * number as u64);
            let _ = link.enqueue(now, Packet::new(PacketId(number as u64), Bytes(size)));
        }
        for (packet, at) in delivered(&mut link) {
            left[packet as usize] = Some(at / 1_000_000);
        }
        assert_eq!(left, expected, "{opportunities:?} {queue:?}");
    }
}

#[test]
fn packets_share_lldus_by_bytes_if_they_arrive_in_time() {
    let shared = |arrivals: &[(u64, u32)]| {
        let packing = Some(Packing::Bytes);
        let fragmentation = Fragmentation { packing, ..Fragmentation::default() };
        let mut link =
            link(parts(&[5; 9]), TraceLinkConfig { fragmentation, ..Default::default() });
        arrivals.iter().for_each(|&(now, size)| send(&mut link, now, size));
        (delivered(&mut link), link.counters().lldus_taken)
    };
    // Slots 0, 10, 20 of 33 bytes: 20 + 13 | 7 + 26 | ..., + 5 + 100.
    assert_eq!(shared(&[(0, 20), (0, 20), (0, 26)]), (vec![(0, 105), (1, 115), (2, 115)], 2));
    // A packet that arrives after the slot has started does not use it.
    assert_eq!(shared(&[(0, 20), (1, 13)]), (vec![(0, 105), (1, 115)], 2));
    let extra = Fragmentation {
        extra_lldu: true,
        packing: Some(Packing::Bytes),
        ..Fragmentation::default()
    };
    let config = TraceLinkConfig { fragmentation: extra, ..TraceLinkConfig::default() };
    let trace = Arc::new(LinkTrace::from_parts(parts(&[5; 9])));
    let error = TraceLink::new(trace, config).unwrap_err();
    assert!(error.to_string().starts_with("extra_lldu needs whole LLDUs"));
}

/// A code that sends its data LLDUs back to back: counted at its mean rate, the trace would have
/// offered less than was sent.
#[test]
fn usage_never_exceeds_the_slots_that_passed() {
    let trace = Parts { slots_used: 40, slots: 40, span: (0, 390), ..parts(&[5; 10]) };
    let mut link = link(trace, TraceLinkConfig::default());
    send(&mut link, 0, 330);
    for until in [0, 5, 50, 95, 200] {
        let usage = link.usage(Instant::from_nanos(until));
        assert_eq!((usage.used, usage.share()), (usage.slots, 1.0));
    }
}
