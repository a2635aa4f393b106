//! FEC, plain and interleaved: a block erasure code without feedback (DESIGN section 4).

use crate::scheme::arrivals::Arrivals;
use crate::scheme::timing::nominal_ns;
use crate::scheme::{Fec, Timing};
use crate::trace::{LinkTrace, Parts, PhyTrace};

pub(crate) fn apply(Fec { code, interleave }: Fec, phy: &PhyTrace, timing: Timing) -> LinkTrace {
    // `depth` code words share a super-block of slots in turn, so its first k rows of `depth` slots
    // are data and the rest repair. A plain code has one code word in turn.
    let depth = interleave.get() as usize;
    let size = depth.saturating_mul(code.total());
    let data = depth.saturating_mul(code.data());
    let blocks = phy.len() / size;
    let nominal = nominal_ns(phy);
    let mut parts = Parts::of(phy, timing.rtt);
    // DESIGN section 4: a partial block at the end is omitted, and its slots do not count as used.
    parts.slots_used = (blocks * size) as u64;

    let (mut t, mut d) = (Vec::with_capacity(blocks * data), Vec::with_capacity(blocks * data));
    let mut arrivals = Arrivals::default();
    let mut decoded = Vec::new();
    for (slot_t, slot_d) in phy.t().chunks_exact(size).zip(phy.d().chunks_exact(size)) {
        let first = t.len();
        t.extend_from_slice(&slot_t[..data]);
        d.extend_from_slice(&slot_d[..data]);
        if !has_zero(&slot_d[..data]) {
            continue;
        }
        let (t, d) = (&t[first..], &mut d[first..]);
        if depth == 1 {
            match arrivals.of_word((slot_t, slot_d), (0, 1), code) {
                Some(at) => parts.rebuild(t, d, at),
                None => parts.give_up(first, t, d, slot_t[size - 1] + nominal),
            }
            continue;
        }
        decoded.clear();
        let words = 0..depth;
        decoded.extend(words.map(|word| arrivals.of_word((slot_t, slot_d), (word, depth), code)));
        // By index, as `lost` must be: from slot to slot, not from code word to code word.
        for (slot, word) in (0..data).zip((0..depth).cycle()) {
            if d[slot] > 0 {
                continue;
            }
            // The receiver knows that a code word is lost only after the last slot of this word.
            let last = slot_t[size - depth + word];
            let (t, d) = (&t[slot..=slot], &mut d[slot..=slot]);
            match decoded[word] {
                Some(at) => parts.rebuild(t, d, at),
                None => parts.give_up(first + slot, t, d, last + nominal),
            }
        }
    }
    LinkTrace::from_parts(Parts { t: t.into(), d: d.into(), ..parts })
}

/// Whether any slot was erased; without a branch for each, so that it vectorises.
#[inline]
pub(crate) fn has_zero(d: &[i64]) -> bool {
    d.iter().fold(false, |any, &d| any | (d == 0))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::scheme::{BlockCode, Scheme};
    use crate::units::{Bytes, Duration};

    fn fec(data: u32, total: u32, interleave: u32, d: &[i64]) -> LinkTrace {
        let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 10).collect();
        let phy = PhyTrace::new(t.into(), d.to_vec().into(), Bytes(33)).unwrap();
        let scheme = Scheme::Fec(Fec {
            code: BlockCode::new(data, total).unwrap(),
            interleave: NonZeroU32::new(interleave).unwrap(),
        });
        scheme.apply(&phy, Timing { rtt: Duration::from_nanos(20), feedback: None })
    }

    #[test]
    fn a_block_is_decoded_when_the_kth_unit_arrives() {
        // Arrivals at 4, 24, 34: the second of them, 24, rebuilds slot 1.
        let link = fec(2, 4, 1, &[4, 0, 4, 4]);
        assert_eq!((&link.parts().t[..], &link.parts().d[..]), (&[0, 10][..], &[4, 14][..]));
        assert_eq!((link.parts().recovered, link.parts().slots_used), ((1, 14), 4));
        // The repair of slot 3 overtakes that of slot 2: arrivals at 4, 31, 60.
        assert_eq!(fec(2, 4, 1, &[4, 0, 40, 1]).parts().d[..], [4, 21]);
    }

    #[test]
    fn a_block_short_of_k_loses_its_erased_data_only() {
        let link = fec(2, 3, 1, &[4, 0, 0]);
        assert_eq!(link.parts().d[..], [4, 0]);
        assert_eq!(link.parts().lost, [(1, 20 + 4 - 10)]);
    }

    #[test]
    fn what_does_not_fill_a_block_is_left_out() {
        let link = fec(2, 3, 1, &[4, 4, 4, 4, 4]);
        assert_eq!((link.len(), link.parts().slots_used), (2, 3));
        let short = fec(2, 3, 1, &[4, 4]);
        assert!(short.is_empty());
        assert_eq!(short.stats().efficiency, 0.0);
    }

    #[test]
    fn interleaved_code_words_take_slots_in_turn() {
        // Depth 2, (1, 2): code word 0 has slots 0 and 2, code word 1 slots 1 and 3.
        let link = fec(1, 2, 2, &[0, 0, 4, 0]);
        assert_eq!((&link.parts().t[..], &link.parts().d[..]), (&[0, 10][..], &[24, 0][..]));
        assert_eq!(link.parts().lost, [(1, 30 + 4 - 10)]);
    }
}
