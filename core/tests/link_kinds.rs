//! Every kind of link over slots sees the same slots.

use std::sync::Arc;

use clift::link::{
    InstrumentedLink, Packet, PacketFate, PacketId, QueueLimit, Resequencing, deliver,
};
use clift::scheme::carrier::{CarrierConfig, CarrierOptions, Demand, RoundRobin, SchedulerConfig};
use clift::scheme::ntn::{
    Asking, CellConfig, CellOptions, Handovers, HarqConfig, HarqMode, NtnConfig, NtnHeaders,
    NtnPhy, RlcConfig, UmConfig, UplinkConfig,
};
use clift::scheme::{
    HybridConfig, HybridOptions, LinkConfig, LiveConfig, LiveOptions, Medium, Scheme, Timing,
};
use clift::seed::Seed;
use clift::trace::{Header, PhyTrace};
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use proptest::prelude::*;
use support::ntn_links::{am, n, plain, random};

const MS: i64 = 1_000_000;
const PERIOD: i64 = 97 * MS;
const LLDU: Bytes = Bytes(100);

/// Ten slots of 1 ms of which the first is erased; then nothing until 97 ms have passed.
fn trace() -> PhyTrace {
    let t: Vec<i64> = (0..10).map(|slot| slot * MS).collect();
    let d: Vec<i64> = (0..10).map(|slot| i64::from(slot > 0) * 1000).collect();
    let period = Some(Duration::from_nanos(PERIOD as u64));
    let header = Header { period, ..Header::default() };
    PhyTrace::with_header(t.into(), d.into(), LLDU, header).unwrap()
}

/// A link of each kind that repairs nothing: a packet of an LLDU is one slot's. The one that may have
/// its own re-sequencing buffer has it if `buffered`.
fn kinds(buffered: bool) -> Vec<(&'static str, Arc<dyn Medium>)> {
    let timing = Timing { rtt: Duration::from_millis(4), feedback: None };
    let live = LiveConfig::new(trace(), Scheme::None, timing);
    let options = HybridOptions {
        k: 1,
        n: 1,
        frames: 1,
        persistency: 0,
        unit: LLDU,
        rate: BitRate::from_bits_per_second(1_000_000).unwrap(), // 0.8 ms
        delay: Duration::from_millis(2),
        in_order: buffered,
        ..HybridOptions::default()
    };
    let hybrid = HybridConfig { options, losses: Some(Arc::new(trace())) };
    let mut nr = NtnConfig::preset("nr-ntn-geo").unwrap();
    nr.phy = NtnPhy::Trace(Arc::new(trace()));
    nr.harq.mode = HarqMode::NoFeedback;
    nr.headers = NtnHeaders { sdu: Bytes(0), pdu: Bytes(0) };
    let t_reassembly = Some(Duration::from_millis(1));
    nr.rlc = RlcConfig::Um(UmConfig { window: 32.try_into().unwrap(), t_reassembly });
    nr.pdcp.in_order = false;
    vec![
        ("trace", Arc::new(Scheme::None.apply(&trace(), timing))),
        ("live", Arc::new(live)),
        ("hybrid", Arc::new(hybrid)),
        ("nr", Arc::new(nr)),
    ]
}

#[test]
fn a_trace_repeats_after_the_period_of_its_header_in_every_kind_of_link() {
    // In each cycle a packet in the first slot, which is erased, and two in later ones. The trace
    // begins in its third slot.
    let offset = 2 * MS;
    let arrivals: Vec<i64> = (1..50)
        .flat_map(|cycle| [0, MS, 5 * MS].map(|within| cycle * PERIOD - offset + within))
        .collect();
    let expected: Vec<PacketFate> = (1..50)
        .flat_map(|_| [PacketFate::Lost, PacketFate::Delivered, PacketFate::Delivered])
        .collect();
    for (name, medium) in kinds(false) {
        let start_offset = Duration::from_nanos(offset as u64);
        let config = LinkConfig { wrap: true, start_offset, ..LinkConfig::new(medium) };
        let mut link: Box<dyn InstrumentedLink + Send> = config.build(Seed(1), 0, None).unwrap();
        let deliveries = deliver(&mut *link, &arrivals, LLDU).unwrap();
        assert_eq!(deliveries.fate, expected, "{name}");
    }
}

#[test]
fn two_re_sequencing_buffers_are_refused_by_every_kind_of_link() {
    for (name, medium) in kinds(true) {
        let buffered = name == "hybrid";
        let reorder = Some(Resequencing::InOrder);
        let alone = LinkConfig::new(medium.clone()).build(Seed(1), 0, None);
        assert!(alone.is_ok(), "{name}");
        let both = LinkConfig { reorder, ..LinkConfig::new(medium) }.build(Seed(1), 0, None);
        let refused = both
            .err()
            .is_some_and(|fault| fault.to_string().contains("has a re-sequencing buffer"));
        assert_eq!(refused, buffered, "{name}");
    }
}

/// Links with slots of 1 ms that leave some of them idle although packets wait, each for another
/// reason.
fn waiting_kinds() -> Vec<(&'static str, Arc<dyn Medium>)> {
    let t: Vec<i64> = (0..2000).map(|slot| slot * MS).collect();
    let d: Vec<i64> = (0..2000).map(|slot| i64::from(slot % 7 > 0) * 1000).collect();
    let phy = PhyTrace::new(t.into(), d.into(), LLDU).unwrap();
    let timing = Timing { rtt: Duration::from_millis(12), feedback: None };
    let live = |scheme: &str, options| -> Arc<dyn Medium> {
        let config = LiveConfig::new(phy.clone(), scheme.parse().unwrap(), timing);
        Arc::new(LiveConfig { options, ..config })
    };
    let sent = LiveOptions { send_buffer: Some(n(3)), ..LiveOptions::default() };
    let received = LiveOptions { receive_buffer: Some(n(2)), ..LiveOptions::default() };
    let nr = NtnConfig {
        phy: random(&[0.2], MS as u64),
        propagation: Duration::from_millis(5).into(),
        way_back: Duration::from_millis(5).into(),
        ..plain(&[])
    };
    let mode = HarqMode::Feedback {
        processes: n(2),
        silent: 0,
        max_transmissions: n(3),
        processing: Duration::from_millis(2),
    };
    let harq = NtnConfig { harq: HarqConfig { mode, repetitions: n(1) }, ..nr.clone() };
    let interruption = Duration::from_millis(9);
    let handovers = Some(Handovers { every: Duration::from_millis(40), interruption });
    let asking = Asking::Request { every: Duration::from_millis(4), blocks: n(2) };
    let processing = Duration::from_millis(1);
    let uplink = UplinkConfig { asking, buffer_status: false, processing, retx_bsr: None };
    let ms = |count: u64| count * MS as u64;
    let window =
        RlcConfig::Am(clift::scheme::ntn::AmConfig { window: n(2), ..am(ms(3), ms(3), ms(15)) });
    let reliable = NtnConfig { phy: random(&[0.0], MS as u64), rlc: window, ..nr.clone() };
    let scheduler = || SchedulerConfig::RoundRobin(RoundRobin {});
    let cell = |terminals| -> Arc<dyn Medium> {
        let options = CellOptions { terminals: n(terminals), scheduler: scheduler() };
        Arc::new(CellConfig { link: harq.clone(), options, flows: Arc::default() })
    };
    let demand = Demand {
        frame: Duration::from_millis(4),
        constant: BitRate::from_bits_per_second(200_000),
        volume: false,
        free: false,
        ..Demand::default()
    };
    let carrier = CarrierOptions {
        terminals: 2,
        rate: BitRate::from_bits_per_second(800_000).unwrap(),
        slot: LLDU,
        delay: Duration::from_millis(7),
        scheduler: SchedulerConfig::Demand(demand),
        loss: Probability::ZERO,
        retransmissions: 0,
        fades: None,
    };
    vec![
        ("send buffer", live("ARQ", sent.clone())),
        ("receive buffer", live("ARQ", received)),
        ("buffer of blocks", live("HARQ(2/3)", sent)),
        ("handovers", Arc::new(NtnConfig { handovers, ..nr.clone() })),
        ("grants", Arc::new(NtnConfig { uplink: Some(uplink), ..nr })),
        ("window of RLC", Arc::new(reliable)),
        ("one terminal", cell(1)),
        ("two terminals", cell(2)),
        ("three terminals", cell(3)),
        ("five terminals", cell(5)),
        ("processes", Arc::new(harq)),
        ("carrier", Arc::new(CarrierConfig { options: carrier, terminals: Arc::default() })),
    ]
}

proptest! {
    /// A slot that passes unused while a packet waits is counted for every reason, and no other; the count does not depend on how often one looks.
    #[test]
    fn idle_slots_with_a_packet_in_the_queue_are_counted(
        arrivals in prop::collection::vec((0i64..300, 0i64..2, 0u32..5), 1..150),
        look in 1i64..50,
    ) {
        let mut arrivals = arrivals;
        arrivals.sort_unstable();
        for (name, medium) in waiting_kinds() {
            let queue = QueueLimit::Packets(20);
            let build = || {
                let config = LinkConfig { queue, ..LinkConfig::new(Arc::clone(&medium)) };
                config.build(Seed(3), 0, None).unwrap()
            };
            let (mut link, mut seldom) = (build(), build());
            let (mut used, mut expected, mut next) = (0.0, 0.0, 0);
            for slot in 0..400 {
                while let Some(&(_, part, flow)) = arrivals.get(next).filter(|it| it.0 == slot) {
                    // Just before the slot, or when it begins.
                    let now = Instant::from_nanos((slot * MS - (1 - part) * (MS / 4)).max(0) as u64);
                    for link in [&mut link, &mut seldom] {
                        while link.poll(now).is_some() {}
                        let packet = Packet::new(PacketId(next as u64), LLDU).of_flow(flow);
                        let _ = link.enqueue(now, packet);
                    }
                    next += 1;
                }
                let now = Instant::from_nanos((slot * MS + MS / 2) as u64);
                while link.poll(now).is_some() {}
                link.catch_up(now);
                let usage = link.usage(now);
                if usage.used == used && link.queue_len(now) > 0 {
                    expected += 1.0;
                }
                used = usage.used;
                prop_assert_eq!(usage.waiting, Some(expected), "{}, slot {}", name, slot);
                let details = link.details();
                let count = details.iter().find(|(name, _)| *name == "stalled_slots");
                prop_assert!(count.is_none_or(|&(_, count)| count as f64 == expected));
                if slot % look == 0 {
                    seldom.catch_up(now);
                    prop_assert_eq!(seldom.usage(now).waiting, Some(expected), "{}", name);
                }
            }
        }
    }
}

#[test]
fn the_kinds_that_wait_do_so() {
    let end = Instant::from_nanos(1_500 * MS as u64);
    for (name, medium) in waiting_kinds() {
        let mut link = LinkConfig::new(medium).build(Seed(3), 0, None).unwrap();
        for packet in 0..3_000 {
            let packet = Packet::new(PacketId(packet), LLDU).of_flow(packet as u32 % 5);
            let _ = link.enqueue(Instant::ZERO, packet);
        }
        link.catch_up(end);
        let usage = link.usage(end);
        let waiting = usage.waiting.unwrap();
        assert!(waiting > 0.1 * usage.slots, "{name}: {waiting}");
        // The slot at the very end may not have been looked at.
        assert!((usage.used + waiting - usage.slots).abs() <= 1.0, "{name}: {usage:?}");
    }
}
