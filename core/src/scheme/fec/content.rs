//! FEC over slots of different size: code words count in bytes.

use crate::scheme::content::Content;
use crate::scheme::timing::nominal_ns;
use crate::scheme::{Fec, Timing};
use crate::trace::{LinkTrace, Parts, PhyTrace, Sizes};

/// The link trace over slots of `sizes`; code words take turns in a super-block as ever.
pub(super) fn apply(fec: Fec, phy: &PhyTrace, sizes: &Sizes, timing: Timing) -> LinkTrace {
    let Fec { code, interleave } = fec;
    let depth = interleave.get() as usize;
    let size = depth.saturating_mul(code.total());
    let data = depth.saturating_mul(code.data());
    let blocks = phy.len() / size;
    let nominal = nominal_ns(phy);
    let mut parts = Parts::of(phy, timing.rtt);
    parts.slots_used = (blocks * size) as u64;
    let (mut t, mut d) = (Vec::with_capacity(blocks * data), Vec::with_capacity(blocks * data));
    let mut words = Vec::new();
    for start in (0..blocks).map(|block| block * size) {
        let (slot_t, slot_d) = (&phy.t()[start..start + size], &phy.d()[start..start + size]);
        let first = t.len();
        t.extend_from_slice(&slot_t[..data]);
        d.extend_from_slice(&slot_d[..data]);
        words.clear();
        words.resize(depth, Content::default());
        for (slot, unit) in slot_t.iter().copied().zip(slot_d.iter().copied()).enumerate() {
            words[slot % depth].add(unit, sizes.at(start + slot), slot < data);
        }
        let decoded: Vec<_> = words.iter_mut().map(Content::complete).collect();
        for slot in 0..data {
            let (index, last) = (first + slot, slot_t[size - depth + slot % depth]);
            match decoded[slot % depth] {
                Some(at) => parts.rebuild(&t[index..=index], &mut d[index..=index], at),
                None => parts.give_up(index, &t[index..=index], &d[index..=index], last + nominal),
            }
        }
    }
    LinkTrace::from_parts(Parts { t: t.into(), d: d.into(), ..parts })
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;
    use crate::scheme::BlockCode;
    use crate::units::{Bytes, Duration};

    #[test]
    fn a_word_is_decoded_once_its_bytes_are_there() {
        // Data of 100 and 40 bytes, the first erased: a repair unit of 60 is too little, two will do.
        let sizes = Sizes::each(vec![100, 40, 60, 60].into()).unwrap();
        let fec = |d: [i64; 4]| {
            let phy = PhyTrace::new(vec![0, 10, 20, 30].into(), d.to_vec().into(), sizes.clone());
            let code = BlockCode::new(2, 4).unwrap();
            let timing = Timing { rtt: Duration::ZERO, feedback: None };
            apply(Fec { code, interleave: NonZeroU32::MIN }, &phy.unwrap(), &sizes, timing)
        };
        assert_eq!(fec([0, 3, 3, 3]).parts().d[..], [33, 3]);
        let lost = fec([0, 3, 3, 0]);
        assert_eq!((&lost.parts().d[..], &lost.parts().lost[..]), (&[0, 3][..], &[(0, 33)][..]));
        // The small one needs 40 bytes: either repair unit brings them.
        assert_eq!(fec([3, 0, 3, 0]).parts().d[..], [3, 13]);
    }

    proptest! {
        #[test]
        fn with_slots_of_one_size_it_is_fec_as_ever(
            d in prop::collection::vec(prop_oneof![Just(0i64), 1i64..40], 1..120),
            (data, repair, depth) in (1u32..5, 0u32..4, 1u32..4),
        ) {
            let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 10).collect();
            let phy = PhyTrace::new(t.into(), d.into(), Bytes(9)).unwrap();
            let code = BlockCode::new(data, data + repair).unwrap();
            let fec = Fec { code, interleave: NonZeroU32::new(depth).unwrap() };
            let timing = Timing { rtt: Duration::from_nanos(4), feedback: None };
            let content = apply(fec, &phy, phy.sizes(), timing);
            prop_assert_eq!(content, crate::scheme::fec::open::apply(fec, &phy, timing));
        }
    }
}
