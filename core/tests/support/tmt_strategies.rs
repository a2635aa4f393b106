//! Random traces and schemes, small enough that every corner is met often.

use std::num::NonZeroU32;

use clift::scheme::{Arq, BlockCode, Fec, Harq2, LinkTrace, Scheme, Timing};
use clift::trace::{Header, PhyTrace, Sizes};
use clift::units::{Duration, Limit};
use proptest::prelude::*;

use super::tmt_reference::{self, Expected, Slot};

/// The same scheme over the same trace, as the library and the reference see it.
#[derive(Clone, Debug)]
pub struct Case {
    pub scheme: Scheme,
    pub slots: Vec<Slot>,
    /// Sizes that the slots have in turn.
    pub sizes: Vec<i64>,
    pub decode: Option<i64>,
    pub feedback: i64,
}

impl Case {
    pub fn phy(&self) -> PhyTrace {
        let (t, d): (Vec<i64>, Vec<i64>) = self.slots.iter().copied().unzip();
        let decode = self.decode.map(|ns| Duration::from_nanos(ns as u64));
        let header = Header { decode, ..Header::default() };
        let sizes: Vec<i64> = self.sizes.iter().cycle().take(t.len()).copied().collect();
        let sizes = Sizes::each(sizes.into()).unwrap();
        PhyTrace::with_header(t.into(), d.into(), sizes, header).unwrap()
    }

    pub fn link(&self) -> LinkTrace {
        let feedback = Some(Duration::from_nanos(self.feedback as u64));
        self.scheme.apply(&self.phy(), Timing { rtt: Duration::from_millis(500), feedback })
    }

    pub fn expected(&self) -> Expected {
        tmt_reference::apply(self.scheme.clone(), &self.slots, self.nominal(), self.feedback)
    }

    pub fn nominal(&self) -> i64 {
        let mut arrived: Vec<i64> =
            self.slots.iter().map(|slot| slot.1).filter(|&d| d > 0).collect();
        arrived.sort();
        let median = arrived.get(arrived.len().saturating_sub(1) / 2).copied();
        self.decode.or(median).unwrap_or(1)
    }
}

pub fn dense(link: &LinkTrace) -> Expected {
    Expected {
        t: link.parts().t.to_vec(),
        d: link.parts().d.to_vec(),
        lost: link.lost_column(),
        transmissions: link.transmissions_column(),
        slots_used: link.parts().slots_used,
        recovered: link.parts().recovered,
    }
}

pub fn case() -> impl Strategy<Value = Case> {
    let decode = proptest::option::weighted(0.3, 1..300i64);
    let feedback = prop_oneof![0..4i64, 1..200i64, 200..3000i64, Just(1 << 40)];
    (scheme(), slots(), decode, feedback).prop_map(|(scheme, slots, decode, feedback)| Case {
        scheme,
        slots,
        sizes: vec![33],
        decode,
        feedback,
    })
}

/// Sizes that the slots of a case have in turn: one, or several from `least` bytes on.
pub fn sizes(least: i64) -> impl Strategy<Value = Vec<i64>> {
    prop_oneof![1 => Just(vec![33]), 2 => proptest::collection::vec(least..90, 1..8)]
}

pub fn scheme() -> impl Strategy<Value = Scheme> {
    let limit = prop_oneof![Just(Limit::Unlimited), (0..3u32).prop_map(Limit::AtMost)];
    let depth = (1..6u32).prop_map(|depth| NonZeroU32::new(depth).unwrap());
    prop_oneof![
        1 => Just(Scheme::None),
        3 => (code(), depth).prop_map(|(code, interleave)| Scheme::Fec(Fec { code, interleave })),
        3 => limit.clone().prop_map(|max_retx| Scheme::Arq(Arq { max_retx })),
        5 => (code(), 0..4u32, limit)
            .prop_map(|(code, extra, max_rounds)| Scheme::Harq2(Harq2 { code, extra, max_rounds })),
    ]
}

pub fn code() -> impl Strategy<Value = BlockCode> {
    (1..12u32, 0..4u32).prop_map(|(data, repair)| BlockCode::new(data, data + repair).unwrap())
}

/// Traces of 1 to about 160 slots: regular or not, decoded after equal or wildly different times,
/// erased in bursts, not at all or all over.
pub fn slots() -> impl Strategy<Value = Vec<Slot>> {
    let gap = prop_oneof![Just(10..11i64), Just(1..40i64), Just(1..3i64)];
    let decoding = prop_oneof![Just(7..8i64), Just(1..30i64), Just(1..400i64)];
    let erased = prop_oneof![3 => Just(1..4u32), 2 => Just(0..2u32), 1 => Just(0..1u32), 1 => Just(9..10u32)];
    let runs = proptest::collection::vec((any::<bool>(), 1..20usize, any::<u64>()), 1..16);
    (gap, decoding, erased, runs, 0..50i64).prop_map(|(gap, decoding, erased, runs, start)| {
        let (mut slots, mut t) = (Vec::new(), start);
        for (good, length, noise) in runs {
            // Good runs are long, bursts short, but for traces that are one burst.
            let length = if good { length } else { length.min(erased.end as usize - 1) };
            let mut noise = noise;
            for _ in 0..length {
                noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let draw = |range: &std::ops::Range<i64>, bits: u64| {
                    range.start + (bits % (range.end - range.start) as u64) as i64
                };
                let arrives = good && erased.start < 9;
                slots.push((t, if arrives { draw(&decoding, noise >> 33) } else { 0 }));
                t += draw(&gap, noise >> 45);
            }
        }
        if slots.is_empty() {
            slots.push((start, decoding.start));
        }
        slots
    })
}
