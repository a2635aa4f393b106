//! The open-loop schemes against slow references, slot for slot, and what must hold of any.

use std::collections::BTreeSet;

use clift::scheme::{Arq, BlockCode, Harq2, Scheme, Timing};
use clift::trace::{PhyTrace, Sizes};
use clift::units::{Duration, Limit};
use proptest::prelude::*;
use support::byte_reference;
use support::tmt_reference::Expected;
use support::tmt_strategies::{Case, case, dense};

proptest! {
    #[test]
    fn every_scheme_gives_what_the_reference_gives(case in case()) {
        let link = case.link();
        prop_assert_eq!(dense(&link), case.expected(), "{}", case.scheme);
    }

    #[test]
    fn what_must_hold_of_any_scheme(case in case()) {
        let link = case.link();
        let stats = link.stats();
        prop_assert_eq!(stats.data_units, stats.delivered + stats.lost + stats.censored);
        prop_assert!(stats.delivered <= stats.slots_used && stats.slots_used <= stats.slots);
        prop_assert_eq!(
            stats.retransmissions.iter().map(|&(_, units)| units).sum::<u64>(),
            stats.data_units
        );
        // A data LLDU has its own slot, and arrives when something of its block does.
        let slots: BTreeSet<i64> = case.slots.iter().map(|slot| slot.0).collect();
        let arrivals: BTreeSet<i64> =
            case.slots.iter().filter(|slot| slot.1 > 0).map(|slot| slot.0 + slot.1).collect();
        prop_assert!(link.parts().t.is_sorted_by(|a, b| a < b));
        for (index, (&t, &d)) in link.parts().t.iter().zip(&link.parts().d[..]).enumerate() {
            prop_assert!(slots.contains(&t));
            prop_assert!(d >= 0 && (d == 0 || arrivals.contains(&(t + d))));
            prop_assert!(d == 0 || link.lost_ns(index) == 0, "delivered and lost");
        }
        prop_assert!(link.parts().lost.iter().all(|&(_, after)| after > 0));
        prop_assert!(link.parts().transmissions.iter().all(|&(_, times)| times > 1));
        if let Scheme::Arq(Arq { max_retx: limit }) = case.scheme {
            let transmissions: u64 =
                link.transmissions_column().iter().map(|&times| u64::from(times)).sum();
            prop_assert_eq!(transmissions, stats.slots);
            let within = link.parts().transmissions.iter().all(|&(_, times)| limit.get().is_none_or(|retx| times <= 1 + retx));
            prop_assert!(within);
        }
        let unlimited = matches!(
            case.scheme,
            Scheme::Arq(Arq { max_retx: Limit::Unlimited })
                | Scheme::Harq2(Harq2 { max_rounds: Limit::Unlimited, .. })
        );
        prop_assert!(!unlimited || stats.lost == 0);
    }
}

proptest! {
    /// Slots of different size, byte by byte.
    #[test]
    fn arq_and_fec_over_sizes_give_what_bytes_one_by_one_give(
        case in case(),
        sizes in proptest::collection::vec(1i64..9, 200),
    ) {
        let sizes = &sizes[..case.slots.len().min(sizes.len())];
        prop_assume!(sizes.len() == case.slots.len());
        let phy = case.phy();
        let each = Sizes::each(sizes.to_vec().into()).unwrap();
        prop_assume!(each.column().is_some());
        let phy = PhyTrace::with_header(phy.t().clone(), phy.d().clone(), each, phy.header().clone());
        let phy = phy.unwrap();
        let feedback = Some(Duration::from_nanos(case.feedback as u64));
        let timing = Timing { rtt: Duration::from_millis(500), feedback };
        let link = case.scheme.apply(&phy, timing);
        let stats = link.stats();
        prop_assert!(stats.efficiency <= 1.0 + 1e-12);
        prop_assert_eq!(stats.data_units, stats.delivered + stats.lost + stats.censored);
        for (index, t) in link.parts().t.iter().enumerate() {
            let slot = case.slots.iter().position(|slot| slot.0 == *t).unwrap();
            prop_assert_eq!(i64::from(link.bytes(index)), sizes[slot]);
        }
        let units = match case.scheme {
            Scheme::Arq(arq) => byte_reference::arq(&case, sizes, arq.max_retx),
            Scheme::Fec(fec) => byte_reference::fec(&case, sizes, fec),
            _ => return Ok(()),
        };
        let (t, d) = (link.parts().t.to_vec(), link.parts().d.to_vec());
        let got: Vec<_> = t.into_iter().zip(d).zip(link.lost_column()).collect();
        prop_assert_eq!(got, units);
        if let Scheme::Arq(_) = case.scheme {
            prop_assert_eq!(stats.slots_used, stats.slots);
        }
    }
}

/// Figure 4 of Kuhn 2014 in miniature: a (2, 3) block that needs a round, by hand.
#[test]
fn a_harq_round_by_hand() {
    let code = BlockCode::new(2, 3).unwrap();
    let harq = |extra, max_rounds| Scheme::Harq2(Harq2 { code, extra, max_rounds });
    let slots = |d: &[i64]| d.iter().enumerate().map(|(i, &d)| (i as i64 * 10, d)).collect();
    // Block 0 (slots 0, 1, 2) has one arrival, at 4; known at 45, so slot 5 repairs it. Block 1
    // takes slots 3, 4 and 6.
    let case = Case {
        scheme: harq(0, Limit::Unlimited),
        slots: slots(&[4, 0, 0, 4, 4, 4, 4]),
        sizes: vec![33],
        decode: None,
        feedback: 25,
    };
    assert_eq!(
        dense(&case.link()),
        Expected {
            t: vec![0, 10, 30, 40],
            d: vec![4, 44, 4, 4],
            lost: vec![0; 4],
            transmissions: vec![2, 2, 1, 1],
            slots_used: 7,
            recovered: (1, 44),
        }
    );
    // The round is lost too: given up a decoding time after its last slot, at 50 + 4.
    let case =
        Case { scheme: harq(0, Limit::AtMost(1)), slots: slots(&[4, 0, 0, 4, 4, 0, 4]), ..case };
    assert_eq!(dense(&case.link()).lost, [0, 44, 0, 0]);
    // One more unit than is missing: slots 5 and 6 are a round, the second of them decodes.
    let case = Case { scheme: harq(1, Limit::AtMost(1)), ..case };
    let link = dense(&case.link());
    assert_eq!((link.t, link.d), (vec![0, 10], vec![4, 54]));
    // The trace ends within the round: the block is decoded all the same.
    let case = Case { slots: slots(&[4, 0, 0, 4, 4, 4]), ..case };
    assert_eq!(dense(&case.link()).d, [4, 44]);
    // It ends within the round and nothing came: censored, but sent twice.
    let case = Case { slots: slots(&[4, 0, 0, 4, 4, 0]), ..case };
    let link = dense(&case.link());
    assert_eq!((link.d, link.lost, link.transmissions), (vec![4, 0], vec![0, 0], vec![2, 2]));
}

/// Slots are processed in the order of t; a unit that overtakes others still counts from its own
/// arrival.
#[test]
fn the_kth_arrival_is_in_time_not_in_slots() {
    let case = Case {
        scheme: Scheme::Harq2(Harq2 {
            code: BlockCode::new(2, 2).unwrap(),
            extra: 1,
            max_rounds: Limit::Unlimited,
        }),
        // Slot 0 arrives at 100, the repairs in slots 2 and 3 at 23 and 34.
        slots: vec![(0, 100), (10, 0), (20, 3), (30, 4)],
        sizes: vec![33],
        decode: None,
        feedback: 10,
    };
    assert_eq!(dense(&case.link()).d, [100, 24]);
}
