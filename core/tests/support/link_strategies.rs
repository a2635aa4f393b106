//! Random links and traffic, small enough that every corner is met often.

use std::num::NonZeroU32;
use std::sync::Arc;

use clift::link::{Fragmentation, QueueLimit, Resequencing, TraceLink, TraceLinkConfig};
use clift::scheme::{LinkTrace, Parts};
use clift::units::{Bytes, Duration, Instant};
use proptest::prelude::*;

/// A link and what is sent over it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) trace: Arc<LinkTrace>,
    pub(crate) config: TraceLinkConfig,
    pub(crate) arrivals: Vec<i64>,
    pub(crate) sizes: Vec<u32>,
}

impl Case {
    pub(crate) fn link(&self) -> TraceLink {
        TraceLink::new(Arc::clone(&self.trace), self.config).unwrap()
    }
}

pub(crate) fn case() -> impl Strategy<Value = Case> {
    (trace(), config(), prop::collection::vec((gap(), 1u32..120), 1..40)).prop_map(
        |(trace, mut config, traffic)| {
            // A header fits into the LLDU, and a packet does not need thousands of them.
            let lldu = trace.parts().lldu.0;
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

pub(crate) fn resequencing() -> impl Strategy<Value = Resequencing> {
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
    let slots = prop::collection::vec((1i64..12, lldu, 1i64..300), 0..120);
    // Slots before the first data LLDU and after the last, and a start long after time zero.
    let ends = (0i64..40, 0i64..40, 1i64..12, prop_oneof![Just(0), 0i64..3_000]);
    (slots, ends, 1u32..60, 0u64..100).prop_map(
        |(slots, (before, after, gap, start), lldu, rtt)| {
            let (mut t, mut d, mut lost) = (vec![], vec![], vec![]);
            let mut now = start + before;
            for (i, &(gap, delay, given_up)) in slots.iter().enumerate() {
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
                lldu: Bytes(lldu),
                span: (first, last),
                gap,
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
    let headers = (0u32..40, 0u32..40, any::<bool>());
    (queue, offset, any::<bool>(), duration, headers).prop_map(
        |(queue, offset, wrap, duration, (lldu_header, packet_header, extra_lldu))| {
            TraceLinkConfig {
                queue,
                fragmentation: Fragmentation {
                    lldu_header: Bytes(lldu_header),
                    packet_header: Bytes(packet_header),
                    extra_lldu,
                },
                start_offset: Duration::from_nanos(offset),
                wrap,
                duration: duration.map(Instant::from_nanos),
            }
        },
    )
}
