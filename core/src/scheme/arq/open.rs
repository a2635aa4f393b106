//! SR-ARQ: erased LLDUs are sent again, first come first served (DESIGN section 4).

use std::collections::VecDeque;

use crate::scheme::timing::nominal_ns;
use crate::scheme::{Arq, Timing};
use crate::trace::{LinkTrace, Parts, PhyTrace};

/// An LLDU that waits to be sent again.
struct Waiting {
    ready: i64,
    /// Its place in `transmissions`.
    record: u32,
}

pub(crate) fn apply(Arq { max_retx }: Arq, phy: &PhyTrace, timing: Timing) -> LinkTrace {
    let (slot_t, slot_d) = (&phy.t()[..], &phy.d()[..phy.len()]);
    let nominal = nominal_ns(phy);
    let feedback = timing.feedback_ns(phy);
    let mut parts = Parts::of(phy, timing.rtt);
    parts.slots_used = parts.slots;

    let (mut t, mut d) = (Vec::with_capacity(slot_t.len()), Vec::with_capacity(slot_t.len()));
    // All that were erased at first, by index; those never sent again are the last of them, since
    // first retransmissions go in order of index.
    let mut transmissions: Vec<(u32, u32)> = Vec::new();
    // `ready` rises along the queue: slots come in order of t, and feedback is the same for all.
    let mut queue: VecDeque<Waiting> = VecDeque::new();
    // Slots that carry new data are copied in one piece: from `first` on, none carried anything else.
    let (mut slot, mut first) = (0, 0);
    loop {
        let ready = queue.front().map_or(i64::MAX, |head| head.ready);
        // Up to the first slot that is erased or carries the head of the queue.
        while slot < slot_t.len() && slot_d[slot] != 0 && slot_t[slot] < ready {
            slot += 1;
        }
        if slot == slot_t.len() {
            break;
        }
        let (now, decoding) = (slot_t[slot], slot_d[slot]);
        // DESIGN section 4: a slot carries the head of the queue if it is ready, otherwise new
        // data.
        let (record, sent) = if now < ready {
            transmissions.push(((t.len() + slot - first) as u32, 1));
            slot += 1;
            (transmissions.len() as u32 - 1, now)
        } else {
            t.extend_from_slice(&slot_t[first..slot]);
            d.extend_from_slice(&slot_d[first..slot]);
            slot += 1;
            first = slot;
            let Some(head) = queue.pop_front() else { unreachable!("somebody was ready") };
            let (index, times) = &mut transmissions[head.record as usize];
            *times += 1;
            (head.record, t[*index as usize])
        };
        let (index, times) = transmissions[record as usize];
        if decoding > 0 {
            let after = now + decoding - sent;
            d[index as usize] = after;
            parts.recovered.0 += 1;
            parts.recovered.1 += after as u128;
        } else if max_retx.allows(times - 1) {
            queue.push_back(Waiting { ready: now.saturating_add(feedback), record });
        } else {
            // In order of index, like all n-th transmissions.
            parts.lost.push((index, now + nominal - sent));
        }
    }
    t.extend_from_slice(&slot_t[first..]);
    d.extend_from_slice(&slot_d[first..]);
    // Retransmissions are first in, first out, so LLDUs that are still without one are the last;
    // LLDUs not listed count 1.
    while transmissions.pop_if(|record| record.1 == 1).is_some() {}
    LinkTrace::from_parts(Parts { t: t.into(), d: d.into(), transmissions, ..parts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;
    use crate::units::{Bytes, Duration, Limit};

    fn arq(d: &[i64], feedback: u64, max_retx: Limit) -> LinkTrace {
        let t: Vec<i64> = (0..d.len() as i64).map(|slot| slot * 10).collect();
        let phy = PhyTrace::new(t.into(), d.to_vec().into(), Bytes(33)).unwrap();
        let timing = Timing {
            rtt: Duration::from_nanos(20),
            feedback: Some(Duration::from_nanos(feedback)),
        };
        Scheme::Arq(Arq { max_retx }).apply(&phy, timing)
    }

    #[test]
    fn an_erased_lldu_takes_the_first_slot_after_its_feedback() {
        // Slot 1 (t = 10) is erased, its sender knows at 35, so slot 4 (t = 40) carries it again.
        let link = arq(&[3, 0, 3, 3, 3, 3], 25, Limit::Unlimited);
        assert_eq!(link.parts().t[..], [0, 10, 20, 30, 50]);
        assert_eq!(link.parts().d[..], [3, 33, 3, 3, 3]);
        assert_eq!(link.parts().transmissions, [(1, 2)]);
        assert_eq!(link.parts().recovered, (1, 33));
        // Known exactly when slot 3 starts: slot 3 carries it.
        assert_eq!(arq(&[3, 0, 3, 3], 20, Limit::Unlimited).parts().d[..], [3, 23, 3]);
    }

    #[test]
    fn it_is_given_up_after_its_last_retransmission() {
        // Slots 0, 2 and 4 carry LLDU 0; d_nom is 3.
        let link = arq(&[0, 3, 0, 3, 0, 3, 3], 15, Limit::AtMost(2));
        assert_eq!(link.parts().t[..], [0, 10, 30, 50, 60]);
        assert_eq!(link.parts().lost, [(0, 43)]);
        assert_eq!(link.transmissions_column(), [3, 1, 1, 1, 1]);
        let once = arq(&[0, 3, 0], 15, Limit::AtMost(0));
        assert_eq!((once.lost_column(), once.len()), (vec![3, 0, 3], 3));
        assert_eq!(once.parts().transmissions, []);
    }

    #[test]
    fn what_still_waits_at_the_end_is_censored() {
        let link = arq(&[0, 3, 0], 100, Limit::Unlimited);
        assert_eq!((link.lost_column(), link.transmissions_column()), (vec![0; 3], vec![1; 3]));
        assert_eq!(link.stats().censored, 2);
    }
}
