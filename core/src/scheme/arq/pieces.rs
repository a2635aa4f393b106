//! SR-ARQ over slots of different sizes: an LLDU that does not fit into a slot is sent in pieces.

use std::collections::VecDeque;

use crate::scheme::timing::nominal_ns;
use crate::scheme::{Arq, Timing};
use crate::trace::{LinkTrace, Parts, PhyTrace, Sizes};

/// Bytes of an LLDU that wait to be sent again.
struct Piece {
    ready: i64,
    /// The LLDU's place in `erased`.
    record: usize,
    bytes: u32,
    /// How often they were sent.
    sent: u32,
}

/// An LLDU that was erased at first.
struct Erased {
    index: u32,
    first: i64,
    /// Bytes that did not arrive yet.
    missing: u32,
    /// When the last of the others did.
    latest: i64,
    /// How often any of its bytes were sent.
    sent: u32,
    given_up: bool,
}

/// Link trace over slots of `sizes`. Each piece has its own slot and is acknowledged and sent again
/// separately. The LLDU is complete with its last piece, and given up with the first piece that is.
pub(super) fn apply(arq: Arq, phy: &PhyTrace, sizes: &Sizes, timing: Timing) -> LinkTrace {
    let (nominal, feedback) = (nominal_ns(phy), timing.feedback_ns(phy));
    let mut parts = Parts::of(phy, timing.rtt);
    parts.slots_used = parts.slots;
    let (mut t, mut d) = (Vec::new(), Vec::new());
    let mut erased: Vec<Erased> = Vec::new();
    // `ready` rises along the queue: slots come in order of t, and feedback is the same for all.
    let mut queue: VecDeque<Piece> = VecDeque::new();
    for (slot, (&now, &decoding)) in phy.t().iter().zip(phy.d().iter()).enumerate() {
        let room = sizes.at(slot);
        while queue.front().is_some_and(|head| erased[head.record].given_up) {
            queue.pop_front();
        }
        let (record, bytes, sent) = match queue.front_mut() {
            Some(head) if head.ready <= now => {
                let part = head.bytes.min(room);
                let taken = (head.record, part, head.sent + 1);
                head.bytes -= part;
                if head.bytes == 0 {
                    queue.pop_front();
                }
                taken
            }
            _ => {
                t.push(now);
                d.push(decoding);
                if decoding > 0 {
                    continue;
                }
                let index = t.len() as u32 - 1;
                erased.push(Erased {
                    index,
                    first: now,
                    missing: room,
                    latest: 0,
                    sent: 1,
                    given_up: false,
                });
                (erased.len() - 1, room, 1)
            }
        };
        let unit = &mut erased[record];
        unit.sent = unit.sent.max(sent);
        if decoding > 0 {
            unit.missing -= bytes;
            unit.latest = unit.latest.max(now + decoding);
            if unit.missing == 0 {
                let after = unit.latest - unit.first;
                d[unit.index as usize] = after;
                parts.recovered.0 += 1;
                parts.recovered.1 += after as u128;
            }
        } else if arq.max_retx.allows(sent - 1) {
            queue.push_back(Piece { ready: now.saturating_add(feedback), record, bytes, sent });
        } else {
            unit.given_up = true;
            parts.lost.push((unit.index, now + nominal - unit.first));
        }
    }
    parts.lost.sort_unstable();
    let again = erased.iter().filter(|unit| unit.sent > 1);
    let transmissions = again.map(|unit| (unit.index, unit.sent)).collect();
    LinkTrace::from_parts(Parts { t: t.into(), d: d.into(), transmissions, ..parts })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scheme::Persistency;
    use crate::units::{Bytes, Duration};

    fn phy(d: &[i64], sizes: impl Into<Sizes>) -> PhyTrace {
        let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 10).collect();
        PhyTrace::new(t.into(), d.to_vec().into(), sizes).unwrap()
    }

    #[test]
    fn what_does_not_fit_takes_more_slots() {
        // 100 bytes are erased at 0; known at 15, they go in slots of 60, 30 (erased) and 10 of 50.
        let sizes = Sizes::each(vec![100, 100, 60, 30, 50, 80, 80].into()).unwrap();
        let phy = phy(&[0, 3, 3, 0, 3, 3, 3], sizes.clone());
        let timing = Timing { rtt: Duration::ZERO, feedback: Some(Duration::from_nanos(15)) };
        let arq = Arq { max_retx: Persistency::Unlimited };
        let link = apply(arq, &phy, &sizes, timing);
        // The 30 go again at 50, the first slot after 45; new data have 10, and 60.
        assert_eq!(link.parts().t[..], [0, 10, 60]);
        assert_eq!(link.parts().d[..], [53, 3, 3]);
        assert_eq!((link.transmissions_column(), link.parts().recovered), (vec![3, 1, 1], (1, 53)));
        // Given up with the first piece that is.
        let link = apply(Arq { max_retx: Persistency::AtMost(1) }, &phy, &sizes, timing);
        assert_eq!(link.parts().lost, [(0, 33)]);
        assert_eq!(link.parts().t[..], [0, 10, 40, 50, 60]);
    }

    proptest! {
        #[test]
        fn with_slots_of_one_size_it_is_arq_as_ever(
            d in prop::collection::vec(prop_oneof![Just(0i64), 1i64..40], 1..80),
            feedback in 1u64..60,
            most in prop::option::of(0u32..4),
        ) {
            let phy = phy(&d, Bytes(9));
            let arq = Arq { max_retx: most.into() };
            let feedback = Some(Duration::from_nanos(feedback));
            let timing = Timing { rtt: Duration::from_nanos(4), feedback };
            let pieces = apply(arq, &phy, phy.sizes(), timing);
            prop_assert_eq!(pieces, crate::scheme::arq::open::apply(arq, &phy, timing));
        }
    }
}
