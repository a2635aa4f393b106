//! Every kind of link over slots sees the same slots.

use std::sync::Arc;

use clift::link::{InstrumentedLink, PacketFate, Resequencing, deliver};
use clift::scheme::ntn::{HarqMode, NtnConfig, NtnHeaders, NtnPhy, RlcConfig, UmConfig};
use clift::scheme::{HybridConfig, HybridOptions, LinkConfig, LiveConfig, Medium, Scheme, Timing};
use clift::seed::Seed;
use clift::trace::{Header, PhyTrace};
use clift::units::{BitRate, Bytes, Duration};

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
