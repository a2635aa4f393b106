//! Queues that manage themselves: laws that each must follow in front of any hop.

use clift::link::{Admission, Link, LinkEvent, Packet, PacketId, QueueLimit, StreamRange};
use clift::queue::Aqm;
use clift::seed::Seed;
use clift::simulation::{Hop, LegConfig, Way};
use clift::units::{BitRate, Bytes, Duration, Ecn, Instant};
use proptest::prelude::*;

const ALL: [&str; 5] = ["none", "codel", "fq-codel", "pie", "dualpi2"];

/// 12 Mbit/s: a packet of 1500 bytes takes a millisecond.
fn leg(aqm: &str, queue: QueueLimit) -> Way {
    let leg = LegConfig {
        rate: BitRate::from_bits_per_second(12_000_000),
        queue,
        aqm: aqm.parse().unwrap(),
        ..LegConfig::of_delay(Duration::ZERO)
    };
    Way::new(&[Hop::Leg(leg)], Seed(1), 0).unwrap()
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    flow: u32,
    size: u32,
}

/// The fate of each packet: when it was delivered, or when it was dropped.
fn carry(way: &mut Way, arrivals: &[Arrival]) -> Vec<Result<u64, u64>> {
    carry_marking(way, arrivals, |_| Ecn::NotEct).0
}

/// The same of packets with an ECN field, and which of them were marked.
fn carry_marking(
    way: &mut Way,
    arrivals: &[Arrival],
    field: impl Fn(&Arrival) -> Ecn,
) -> (Vec<Result<u64, u64>>, Vec<bool>) {
    let mut fates = vec![None; arrivals.len()];
    let mut marked = vec![false; arrivals.len()];
    let mut note = |event: LinkEvent| match event {
        LinkEvent::Marked { packet, .. } => {
            let place = packet.0 as usize;
            assert!(arrivals.get(place).is_some_and(|it| field(it).is_capable()), "not allowed");
            assert!(!std::mem::replace(&mut marked[place], true), "twice");
        }
        LinkEvent::Delivered(transit) => {
            let at = Ok(transit.at.as_nanos());
            assert!(fates[transit.packet.0 as usize].replace(at).is_none(), "twice");
        }
        LinkEvent::Lost(transit) => {
            let at = Err(transit.at.as_nanos());
            assert!(fates[transit.packet.0 as usize].replace(at).is_none(), "twice");
        }
        _ => {}
    };
    let mut refused = Vec::new();
    for (number, arrival) in arrivals.iter().enumerate() {
        let now = Instant::from_nanos(arrival.at);
        while let Some(event) = way.poll(now) {
            note(event);
        }
        let range = StreamRange { flow: arrival.flow, start: 0, end: 1 };
        let packet = Packet::new(PacketId(number as u64), Bytes(arrival.size)).carrying(range);
        let packet = packet.with_ecn(field(arrival));
        if let Admission::Dropped(_) = way.enqueue(now, packet) {
            refused.push((number, arrival.at));
        }
    }
    while let Some(at) = way.poll_timeout() {
        while let Some(event) = way.poll(at) {
            note(event);
        }
    }
    for (number, at) in refused {
        assert!(fates[number].replace(Err(at)).is_none(), "twice");
    }
    let fates = fates.into_iter().map(|fate| fate.expect("each packet has a fate")).collect();
    (fates, marked)
}

/// Packets of 1500 bytes at `share` of the rate for `seconds`.
fn constant(share: f64, seconds: f64) -> Vec<Arrival> {
    let gap = 1e6 / share;
    let count = (seconds * 1e9 / gap) as usize;
    let one = |number: usize| Arrival { at: (number as f64 * gap) as u64, flow: 0, size: 1500 };
    (0..count).map(one).collect()
}

/// A thick flow in waves of a second from .7 to 1.5 of the rate, beside a thin one (`windows` of
/// `validation/queues.py`), 30 s.
fn waves() -> Vec<Arrival> {
    let (mut arrivals, mut now) = (Vec::new(), 0.0_f64);
    while now < 30e9 {
        arrivals.push(Arrival { at: now as u64 / 1000 * 1000, flow: 0, size: 1500 });
        now += 1e6 / (1.1 + 0.4 * (2.0 * std::f64::consts::PI * now / 1e9).sin());
    }
    arrivals.extend((0..1500).map(|at| Arrival { at: at * 20_000_000, flow: 1, size: 200 }));
    arrivals.sort_by_key(|arrival| (arrival.at, arrival.flow));
    arrivals
}

/// Shares dropped and marked, and the mean delay of what was delivered, ms.
fn shares(aqm: &str, arrivals: &[Arrival], classic: Ecn) -> [f64; 3] {
    let field = |arrival: &Arrival| match aqm {
        "dualpi2" if arrival.flow % 2 == 1 => Ecn::Ect1,
        _ => classic,
    };
    let mut way = leg(aqm, QueueLimit::Packets(1000));
    let (fates, marked) = carry_marking(&mut way, arrivals, field);
    let delays: Vec<u64> =
        fates.iter().zip(arrivals).filter_map(|(fate, it)| Some((*fate).ok()? - it.at)).collect();
    let (all, sent) = (fates.len() as f64, delays.len() as f64);
    // What is dropped later may be marked before.
    let marks = marked.iter().zip(&fates).filter(|(marked, fate)| **marked && fate.is_ok()).count();
    [1.0 - sent / all, marks as f64 / all, delays.iter().sum::<u64>() as f64 / sent / 1e6]
}

/// Beside what kernels did with the same arrivals (`validation/kernel/queues.csv`): the two patterns
/// that a formula makes, each figure within 10 %. PIE draws: where fewer than one packet in a thousand
/// is marked, the number is chance.
#[test]
fn queues_do_what_those_of_a_kernel_do() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../validation/kernel/queues.csv");
    let rows = std::fs::read_to_string(file).unwrap();
    let mut compared = 0;
    for row in rows.lines().skip(1) {
        let words: Vec<&str> = row.split(',').collect();
        let (aqm, pattern) = (words[0], words[1]);
        let arrivals = match pattern {
            "constant" => constant(1.25, 30.0),
            "waves" => waves(),
            _ => continue,
        };
        assert_eq!(arrivals.len().to_string(), words[3], "{row}");
        let classic = if words[2] == "0" { Ecn::NotEct } else { Ecn::Ect0 };
        let kernel = [4, 5, 6].map(|at| words[at].parse::<f64>().unwrap());
        for (ours, theirs) in shares(aqm, &arrivals, classic).into_iter().zip(kernel) {
            assert!((ours - theirs).abs() <= 0.1 * theirs.max(0.002), "{row}: {ours}, {theirs}");
        }
        compared += 1;
    }
    assert!(compared >= 14, "{compared}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Each packet is delivered once or dropped once, and the counters say so.
    #[test]
    fn nothing_is_lost_sight_of(
        gaps in prop::collection::vec((0u64..3_000_000, 0u32..4, 40u32..1501), 1..400),
        which in 0usize..5,
        room in 1u32..60,
    ) {
        let mut at = 0;
        let arrivals: Vec<Arrival> = gaps
            .into_iter()
            .map(|(gap, flow, size)| {
                at += gap;
                Arrival { at, flow, size }
            })
            .collect();
        let mut way = leg(ALL[which], QueueLimit::Packets(room));
        let fates = carry(&mut way, &arrivals);
        let delivered = fates.iter().filter(|fate| fate.is_ok()).count() as u64;
        let hop = way.hops().next().unwrap().counters();
        prop_assert_eq!(hop.delivered, delivered);
        prop_assert_eq!(hop.dropped, arrivals.len() as u64 - delivered);
        prop_assert_eq!(hop.lost, 0);
        prop_assert_eq!(way.counters().pending(), 0);
    }

    /// Where nothing waits for long, what is managed is what is not.
    #[test]
    fn a_short_queue_is_left_alone(
        gaps in prop::collection::vec((900_000u64..2_000_000, 40u32..1501), 1..200),
    ) {
        let mut at = 0;
        let arrivals: Vec<Arrival> = gaps
            .into_iter()
            .map(|(gap, size)| {
                at += gap;
                Arrival { at, flow: 0, size }
            })
            .collect();
        let plain = carry(&mut leg("none", QueueLimit::Unlimited), &arrivals);
        for aqm in &ALL[1..] {
            let mut way = leg(&aqm.replace("codel", "codel(target 50 ms)"), QueueLimit::Unlimited);
            prop_assert_eq!(&carry(&mut way, &arrivals), &plain);
            let mut way = leg(&aqm.replace("codel", "codel(target 50 ms)"), QueueLimit::Unlimited);
            let (fates, marked) = carry_marking(&mut way, &arrivals, |_| Ecn::Ect0);
            prop_assert_eq!((&fates, marked.contains(&true)), (&plain, false));
        }
    }
}

/// RFC 8289 by hand: 1.25 times the rate. While one packet is sent the next stands ready, so that the
/// n-th leaves the queue at n - 1 ms and has waited for n / 5 - 1 ms: for 5 ms at 29 ms. What leaves
/// 100 ms later is dropped; the time to the next drop is 100 ms, then less by Newton's steps towards
/// one over the square root of their number, as long as the delay stays above the target.
#[test]
fn codel_drops_by_its_law() {
    let fates = carry(&mut leg("codel", QueueLimit::Unlimited), &constant(1.25, 0.6));
    let drops = fates.iter().filter_map(|fate| fate.err()).map(|at| at as f64 / 1e6);
    let drops: Vec<f64> = drops.collect();
    assert!(drops.len() >= 9, "{drops:?}");
    let (mut due, mut root) = (29.0 + 100.0, 1.0);
    for (number, dropped) in drops.iter().enumerate() {
        // A packet leaves every millisecond.
        assert!((-0.01..=1.0).contains(&(dropped - due)), "{number}: {dropped} ms, due {due} ms");
        if number == 0 {
            due = *dropped;
        } else {
            root *= (3.0 - (number + 1) as f64 * root * root) / 2.0;
        }
        due += 100.0 * root;
    }
}

/// A constant overload of a quarter: of five packets one is dropped in the end, and the delay is where
/// the controller has it.
#[test]
fn pie_finds_the_share_that_is_too_much() {
    let arrivals = constant(1.25, 60.0);
    let fates = carry(&mut leg("pie", QueueLimit::Unlimited), &arrivals);
    let late = arrivals.len() / 2..;
    let dropped = fates[late.clone()].iter().filter(|fate| fate.is_err()).count();
    let share = dropped as f64 / fates[late.clone()].len() as f64;
    assert!((share - 0.2).abs() < 0.01, "{share}");
    let delays: Vec<f64> = fates[late.clone()]
        .iter()
        .zip(&arrivals[late])
        .filter_map(|(fate, arrival)| Some((fate.ok()? - arrival.at) as f64 / 1e6))
        .collect();
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!((12.0..18.0).contains(&mean), "{mean} ms where it steers to 15");
}

/// Two flows that always have something, of packets of 1500 and of 500 bytes, have half each; a flow
/// that sends less than its share waits for a packet or two.
#[test]
fn flows_have_equal_shares_and_thin_ones_go_first() {
    let mut arrivals = Vec::new();
    for number in 0..20_000u64 {
        arrivals.push(Arrival { at: number * 500_000, flow: 0, size: 1500 });
        (0..3).for_each(|_| arrivals.push(Arrival { at: number * 500_000, flow: 1, size: 500 }));
        if number % 40 == 0 {
            arrivals.push(Arrival { at: number * 500_000, flow: 2, size: 200 });
        }
    }
    let fates = carry(&mut leg("fq-codel", QueueLimit::Packets(1000)), &arrivals);
    let bytes = |flow| {
        // As long as both have something.
        let in_time = |fate: &Result<u64, u64>| fate.is_ok_and(|at| at < 10_000_000_000);
        let all = arrivals.iter().zip(&fates);
        let mine = all.filter(|(it, fate)| it.flow == flow && in_time(fate));
        mine.map(|(it, _)| u64::from(it.size)).sum::<u64>() as f64
    };
    assert!((bytes(0) / bytes(1) - 1.0).abs() < 0.01, "{} and {}", bytes(0), bytes(1));
    let thin = arrivals.iter().zip(&fates).filter(|(it, _)| it.flow == 2);
    for (it, fate) in thin {
        let waited = fate.expect("a thin flow loses nothing") - it.at;
        assert!(waited <= 3_000_000, "{waited} ns");
    }
    // In one queue it waits as long as everybody else.
    let one = carry(&mut leg("codel", QueueLimit::Packets(1000)), &arrivals);
    let waited = |(it, fate): (&Arrival, &Result<u64, u64>)| Some(fate.ok()? - it.at);
    let thin = arrivals.iter().zip(&one).filter(|(it, _)| it.flow == 2).filter_map(waited);
    assert!(thin.max().unwrap() > 100_000_000);
}

/// The flow that has most makes room.
#[test]
fn a_full_fair_queue_drops_of_the_longest() {
    let mut arrivals: Vec<_> = (0..200).map(|_| Arrival { at: 0, flow: 0, size: 1500 }).collect();
    arrivals.extend((0..5).map(|_| Arrival { at: 1, flow: 1, size: 1500 }));
    let fates = carry(&mut leg("fq-codel", QueueLimit::Packets(100)), &arrivals);
    assert!(fates[200..].iter().all(Result::is_ok));
    assert!(fates.iter().filter(|fate| fate.is_err()).count() >= 100);
}

/// RFC 8290, section 5.2.6: what would be dropped is marked at the same instant, so that the law of the
/// drops is that of the marks, and nothing is dropped. What may not be marked is dropped as ever.
#[test]
fn codel_marks_where_it_may() {
    let arrivals = constant(1.25, 0.6);
    let plain = carry(&mut leg("codel", QueueLimit::Unlimited), &arrivals);
    let mut way = leg("codel", QueueLimit::Unlimited);
    let (fates, marked) = carry_marking(&mut way, &arrivals, |_| Ecn::Ect0);
    assert!(fates.iter().all(Result::is_ok));
    let first = |dropped: &[bool]| dropped.iter().position(|&it| it).unwrap();
    let dropped: Vec<bool> = plain.iter().map(Result::is_err).collect();
    assert_eq!(first(&marked), first(&dropped));
    let count = |which: &[bool]| which.iter().filter(|&&it| it).count();
    assert!(count(&marked).abs_diff(count(&dropped)) <= 1);
    assert_eq!(
        way.hops().next().unwrap().details().last(),
        Some(&("packets_marked", count(&marked) as u64))
    );
    let (again, none) =
        carry_marking(&mut leg("codel", QueueLimit::Unlimited), &arrivals, |_| Ecn::NotEct);
    assert_eq!((again, none.contains(&true)), (plain, false));
}

/// A packet that waited for longer than the threshold is marked, and no other: while one is sent and the
/// next stands ready, the n-th of a train leaves the queue at n - 1 ms.
#[test]
fn the_threshold_marks_what_waited_for_longer() {
    let train: Vec<_> = (0..20).map(|_| Arrival { at: 0, flow: 0, size: 1500 }).collect();
    let aqm = "codel(target 1 s, ce_threshold 5 ms)";
    let (_, marked) = carry_marking(&mut leg(aqm, QueueLimit::Unlimited), &train, |_| Ecn::Ect0);
    let expected: Vec<bool> = (0..20).map(|number| number - 1 > 5).collect();
    assert_eq!(marked, expected);
}

/// RFC 8033, section 5.1: marks up to a probability of 10 %, drops beyond: with a twentieth too much
/// only marks do not slow anybody down, so that the probability passes 10 % and what is too much goes.
#[test]
fn pie_marks_below_its_threshold_and_drops_beyond() {
    let arrivals = constant(1.05, 120.0);
    let mut way = leg("pie", QueueLimit::Unlimited);
    let (fates, marked) = carry_marking(&mut way, &arrivals, |_| Ecn::Ect0);
    let first_mark = marked.iter().position(|&it| it).unwrap();
    let first_drop = fates.iter().position(Result::is_err).unwrap();
    assert!(first_mark < first_drop, "{first_mark} {first_drop}");
    let late = fates.len() / 2..;
    let dropped = fates[late.clone()].iter().filter(|fate| fate.is_err()).count() as f64;
    let share = dropped / fates[late].len() as f64;
    assert!((share - 0.05 / 1.05).abs() < 0.02, "{share}");
}

/// RFC 9332, section 2.1: classic packets are dropped with p^2, low-latency ones marked with 2 p, so that
/// the share of marks is twice the root of the share of drops. A quarter too much of classic packets, and
/// of low-latency ones so few that the step does not matter.
#[test]
fn marks_are_twice_the_root_of_drops() {
    let mut arrivals = constant(1.08, 200.0);
    arrivals.extend((0..40_000).map(|at| Arrival { at: at * 5_000_000, flow: 1, size: 100 }));
    arrivals.sort_by_key(|arrival| arrival.at);
    for (aqm, within) in [("dualpi2(step 1 s)", 0.03), ("dualpi2(step 1 s, marks drawn)", 0.06)] {
        let mut way = leg(aqm, QueueLimit::Unlimited);
        let field = |arrival: &Arrival| if arrival.flow == 1 { Ecn::Ect1 } else { Ecn::NotEct };
        let (fates, marked) = carry_marking(&mut way, &arrivals, field);
        let share = |flow: u32, which: &dyn Fn(usize) -> bool| {
            let late =
                |at: &usize| arrivals[*at].flow == flow && arrivals[*at].at > 100_000_000_000;
            let (all, hit) = (0..arrivals.len())
                .filter(late)
                .fold((0, 0), |(all, hit), at| (all + 1, hit + usize::from(which(at))));
            f64::from(hit as u32) / f64::from(all as u32)
        };
        let (drops, marks) = (share(0, &|at| fates[at].is_err()), share(1, &|at| marked[at]));
        assert!((0.07..0.12).contains(&drops), "{aqm}: {drops}");
        assert!((marks / (2.0 * drops.sqrt()) - 1.0).abs() < within, "{aqm}: {marks} for {drops}");
        assert_eq!(share(1, &|at| fates[at].is_err()), 0.0, "low-latency packets are not dropped");
    }
}

/// The step marks a packet that waited longer than 1 ms, also if none is behind it, as in Linux
/// (`min_qlen_step` is 0). The last of three packets waits for one: 1500 bytes take 1 ms, 3000 bytes 2 ms.
#[test]
fn the_step_marks_the_last_packet_too() {
    for (size, expected) in [(1500, false), (3000, true)] {
        let arrivals = [0; 3].map(|at| Arrival { at, flow: 1, size });
        let mut way = leg("dualpi2(marks drawn)", QueueLimit::Unlimited);
        let (_, marked) = carry_marking(&mut way, &arrivals, |_| Ecn::Ect1);
        assert_eq!(marked, [false, false, expected], "{size} bytes");
    }
}

/// With any load of the classic queue, a low-latency packet waits for what is being sent, its own queue and
/// now and then a classic packet.
#[test]
fn low_latency_packets_do_not_wait_behind_classic_ones() {
    let mut arrivals = constant(1.05, 20.0);
    arrivals.extend((0..4_000).map(|at| Arrival { at: at * 5_000_000, flow: 1, size: 100 }));
    arrivals.sort_by_key(|arrival| arrival.at);
    let mut way = leg("dualpi2", QueueLimit::Packets(1000));
    let field = |arrival: &Arrival| if arrival.flow == 1 { Ecn::Ect1 } else { Ecn::NotEct };
    let (fates, _) = carry_marking(&mut way, &arrivals, field);
    for (arrival, fate) in arrivals.iter().zip(&fates).filter(|(arrival, _)| arrival.flow == 1) {
        let waited = fate.expect("not dropped") - arrival.at;
        assert!(waited <= 3_200_000, "{waited} ns");
    }
}

#[test]
fn queue_management_is_read_and_written() {
    for text in [
        "none",
        "codel",
        "codel(target 20 ms, interval 600 ms)",
        "fq-codel(quantum 300 B)",
        "pie(target 20 ms, update 5 ms, burst 0 ns)",
        "codel(ce_threshold 1 ms)",
        "dualpi2",
        "dualpi2(target 20 ms, update 5 ms, step 2 ms)",
        "dualpi2(marks drawn)",
    ] {
        let aqm: Aqm = text.parse().unwrap();
        assert_eq!(aqm.to_string().parse::<Aqm>(), Ok(aqm), "{text}");
    }
    for (text, reason) in [
        ("red", "unknown"),
        ("codel(", "the closing parenthesis is missing"),
        ("codel(target)", "`target` has no value"),
        ("codel(target 5)", "`5` is not a time with its unit"),
        ("codel(target 0 ms)", "`0 ms` must be above 0"),
        ("codel(quantum 300 B)", "`quantum 300 B` means nothing here"),
        ("codel(target 5 ms, target 6 ms)", "`target` is there twice"),
        ("fq-codel(quantum 0 B)", "is not a valid packet size"),
        ("dualpi2(marks odd)", "marks must be \"even\" or \"drawn\", not `odd`"),
        ("none(target 5 ms)", "`target 5 ms` means nothing here"),
    ] {
        let error = text.parse::<Aqm>().unwrap_err();
        assert!(error.contains(reason) && error.contains("write \"none\""), "{error}");
    }
}
