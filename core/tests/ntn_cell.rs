//! Terminals that share the slots of a 3GPP link: beside one terminal alone, beside a carrier, and
//! the laws that they obey.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::{Instrument, InstrumentedLink, Link, LinkEvent, Packet, PacketId, QueueLimit};
use clift::scheme::carrier::{
    CarrierConfig, CarrierOptions, ProportionalFair, RoundRobin, SchedulerConfig,
};
use clift::scheme::ntn::{
    CellConfig, CellOptions, HarqMode, NtnConfig, NtnHeaders, NtnPhy, RlcConfig, UmConfig,
};
use clift::scheme::{LinkConfig, Medium};
use clift::seed::Seed;
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use proptest::prelude::*;
use support::ntn_reference::Case;
use support::ntn_strategies::case;

const MS: u64 = 1_000_000;

fn cell(link: &NtnConfig, terminals: u32, scheduler: SchedulerConfig) -> CellConfig {
    let terminals = NonZeroU32::new(terminals).unwrap();
    CellConfig {
        link: link.clone(),
        options: CellOptions { terminals, scheduler },
        flows: Arc::default(),
    }
}

fn built(medium: impl Medium, queue: QueueLimit, seed: Seed) -> Box<dyn InstrumentedLink + Send> {
    let link = LinkConfig { queue, ..LinkConfig::new(Arc::new(medium)) };
    link.build(seed, 0, None).unwrap()
}

fn round_robin() -> SchedulerConfig {
    SchedulerConfig::RoundRobin(RoundRobin {})
}

fn schedulers() -> impl Strategy<Value = SchedulerConfig> {
    let memory = Duration::from_millis(100);
    let fair = SchedulerConfig::ProportionalFair(ProportionalFair { memory });
    prop_oneof![Just(round_robin()), Just(fair)]
}

fn at(now: i64) -> Instant {
    Instant::from_nanos(now as u64)
}

/// Sends the packets of a case, each with the flow that `flow` gives it; the events, and which
/// packets were dropped.
fn drive(
    link: &mut dyn Link,
    case: &Case,
    flow: impl Fn(usize) -> u32,
) -> (Vec<LinkEvent>, Vec<usize>) {
    let (mut events, mut dropped) = (Vec::new(), Vec::new());
    for (id, &(now, size)) in case.arrivals.iter().enumerate() {
        events.extend(std::iter::from_fn(|| link.poll(at(now))));
        let packet = Packet::new(PacketId(id as u64), Bytes(size)).of_flow(flow(id));
        if link.enqueue(at(now), packet) != clift::link::Admission::Queued {
            dropped.push(id);
        }
    }
    events.extend(std::iter::from_fn(|| link.poll(at(case.end))));
    (events, dropped)
}

/// The case, unless a trace decides the fate of its blocks.
fn over_random_errors(case: Case) -> Option<Case> {
    matches!(case.config.phy, NtnPhy::Random { .. }).then_some(case)
}

proptest! {
    /// The first terminal of a cell in which no other has data is a link without others, event by
    /// event.
    #[test]
    fn a_terminal_without_others_has_a_link_alone(
        case in case(),
        terminals in 1u32..4,
        scheduler in schedulers(),
    ) {
        let Some(case) = over_random_errors(case) else { return Ok(()) };
        let mut alone = built(case.config.clone(), case.queue, case.seed);
        let cell = cell(&case.config, terminals, scheduler);
        let mut shared = built(cell, case.queue, case.seed);
        let flow = |_| 0;
        prop_assert_eq!(drive(&mut alone, &case, flow), drive(&mut shared, &case, flow));
        prop_assert_eq!(alone.details(), shared.details());
        prop_assert_eq!(alone.counters(), shared.counters());
        prop_assert_eq!(alone.usage(at(case.end)), shared.usage(at(case.end)));
    }

    /// Every packet has one end and a number that no other has, terminals keep their own order, no
    /// slot is used twice, and a second run has the same events.
    #[test]
    fn packets_are_conserved(case in case(), terminals in 2u32..5, scheduler in schedulers()) {
        let Some(case) = over_random_errors(case) else { return Ok(()) };
        let cell = cell(&case.config, terminals, scheduler);
        let mut link = built(cell.clone(), case.queue, case.seed);
        let flow = |id: usize| (id * id) as u32;
        let (events, dropped) = drive(&mut link, &case, flow);
        let mut again = built(cell, case.queue, case.seed);
        prop_assert_eq!(&drive(&mut again, &case, flow), &(events.clone(), dropped.clone()));
        let (mut ids, mut orders) = (Vec::new(), Vec::new());
        let mut last = vec![None; terminals as usize];
        for event in &events {
            let (LinkEvent::Delivered(transit) | LinkEvent::Lost(transit)) = event else { continue };
            let id = transit.packet.0 as usize;
            ids.push(id);
            orders.push(transit.order);
            if let (LinkEvent::Delivered(_), true) = (event, case.config.pdcp.in_order) {
                let own = &mut last[flow(id) as usize % terminals as usize];
                prop_assert!(*own < Some(id), "terminals keep their order");
                *own = Some(id);
            }
        }
        let counters = link.counters();
        prop_assert_eq!(counters.offered as usize, case.arrivals.len());
        prop_assert_eq!(counters.dropped as usize, dropped.len());
        prop_assert_eq!((counters.delivered + counters.lost) as usize, ids.len());
        ids.extend(dropped);
        for numbers in [ids.iter().map(|&id| id as u64).collect(), orders] {
            let mut numbers: Vec<u64> = numbers;
            numbers.sort_unstable();
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "each once");
        }
        prop_assert!(events.windows(2).all(|pair| pair[0].at() <= pair[1].at()));
        let usage = link.usage(at(case.end));
        prop_assert!(usage.used <= usage.slots, "{:?}", usage);
    }

    /// Without errors, headers and feedback a cell is a carrier of the same slots.
    #[test]
    fn without_errors_it_is_a_carrier(
        arrivals in prop::collection::vec((0u64..400, 0u32..5, 1u32..3000), 1..60),
    ) {
        let mut arrivals = arrivals;
        arrivals.sort_by_key(|arrival| arrival.0);
        let mut nr = NtnConfig::preset("nr-ntn-leo600").unwrap();
        let (slot, tb) = (Duration::from_millis(1), Bytes(1000));
        nr.phy = NtnPhy::Random { slot, tb, decode: slot, bler: [Probability::ZERO].into() };
        nr.harq.mode = HarqMode::NoFeedback;
        nr.rlc = RlcConfig::Um(UmConfig { window: NonZeroU32::MAX, ..UmConfig::default() });
        nr.headers = NtnHeaders { sdu: Bytes(0), pdu: Bytes(0) };
        let delay = Duration::from_millis(7);
        (nr.propagation, nr.way_back) = (delay.into(), delay.into());
        let options = CarrierOptions {
            terminals: 5,
            rate: BitRate::from_bits_per_second(8_000_000).unwrap(),
            slot: tb,
            delay,
            scheduler: round_robin(),
            loss: Probability::ZERO,
            retransmissions: 0,
            fades: None,
        };
        let carrier = CarrierConfig { options, terminals: Arc::default() };
        let case = Case {
            config: nr.clone(),
            queue: QueueLimit::Unlimited,
            wrap: false,
            // In quarters of a slot, so that packets meet the starts of slots.
            arrivals: arrivals.iter().map(|it| ((it.0 * MS / 4) as i64, it.2)).collect(),
            seed: Seed(1),
            end: 1_000_000_000,
        };
        let flow = |id: usize| arrivals[id].1;
        let ends = |link: &mut dyn Link| {
            let (events, dropped) = drive(link, &case, flow);
            let arrived = events.into_iter().map(|event| match event {
                LinkEvent::Delivered(transit) => (transit.at, transit.departed, transit.order),
                other => panic!("{other:?}"),
            });
            let mut arrived: Vec<_> = arrived.collect();
            arrived.sort_unstable();
            (arrived, dropped)
        };
        let mut shared = built(cell(&nr, 5, round_robin()), case.queue, case.seed);
        let mut slots = built(carrier, case.queue, case.seed);
        prop_assert_eq!(ends(&mut shared), ends(&mut slots));
    }
}

/// What 32 processes leave idle over GEO is for other terminals: two of them carry twice as much, and
/// slots of a full cell are shared alike.
#[test]
fn terminals_fill_the_slots_that_one_leaves_idle() {
    let mut geo = NtnConfig::preset("nr-ntn-geo").unwrap();
    if let NtnPhy::Random { bler, .. } = &mut geo.phy {
        *bler = [Probability::ZERO].into();
    }
    let delivered = |terminals: u32| {
        let cell = cell(&geo, terminals, round_robin());
        let mut link = built(cell, QueueLimit::Unlimited, Seed(1));
        let mut each = vec![0u64; terminals as usize];
        for id in 0..20_000 {
            let packet = Packet::new(PacketId(id), Bytes(1241)).of_flow(id as u32);
            let _ = link.enqueue(Instant::ZERO, packet);
        }
        while let Some(event) = link.poll(at(20_000_000_000)) {
            let LinkEvent::Delivered(transit) = event else { panic!("{event:?}") };
            each[transit.packet.0 as usize % terminals as usize] += 1;
        }
        each
    };
    let one = delivered(1)[0];
    // 32 blocks in a round trip of 542 ms with 4 ms of processing and 2 ms of decoding.
    assert!((1150..1190).contains(&one), "{one}");
    for each in delivered(8) {
        assert!(each.abs_diff(one) <= 32, "{each} of {one}");
    }
    // 17 times 32 are nearly all slots of a round trip; 34 terminals have half of that.
    let full = delivered(34);
    let (least, most) = (full.iter().min().unwrap(), full.iter().max().unwrap());
    assert!(most - least <= 1 + most / 20, "{full:?}");
    assert!(full.iter().sum::<u64>() > 19_000, "{full:?}");
}
