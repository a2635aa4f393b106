//! Live links: saturated they are TMT; with any traffic they are a slow reference; and what must
//! hold with every fault on.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::{
    Admission, Fragmentation, Instrument, InstrumentedLink, Link, LinkEvent, Packet, PacketId,
    QueueLimit, Resequencing, TraceLink, TraceLinkConfig, Transit, Transmission, TransmissionKind,
};
use clift::scheme::{Arq, Harq2, Scheme, Timing};
use clift::scheme::{LinkConfig, LiveConfig, LiveOptions};
use clift::seed::Seed;
use clift::trace::{Header, Packing, PhyTrace, Sizes};
use clift::units::{Bytes, Duration, Instant, Probability};
use proptest::prelude::*;
use support::live_reference::{self, Expected, Fate, Input};
use support::tmt_reference::Slot;
use support::tmt_strategies::{self as tmt, Case};

/// Payload of an LLDU.
const LLDU: u32 = 33;

proptest! {
    #[test]
    fn with_data_always_waiting_it_gives_what_tmt_gives(
        mut case in tmt::case(), sizes in tmt::sizes(17), rtt in 0..400u64, flush in 0..200u64,
        more in 0..3usize,
    ) {
        case.sizes = sizes;
        let timing = timing(&case, rtt);
        let expected = case.scheme.apply(&case.phy(), timing);
        let flush = Some(Duration::from_nanos(flush));
        let config = LiveConfig {
            options: LiveOptions { flush, ..LiveOptions::default() },
            ..LiveConfig::new(case.phy(), case.scheme.clone(), timing)
        };
        // More packets than slots: data always wait. One LLDU each.
        let packets: Vec<_> = (0..case.slots.len() + more).map(|_| (0, 1 + LLDU / 2)).collect();
        let outcome = drive(build(LinkConfig::new(Arc::new(config)), None), &packets, 0);
        let first_sent: Vec<&Transmission> =
            outcome.sent.iter().filter(|sent| sent.kind == TransmissionKind::New).collect();
        let (d, lost) = (&expected.parts().d, expected.lost_column());
        for (unit, &t) in expected.parts().t.iter().enumerate() {
            prop_assert_eq!(ns(first_sent[unit].at), t);
            let fate = match (d[unit], lost[unit]) {
                (0, 0) => Fate::Pending,
                (0, lost) => Fate::Lost(t + lost + rtt as i64 / 2),
                (d, _) => Fate::Delivered(t + d + rtt as i64 / 2),
            };
            prop_assert_eq!(outcome.fates[unit], fate, "unit {}", unit);
            if let Some(transit) = outcome.transits[unit] {
                prop_assert_eq!(ns(transit.departed), t);
            }
        }
        prop_assert_eq!(transmissions(&outcome, &case.scheme, expected.len()), expected.transmissions_column());
        prop_assert_eq!(outcome.count("blocks_flushed"), 0);
        // Every slot is used, but for a trailing block that TMT leaves out.
        prop_assert_eq!(outcome.count("units_sent"), case.slots.len() as u64);
    }

    #[test]
    fn saturated_packets_go_as_over_the_link_trace(
        mut case in tmt::case(), lldus in tmt::sizes(1), rtt in 0..400u64,
        sizes in prop::collection::vec(1..300u32, 1..60),
    ) {
        case.sizes = lldus;
        let timing = timing(&case, rtt);
        let trace = Arc::new(case.scheme.apply(&case.phy(), timing));
        let open = TraceLink::new(trace, TraceLinkConfig::default()).unwrap();
        let live = LiveConfig::new(case.phy(), case.scheme.clone(), timing);
        let mut packets: Vec<_> = sizes.iter().map(|&size| (0, size)).collect();
        packets.extend((0..case.slots.len()).map(|_| (0, 1)));
        let live = drive(build(LinkConfig::new(Arc::new(live)), None), &packets, 0);
        let open = drive(Box::new(open), &packets, 0);
        for (packet, &fate) in open.fates.iter().enumerate().filter(|(_, fate)| **fate != Fate::Pending) {
            prop_assert_eq!(live.fates[packet], fate);
            prop_assert_eq!(live.transits[packet], open.transits[packet]);
        }
    }

    #[test]
    fn any_traffic_meets_the_fate_that_the_reference_gives_it(case in traffic()) {
        let expected = case.expected();
        let outcome = drive(case.link(), &case.packets, 0);
        for (packet, &fate) in expected.fates.iter().enumerate() {
            prop_assert_eq!(outcome.fates[packet], fate, "packet {}", packet);
            if let Some(transit) = outcome.transits[packet] {
                prop_assert_eq!(Some(ns(transit.departed)), expected.departed[packet]);
                prop_assert_eq!(ns(transit.entered), case.packets[packet].0);
            }
        }
        let sent: Vec<_> = outcome.sent.iter().map(summed_up).collect();
        prop_assert_eq!(&sent, &expected.sent);
        prop_assert_eq!(outcome.count("units_sent"), sent.len() as u64);
        let of_kind = |kind| sent.iter().filter(|sent| sent.1 == kind).count() as u64;
        prop_assert_eq!(outcome.count("units_sent_again"), of_kind(1));
        prop_assert_eq!(outcome.count("repair_units"), of_kind(2));
        prop_assert_eq!(outcome.count("blocks_flushed"), expected.flushed);
        if !matches!(case.tmt.scheme, Scheme::None | Scheme::Arq(Arq { .. })) {
            prop_assert_eq!(outcome.count("blocks_failed"), expected.failed);
        }
        prop_assert_eq!(outcome.count("feedback_lost"), expected.feedback_lost);
        prop_assert_eq!(outcome.trace_ended, expected.trace_ended);
    }

    #[test]
    fn it_does_not_matter_how_often_one_polls(case in traffic(), step in 1..200i64) {
        let rarely = drive(case.link(), &case.packets, 0);
        let often = drive(case.link(), &case.packets, step);
        prop_assert_eq!(&rarely.events, &often.events);
        prop_assert_eq!(&rarely.sent, &often.sent);
        prop_assert_eq!(rarely.counters, often.counters);
        prop_assert!(rarely.events.is_sorted_by_key(LinkEvent::at));
    }

    #[test]
    fn with_every_fault_on_packets_are_conserved(
        case in traffic(), p in 0.0..0.9f64, seed in any::<u64>(), ordered in any::<bool>(),
    ) {
        let mut config = case.config();
        config.reports = None;
        config.options.feedback_loss = Some(Probability::new(p).unwrap());
        let reorder = ordered.then_some(Resequencing::InOrder);
        let config = LinkConfig { medium: Arc::new(config), reorder, ..case.link_config() };
        let run = |seed| drive(config.build(Seed(seed), 0, case.end).unwrap(), &case.packets, 0);
        let outcome = run(seed);
        prop_assert_eq!(&outcome.events, &run(seed).events);
        let counters = outcome.counters;
        let of_fate = |wanted: fn(&Fate) -> bool| outcome.fates.iter().filter(|fate| wanted(fate)).count() as u64;
        prop_assert_eq!(counters.offered, case.packets.len() as u64);
        prop_assert_eq!(counters.delivered, of_fate(|fate| matches!(fate, Fate::Delivered(_))));
        prop_assert_eq!(counters.lost, of_fate(|fate| matches!(fate, Fate::Lost(_))));
        prop_assert_eq!(counters.dropped, of_fate(|fate| matches!(fate, Fate::Dropped)));
        prop_assert_eq!(counters.pending(), of_fate(|fate| matches!(fate, Fate::Pending)));
        let transits: Vec<Transit> = outcome.transits.iter().flatten().copied().collect();
        let one_way = Duration::from_nanos(case.rtt).half();
        let in_time = transits.iter().all(|transit| {
            transit.entered <= transit.departed && transit.departed + one_way < transit.at
        });
        prop_assert!(in_time);
        if ordered {
            prop_assert_eq!(counters.overtaken, 0);
        }
        // Every slot carries one unit, and only slots do.
        prop_assert!(outcome.sent.is_sorted_by(|a, b| a.at < b.at));
        let usage = outcome.usage;
        prop_assert_eq!(usage.used, outcome.sent.len() as f64);
        prop_assert!(usage.used <= usage.slots);
        let data = outcome.sent.iter().filter(|sent| sent.kind == TransmissionKind::New).count();
        prop_assert_eq!(counters.lldus_taken, data as u64);
    }

    #[test]
    fn without_a_scheme_it_is_the_link_trace_under_any_traffic(
        mut case in traffic(), sizes in tmt::sizes(1), shared in any::<bool>(), step in 0..200i64,
    ) {
        case.tmt.scheme = Scheme::None;
        case.tmt.sizes = sizes;
        let trace = Arc::new(case.tmt.scheme.apply(&case.phy(), timing(&case.tmt, case.rtt)));
        let packing = shared.then_some(Packing::Bytes);
        let fragmentation = Fragmentation { packing, ..Fragmentation::default() };
        let live = LinkConfig { fragmentation, ..case.link_config() };
        let open = LinkConfig { medium: trace, ..live.clone() };
        let open = drive(open.build(Seed(1), 0, case.end).unwrap(), &case.packets, 0);
        let live = drive(live.build(Seed(1), 0, case.end).unwrap(), &case.packets, step);
        prop_assert_eq!(&live.fates, &open.fates);
        prop_assert_eq!(&live.events, &open.events);
        prop_assert_eq!(live.counters.longest_queue, open.counters.longest_queue);
        let close = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs();
        // With a packet pending, each is polled until another instant.
        if live.counters.pending() == 0 {
            let usages = (live.usage, open.usage);
            prop_assert!(close(live.usage.slots, open.usage.slots), "{:?}", usages);
            prop_assert!(close(live.usage.used, open.usage.used), "{:?}", usages);
        }
    }

    #[test]
    fn over_slots_of_any_size_it_does_not_matter_how_often_one_polls(
        mut case in traffic(), sizes in tmt::sizes(1), shared in any::<bool>(), step in 0..200i64,
    ) {
        case.tmt.sizes = sizes;
        let packing = shared.then_some(Packing::Bytes);
        let fragmentation = Fragmentation { packing, ..Fragmentation::default() };
        let config = LinkConfig { fragmentation, ..case.link_config() };
        let rarely = drive(build(config.clone(), case.end), &case.packets, 0);
        let often = drive(build(config, case.end), &case.packets, step);
        prop_assert_eq!(&rarely.events, &often.events);
        prop_assert_eq!(&rarely.sent, &often.sent);
        prop_assert_eq!(rarely.counters, often.counters);
        // Every slot carries one unit, and only slots do.
        prop_assert!(rarely.sent.is_sorted_by(|a, b| a.at < b.at));
        prop_assert!(rarely.usage.used <= rarely.usage.slots + 1e-9);
    }
}

/// 100 bytes are erased in slot 0; known at 25, they go in slots of 60 (erased) and 40 bytes, and the
/// 60 again. Each packet is a unit, or a part of one.
#[test]
fn a_unit_that_does_not_fit_goes_in_pieces() {
    let t: Vec<i64> = (0..12).map(|slot| slot * 10).collect();
    let d = (0..12).map(|slot| if [0, 3].contains(&slot) { 0 } else { 4 }).collect::<Vec<i64>>();
    let sizes =
        Sizes::each(vec![100, 100, 100, 60, 50, 50, 50, 90, 50, 50, 50, 50].into()).unwrap();
    let run = |scheme: &str| {
        let phy = PhyTrace::new(t.clone().into(), d.clone().into(), sizes.clone()).unwrap();
        let feedback = Some(Duration::from_nanos(25));
        let timing = Timing { rtt: Duration::ZERO, feedback };
        let config = LiveConfig::new(phy, scheme.parse().unwrap(), timing);
        drive(build(LinkConfig::new(Arc::new(config)), None), &[(0, 90), (35, 80)], 0)
    };
    let outcome = run("ARQ");
    // New, two pieces at 30 and 40; the second packet takes 50 and 60, the lost piece is heard of
    // at 55 and goes at 60 (50 of 60 bytes) and 70; the rest of the second packet at 80.
    let sent: Vec<_> = outcome.sent.iter().map(summed_up).collect();
    let again = |at, times| (at, 1, 0, times);
    let expected = [
        (0, 0, 0, 0),
        again(30, 1),
        again(40, 1),
        (50, 0, 1, 0),
        again(60, 2),
        again(70, 2),
        (80, 0, 2, 0),
    ];
    assert_eq!(sent, expected);
    assert_eq!(outcome.fates, [Fate::Delivered(74), Fate::Delivered(84)]);
    assert_eq!(outcome.counters.lldus_taken, 3);
    // It is given up with its first piece that is, a decoding time (4) after slot 3.
    let outcome = run("ARQ(max 1)");
    assert_eq!(outcome.fates[0], Fate::Lost(34));
}

/// (2, 4) blocks of FEC over slots 10 ns apart, decoded after 4, RTT/2 of 100; slot 2 is erased.
#[test]
fn the_flush_timer_by_hand() {
    let erased = |slots: &[usize]| -> PhyTrace {
        let d = (0..20).map(|slot| if slots.contains(&slot) { 0 } else { 4 }).collect::<Vec<_>>();
        let t = (0..20).map(|slot| slot * 10).collect::<Vec<i64>>();
        PhyTrace::new(t.into(), d.into(), Bytes(LLDU)).unwrap()
    };
    let run = |scheme: &str, erased_slots: &[usize], flush: u64, arrivals: &[i64]| {
        let timing =
            Timing { rtt: Duration::from_nanos(200), feedback: Some(Duration::from_nanos(25)) };
        let flush = Some(Duration::from_nanos(flush));
        let config = LiveConfig {
            options: LiveOptions { flush, ..LiveOptions::default() },
            ..LiveConfig::new(erased(erased_slots), scheme.parse().unwrap(), timing)
        };
        let packets: Vec<_> = arrivals.iter().map(|&at| (at, LLDU)).collect();
        drive(build(LinkConfig::new(Arc::new(config)), None), &packets, 0)
    };
    let slots_of = |outcome: &Outcome, kind: u8| -> Vec<i64> {
        outcome
            .sent
            .iter()
            .map(summed_up)
            .filter(|sent| sent.1 == kind)
            .map(|sent| sent.0)
            .collect()
    };
    // A packet at 15 goes in slot 2 (t = 20), erased. Flush 0: slots 3 and 4 are its repair, and as
    // many units as data were sent, one, decode it: slot 3 arrives at 34.
    let now = run("FEC(2/4)", &[2], 0, &[15]);
    assert_eq!((slots_of(&now, 0), slots_of(&now, 2)), (vec![20], vec![30, 40]));
    assert_eq!((now.fates[0], now.count("blocks_flushed")), (Fate::Delivered(34 + 100), 1));
    // Flush 35: until 55 nothing happens; slots 6 and 7.
    let later = run("FEC(2/4)", &[2], 35, &[15]);
    assert_eq!((slots_of(&later, 2), later.fates[0]), (vec![60, 70], Fate::Delivered(64 + 100)));
    // A slot at the very instant is taken: 20 + 40 = 60.
    assert_eq!(slots_of(&run("FEC(2/4)", &[2], 40, &[15]), 2), [60, 70]);
    assert_eq!(slots_of(&run("FEC(2/4)", &[2], 41, &[15]), 2), [70, 80]);
    // A second packet within the time fills the block, which is not flushed then; one that comes
    // at the instant of the closing comes too late.
    let filled = run("FEC(2/4)", &[2], 35, &[15, 59]);
    assert_eq!((slots_of(&filled, 0), slots_of(&filled, 2)), (vec![20, 60], vec![70, 80]));
    assert_eq!((filled.fates[0], filled.count("blocks_flushed")), (Fate::Delivered(74 + 100), 0));
    let late = run("FEC(2/4)", &[2], 35, &[15, 60]);
    assert_eq!(slots_of(&late, 0), [20, 80], "after the repair of the closed block");
    // Interleaved by 2: three units make code words of two and one; the repair goes in turn.
    let words = run("FEC(2/3, interleave 2)", &[0, 2], 0, &[0, 0, 0]);
    let blocks: Vec<u64> =
        words.sent.iter().filter(|s| summed_up(s).1 == 2).map(|s| s.unit).collect();
    assert_eq!((slots_of(&words, 2), blocks), (vec![30, 40], vec![0, 1]));
    assert_eq!(words.count("blocks_failed"), 1, "units 0 and 2 are of one word");
    assert_eq!(words.fates[0], Fate::Lost(30 + 4 + 100));
    assert_eq!(words.fates[1], Fate::Delivered(14 + 100));
    // HARQ(2/2): nothing follows the closed block; its report does, from the closing at 30 on.
    let harq = run("HARQ(2/2)", &[2], 0, &[15]);
    assert_eq!((slots_of(&harq, 2), harq.fates[0]), (vec![60], Fate::Delivered(64 + 100)));
    assert_eq!((harq.count("blocks_flushed"), harq.count("blocks_repaired")), (1, 1));
    // FEC(2/2): given up a decoding time after the closing.
    assert_eq!(run("FEC(2/2)", &[2], 0, &[15]).fates[0], Fate::Lost(30 + 4 + 100));
}

#[test]
fn bounded_buffers_by_hand() {
    // Slot 0 is erased, feedback after 25: without bounds slots 0, 1, 2, ... carry new data.
    let phy = || {
        let d = (0..20).map(|slot| if slot == 0 { 0 } else { 4 }).collect::<Vec<_>>();
        PhyTrace::new((0..20).map(|i| i * 10).collect::<Vec<i64>>().into(), d.into(), Bytes(LLDU))
            .unwrap()
    };
    let timing = Timing { rtt: Duration::ZERO, feedback: Some(Duration::from_nanos(25)) };
    let sent = |send: Option<u32>, receive: Option<u32>| -> Vec<(i64, u64)> {
        let config = LiveConfig {
            options: LiveOptions {
                send_buffer: send.and_then(NonZeroU32::new),
                receive_buffer: receive.and_then(NonZeroU32::new),
                ..LiveOptions::default()
            },
            ..LiveConfig::new(phy(), "ARQ".parse().unwrap(), timing)
        };
        let link = build(LinkConfig::new(Arc::new(config)), None);
        let sent = drive(link, &[(0, LLDU); 6], 0).sent;
        sent.iter().map(|sent| (ns(sent.at), sent.unit)).collect()
    };
    assert_eq!(sent(None, None), [(0, 0), (10, 1), (20, 2), (30, 0), (40, 3), (50, 4), (60, 5)]);
    // Two at most are kept: unit 1 is acknowledged at 35, unit 0 (sent again at 30) at 55.
    assert_eq!(sent(Some(2), None), [(0, 0), (10, 1), (30, 0), (40, 2), (60, 3), (70, 4), (90, 5)]);
    // Two at most from the gap on: unit 2 waits until unit 0 is acknowledged.
    assert_eq!(
        sent(None, Some(2)),
        [(0, 0), (10, 1), (30, 0), (60, 2), (70, 3), (90, 4), (100, 5)]
    );
}

proptest! {
    #[test]
    fn a_successor_takes_over_at_its_time_and_not_before(
        case in tmt::case(), other in tmt::case(), rtt in 0..400u64, at in 0..3000u64,
        arrivals in proptest::collection::vec((0..3000i64, 1..4 * LLDU), 1..40),
    ) {
        let mut packets = arrivals;
        packets.sort_unstable();
        let timing = timing(&case, rtt);
        let run = |scheme: &Scheme, next: Option<(&Scheme, u64)>| {
            let live = LiveConfig::new(case.phy(), scheme.clone(), timing);
            let live = match next {
                Some((next, at)) => live.followed_by(next.clone(), Instant::from_nanos(at)),
                None => live,
            };
            drive(build(LinkConfig::new(Arc::new(live)), None), &packets, 0)
        };
        let alone = run(&case.scheme, None);
        let both = run(&case.scheme, Some((&other.scheme, at)));
        let until = |outcome: &Outcome| -> Vec<Transmission> {
            outcome.sent.iter().filter(|sent| ns(sent.at) < at as i64).cloned().collect()
        };
        prop_assert_eq!(until(&alone), until(&both));
        // From the first slot on it is alone.
        let from_start = run(&case.scheme, Some((&other.scheme, 0)));
        let other_alone = run(&other.scheme, None);
        prop_assert_eq!(&from_start.sent, &other_alone.sent);
        prop_assert_eq!(&from_start.fates, &other_alone.fates);
        // None after none is none.
        let none = run(&Scheme::None, None);
        let twice = run(&Scheme::None, Some((&Scheme::None, at)));
        prop_assert_eq!((&none.sent, &none.fates), (&twice.sent, &twice.fates));
    }
}

/// Slots 10 ns apart, decoded after 4, feedback after 25; slots 1 and 3 are erased.
#[test]
fn a_successor_by_hand() {
    let d: Vec<i64> = (0..20).map(|slot| if slot == 1 || slot == 3 { 0 } else { 4 }).collect();
    let t: Vec<i64> = (0..20).map(|slot| slot * 10).collect();
    let phy = PhyTrace::new(t.into(), d.into(), Bytes(LLDU)).unwrap();
    let timing = Timing { rtt: Duration::ZERO, feedback: Some(Duration::from_nanos(25)) };
    let run = |scheme: &str, next: &str, at: u64, options: LiveOptions| {
        let live = LiveConfig::new(phy.clone(), scheme.parse().unwrap(), timing);
        let live = LiveConfig { options, ..live };
        let live = live.followed_by(next.parse().unwrap(), Instant::from_nanos(at));
        drive(build(LinkConfig::new(Arc::new(live)), None), &[(0, LLDU); 6], 0)
    };
    let sent = |outcome: &Outcome| -> Vec<(i64, u8, u64)> {
        outcome.sent.iter().map(|sent| (ns(sent.at), sent.kind as u8, sent.unit)).collect()
    };
    // ARQ repairs unit 1 of slot 1, of which it hears at 35; unit 3 in slot 3 has no repair.
    let outcome = run("ARQ", "none", 25, LiveOptions::default());
    let expected =
        [(0, 0, 0), (10, 0, 1), (20, 0, 2), (30, 0, 3), (40, 1, 1), (50, 0, 4), (60, 0, 5)];
    assert_eq!(sent(&outcome), expected);
    assert_eq!(outcome.fates[1], Fate::Delivered(44));
    assert_eq!(outcome.fates[3], Fate::Lost(34));
    // The block is closed with one unit and its two of repair. ARQ counts on from unit 1, also in a
    // buffer of two: unit 1 (erased in slot 3) is repeated in slot 6, and unit 3 waits for its report.
    let options = LiveOptions { send_buffer: NonZeroU32::new(2), ..LiveOptions::default() };
    let outcome = run("FEC(2/4)", "ARQ", 5, options);
    let expected = [(0, 0, 0), (10, 2, 0), (20, 2, 0), (30, 0, 1), (40, 0, 2), (60, 1, 1)];
    assert_eq!(sent(&outcome)[..6], expected);
    assert!(outcome.fates.iter().all(|fate| matches!(fate, Fate::Delivered(_))));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let phy = PhyTrace::new(vec![0, 10].into(), vec![1, 1].into(), Bytes(LLDU)).unwrap();
    let timing = Timing { rtt: Duration::ZERO, feedback: None };
    let live = LiveConfig::new(phy.clone(), Scheme::None, timing);
    let config = LinkConfig::new(Arc::new(live.clone()));
    let refused = |config: LinkConfig, why: &str| {
        let fault = config.build(Seed(1), 0, None).err().unwrap().to_string();
        assert!(fault.starts_with(why), "{fault}");
    };
    let papers = LinkConfig { overlap_papers: true, ..config.clone() };
    refused(papers, "overlap = \"papers\" needs a link trace;");
    let single = PhyTrace::new(vec![0].into(), vec![1].into(), Bytes(LLDU)).unwrap();
    let lossy = LiveConfig { reports: Some(single.clone()), ..live };
    refused(LinkConfig::new(Arc::new(lossy)), "a trace of one slot cannot be wrapped;");
    let short = LiveConfig::new(single, Scheme::None, timing);
    let wrapped = LinkConfig { wrap: true, ..LinkConfig::new(Arc::new(short)) };
    refused(wrapped, "a trace of one slot cannot be wrapped;");
    let headers = Fragmentation { lldu_header: Bytes(LLDU), ..Fragmentation::default() };
    let full = LinkConfig { fragmentation: headers, ..config };
    refused(full, &format!("an LLDU of {LLDU} bytes has no room for data"));
}

/// A live link and any traffic.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    tmt: Case,
    rtt: u64,
    flush: u64,
    offset: u64,
    wrap: bool,
    end: Option<Instant>,
    back: Option<Vec<Slot>>,
    repeat: u64,
    buffers: (Option<u32>, Option<u32>),
    queue: QueueLimit,
    /// Arrival and bytes.
    pub(crate) packets: Vec<(i64, u32)>,
}

impl Traffic {
    fn phy(&self) -> PhyTrace {
        self.tmt.phy()
    }

    fn config(&self) -> LiveConfig {
        LiveConfig {
            options: LiveOptions {
                flush: Some(Duration::from_nanos(self.flush)),
                feedback_loss: None,
                feedback_repeat: Some(Duration::from_nanos(self.repeat)),
                send_buffer: self.buffers.0.and_then(NonZeroU32::new),
                receive_buffer: self.buffers.1.and_then(NonZeroU32::new),
            },
            reports: self.back.as_deref().map(phy_of),
            ..LiveConfig::new(self.phy(), self.tmt.scheme.clone(), timing(&self.tmt, self.rtt))
        }
    }

    fn link_config(&self) -> LinkConfig {
        LinkConfig {
            queue: self.queue,
            start_offset: Duration::from_nanos(self.offset),
            wrap: self.wrap,
            ..LinkConfig::new(Arc::new(self.config()))
        }
    }

    pub(crate) fn link(&self) -> Box<dyn InstrumentedLink + Send> {
        build(self.link_config(), self.end)
    }

    fn expected(&self) -> Expected {
        let packets: Vec<_> = self
            .packets
            .iter()
            .map(|&(at, size)| (at, size, size.div_ceil(LLDU) as usize))
            .collect();
        let period = |phy: &PhyTrace| phy.period().as_nanos() as i64;
        live_reference::run(&Input {
            scheme: self.tmt.scheme.clone(),
            slots: &self.tmt.slots,
            period: self.wrap.then(|| period(&self.phy())),
            over: self.phy().t()[0] + period(&self.phy()),
            offset: self.offset as i64,
            end: self.end.map_or(i64::MAX, ns),
            nominal: self.tmt.nominal(),
            feedback: self.tmt.feedback,
            one_way: self.rtt as i64 / 2,
            flush: self.flush as i64,
            back: self.back.as_deref().map(|back| (back, period(&phy_of(back)))),
            repeat: self.repeat as i64,
            send_buffer: self.buffers.0,
            receive_buffer: self.buffers.1,
            queue: self.queue,
            packets: &packets,
        })
    }
}

pub(crate) fn traffic() -> impl Strategy<Value = Traffic> {
    let gap = prop_oneof![Just(0i64), 0..30i64, 0..30i64, 0..600i64];
    let packets = prop::collection::vec((gap, 1..200u32), 1..40);
    let queue = prop_oneof![
        2 => Just(QueueLimit::Unlimited),
        1 => (0..8u32).prop_map(QueueLimit::Packets),
        1 => (0..500u64).prop_map(QueueLimit::Bytes),
    ];
    let buffers = (prop::option::weighted(0.3, 1..9u32), prop::option::weighted(0.3, 1..9u32));
    let offset = prop_oneof![Just(0u64), 0..300u64, 0..5_000u64];
    let times = (0..400u64, prop_oneof![Just(0u64), 0..400u64], offset, any::<bool>());
    let back = prop::option::weighted(0.4, tmt::slots());
    let end = prop::option::weighted(0.5, 0..3_000u64);
    (tmt::case(), times, end, (back, 1..300u64), buffers, queue, packets).prop_map(
        |(mut tmt, (rtt, flush, offset, wrap), end, (back, repeat), buffers, queue, packets)| {
            // A feedback of eternity leaves nothing to see here.
            tmt.feedback %= 3_000;
            let wrap = wrap && tmt.slots.len() > 1 && end.is_some();
            let mut now = 0;
            let packets = packets
                .into_iter()
                .map(|(gap, size)| {
                    now += gap;
                    (now, size)
                })
                .collect();
            Traffic {
                tmt,
                rtt,
                flush,
                offset,
                wrap,
                end: end.map(Instant::from_nanos),
                back: back.filter(|back| back.len() > 1),
                repeat,
                buffers,
                queue,
                packets,
            }
        },
    )
}

/// What came out of a link.
struct Outcome {
    fates: Vec<Fate>,
    transits: Vec<Option<Transit>>,
    events: Vec<LinkEvent>,
    sent: Vec<Transmission>,
    trace_ended: Option<i64>,
    details: Vec<(&'static str, u64)>,
    counters: clift::link::LinkCounters,
    usage: clift::link::Usage,
}

impl Outcome {
    fn count(&self, name: &str) -> u64 {
        self.details.iter().find(|detail| detail.0 == name).unwrap().1
    }
}

/// Sends (arrival, bytes) over a link, polling when it wants to be, and every `step` ns if not 0.
fn drive(mut link: Box<dyn InstrumentedLink + Send>, packets: &[(i64, u32)], step: i64) -> Outcome {
    link.log_units();
    let mut events = Vec::new();
    let mut dropped = vec![false; packets.len()];
    let mut clock = 0;
    for (number, &(arrival, size)) in packets.iter().enumerate() {
        while step > 0 && clock < arrival {
            poll(&mut *link, clock, &mut events);
            link.catch_up(at(clock));
            clock += step;
        }
        while let Some(due) = link.poll_timeout().filter(|&due| ns(due) <= arrival) {
            poll(&mut *link, ns(due), &mut events);
        }
        let packet = Packet::new(PacketId(number as u64), Bytes(size));
        dropped[number] = matches!(link.enqueue(at(arrival), packet), Admission::Dropped(_));
    }
    let mut last = packets.last().map_or(0, |packet| packet.0);
    while let Some(due) = link.poll_timeout() {
        last = ns(due);
        poll(&mut *link, last, &mut events);
        assert!(link.poll_timeout().is_none_or(|next| next > due), "it wants to be polled again");
    }
    link.catch_up(at(1 << 60));
    assert_eq!(link.poll_timeout(), None);
    let mut fates: Vec<Fate> =
        dropped.iter().map(|&gone| if gone { Fate::Dropped } else { Fate::Pending }).collect();
    let (mut transits, mut trace_ended) = (vec![None; packets.len()], None);
    for event in &events {
        let (transit, fate) = match *event {
            LinkEvent::Delivered(transit) => (transit, Fate::Delivered(ns(transit.at))),
            LinkEvent::Lost(transit) => (transit, Fate::Lost(ns(transit.at))),
            LinkEvent::TraceEnded { at, .. } => {
                assert_eq!(trace_ended.replace(ns(at)), None, "it ends once");
                continue;
            }
            _ => unreachable!("no other event"),
        };
        let packet = transit.packet.0 as usize;
        assert_eq!(fates[packet], Fate::Pending, "a packet comes out once");
        fates[packet] = fate;
        transits[packet] = Some(transit);
    }
    Outcome {
        fates,
        transits,
        events,
        sent: link.take_units(),
        trace_ended,
        details: link.details(),
        counters: link.counters(),
        usage: link.usage(at(last)),
    }
}

fn poll(link: &mut dyn Link, now: i64, events: &mut Vec<LinkEvent>) {
    while let Some(event) = link.poll(at(now)) {
        assert!(ns(event.at()) <= now);
        events.push(event);
    }
}

/// Transmissions of each of the first data units.
fn transmissions(outcome: &Outcome, scheme: &Scheme, units: usize) -> Vec<u32> {
    let mut times = vec![1; units];
    for sent in &outcome.sent {
        let range = match (scheme, sent.kind) {
            (Scheme::Arq(Arq { .. }), TransmissionKind::Again) => sent.unit..sent.unit + 1,
            (Scheme::Harq2(Harq2 { code, .. }), TransmissionKind::Repair) => {
                let k = code.data() as u64;
                sent.unit * k..(sent.unit + 1) * k
            }
            _ => continue,
        };
        for unit in range {
            if let Some(times) = times.get_mut(unit as usize) {
                *times = (*times).max(1 + sent.attempt);
            }
        }
    }
    times
}

fn summed_up(sent: &Transmission) -> (i64, u8, u64, u32) {
    (ns(sent.at), sent.kind as u8, sent.unit, sent.attempt)
}

fn timing(case: &Case, rtt: u64) -> Timing {
    let feedback = Some(Duration::from_nanos(case.feedback as u64));
    Timing { rtt: Duration::from_nanos(rtt), feedback }
}

fn phy_of(slots: &[Slot]) -> PhyTrace {
    let (t, d): (Vec<i64>, Vec<i64>) = slots.iter().copied().unzip();
    PhyTrace::with_header(t.into(), d.into(), Bytes(LLDU), Header::default()).unwrap()
}

fn build(config: LinkConfig, end: Option<Instant>) -> Box<dyn InstrumentedLink + Send> {
    config.build(Seed(1), 0, end).unwrap()
}

fn at(ns: i64) -> Instant {
    Instant::from_nanos(ns as u64)
}

fn ns(at: Instant) -> i64 {
    at.as_nanos() as i64
}
