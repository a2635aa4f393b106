//! A link trace from columns that somebody else made.

use crate::trace::{Column, Header, LinkTrace, Loading, Parts, PhyTrace, Sizes, TraceError};
use crate::units::Duration;

/// The columns of a link trace, one value for each data LLDU, and what belongs to all of them.
///
/// ```
/// use clift::trace::{LinkColumns, Sizes};
/// use clift::units::{Bytes, Duration};
/// let columns = LinkColumns {
///     t: vec![0, 10, 20].into(),
///     d: vec![5, 35, 0].into(),
///     lost: vec![0, 0, 40],
///     transmissions: vec![1, 2, 3],
///     sizes: Bytes(100).into(),
///     rtt: Duration::from_nanos(20),
///     period: None,
///     slots: None,
///     loading: Default::default(),
/// };
/// let stats = columns.trace()?.stats();
/// assert_eq!((stats.delivered, stats.lost, stats.recovered, stats.slots_used), (2, 1, 1, 6));
/// # Ok::<(), clift::trace::TraceError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinkColumns {
    /// First transmission times, ns.
    pub t: Column,
    /// Recovery times, ns; 0: not delivered.
    pub d: Column,
    /// Time from `t` until it was given up, ns; 0 where it was delivered or is pending.
    pub lost: Vec<i64>,
    /// How often each was sent.
    pub transmissions: Vec<i64>,
    /// Payloads.
    pub sizes: Sizes,
    /// Round-trip time of the link.
    pub rtt: Duration,
    /// After how long it repeats; unless given, last `t` - first `t` + median gap.
    pub period: Option<Duration>,
    /// Slots of the link, all of them used; unless given, one for each transmission.
    pub slots: Option<u64>,
    /// How packets go onto the LLDUs.
    pub loading: Loading,
}

impl LinkColumns {
    /// The link trace. Those sent more than once and delivered count as recovered.
    ///
    /// # Errors
    /// A [`TraceError`] that names the first LLDU in the way.
    pub fn trace(self) -> Result<LinkTrace, TraceError> {
        let Self { t, d, lost, transmissions, sizes, rtt, period, slots, loading } = self;
        let header = Header { period, rtt: Some(rtt), loading, ..Header::default() };
        // What must hold of slots must hold of data LLDUs.
        let phy = PhyTrace::with_header(t, d, sizes, header)?;
        for (column, values) in [("lost", &lost), ("transmissions", &transmissions)] {
            if values.len() != phy.len() {
                return Err(TraceError::ColumnLength {
                    column,
                    t: phy.len(),
                    values: values.len(),
                });
            }
        }
        let units = || lost.iter().zip(&transmissions).zip(phy.d().iter()).enumerate();
        for (slot, ((&lost, &sent), &d)) in units() {
            let late = lost > crate::trace::LATEST - phy.t()[slot];
            let reason = match (lost, d) {
                _ if lost < 0 => "lost is below zero; give 0 where it was not given up",
                _ if late => "t + lost is over 2^61 ns (73 years); check the unit",
                (1.., 1..) => "is delivered (d above 0) and given up (lost above 0); keep one",
                _ if u32::try_from(sent).is_ok_and(|sent| sent > 0) => continue,
                _ => "transmissions must be from 1 to 4294967295",
            };
            return Err(TraceError::Unit { slot, reason });
        }
        let sent: u64 = transmissions.iter().map(|&sent| sent.unsigned_abs()).sum();
        let parts = Parts::of(&phy, rtt);
        let recovered = units().filter(|(_, ((_, sent), d))| **sent > 1 && **d > 0);
        let recovered = recovered
            .fold((0, 0), |(n, sum), (_, (_, &d))| (n + 1, sum + u128::from(d.unsigned_abs())));
        let lost = (0..).zip(&lost).filter(|(_, lost)| **lost > 0);
        let again = (0..).zip(&transmissions).filter(|(_, sent)| **sent > 1);
        let slots = match slots.unwrap_or(sent) {
            slots if slots < phy.len() as u64 => {
                return Err(TraceError::FewSlots { slots, lldus: phy.len() });
            }
            slots => slots,
        };
        let trace = LinkTrace::from_parts(Parts {
            t: phy.t().clone(),
            d: phy.d().clone(),
            lost: lost.map(|(index, &lost)| (index, lost)).collect(),
            transmissions: again.map(|(index, &sent)| (index, sent as u32)).collect(),
            recovered,
            slots_used: slots,
            slots,
            ..parts
        });
        Ok(trace.sized_with(&phy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::{Scheme, Timing};
    use crate::units::Bytes;
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
        assert_eq!(
            fault(&|c| c.lost = vec![0]),
            "t has 3 values and lost has 1; give one for each t"
        );
        assert!(
            fault(&|c| c.lost[0] = 4).starts_with("LLDU 0: is delivered (d above 0) and given")
        );
        assert!(fault(&|c| c.lost[1] = -4).starts_with("LLDU 1: lost is below zero"));
        assert!(fault(&|c| c.lost[1] = i64::MAX).starts_with("LLDU 1: t + lost is over 2^61 ns"));
        assert!(fault(&|c| c.transmissions[2] = 0).starts_with("LLDU 2: transmissions must be"));
        assert!(fault(&|c| c.slots = Some(2)).starts_with("2 slots for 3 data LLDUs"));
        assert!(fault(&|c| c.t = vec![0, 0, 1].into()).starts_with("slot 1: t = 0 ns does not"));
        assert!(
            fault(&|c| c.period = Some(Duration::from_nanos(20))).starts_with("period_ns must")
        );
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
}
