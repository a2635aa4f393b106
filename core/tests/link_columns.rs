//! Link traces from columns: taken apart, built again, and refused where they are wrong.

use clift::scheme::{Scheme, Timing};
use clift::trace::{LinkColumns, LinkTrace, Parts, PhyTrace, Sizes};
use clift::units::{Bytes, Duration};
use proptest::prelude::*;

fn columns(link: &LinkTrace) -> LinkColumns {
    let parts = link.parts();
    LinkColumns {
        t: parts.t.clone(),
        d: parts.d.clone(),
        lost: link.lost_column(),
        transmissions: link.transmissions_column().into_iter().map(i64::from).collect(),
        sizes: parts.sizes.as_ref().map_or(parts.lldu.into(), |sizes| sizes.lldus.clone()),
        rtt: parts.rtt,
        period: Some(Duration::from_nanos((parts.span.1 - parts.span.0 + parts.gap) as u64)),
        slots: Some(parts.slots),
        loading: parts.loading,
    }
}

#[test]
fn faults_name_the_lldu_and_the_cure() {
    let phy = PhyTrace::new(vec![0, 10, 20].into(), vec![5, 0, 5].into(), Bytes(33)).unwrap();
    let timing = Timing { rtt: Duration::ZERO, feedback: None };
    let good = columns(&Scheme::None.apply(&phy, timing));
    let fault = |change: &dyn Fn(&mut LinkColumns)| {
        let mut columns = good.clone();
        change(&mut columns);
        columns.trace().unwrap_err().to_string()
    };
    assert_eq!(fault(&|c| c.lost = vec![0]), "t has 3 values and lost has 1; give one for each t");
    assert!(fault(&|c| c.lost[0] = 4).starts_with("LLDU 0: is delivered (d above 0) and given"));
    assert!(fault(&|c| c.lost[1] = -4).starts_with("LLDU 1: lost is negative"));
    assert!(fault(&|c| c.lost[1] = i64::MAX).starts_with("LLDU 1: t + lost is over 2^61 ns"));
    assert!(fault(&|c| c.transmissions[2] = 0).starts_with("LLDU 2: transmissions must be"));
    assert!(fault(&|c| c.slots = Some(2)).starts_with("2 slots for 3 data LLDUs"));
    assert!(fault(&|c| c.t = vec![0, 0, 1].into()).starts_with("slot 1: t = 0 ns does not"));
    assert!(fault(&|c| c.period = Some(Duration::from_nanos(20))).starts_with("period_ns must"));
}

proptest! {
    #[test]
    fn a_link_trace_taken_apart_is_made_anew(
        slots in prop::collection::vec((1i64..40, prop_oneof![Just(0i64), 1i64..40], 1i64..9), 1..60),
    ) {
        let t = slots.iter().scan(-1, |t, slot| { *t += slot.0; Some(*t) }).collect::<Vec<_>>();
        let d = slots.iter().map(|slot| slot.1).collect::<Vec<_>>();
        let sizes = Sizes::each(slots.iter().map(|slot| slot.2).collect::<Vec<_>>().into()).unwrap();
        let phy = PhyTrace::new(t.into(), d.into(), sizes).unwrap();
        let timing = Timing { rtt: Duration::from_nanos(6), feedback: None };
        for scheme in ["none", "ARQ", "ARQ(max 1)"] {
            let link = scheme.parse::<Scheme>().unwrap().apply(&phy, timing);
            prop_assume!(link.parts().gap > 0);
            let again = columns(&link).trace().unwrap();
            // What no slot says: bytes of slots that carried no new data.
            let (mut a, mut b) = (link.parts().clone(), again.parts().clone());
            let lldus = |parts: &Parts| parts.sizes.as_ref().map(|sizes| sizes.lldus.clone());
            prop_assert_eq!(lldus(&a), lldus(&b).or(lldus(&a).filter(|s| s.column().is_none())));
            (a.sizes, b.sizes) = (None, None);
            (b.span, b.gap, b.lldu) = (a.span, a.gap, a.lldu);
            prop_assert_eq!(a, b);
        }
    }
}

/// Marks as far apart as the code is weak, up to the end of the trace, beside a search in all slots.
#[test]
fn marks_are_the_slots_of_every_256th_lldu() {
    let t: Vec<i64> = (0..20_000).map(|slot| slot * 10 + slot % 7).collect();
    let d = t.iter().map(|t| if t % 4 == 0 { 0 } else { 5 }).collect::<Vec<_>>();
    let phy = PhyTrace::new(t.clone().into(), d.into(), Bytes(33)).unwrap();
    let timing = Timing { rtt: Duration::from_nanos(700), feedback: None };
    for scheme in ["none", "ARQ", "HARQ(10/12)", "FEC(10/12)", "FEC(1/2)", "FEC(2/200)"] {
        let link = scheme.parse::<Scheme>().unwrap().apply(&phy, timing);
        let marked = link.parts().t.iter().step_by(256);
        let slots = marked.map(|&start| t.partition_point(|&slot| slot < start) as u32);
        assert_eq!(link.slot_marks(), slots.collect::<Vec<_>>(), "{scheme}");
    }
}
