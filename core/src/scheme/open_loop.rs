//! The link trace of a scheme by its live form, fed without a pause (DESIGN section 4).
//!
//! Over slots of one size the schemes have a faster form, which the tests hold against this one.

use crate::link::line::{Counts, Line};
use crate::link::live::LiveScheme;
use crate::link::packets::{Amounts, Packets};
use crate::link::slots::Slot;
use crate::link::{LinkEvent, Packet, PacketId, QueueLimit, TransmissionKind, UnitLog};
use crate::scheme::Timing;
use crate::scheme::timing::nominal_ns;
use crate::trace::{LinkTrace, Parts, PhyTrace};
use crate::units::{Bytes, Instant};

/// The link trace of a live scheme over `phy`, for which data always wait.
pub fn open_loop(scheme: impl LiveScheme, phy: &PhyTrace, timing: Timing) -> LinkTrace {
    of_blocks(scheme, (1, 1), phy.len(), phy, timing)
}

/// The same over the first `slots` of `phy`. Blocks have `data` units among `total`; one that the
/// trace cuts is left out.
pub(super) fn of_blocks(
    mut scheme: impl LiveScheme,
    (data, total): (usize, usize),
    slots: usize,
    phy: &PhyTrace,
    timing: Timing,
) -> LinkTrace {
    let mut line = Line {
        packets: Packets::new(QueueLimit::Unlimited, 0, Amounts::Units),
        counts: Counts::default(),
        log: UnitLog::default(),
        nominal: nominal_ns(phy),
        one_way: 0,
        header: 0,
        is_closed: false,
    };
    line.log.start();
    let (mut units, mut parts) = (Units::default(), Parts::of(phy, timing.rtt));
    for (index, (&t, &d)) in phy.t().iter().zip(phy.d().iter()).enumerate().take(slots) {
        if !line.data_wait() {
            // A packet for each unit, so that the fate of the packet is that of the unit.
            line.packets.offer(Instant::ZERO, Packet::new(PacketId(0), Bytes(0)), 1, Bytes(0));
        }
        if scheme.undecided().is_some_and(|at| at <= t) {
            scheme.settle(t, &mut line);
        }
        let slot = Slot { t, d, bytes: phy.sizes().at(index) };
        while scheme.wants(true).is_some_and(|from| from <= t) {
            if scheme.carry(slot, &mut line) {
                parts.slots_used += 1;
                break;
            }
        }
        units.note(&mut line, (t, d));
    }
    scheme.settle(i64::MAX, &mut line);
    units.note_fates(&mut line);
    let whole = units.in_blocks / total * data;
    units.finish(whole, parts)
}

/// Data units so far.
#[derive(Default)]
struct Units {
    t: Vec<i64>,
    d: Vec<i64>,
    /// How often each was sent.
    times: Vec<u32>,
    /// Those erased at first, and those given up with the time after their slot.
    erased: Vec<u32>,
    lost: Vec<(u32, i64)>,
    /// Units sent as parts of blocks, before any was asked for.
    in_blocks: usize,
}

impl Units {
    /// Notes what the slot of (`t`, `d`) carried, and the fates that it decided.
    fn note(&mut self, line: &mut Line, (t, d): (i64, i64)) {
        for sent in line.log.take() {
            self.in_blocks += usize::from(sent.attempt == 0);
            if sent.kind == TransmissionKind::New {
                if d == 0 {
                    self.erased.push(self.t.len() as u32);
                }
                self.t.push(t);
                self.d.push(0);
                self.times.push(1);
            } else if sent.attempt > 0 {
                let (first, last) = (sent.packets.0 as usize, sent.packets.1 as usize);
                let sent_again = &mut self.times[first..=last];
                sent_again.iter_mut().for_each(|times| *times = (*times).max(1 + sent.attempt));
            }
        }
        self.note_fates(line);
    }

    fn note_fates(&mut self, line: &mut Line) {
        while let Some(event) = line.packets.pop(Instant::from_nanos(u64::MAX)) {
            match event {
                LinkEvent::Delivered(unit) => {
                    let index = unit.order as usize;
                    self.d[index] = unit.at.as_nanos() as i64 - self.t[index];
                }
                LinkEvent::Lost(unit) => {
                    let after = unit.at.as_nanos() as i64 - self.t[unit.order as usize];
                    self.lost.push((unit.order as u32, after));
                }
                _ => {}
            }
        }
    }

    /// The link trace of the first `count` units.
    fn finish(mut self, count: usize, mut parts: Parts) -> LinkTrace {
        self.t.truncate(count);
        self.d.truncate(count);
        self.times.truncate(count);
        let recovered = self.erased.iter().filter_map(|&index| self.d.get(index as usize));
        for &after in recovered.filter(|&&after| after > 0) {
            parts.recovered.0 += 1;
            parts.recovered.1 += after as u128;
        }
        self.lost.sort_unstable();
        let times = self.times.iter().zip(0..).filter(|&(&times, _)| times > 1);
        let transmissions = times.map(|(&times, index)| (index, times)).collect();
        let (t, d, lost) = (self.t.into(), self.d.into(), self.lost);
        LinkTrace::from_parts(Parts { t, d, lost, transmissions, ..parts })
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;
    use crate::scheme::{Arq, BlockCode, Fec, Harq2, Scheme};
    use crate::trace::Sizes;
    use crate::units::{Duration, Limit};

    fn phy(d: &[i64], sizes: impl Into<Sizes>) -> PhyTrace {
        let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 10).collect();
        PhyTrace::new(t.into(), d.to_vec().into(), sizes).unwrap()
    }

    fn over_sizes(scheme: Scheme, d: &[i64], sizes: &[i64], feedback: u64) -> LinkTrace {
        let feedback = Some(Duration::from_nanos(feedback));
        let timing = Timing { rtt: Duration::ZERO, feedback };
        scheme.apply(&phy(d, Sizes::each(sizes.to_vec().into()).unwrap()), timing)
    }

    #[test]
    fn what_does_not_fit_takes_more_slots() {
        // 100 bytes are erased at 0; known at 15, they go in slots of 60, 30 (erased) and 10 of 50.
        let (d, sizes) = ([0, 3, 3, 0, 3, 3, 3], [100, 100, 60, 30, 50, 80, 80]);
        let arq = |max_retx| over_sizes(Scheme::Arq(Arq { max_retx }), &d, &sizes, 15);
        let link = arq(Limit::Unlimited);
        // The 30 go again at 50, the first slot after 45; new data have 10, and 60.
        assert_eq!(link.parts().t[..], [0, 10, 60]);
        assert_eq!(link.parts().d[..], [53, 3, 3]);
        assert_eq!((link.transmissions_column(), link.parts().recovered), (vec![3, 1, 1], (1, 53)));
        // Given up with the first piece that is.
        let link = arq(Limit::AtMost(1));
        assert_eq!(link.parts().lost, [(0, 33)]);
        assert_eq!(link.parts().t[..], [0, 10, 40, 50, 60]);
    }

    #[test]
    fn a_word_is_decoded_once_its_bytes_are_there() {
        // Data of 100 and 40 bytes, the first erased: a repair unit of 60 is too little, two will do.
        let code = BlockCode::new(2, 4).unwrap();
        let fec = Scheme::Fec(Fec { code, interleave: NonZeroU32::MIN });
        let fec = |d: [i64; 4]| over_sizes(fec.clone(), &d, &[100, 40, 60, 60], 15);
        assert_eq!(fec([0, 3, 3, 3]).parts().d[..], [33, 3]);
        let lost = fec([0, 3, 3, 0]);
        assert_eq!((&lost.parts().d[..], &lost.parts().lost[..]), (&[0, 3][..], &[(0, 33)][..]));
        // The small one needs 40 bytes: either repair unit brings them.
        assert_eq!(fec([3, 0, 3, 0]).parts().d[..], [3, 13]);
    }

    #[test]
    fn a_round_has_the_slots_that_the_missing_bytes_need() {
        // Two data slots of 100 bytes, both erased; repair of 50 arrives: 150 are missing. Known at
        // 20 + 15, the round has the slots of 60, 60 and 60 at 40, 50 and 60.
        let code = BlockCode::new(2, 3).unwrap();
        let harq = Scheme::Harq2(Harq2 { code, extra: 0, max_rounds: None.into() });
        let link = over_sizes(harq, &[0, 0, 3, 3, 3, 3, 3], &[100, 100, 50, 60, 60, 60, 60], 15);
        assert_eq!((&link.parts().t[..], &link.parts().d[..]), (&[0, 10][..], &[63, 53][..]));
        assert_eq!(link.transmissions_column(), [2, 2]);
    }

    proptest! {
        #[test]
        fn the_faster_forms_give_the_same(
            d in prop::collection::vec(prop_oneof![Just(0i64), 1i64..40], 1..120),
            (data, repair, extra, depth) in (1u32..5, 0u32..4, 0u32..3, 1u32..4),
            feedback in 1u64..90,
            most in prop::option::of(0u32..4),
        ) {
            let phy = phy(&d, Bytes(9));
            let feedback = Some(Duration::from_nanos(feedback));
            let timing = Timing { rtt: Duration::from_nanos(4), feedback };
            let (code, most) = (BlockCode::new(data, data + repair).unwrap(), Limit::from(most));
            let fast = |scheme: Scheme| scheme.apply(&phy, timing);
            let live = |link: LinkTrace| link.over_slots_of(&phy);
            let arq = Arq { max_retx: most };
            prop_assert_eq!(live(arq.by_live(&phy, timing)), fast(Scheme::Arq(arq)));
            let fec = Fec { code, interleave: NonZeroU32::new(depth).unwrap() };
            prop_assert_eq!(live(fec.by_live(&phy, timing)), fast(Scheme::Fec(fec)));
            let harq = Harq2 { code, extra, max_rounds: most };
            prop_assert_eq!(live(harq.by_live(&phy, timing)), fast(Scheme::Harq2(harq)));
        }
    }
}
