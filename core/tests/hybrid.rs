//! Hybrid FEC/ARQ-SR against a slow, obvious reference and against its analytical model.

use clift::link::{
    Admission, Fragmentation, Instrument, InstrumentedLink, LinkEvent, Packet, PacketId,
    QueueLimit, TraceLinkConfig, Transit, deliver,
};
use clift::scheme::HybridFecArq;
use clift::scheme::{HybridConfig, HybridLink, HybridOptions, LinkConfig};
use clift::seed::Seed;
use clift::trace::{Header, PhyTrace};
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use proptest::prelude::*;
use support::hybrid_reference::{self as reference, Case, Fate};

prop_compose! {
    /// Erasures from rare to frequent, slots that units meet several to one and one to several.
    fn trace()(
        gaps in prop::collection::vec(1i64..60, 1..120),
        first in 0i64..50,
        idle in prop::option::weighted(0.3, 1u64..500),
        seen in prop::collection::vec(0.0..1.0f64, 120),
        lost in prop_oneof![Just(0.0), 0.0..0.3f64, 0.3..1.0f64],
    ) -> PhyTrace {
        let t: Vec<i64> = gaps.iter().scan(first, |t, gap| { *t += gap; Some(*t) }).collect();
        let d: Vec<i64> = seen[..t.len()].iter().map(|&u| i64::from(u >= lost) * 7).collect();
        let span = (t[t.len() - 1] - t[0]) as u64;
        let period = idle.map(|idle| Duration::from_nanos(span + idle));
        let header = Header { period, ..Header::default() };
        PhyTrace::with_header(t.into(), d.into(), Bytes(10), header).unwrap()
    }
}

prop_compose! {
    pub(crate) fn case()(
        (data, spare, plain, frames, persistency) in
            (1u32..5, 0u32..3, 0u32..3, 1u32..5, 0u32..4),
        unit in 1u32..20,
        rate in prop_oneof![Just(8_000_000_000u64), 300_000_000..3_000_000_000u64],
        delay in prop_oneof![0i64..40, 0i64..400],
        trace in trace(),
        (offset, wrap) in (prop_oneof![Just(0i64), 0i64..3_000], prop::bool::weighted(0.8)),
        end in prop::option::weighted(0.3, 0i64..6_000),
        queue in prop_oneof![
            Just(QueueLimit::Unlimited),
            (0u32..6).prop_map(QueueLimit::Packets),
            (0u64..300).prop_map(QueueLimit::Bytes),
        ],
        header in prop_oneof![Just(0u32), 0u32..10],
        gaps in prop::collection::vec(prop_oneof![Just(0i64), 0i64..30, 0i64..900], 1..25),
        sizes in prop::collection::vec(0.0..1.05f64, 25),
    ) -> Case {
        let wrap = wrap && trace.len() > 1;
        let arrivals: Vec<i64> = gaps.iter().scan(0, |t, gap| { *t += gap; Some(*t) }).collect();
        let largest = f64::from(frames * data * unit);
        let sizes = sizes[..arrivals.len()].iter().map(|&share| 1 + (share * largest) as u32);
        Case {
            data,
            total: data + spare,
            first: data + spare - plain.min(spare),
            frames,
            persistency,
            unit,
            rate,
            delay,
            trace,
            offset,
            wrap,
            end,
            queue,
            header,
            sizes: sizes.collect(),
            arrivals,
        }
    }
}

fn config(case: &Case) -> HybridConfig {
    let options = HybridOptions {
        k: case.data,
        n: case.total,
        n_first: Some(case.first),
        frames: case.frames,
        persistency: case.persistency,
        unit: Bytes(case.unit),
        rate: BitRate::from_bits_per_second(case.rate).unwrap(),
        delay: Duration::from_nanos(case.delay as u64),
        in_order: false,
        ..HybridOptions::default()
    };
    HybridConfig { options, losses: Some(std::sync::Arc::new(case.trace.clone())) }
}

pub(crate) fn link(case: &Case) -> HybridLink {
    let packet_header = Bytes(case.header);
    let options = TraceLinkConfig {
        queue: case.queue,
        fragmentation: Fragmentation { packet_header, ..Fragmentation::default() },
        start_offset: Duration::from_nanos(case.offset as u64),
        wrap: case.wrap,
        duration: case.end.map(at),
    };
    HybridLink::new(&config(case), options, Seed(1), 0).unwrap()
}

/// What came out, besides the queue right after each arrival.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<LinkEvent>,
    dropped: Vec<usize>,
    waiting: Vec<usize>,
}

/// Drives a link as a host does, polling every `step` ns besides (0: only when asked), and calls
/// `look` once between two of the link's own instants, at `pause`.
fn drive<L: InstrumentedLink>(
    link: &mut L,
    case: &Case,
    step: i64,
    pause: i64,
    mut look: impl FnMut(&L),
) -> Seen {
    let (mut seen, mut now, mut next, mut looked) = (Seen::default(), 0, 0, false);
    loop {
        let mut due = link.poll_timeout();
        while let Some(event) = link.poll(at(now)) {
            assert!(event.at() <= at(now), "came out early");
            assert!(due.is_some_and(|due| due <= event.at()), "came out unannounced");
            assert!(seen.events.last().is_none_or(|last| last.at() <= event.at()), "out of order");
            seen.events.push(event);
            due = link.poll_timeout();
        }
        assert!(link.poll_timeout().is_none_or(|due| due > at(now)));
        while next < case.arrivals.len() && case.arrivals[next] == now {
            let packet = Packet::new(PacketId(next as u64), Bytes(case.sizes[next]));
            if let Admission::Dropped(_) = link.enqueue(at(now), packet) {
                seen.dropped.push(next);
            }
            seen.waiting.push(link.queue_len(at(now)));
            next += 1;
        }
        if now == pause {
            link.catch_up(at(now));
            look(link);
            looked = true;
        }
        let mut instants = vec![];
        instants.extend(case.arrivals.get(next));
        instants.extend(link.poll_timeout().map(|due| due.as_nanos() as i64));
        if !looked {
            instants.push(pause);
        }
        if step > 0 && !instants.is_empty() {
            instants.push(now + step);
        }
        match instants.into_iter().filter(|&at| at >= now).min() {
            Some(at) => now = at.max(now),
            None => return seen,
        }
    }
}

proptest! {
    #[test]
    fn every_packet_meets_the_fate_that_the_reference_gives_it(
        case in case(), step in prop_oneof![Just(0i64), 1i64..100], pause in 0i64..8_000
    ) {
        let expected = reference::run(&case);
        let mut link = link(&case);
        link.log_units();
        let seen = drive(&mut link, &case, step, pause, |link| {
            counts_agree(link, &case, &expected, pause);
        });
        prop_assert_eq!(&seen.waiting, &expected.waiting);
        let mut fates = vec![Fate::Pending; case.sizes.len()];
        for &packet in &seen.dropped {
            fates[packet] = Fate::Dropped;
        }
        let mut ended = None;
        for event in &seen.events {
            match *event {
                LinkEvent::Delivered(transit) => {
                    fates[transit.packet.0 as usize] = Fate::Delivered(ns(transit.at));
                }
                LinkEvent::Lost(transit) => {
                    fates[transit.packet.0 as usize] = Fate::Lost(ns(transit.at));
                }
                LinkEvent::TraceEnded { packet, at } => ended = Some((packet.0 as usize, ns(at))),
                _ => unreachable!(),
            }
            if let LinkEvent::Delivered(transit) | LinkEvent::Lost(transit) = event {
                let packet = transit.packet.0 as usize;
                prop_assert_eq!(Some(ns(transit.departed)), expected.departed[packet]);
                prop_assert_eq!(ns(transit.entered), case.arrivals[packet]);
                let frames = reference::frames_of(&case, case.sizes[packet]);
                prop_assert_eq!(u64::from(transit.lldus), frames * u64::from(case.data));
                // Nothing before its time: its frames, one after the other, and the way.
                let frame = reference::time_to_send(&case, case.first * case.unit);
                prop_assert!(ns(transit.at) >= ns(transit.departed) + frame + case.delay);
            }
        }
        prop_assert_eq!(ended, expected.ended);
        let expected_fates = expected.fates.iter().map(|fate| fate.unwrap_or(Fate::Pending));
        prop_assert_eq!(&fates, &expected_fates.collect::<Vec<_>>());
        let counters = link.counters();
        let pending = fates.iter().filter(|&&fate| fate == Fate::Pending).count();
        prop_assert_eq!(counters.pending() as usize, pending);
        prop_assert_eq!(counters.offered as usize, case.sizes.len());
        prop_assert_eq!(counters.dropped as usize, seen.dropped.len());
        let longest = expected.waiting.iter().copied().max().unwrap_or(0);
        prop_assert_eq!(counters.longest_queue as usize, longest);
        prop_assert!(link.details().contains(&("packets_given_up", counters.lost)));
        prop_assert_eq!(counters.delivered as usize, delivered(&seen.events).count());
        let frame = |sent: &reference::Sent| frame_of(&case, sent);
        let logged: Vec<_> =
            link.take_units().iter().map(|sent| (ns(sent.at), sent.attempt, sent.arrival)).collect();
        let there = |sent: &reference::Sent| sent.decoded.then(|| at(sent.start + frame(sent) + case.delay));
        let sent: Vec<_> =
            expected.air.iter().map(|sent| (sent.start, sent.times, there(sent))).collect();
        prop_assert_eq!(logged, sent);
        // What was put on the air for the packets delivered, over their data.
        let of_delivered = |sent: &&reference::Sent| matches!(fates[sent.packet], Fate::Delivered(_));
        let of_one = |sent: &reference::Sent| f64::from(reference::units_of(&case, sent.times));
        let units: f64 = expected.air.iter().filter(of_delivered).map(of_one).sum();
        if counters.delivered > 0 {
            let per_lldu = link.usage(Instant::MAX).per_lldu;
            prop_assert!((per_lldu * counters.lldus_delivered as f64 - units).abs() < 1e-6);
        }
    }

    #[test]
    fn in_order_releases_a_packet_when_all_before_it_have_ended(case in case()) {
        let plain = drive(&mut link(&case), &case, 0, 0, |_| {});
        let mut config = config(&case);
        config.options.in_order = true;
        let mut ordered = LinkConfig {
            queue: case.queue,
            start_offset: Duration::from_nanos(case.offset as u64),
            wrap: case.wrap,
            fragmentation: clift::link::Fragmentation {
                packet_header: Bytes(case.header),
                ..Default::default()
            },
            ..LinkConfig::new(std::sync::Arc::new(config))
        }
        .build(Seed(1), 0, case.end.map(at))
        .unwrap();
        let ordered = drive(&mut ordered, &case, 0, 0, |_| {});
        let end_of = |order| {
            plain.events.iter().filter_map(transit_of).find(|t| t.order == order).map(|t| t.at)
        };
        let mut released = vec![];
        for transit in delivered(&plain.events) {
            let all: Option<Vec<Instant>> = (0..=transit.order).map(end_of).collect();
            released.extend(all.map(|ends| (transit.order, ends.into_iter().max().unwrap())));
        }
        released.sort_unstable_by_key(|&(order, _)| order);
        let out: Vec<_> = delivered(&ordered.events).map(|t| (t.order, t.at)).collect();
        prop_assert_eq!(out, released);
    }
}

/// Counts and usage as of `now`, which no event of the link marks.
fn counts_agree(link: &HybridLink, case: &Case, expected: &reference::Outcome, now: i64) {
    let begun: Vec<_> = expected.air.iter().filter(|sent| sent.start <= now).collect();
    let count =
        |what: &dyn Fn(&&&reference::Sent) -> bool| begun.iter().filter(what).count() as u64;
    let again = count(&|sent| sent.times > 0);
    let details = link.details();
    let units = |what: &dyn Fn(&&&reference::Sent) -> bool| -> u64 {
        begun.iter().filter(what).map(|s| u64::from(reference::units_of(case, s.times))).sum()
    };
    for (name, value) in [
        ("frames_sent", begun.len() as u64),
        ("frames_sent_again", again),
        ("frames_failed", count(&|sent| !sent.decoded)),
        ("frames_given_up", count(&|sent| !sent.decoded && sent.times == case.persistency)),
        ("units_sent", units(&|_| true)),
        ("units_sent_again", units(&|sent| sent.times > 0)),
    ] {
        assert!(details.contains(&(name, value)), "{name}: {value} in {details:?}");
    }
    let now = now.min(case.end.unwrap_or(now));
    let busy: i64 = begun.iter().map(|sent| (now - sent.start).min(frame_of(case, sent))).sum();
    let usage = link.usage(at(now));
    let slot = reference::time_to_send(case, case.total * case.unit) as f64 / f64::from(case.total);
    let used = usage.used * slot;
    assert!((used - busy as f64).abs() < 1e-6, "{used} used of {busy}");
    assert!((usage.slots * slot - now as f64).abs() < 1e-6);
    assert_eq!(usage.erased, units(&|sent| !sent.decoded) as f64);
}

/// Time on the air.
fn frame_of(case: &Case, sent: &reference::Sent) -> i64 {
    reference::time_to_send(case, reference::units_of(case, sent.times) * case.unit)
}

/// Two frames a packet, of two units of 10 bytes at 8 Gbit/s: 20 ns; units start every 10 ns.
fn by_hand(erased: &[i64], arrivals: Vec<i64>, sizes: Vec<u32>) -> Case {
    let t: Vec<i64> = (0..100).map(|slot| slot * 10).collect();
    let d: Vec<i64> = (0..100).map(|slot| i64::from(!erased.contains(&slot))).collect();
    Case {
        data: 2,
        total: 2,
        first: 2,
        frames: 2,
        persistency: 1,
        unit: 10,
        rate: 8_000_000_000,
        delay: 100,
        trace: PhyTrace::new(t.into(), d.into(), Bytes(10)).unwrap(),
        offset: 0,
        wrap: false,
        end: None,
        queue: QueueLimit::Unlimited,
        header: 0,
        arrivals,
        sizes,
    }
}

#[test]
fn a_loss_and_its_repair_by_hand() {
    // The third unit is lost, at 20 to 30 ns.
    let case = by_hand(&[2], vec![0, 230], vec![40, 25]);
    let seen = drive(&mut link(&case), &case, 0, 0, |_| {});
    // The first packet's frames: 0 to 20, 20 to 40 (fails). Its NACK comes at 240, while the second
    // packet's first frame is sent, 230 to 250; so 250 to 270, then the second packet's other
    // frame.
    let out: Vec<_> = delivered(&seen.events).map(|t| (t.packet.0, ns(t.at))).collect();
    assert_eq!(out, [(0, 370), (1, 390)]);
}

#[test]
fn a_packet_is_given_up_while_its_other_frames_go_on() {
    // The same, but the first frame fails at 0, 220 and never comes through; the second does.
    let case = by_hand(&[0, 22, 3], vec![0], vec![40]);
    let mut link = link(&case);
    let seen = drive(&mut link, &case, 0, 500, |_| {});
    // NACKs at 220 and 240; given up at 240 + 100. The second frame is sent again all the same.
    assert!(matches!(seen.events[..], [LinkEvent::Lost(lost)] if ns(lost.at) == 340));
    let counts = link.details();
    assert!(counts.contains(&("frames_sent", 4)) && counts.contains(&("frames_given_up", 1)));
}

/// Al Fawal 2003's link at D = 20 ms.
fn paper(total: u32, first: Option<u32>, persistency: u32, p: f64) -> HybridConfig {
    let options = HybridOptions {
        n: total,
        n_first: first,
        persistency,
        delay: Duration::from_millis(20),
        loss: Some(Probability::new(p).unwrap()),
        in_order: false,
        ..HybridOptions::default()
    };
    HybridConfig { options, losses: None }
}

/// A link that always has something to send, and the fates of its packets.
fn saturated(config: &HybridConfig) -> (HybridLink, Vec<i64>) {
    const PACKETS: i64 = 60_000;
    let mut link = HybridLink::new(config, TraceLinkConfig::default(), Seed(3), 0).unwrap();
    let arrivals: Vec<i64> = (0..PACKETS).collect();
    let delivered = deliver(&mut link, &arrivals, Bytes(1500)).unwrap().delivered;
    (link, delivered)
}

#[test]
fn frames_and_packets_get_through_as_often_as_the_model_says() {
    for (total, first, persistency, p) in [
        (10, None, 0, 0.01),
        (10, None, 1, 0.01),
        (11, None, 0, 0.01),
        (12, None, 0, 0.05),
        (11, None, 3, 0.1),
        (14, None, 2, 0.3),
        (12, Some(10), 1, 0.05),
        (14, Some(11), 3, 0.2),
    ] {
        let probability = Probability::new(p).unwrap();
        let model = HybridFecArq::new(10, total, 6, persistency, probability).unwrap();
        let repeated = model;
        let model = model.with_first(first.unwrap_or(total)).unwrap();
        let (link, delivered) = saturated(&paper(total, first, persistency, p));
        let counters = link.counters();
        let of = |name| {
            let details = link.details();
            details.iter().find(|(key, _)| *key == name).map(|&(_, value)| value as f64).unwrap()
        };
        let packets = counters.offered as f64;
        let sent = of("frames_sent");
        let within = |seen: f64, of: f64, expected: f64, what: &str| {
            let error = (expected * (1.0 - expected) / of).sqrt();
            let share = seen / of;
            assert!(
                (share - expected).abs() <= 4.0 * error + 1e-12,
                "N {total} delta {persistency} p {p}: {what} {share} for {expected} +- {error}"
            );
        };
        let failed = 1.0 - model.frame() / model.transmissions();
        within(of("frames_failed"), sent, failed, "failed transmissions");
        within(of("frames_given_up"), 6.0 * packets, model.frame_loss(), "frames given up");
        within(counters.delivered as f64, packets, model.packet(), "packets delivered");
        assert_eq!(counters.delivered + counters.lost, counters.offered);
        // Transmissions of a frame: as the model says, within what a geometric law spreads.
        let transmissions = sent / (6.0 * packets);
        let q = repeated.transmission().min(model.transmission());
        let error = ((1.0 - q) / q.powi(2) / (6.0 * packets)).sqrt();
        assert!((transmissions - model.transmissions()).abs() <= 4.0 * error, "{transmissions}");
        assert!(
            (of("units_sent") / of("frames_sent") * model.transmissions() / model.units() - 1.0)
                .abs()
                < 0.01
        );
        // What the always busy link carries: delivered packets over the time that it took.
        let last = delivered.iter().max().unwrap() - 20_000_000;
        let useful = counters.delivered as f64 * 6e6 / last as f64;
        assert!((useful / model.useful_share() - 1.0).abs() < 0.02, "{useful}");
        let ratio = link.usage(at(last)).coding_ratio(&counters).unwrap();
        // Units of a frame decoded at its first transmission, its second, ...
        let (first, again) = (f64::from(first.unwrap_or(total)), f64::from(total));
        let decoded_in = |i: u32| match i {
            0 => model.transmission(),
            _ => {
                let fails = 1.0 - repeated.transmission();
                (1.0 - model.transmission()) * fails.powi(i as i32 - 1) * (1.0 - fails)
            }
        };
        let units = |i: u32| (first + f64::from(i) * again) * decoded_in(i);
        let expected = 10.0 * model.frame() / (0..=persistency).map(units).sum::<f64>();
        assert!((ratio / expected - 1.0).abs() < 0.01, "{ratio} for {expected}");
    }
}

#[test]
fn the_same_seeds_give_the_same_bits_and_either_seed_changes_them() {
    let run = |own: u64, seed: u64, number: u32| {
        let mut config = paper(10, None, 1, 0.02);
        (config.options.in_order, config.options.seed) = (true, own);
        let mut link =
            LinkConfig::new(std::sync::Arc::new(config)).build(Seed(seed), number, None).unwrap();
        deliver(&mut *link, &(0..500).collect::<Vec<_>>(), Bytes(1500)).unwrap().delivered
    };
    assert_eq!(run(1, 1, 0), run(1, 1, 0));
    assert_ne!(run(1, 1, 0), run(2, 1, 0));
    assert_ne!(run(1, 1, 0), run(1, 2, 0));
    assert_ne!(run(1, 1, 0), run(1, 1, 1));
}

#[test]
fn what_makes_no_link_is_refused() {
    let good = paper(12, None, 5, 0.0);
    let refused = |change: &dyn Fn(&mut HybridOptions)| {
        let mut config = good.clone();
        change(&mut config.options);
        HybridLink::new(&config, TraceLinkConfig::default(), Seed(1), 0).is_err()
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|config| config.k = 0));
    assert!(refused(&|config| config.n = 9));
    assert!(refused(&|config| config.n = 65_536));
    assert!(refused(&|config| config.frames = 0));
    assert!(refused(&|config| config.persistency = 65_536));
    assert!(refused(&|config| config.unit = Bytes(0)));
    assert!(refused(&|config| (config.unit, config.n) = (Bytes(65_535), 65_535)));
    assert!(refused(&|config| config.rate = BitRate::from_bits_per_second(u64::MAX).unwrap()));
    assert!(refused(&|config| config.delay = Duration::MAX));
    let link = LinkConfig::new(std::sync::Arc::new(good));
    let papers = LinkConfig { overlap_papers: true, ..link.clone() };
    let fault = papers.build(Seed(1), 0, None).err().unwrap().to_string();
    assert!(fault.ends_with("needs a link trace; remove it for a live link"));
    assert_eq!(link.check_packet(Bytes(1500)), Ok(()));
    let fault = link.check_packet(Bytes(1501)).unwrap_err().to_string();
    assert!(fault.starts_with("packets of 1501 bytes are larger than the link's maximum of 1500;"));
}

fn delivered(events: &[LinkEvent]) -> impl Iterator<Item = Transit> + '_ {
    events.iter().filter_map(|event| match event {
        LinkEvent::Delivered(transit) => Some(*transit),
        _ => None,
    })
}

fn transit_of(event: &LinkEvent) -> Option<Transit> {
    match event {
        LinkEvent::Delivered(transit) | LinkEvent::Lost(transit) => Some(*transit),
        _ => None,
    }
}

fn ns(instant: Instant) -> i64 {
    instant.as_nanos() as i64
}

fn at(nanos: i64) -> Instant {
    Instant::from_nanos(nanos as u64)
}
