//! Coding around hops: what is rebuilt, when, and what is given up.

use std::sync::Arc;

use clift::diagnosis::{Budget, Cause, diagnose};
use clift::link::{
    Admission, Code, Coding, Link, LinkEvent, Packet, PacketId, QueueLimit, Transit,
};
use clift::metrics::{HopMetrics, LinkMetrics, Outcome};
use clift::queue::Aqm;
use clift::scenario::{Scenario, Store};
use clift::seed::Seed;
use clift::simulation::{Hop, LegConfig, Loss, Setup, Stretch, Way};
use clift::trace::Folder;
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use proptest::prelude::*;

/// A byte takes a microsecond, and a packet 10 ms more to arrive.
fn leg(queue: u32, lost: &[u64]) -> Hop {
    Hop::Leg(LegConfig {
        rate: BitRate::from_bits_per_second(8_000_000),
        delay: Duration::from_millis(10).into(),
        queue: QueueLimit::Packets(queue),
        aqm: Aqm::None,
        loss: Loss::Packets(Arc::from(lost)),
    })
}

/// Half as many repair packets as source packets, without headers.
fn two_thirds(code: Code, window: u32) -> Coding {
    let rate = Probability::new(2.0 / 3.0).unwrap();
    Coding { code, window, rate, header: Bytes(0), ..Coding::default() }
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// What becomes of packets that enter at these times, in the order of events; and the counters.
fn pass(hops: Vec<Hop>, coding: Coding, packets: &[(Instant, u32)]) -> (Vec<LinkEvent>, Way) {
    let mut way = Way::new(&[Stretch::coded(hops, coding)], Seed(1), 0).unwrap();
    let mut events = Vec::new();
    for (id, &(now, size)) in packets.iter().enumerate() {
        drain(&mut way, now, &mut events);
        let admission = way.enqueue(now, Packet::new(PacketId(id as u64), Bytes(size)));
        assert_eq!(admission, Admission::Queued);
    }
    drain(&mut way, Instant::MAX, &mut events);
    (events, way)
}

fn drain(way: &mut Way, until: Instant, events: &mut Vec<LinkEvent>) {
    while let Some(due) = way.poll_timeout().filter(|&due| due <= until) {
        events.extend(std::iter::from_fn(|| way.poll(due)));
        assert!(way.poll_timeout().is_none_or(|next| next > due));
    }
}

/// Packet and time in ms of each delivery.
fn delivered(events: &[LinkEvent]) -> Vec<(u64, u64)> {
    let ms = |transit: &Transit| (transit.packet.0, transit.at.as_nanos() / 1_000_000);
    events
        .iter()
        .filter_map(|event| match event {
            LinkEvent::Delivered(transit) => Some(ms(transit)),
            _ => None,
        })
        .collect()
}

fn detail(way: &Way, name: &str) -> u64 {
    let details = way.hops().next().unwrap().details();
    details.iter().find(|one| one.0 == name).unwrap().1
}

/// Source packets at 0, 1, ... ms; each takes 1 ms and then 10 ms.
fn each_ms(count: u64) -> Vec<(Instant, u32)> {
    (0..count).map(|ms| (at(ms), 1000)).collect()
}

#[test]
fn a_lost_packet_is_rebuilt_when_the_repair_packet_arrives() {
    // On the air: 0 1 R 2 3 R. Packet 1 is the second of them.
    let coding = two_thirds(Code::Rlc, 8);
    let (events, way) = pass(vec![leg(99, &[1])], coding.clone(), &each_ms(4));
    assert_eq!(delivered(&events), [(0, 11), (1, 13), (2, 14), (3, 15)]);
    assert_eq!(detail(&way, "packets_recovered"), 1);
    assert_eq!(detail(&way, "repair_packets_sent"), 2);
    assert_eq!(detail(&way, "repair_packets_useless"), 1);
    // Nobody knew that it was missing before the repair packet came.
    assert_eq!(detail(&way, "decoding_delay_us"), 0);
    // Two losses need the second repair packet; packet 2 waits for them, unless order is no matter.
    let (events, way) = pass(vec![leg(99, &[0, 1])], coding.clone(), &each_ms(4));
    assert_eq!(delivered(&events), [(0, 16), (1, 16), (2, 16), (3, 16)]);
    assert_eq!((detail(&way, "packets_recovered"), detail(&way, "decoding_delay_us")), (2, 3000));
    let coding = Coding { in_order: false, ..coding };
    let (events, _) = pass(vec![leg(99, &[0, 1])], coding, &each_ms(4));
    assert_eq!(delivered(&events), [(2, 14), (3, 15), (0, 16), (1, 16)]);
}

#[test]
fn a_block_that_lacks_too_many_packets_is_given_up_when_the_next_one_begins() {
    // On the air: 0 1 R 2 3 R; the loss of 1 and R leaves one equation too few.
    let (events, way) = pass(vec![leg(99, &[1, 2])], two_thirds(Code::Block, 2), &each_ms(4));
    assert_eq!(delivered(&events), [(0, 11), (2, 14), (3, 15)]);
    let lost: Vec<_> = events.iter().filter(|event| matches!(event, LinkEvent::Lost(_))).collect();
    assert!(matches!(lost[..], [LinkEvent::Lost(one)] if one.packet.0 == 1 && one.at == at(14)));
    assert_eq!(detail(&way, "packets_undecodable"), 1);
    // Of three packets of a block any two are enough.
    let (events, _) = pass(vec![leg(99, &[0, 4])], two_thirds(Code::Block, 2), &each_ms(4));
    assert_eq!(delivered(&events), [(0, 13), (1, 13), (2, 14), (3, 16)]);
}

#[test]
fn the_last_packets_are_covered_after_a_pause() {
    let flush = Duration::from_millis(30);
    for code in [Code::Rlc, Code::Block] {
        let coding = Coding { flush, ..two_thirds(code, 8) };
        let (events, way) = pass(vec![leg(99, &[0])], coding, &each_ms(1));
        assert_eq!(delivered(&events), [(0, 41)], "{code:?}");
        assert_eq!(detail(&way, "repair_packets_sent"), 1);
    }
}

#[test]
fn a_packet_is_given_up_after_the_holding_time_or_beyond_the_window() {
    // Without repair packets: packet 0 is noticed missing at 12 ms.
    let hold = Duration::from_millis(5);
    let coding = Coding { rate: Probability::ONE, hold, ..two_thirds(Code::Rlc, 100) };
    let (events, _) = pass(vec![leg(99, &[0])], coding.clone(), &each_ms(9));
    let expected: Vec<_> = (1..9).map(|packet| (packet, (11 + packet).max(17))).collect();
    assert_eq!(delivered(&events), expected);
    // After packet 3 a window of three packets does not reach back to packet 0.
    let coding = Coding { window: 3, hold: Duration::from_secs(1), ..coding };
    let (events, _) = pass(vec![leg(99, &[0])], coding, &each_ms(9));
    let expected: Vec<_> = (1..9).map(|packet| (packet, (11 + packet).max(14))).collect();
    assert_eq!(delivered(&events), expected);
}

#[test]
fn a_packet_that_the_queue_dropped_is_rebuilt_or_counts_as_dropped() {
    let burst = vec![(at(0), 1000); 5];
    // One is sent and three wait: 0 1 R 2; the others find the queue full.
    let (events, way) = pass(vec![leg(3, &[])], two_thirds(Code::Rlc, 8), &burst);
    assert_eq!(delivered(&events), [(0, 11), (1, 12), (2, 14)]);
    assert_eq!((way.counters().dropped, way.counters().lost), (2, 0));
    assert_eq!(detail(&way, "repair_packets_dropped"), 1);
    // A later repair packet brings back packet 3, which the queue dropped.
    let mut later = vec![(at(0), 1000); 3];
    later.extend([(at(0), 1000), (at(50), 1000), (at(50), 1000)]);
    let (events, way) = pass(vec![leg(3, &[])], two_thirds(Code::Rlc, 8), &later);
    assert_eq!(delivered(&events), [(0, 11), (1, 12), (2, 14), (3, 63), (4, 63), (5, 63)]);
    assert_eq!(way.counters().dropped, 0);
}

#[test]
fn reports_ask_for_repair_packets_and_set_the_code_rate() {
    // The report leaves 20 ms after the first arrival and takes 10 ms, the repair packet 11.
    let report = Duration::from_millis(20);
    let asked =
        Coding { rate: Probability::ONE, on_demand: true, report, ..two_thirds(Code::Rlc, 100) };
    let packets: Vec<_> = each_ms(3);
    let lossy = || vec![leg(99, &[1])];
    let (events, way) = pass(lossy(), asked.clone(), &packets);
    assert_eq!(delivered(&events), [(0, 11), (1, 52), (2, 52)]);
    assert_eq!((detail(&way, "repair_packets_sent"), detail(&way, "coding_reports")), (1, 2));
    // A later report costs as much delay.
    let later = Coding { feedback: Some(Duration::from_millis(110)), ..asked.clone() };
    assert_eq!(delivered(&pass(lossy(), later, &packets).0), [(0, 11), (1, 152), (2, 152)]);
    // Every fifth packet is lost: at twice the loss two repair packets follow five packets.
    let lost: Vec<u64> = (0..40_000).step_by(5).collect();
    let adapted = Coding { on_demand: false, adapt: Some(2.0), ..asked };
    let (_, way) = pass(vec![leg(99_999, &lost)], adapted, &each_ms(20_000));
    let overhead = detail(&way, "repair_packets_sent") as f64 / 20_000.0;
    assert!((overhead - 0.5).abs() < 0.02, "{overhead}");
}

/// What was given up is still in the repair packets of the window, so they must be as many.
#[test]
fn what_was_given_up_does_not_stop_the_repair_on_demand() {
    let leg = LegConfig {
        rate: BitRate::from_bits_per_second(10_000_000),
        loss: Loss::Random(Probability::new(0.03).unwrap()),
        ..LegConfig::of_delay(Duration::from_millis(100))
    };
    for window in [64, 256] {
        let asked =
            Coding { rate: Probability::ONE, on_demand: true, ..two_thirds(Code::Rlc, window) };
        let packets: Vec<_> = (0..20_000).map(|packet| (at(10 * packet), 1000)).collect();
        let (_, way) = pass(vec![Hop::Leg(leg.clone())], asked, &packets);
        let share = way.counters().lost as f64 / 600.0;
        assert!(share < 0.15, "window {window}: {share} of the losses remain");
    }
}

fn codings() -> impl Strategy<Value = Coding> {
    let rate = prop_oneof![Just(1.0), 0.3..1.0];
    let adapt = prop::option::of(0.0f64..4.0);
    let times = (1u64..80, 0u64..200, 1u64..300);
    (any::<bool>(), 1u32..40, rate, adapt, any::<bool>(), any::<bool>(), times).prop_map(
        |(block, window, rate, adapt, on_demand, in_order, (report, flush, hold))| Coding {
            code: if block { Code::Block } else { Code::Rlc },
            window,
            rate: Probability::new(rate).unwrap(),
            adapt,
            on_demand: on_demand && !block,
            in_order,
            report: Duration::from_millis(report),
            flush: Duration::from_millis(flush),
            hold: Duration::from_millis(hold),
            ..Coding::default()
        },
    )
}

proptest! {
    /// Each packet has one fate, in order, and the counters agree.
    #[test]
    fn each_packet_has_one_fate(
        coding in codings(),
        lost in prop::collection::btree_set(0u64..160, 0..80),
        gaps in prop::collection::vec(0u64..20, 1..100),
        queue in 1u32..30,
    ) {
        let mut now = 0;
        let packets: Vec<_> = gaps.iter().map(|gap| {
            now += gap;
            (at(now), 500 + 17 * (*gap as u32))
        }).collect();
        let lost: Vec<u64> = lost.into_iter().collect();
        let (events, way) = pass(vec![leg(queue, &lost)], coding.clone(), &packets);
        let mut fates = vec![0; packets.len()];
        for event in &events {
            let (LinkEvent::Delivered(transit) | LinkEvent::Lost(transit)) = event else { continue };
            fates[transit.packet.0 as usize] += 1;
            prop_assert!(transit.at >= transit.departed && transit.departed >= transit.entered);
            prop_assert_eq!(transit.size.0, packets[transit.packet.0 as usize].1);
        }
        prop_assert!(fates.iter().all(|&count| count == 1), "{:?}", fates);
        prop_assert!(events.is_sorted_by_key(|event| event.at()));
        let counters = way.counters();
        prop_assert_eq!(counters.pending(), 0);
        prop_assert_eq!(counters.delivered, delivered(&events).len() as u64);
        prop_assert_eq!(counters.lost + counters.dropped, detail(&way, "packets_undecodable"));
        prop_assert!(counters.delivered >= detail(&way, "packets_recovered"));
        // Over a leg no packet is late.
        if coding.in_order {
            prop_assert!(delivered(&events).is_sorted());
        }
        // A second time the same.
        prop_assert_eq!(events, pass(vec![leg(queue, &lost)], coding, &packets).0);
    }

    /// With any parameters, nothing panics and nothing waits for ever.
    #[test]
    fn absurd_parameters_do_no_harm(
        window in 1u32..=1024,
        rate in prop_oneof![Just(0.1), Just(1.0), 0.1..1.0],
        long in prop_oneof![Just(1_000_000u64), Just(1 << 61)],
        header in prop_oneof![Just(0u32), Just(Coding::LARGEST_HEADER.0)],
        loses_all in any::<bool>(),
    ) {
        let coding = Coding {
            window,
            rate: Probability::new(rate).unwrap(),
            adapt: Some(9.0),
            on_demand: true,
            flush: Duration::from_nanos(long),
            hold: Duration::from_nanos(long),
            feedback: Some(Duration::from_nanos(long)),
            header: Bytes(header),
            ..Coding::default()
        };
        let lost: Vec<u64> = if loses_all { (0..5000).collect() } else { Vec::new() };
        let (events, _) = pass(vec![leg(5000, &lost)], coding, &each_ms(60));
        prop_assert_eq!(events.len(), 60);
    }
}

/// The hops of a stretch draw what they draw without coding, and so do the hops behind it.
#[test]
fn coding_leaves_the_losses_of_a_path_as_they_are() {
    let path = |coding: &str| {
        let text = format!(
            "duration = \"20 s\"\ntransport = {{ protocol = \"udp\", packet = \"1000 B\" }}\n\
             application = {{ type = \"constant rate\", message = \"900 B\", rate = \"500 kbit/s\" }}\n\
             [[path]]\nleg = {{ rate = \"2 Mbit/s\", delay = \"5 ms\", loss = \"5 %\" }}\n{coding}\n\
             [[path]]\nleg = {{ rate = \"2 Mbit/s\", delay = \"9 ms\" }}\n\
             [[path]]\nleg = {{ rate = \"2 Mbit/s\", delay = \"1 ms\", loss = \"5 %\" }}\n"
        );
        let setup = setup(&text);
        (setup.forward.len(), clift::simulation::run(&setup, &mut ()).unwrap())
    };
    // A code of rate 1 sends no repair packets.
    let ((three, plain), (two, coded)) =
        (path(""), path("coding = { rate = 1, hops = 2, in_order = false }"));
    assert_eq!((three, two), (3, 2));
    assert_eq!(plain.flows[0].bytes_in_order, coded.flows[0].bytes_in_order);
    let (_, repaired) = path("coding = { rate = 0.7, hops = 2 }");
    assert!(repaired.flows[0].bytes_in_order > plain.flows[0].bytes_in_order);
}

fn setup(text: &str) -> Setup {
    let scenario = Scenario::parse("x.toml", text, &[], &clift::Registry::new())
        .unwrap_or_else(|it| panic!("{text}: {it}"));
    let store = Store::new(Folder::new(""));
    scenario.cells()[0].setup(0, &store).unwrap_or_else(|it| panic!("{text}: {it}"))
}

/// The only link of a scenario, and its budget.
fn diagnosed(text: &str) -> (LinkMetrics, Budget) {
    let (outcome, found) = diagnose(&setup(text), &|| true).unwrap();
    (links(&outcome).next().unwrap().clone(), found.budget)
}

fn links(outcome: &Outcome) -> impl Iterator<Item = &LinkMetrics> {
    outcome.forward.iter().filter_map(|hop| match hop {
        HopMetrics::Link(link) => Some(&**link),
        _ => None,
    })
}

const CHANNEL: &str = "channel = { model = \"bernoulli\", erasures = 0.001, rate = \"2 Mbit/s\", lldu = \"100 B\" }\n";

/// Varying delays are a leg of their own behind the link. Delays that stay the same change nothing.
#[test]
fn coding_around_a_link_and_a_leg_counts_like_coding_around_the_link() {
    let text = |link: &str| format!("duration = \"20 s\"\n{CHANNEL}[coding]\n[link]\n{link}");
    let alone = diagnosed(&text("rtt = \"120 ms\""));
    let (link, budget) = &alone;
    assert_eq!(diagnosed(&text("delays = [[0, 10], [10, 10]]")), alone);
    // 1508 bytes in 16 LLDUs of 100 bytes; a tenth of the packets are repair packets.
    assert!(link.share_padding.is_some_and(|it| (0.06..0.08).contains(&it)), "{link:?}");
    let carried = budget.goodput_bits as f64;
    let of = |cause| budget.bits(cause) as f64 / carried;
    assert!((0.06..0.09).contains(&of(Cause::Padding)), "{budget:?}");
    assert!((0.1..0.2).contains(&of(Cause::Coding)), "{budget:?}");
    assert_eq!(budget.bits(Cause::Repair), 0, "the link repairs nothing: {budget:?}");
    assert!(of(Cause::Unfinished) < 0.05, "{budget:?}");
}

/// Of two links, the slower one counts, wherever it stands.
#[test]
fn coding_around_two_links_counts_the_slower_one() {
    let path = |links: [&str; 2]| {
        let hops = links.map(|rate| format!("[[path]]\n{}", CHANNEL.replace("2 Mbit/s", rate)));
        diagnosed(&format!("duration = \"20 s\"\n[coding]\n{}", hops.join("")))
    };
    let [slow_first, slow_last] = [["1 Mbit/s", "3 Mbit/s"], ["3 Mbit/s", "1 Mbit/s"]].map(path);
    for (link, budget) in [slow_first, slow_last] {
        assert!((0.99e6..1.01e6).contains(&link.capacity), "{link:?}");
        assert!(link.share_padding.is_some_and(|it| (0.06..0.08).contains(&it)), "{link:?}");
        assert!(budget.bits(Cause::Coding) > budget.goodput_bits / 12, "{budget:?}");
        assert!(budget.bits(Cause::Unfinished) < budget.goodput_bits / 10, "{budget:?}");
    }
}

/// The repairs of the link are apart from those of the code above it, over links of each kind.
#[test]
fn coding_and_the_repairs_of_the_link_are_different_causes() {
    let links = [
        CHANNEL.replace("0.001", "0.05") + "scheme = \"FEC(8/10)\"\nlink.rtt = \"20 ms\"\n",
        "hybrid = { rate = \"2 Mbit/s\", delay = \"20 ms\", k = 10, n = 12 }\n".to_owned(),
        "[[path]]\nleg = { rate = \"2 Mbit/s\", delay = \"20 ms\" }\n".to_owned(),
    ];
    for (link, repairs) in links.iter().zip([0.1..0.3, 0.0..0.3, 0.0..0.001]) {
        let text = |coding: &str| format!("duration = \"20 s\"\n{coding}{link}");
        let coding = "coding = { rate = 0.8, header = \"0 B\" }\n";
        let [alone, coded] = ["", coding].map(|coding| {
            let (_, found) = diagnose(&setup(&text(coding)), &|| true).unwrap();
            found.budget
        });
        assert_eq!(alone.bits(Cause::Coding), 0);
        let carried: u64 = coded.parts.iter().map(|part| part.bits).sum();
        assert_eq!(carried + coded.goodput_bits, coded.capacity_bits);
        let of = |cause| coded.bits(cause) as f64 / coded.capacity_bits as f64;
        // A fifth of the packets.
        assert!((0.1..0.21).contains(&of(Cause::Coding)), "{link}{coded:?}");
        assert!(repairs.contains(&of(Cause::Repair)), "{link}{coded:?}");
    }
}

/// Hops that one code protects.
fn coded_hops() -> impl Strategy<Value = String> {
    let link = (
        prop::sample::select(vec!["none", "FEC(10/12)", "ARQ", "ARQ(max 1)", "HARQ(10/12)"]),
        (any::<bool>(), 5u32..200, prop::sample::select(vec![33u32, 250, 1600])),
        (0.0..0.2, 1u32..5),
        prop::sample::select(vec![
            "",
            ", aqm = \"codel\"",
            ", reorder = { packets = 20 }",
            ", delays = [[0, 10], [1, 90], [2, 10]]",
        ]),
    );
    let link = link.prop_map(|(scheme, (live, queue, lldu), (erasures, burst), more)| {
        format!(
            "[[path]]\nscheme = \"{scheme}\"\n\
             channel = {{ model = \"gilbert-elliott\", erasures = {erasures}, burst = {burst}, \
             rate = \"2 Mbit/s\", lldu = \"{lldu} B\" }}\n\
             link = {{ rtt = \"60 ms\", live = {live}, queue = \"{queue} packets\"{more} }}\n"
        )
    });
    let leg = (0u32..40, 0.0..0.1).prop_map(|(delay, loss)| {
        format!(
            "[[path]]\nleg = {{ rate = \"9 Mbit/s\", delay = \"{delay} ms\", loss = {loss} }}\n"
        )
    });
    let ntn = Just("[[path]]\nntn = { slot = \"1 ms\", delay = \"20 ms\" }\n".to_owned());
    let other = prop_oneof![leg, link.clone(), ntn];
    (prop::collection::vec(other.clone(), 0..2), link, prop::collection::vec(other, 0..2))
        .prop_map(|(before, link, behind)| [before.concat(), link, behind.concat()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 2, ..ProptestConfig::default() })]

    /// Around hops of all kinds, delivered packets have LLDUs, which carry them and padding.
    #[test]
    fn a_coded_stretch_counts_the_lldus_of_its_packets(
        hops in coded_hops(),
        block in any::<bool>(),
        rate in 0.5f64..1.0,
        flush in prop::sample::select(vec!["1 ns", "100 ms"]),
        in_order in any::<bool>(),
        seed in 0u32..1000,
    ) {
        let code = if block { "block" } else { "rlc" };
        let text = format!(
            "duration = \"4 s\"\nseed = {seed}\n[coding]\nrate = {rate}\ncode = \"{code}\"\n\
             window = 20\nflush = \"{flush}\"\nin_order = {in_order}\n{hops}"
        );
        let outcome = clift::simulation::run(&setup(&text), &mut ()).unwrap();
        let link = links(&outcome).next().unwrap();
        let of_packets = link.counters.lldus_delivered;
        prop_assert_eq!(link.counters.delivered > 0, of_packets > 0, "{}{:?}", text, link);
        prop_assert!(of_packets <= link.counters.lldus_taken, "{}{:?}", text, link);
        let is_share = |it: f64| (0.0..=1.0).contains(&it);
        prop_assert!(link.share_padding.is_none_or(is_share), "{}{:?}", text, link);
        prop_assert!(link.mean_coding_ratio.is_none_or(is_share), "{}{:?}", text, link);
    }
}
