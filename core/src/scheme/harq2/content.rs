//! HARQ-II over slots of different size: code words count in bytes.

use std::collections::VecDeque;

use crate::scheme::content::Content;
use crate::scheme::timing::nominal_ns;
use crate::scheme::{Harq2, Timing};
use crate::trace::{LinkTrace, Parts, PhyTrace, Sizes};

/// A block that was not decodable at once.
struct Repaired {
    /// Index of its first data LLDU.
    first: usize,
    content: Content,
    rounds: u32,
}

/// A repair round that was asked for.
struct Round {
    ready: i64,
    /// The block's place among those that were repaired.
    block: usize,
}

/// A repair round that is being sent.
struct Sending {
    block: usize,
    /// Bytes still to be sent, and further units after them.
    bytes: u64,
    extra: u32,
}

/// The link trace over slots of `sizes`. A round has as many slots as hold the bytes that are
/// missing, and the extra ones of the scheme.
pub(super) fn apply(scheme: Harq2, phy: &PhyTrace, sizes: &Sizes, timing: Timing) -> LinkTrace {
    let (nominal, feedback) = (nominal_ns(phy), timing.feedback_ns(phy));
    let (data, total) = (scheme.code.data(), scheme.code.total());
    let mut parts = Parts::of(phy, timing.rtt);
    parts.slots_used = parts.slots;
    let (mut t, mut d) = (Vec::new(), Vec::new());
    let (mut done, mut in_block, mut content) = (0, 0, Content::default());
    let mut repaired: Vec<Repaired> = Vec::new();
    let mut queue: VecDeque<Round> = VecDeque::new();
    let mut sending: Option<Sending> = None;
    for (slot, (&now, &decoding)) in phy.t().iter().zip(phy.d().iter()).enumerate() {
        let (unit, bytes) = ((now, decoding), sizes.at(slot));
        if sending.is_none() && queue.front().is_some_and(|round| round.ready <= now) {
            sending = queue.pop_front().map(|Round { block, .. }| {
                repaired[block].rounds += 1;
                let bytes = repaired[block].content.missing();
                Sending { block, bytes, extra: scheme.extra }
            });
        }
        // The block to be decided after this slot, and whether more of its units follow.
        let (block, more) = if let Some(round) = &mut sending {
            repaired[round.block].content.add(unit, bytes, false);
            match round.bytes.saturating_sub(u64::from(bytes)) {
                _ if round.bytes == 0 => round.extra -= 1,
                left => round.bytes = left,
            }
            (round.block, round.bytes > 0 || round.extra > 0)
        } else {
            let of_data = in_block < data;
            if of_data {
                t.push(now);
                d.push(decoding);
            }
            content.add(unit, bytes, of_data);
            in_block += 1;
            if in_block < total {
                continue;
            }
            (in_block, done) = (0, done + data);
            let content = std::mem::take(&mut content);
            if content.missing() == 0 && !d[done - data..done].contains(&0) {
                continue;
            }
            repaired.push(Repaired { first: done - data, content, rounds: 0 });
            (repaired.len() - 1, false)
        };
        if more && slot + 1 < phy.len() {
            continue;
        }
        sending = None;
        let Repaired { first, content, rounds } = &mut repaired[block];
        let of_block = *first..*first + data;
        if let Some(at) = content.complete() {
            parts.rebuild(&t[of_block.clone()], &mut d[of_block], at);
        } else if more {
            // The trace ends within the round.
        } else if scheme.max_rounds.allows(*rounds) {
            queue.push_back(Round { ready: now.saturating_add(feedback), block });
        } else {
            parts.give_up(*first, &t[of_block.clone()], &d[of_block], now + nominal);
        }
    }
    t.truncate(done);
    d.truncate(done);
    let rounds = repaired.iter().filter(|block| block.rounds > 0);
    let transmissions = rounds.flat_map(|block| {
        (block.first..block.first + data).map(|index| (index as u32, 1 + block.rounds))
    });
    let transmissions = transmissions.collect();
    LinkTrace::from_parts(Parts { t: t.into(), d: d.into(), transmissions, ..parts })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scheme::BlockCode;
    use crate::units::{Bytes, Duration};

    #[test]
    fn a_round_has_the_slots_that_the_missing_bytes_need() {
        // Two data slots of 100 bytes, both erased; repair of 50 arrives: 150 are missing. Known at
        // 20 + 15, the round has the slots of 60, 60 and 60 at 40, 50 and 60.
        let code = BlockCode::new(2, 3).unwrap();
        let scheme = Harq2 { code, extra: 0, max_rounds: None.into() };
        let sizes = Sizes::each(vec![100, 100, 50, 60, 60, 60, 60].into()).unwrap();
        let t: Vec<i64> = (0..7).map(|slot| slot * 10).collect();
        let phy = PhyTrace::new(t.into(), vec![0, 0, 3, 3, 3, 3, 3].into(), sizes.clone()).unwrap();
        let timing = Timing { rtt: Duration::ZERO, feedback: Some(Duration::from_nanos(15)) };
        let link = apply(scheme, &phy, &sizes, timing);
        assert_eq!((&link.parts().t[..], &link.parts().d[..]), (&[0, 10][..], &[63, 53][..]));
        assert_eq!(link.transmissions_column(), [2, 2]);
    }

    proptest! {
        #[test]
        fn with_slots_of_one_size_it_is_harq_as_ever(
            d in prop::collection::vec(prop_oneof![Just(0i64), 1i64..40], 1..120),
            (data, repair, extra) in (1u32..5, 0u32..4, 0u32..3),
            feedback in 1u64..90,
            most in prop::option::of(0u32..4),
        ) {
            let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 10).collect();
            let phy = PhyTrace::new(t.into(), d.into(), Bytes(9)).unwrap();
            let code = BlockCode::new(data, data + repair).unwrap();
            let scheme = Harq2 { code, extra, max_rounds: most.into() };
            let feedback = Some(Duration::from_nanos(feedback));
            let timing = Timing { rtt: Duration::from_nanos(4), feedback };
            let content = apply(scheme, &phy, phy.sizes(), timing);
            prop_assert_eq!(content, crate::scheme::harq2::open::apply(scheme, &phy, timing));
        }
    }
}
