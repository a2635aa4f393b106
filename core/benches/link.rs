//! Nanoseconds per 1500-byte packet over a trace of 33-byte LLDUs.
//!
//! `cargo bench -p clift --bench link`
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Instant as Clock;

use clift::link::{
    Link, Packet, PacketId, QueueLimit, Reordering, Resequencing, TraceLink, TraceLinkConfig,
};
use clift::scheme::{HybridConfig, HybridLink, HybridOptions};
use clift::scheme::{LinkTrace, Parts};
use clift::seed::Seed;
use clift::units::{Bytes, Duration, Instant};

const GAP: i64 = 114_783;
const PACKET: Bytes = Bytes(1500);

fn main() {
    let small = trace(46 * 100, 0);
    let long = trace(600_000, 0);
    let repaired = trace(46 * 100, 50);
    let busy = 46 * GAP as u64 * 9 / 10;
    for (name, trace, gap) in [
        ("back to back, in cache", &small, busy),
        ("back to back, 1 LLDU in 50 repaired", &repaired, busy),
        ("back to back, 600,000 LLDUs", &long, busy),
        ("idle for 3 packets after each", &small, 46 * GAP as u64 * 4),
    ] {
        println!("{name:40} {:6.1} ns per packet", per_packet(&mut link(trace), gap));
    }
    let packets = NonZeroU32::new(125).unwrap();
    let rule = Resequencing::Bounded { packets, flush_when_full: true, flush_on_loss: true };
    let mut ordered = Reordering::new(link(&repaired), rule);
    println!(
        "{:40} {:6.1} ns per packet",
        "repaired, re-sequenced",
        per_packet(&mut ordered, busy)
    );
    for total in [10, 12] {
        let mut link = Reordering::new(hybrid(total), Resequencing::InOrder);
        let per_packet = per_packet(&mut link, u64::from(total) * 600_000 * 12 / 10);
        println!(
            "{:40} {per_packet:6.1} ns per packet",
            format!("hybrid, 6 frames of N = {total}")
        );
    }
    println!("{:40} {:6.1} ns per start", "random start in 600,000 LLDUs", per_start(&long));
}

/// LLDUs every GAP, decoded in 36 ms; one in `every` (0: none) repaired half a second later.
fn trace(lldus: usize, every: usize) -> Arc<LinkTrace> {
    let repaired = |i: usize| every > 0 && i.is_multiple_of(46 * every);
    Arc::new(LinkTrace::from_parts(Parts {
        t: (0..lldus as i64).map(|i| i * GAP).collect::<Vec<_>>().into(),
        d: (0..lldus)
            .map(|i| if repaired(i) { 572_000_000 } else { 36_000_000 })
            .collect::<Vec<_>>()
            .into(),
        lost: vec![],
        transmissions: vec![],
        recovered: (0, 0),
        slots_used: lldus as u64,
        rtt: Duration::from_millis(500),
        back: Duration::from_millis(250),
        lldu: Bytes(33),
        sizes: None,
        slots: lldus as u64,
        span: (0, (lldus as i64 - 1) * GAP),
        gap: GAP,
        loading: Default::default(),
    }))
}

fn link(trace: &Arc<LinkTrace>) -> TraceLink {
    let queue = QueueLimit::Packets(200);
    let config = TraceLinkConfig { queue, wrap: true, ..TraceLinkConfig::default() };
    TraceLink::new(Arc::clone(trace), config).unwrap()
}

/// Al Fawal 2003's link at D = 200 ms, p = 0.01; a packet takes `total` x 0.6 ms and its repairs.
fn hybrid(total: u32) -> HybridLink {
    let options = HybridOptions { n: total, ..HybridOptions::default() };
    let config = HybridConfig { options, losses: None };
    HybridLink::new(&config, TraceLinkConfig::default(), Seed(1), 0).unwrap()
}

/// Enqueues and polls packets that come every `gap` ns; the best of five runs.
fn per_packet(link: &mut impl Link, gap: u64) -> f64 {
    const PACKETS: u64 = 300_000;
    let mut now = 0;
    let mut best = f64::MAX;
    for _ in 0..5 {
        let start = Clock::now();
        for packet in 0..PACKETS {
            now += gap;
            let time = Instant::from_nanos(now);
            while let Some(event) = link.poll(time) {
                black_box(event);
            }
            let _ = link.enqueue(time, Packet::new(PacketId(packet), PACKET));
            black_box(link.poll_timeout());
        }
        best = best.min(start.elapsed().as_nanos() as f64 / PACKETS as f64);
    }
    best
}

/// A fresh link, one packet at a far and ever different point of the trace.
fn per_start(trace: &Arc<LinkTrace>) -> f64 {
    const STARTS: u64 = 100_000;
    let span = trace.parts().span.1 as u64;
    let start = Clock::now();
    for i in 0..STARTS {
        let mut link = link(trace);
        let now = Instant::from_nanos(i * 0x9E37_79B9_7F4A % span);
        let _ = link.enqueue(now, Packet::new(PacketId(i), PACKET));
        black_box(link.poll_timeout());
    }
    start.elapsed().as_nanos() as f64 / STARTS as f64
}
