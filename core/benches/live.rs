//! Live links: nanoseconds per unit with data always waiting, beside TMT per slot; and per packet
//! where the link is idle for long, which must not depend on how long.
//!
//! `cargo bench -p clift --bench live`
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant as Clock;

use clift::link::{Instrument, Link, Packet, PacketId, QueueLimit};
use clift::scheme::{LinkConfig, LiveConfig};
use clift::scheme::{Scheme, Timing};
use clift::seed::Seed;
use clift::trace::PhyTrace;
use clift::units::{Bytes, Duration, Instant};

const GAP: i64 = 114_783;
const SLOTS: usize = 2_000_000;
const UNITS: u64 = 46;

fn main() {
    let phy = trace();
    let timing = Timing { rtt: Duration::from_millis(500), feedback: None };
    for scheme in ["none", "ARQ", "FEC(10/12)", "HARQ(10/12)", "FEC(10/12, interleave 8)"] {
        let scheme: Scheme = scheme.parse().unwrap_or(Scheme::None);
        let config = LiveConfig::new(phy.clone(), scheme.clone(), timing);
        let link =
            LinkConfig { queue: QueueLimit::Packets(100), ..LinkConfig::new(Arc::new(config)) };
        // More than fits, so that the queue never runs dry.
        let busy = UNITS as i64 * GAP * 7 / 10;
        let (time, sent, _) = best(|| run(&link, busy));
        let (idle, _, packets) = best(|| run(&link, UNITS as i64 * GAP * 500));
        let clock = Clock::now();
        black_box(scheme.apply(&phy, timing));
        let tmt = clock.elapsed().as_secs_f64();
        println!(
            "{:26} {:6.1} ns per unit, TMT {:5.1}; idle for 500 packets: {:6.0} ns per packet",
            scheme.to_string(),
            time * 1e9 / sent as f64,
            tmt * 1e9 / SLOTS as f64,
            idle * 1e9 / packets as f64,
        );
    }
}

/// Seconds, units sent and packets offered over the whole trace, a packet every `gap`.
fn run(config: &LinkConfig, gap: i64) -> (f64, u64, u64) {
    let mut link = config.build(Seed(1), 0, None).expect("nothing is wrong with it");
    let clock = Clock::now();
    let (mut now, mut packets) = (0, 0);
    while now < SLOTS as i64 * GAP {
        let at = Instant::from_nanos(now as u64);
        while link.poll_timeout().is_some_and(|due| due <= at) {
            while let Some(event) = link.poll(at) {
                black_box(event);
            }
        }
        let _ = link.enqueue(at, Packet::new(PacketId(packets), Bytes(1500)));
        packets += 1;
        now += gap;
    }
    let sent = link.details().iter().find(|detail| detail.0 == "units_sent").map_or(0, |d| d.1);
    (clock.elapsed().as_secs_f64(), sent, packets)
}

/// The fastest of a few runs.
fn best(run: impl Fn() -> (f64, u64, u64)) -> (f64, u64, u64) {
    (0..5).map(|_| run()).min_by(|a, b| a.0.total_cmp(&b.0)).expect("five runs")
}

/// A slot every GAP, decoded in 36 ms, one in 50 erased, not regularly.
fn trace() -> PhyTrace {
    let mut noise = 1u64;
    let d = (0..SLOTS).map(|_| {
        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if (noise >> 33).is_multiple_of(50) { 0 } else { 36_000_000 }
    });
    let t: Vec<i64> = (0..SLOTS as i64).map(|slot| slot * GAP).collect();
    let d: Vec<i64> = d.collect();
    PhyTrace::new(t.into(), d.into(), Bytes(33)).expect("times rise")
}
