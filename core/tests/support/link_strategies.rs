//! Random links and traffic, small enough that every corner is met often.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::{Fragmentation, QueueLimit, Resequencing, TraceLink, TraceLinkConfig};
use clift::scheme::{LinkTrace, Parts};
use clift::trace::{LinkSizes, Loading, Packing, Sizes};
use clift::units::{Bytes, Duration, Instant};
use proptest::prelude::*;

/// A link and what is sent over it.
#[derive(Clone, Debug)]
pub struct Case {
    pub trace: Arc<LinkTrace>,
    pub config: TraceLinkConfig,
    pub arrivals: Vec<i64>,
    pub sizes: Vec<u32>,
}

impl Case {
    pub fn link(&self) -> TraceLink {
        TraceLink::new(Arc::clone(&self.trace), self.config).unwrap()
    }
}

pub fn case() -> impl Strategy<Value = Case> {
    (trace(), loading(), config(), prop::collection::vec((gap(), 1u32..120), 1..40)).prop_map(
        |(trace, (loading, tick), mut config, traffic)| {
            let mut parts = trace.parts().clone();
            // A trace that repeats does so with whole ticks.
            let period = parts.span.1 - parts.span.0 + parts.gap;
            let ticks = [5, 4, 3, 2, 1].into_iter().find(|&ticks| period % ticks == 0).unwrap();
            let tick = if config.wrap { period / ticks * i64::from(tick > 0) } else { tick };
            let phase = (loading.phase.as_nanos() as i64).checked_rem(tick).unwrap_or(0);
            parts.loading = Loading {
                tick: Duration::from_nanos(tick as u64),
                phase: Duration::from_nanos(phase as u64),
                ..loading
            };
            let packing = config.fragmentation.packing.or(loading.packing);
            config.fragmentation.extra_lldu &= packing != Some(Packing::Bytes);
            let trace = LinkTrace::from_parts(parts);
            // A header fits into the LLDU, and a packet does not need thousands of them.
            let sizes = trace.parts().sizes.as_ref();
            let lldu = sizes.map_or(trace.parts().lldu, |sizes| sizes.lldus.least()).0;
            config.fragmentation.lldu_header.0 %= lldu.div_ceil(2);
            let mut arrivals = Vec::new();
            let mut now = 0;
            for &(gap, _) in &traffic {
                now += gap;
                arrivals.push(now);
            }
            let sizes = traffic.into_iter().map(|(_, size)| size).collect();
            Case { trace: Arc::new(trace), config, arrivals, sizes }
        },
    )
}

fn packing() -> impl Strategy<Value = Option<Packing>> {
    prop_oneof![Just(None), Just(Some(Packing::Packet)), Just(Some(Packing::Bytes))]
}

/// What a trace says of its use, and a tick; 0: none.
fn loading() -> impl Strategy<Value = (Loading, i64)> {
    let tick = prop_oneof![2 => Just(0), 1 => 1i64..60];
    (packing(), prop_oneof![Just(0), 1u32..9], tick, 0u64..60).prop_map(
        |(packing, header, tick, phase)| {
            let packet_header = Bytes(header);
            let phase = Duration::from_nanos(phase);
            (Loading { packing, packet_header, phase, ..Loading::default() }, tick)
        },
    )
}

pub fn resequencing() -> impl Strategy<Value = Resequencing> {
    (1u32..8, any::<bool>(), any::<bool>()).prop_map(|(packets, flush_when_full, flush_on_loss)| {
        let packets = NonZeroU32::new(packets).unwrap();
        Resequencing::Bounded { packets, flush_when_full, flush_on_loss }
    })
}

/// Back to back, close, or long idle.
fn gap() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0i64), 0i64..30, 0i64..30, 0i64..600]
}

fn trace() -> impl Strategy<Value = LinkTrace> {
    let lldu = prop_oneof![
        // Delivered, with repair delays long enough for packets to overtake each other.
        12 => 1i64..20,
        4 => 20i64..400,
        1 => Just(-1), // lost
        1 => Just(0),  // censored
    ];
    let slots = prop::collection::vec((1i64..12, lldu, 1i64..300, 1i64..60), 0..120);
    // Slots before the first data LLDU and after the last, and a start long after time zero.
    let ends = (0i64..40, 0i64..40, 1i64..12, prop_oneof![Just(0), 0i64..3_000]);
    (slots, ends, 1u32..60, 0u64..100, any::<bool>()).prop_map(
        |(slots, (before, after, gap, start), lldu, rtt, differ)| {
            let bytes = slots.iter().map(|slot| slot.3).collect::<Vec<_>>();
            let sizes = Sizes::each(bytes.into()).ok().filter(|_| differ);
            let sizes = sizes.map(|lldus| {
                let data = lldus.sum(0..slots.len());
                LinkSizes { lldus, all: data + 99, used: data + 9 }
            });
            let lldu = sizes.as_ref().map_or(Bytes(lldu), |sizes| sizes.lldus.most());
            let (mut t, mut d, mut lost) = (vec![], vec![], vec![]);
            let mut now = start + before;
            for (i, &(gap, delay, given_up, _)) in slots.iter().enumerate() {
                now += gap;
                t.push(now);
                d.push(delay.max(0));
                if delay < 0 {
                    lost.push((i as u32, given_up));
                }
            }
            let first = start;
            let last = t.last().map_or(start + 100, |&t| t + after);
            LinkTrace::from_parts(Parts {
                slots: t.len() as u64 + 9,
                slots_used: t.len() as u64 + 3,
                t: t.into(),
                d: d.into(),
                lost,
                transmissions: vec![],
                recovered: (0, 0),
                rtt: Duration::from_nanos(rtt),
                back: Duration::from_nanos(rtt).half(),
                lldu,
                sizes,
                span: (first, last),
                gap,
                loading: Loading::default(),
            })
        },
    )
}

fn config() -> impl Strategy<Value = TraceLinkConfig> {
    let queue = prop_oneof![
        Just(QueueLimit::Unlimited),
        (0u32..8).prop_map(QueueLimit::Packets),
        (0u64..500).prop_map(QueueLimit::Bytes),
    ];
    let offset = prop_oneof![Just(0u64), 0u64..300, 0u64..5_000];
    let duration = prop::option::of(0u64..2_000);
    let headers = (0u32..40, 0u32..40, any::<bool>(), packing());
    (queue, offset, any::<bool>(), duration, headers).prop_map(
        |(queue, offset, wrap, duration, (lldu_header, packet_header, extra_lldu, packing))| {
            TraceLinkConfig {
                queue,
                fragmentation: Fragmentation {
                    lldu_header: Bytes(lldu_header),
                    packet_header: Bytes(packet_header),
                    extra_lldu,
                    packing,
                },
                start_offset: Duration::from_nanos(offset),
                wrap,
                duration: duration.map(Instant::from_nanos),
            }
        },
    )
}
