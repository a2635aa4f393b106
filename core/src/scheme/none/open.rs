//! No scheme: the link trace is the PHY trace, whose columns it shares.

use crate::scheme::Timing;
use crate::scheme::timing::nominal_ns;
use crate::trace::{LinkTrace, Parts, PhyTrace};

pub(crate) fn apply(phy: &PhyTrace, timing: Timing) -> LinkTrace {
    let mut parts = Parts::of(phy, timing.rtt);
    parts.slots_used = parts.slots;
    let nominal = nominal_ns(phy);
    // Counted first, so that a trace full of erasures takes no more than it needs.
    let erased = phy.erased();
    parts.lost = Vec::with_capacity(erased);
    if erased > 0 {
        for (index, &d) in phy.d().iter().enumerate() {
            if d == 0 {
                parts.lost.push((index as u32, nominal));
            }
        }
    }
    LinkTrace::from_parts(Parts { t: phy.t().clone(), d: phy.d().clone(), ..parts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::Scheme;
    use crate::units::{Bytes, Duration};

    #[test]
    fn the_link_trace_is_the_phy_trace() {
        let phy =
            PhyTrace::new(vec![1, 5, 9, 11].into(), vec![4, 0, 0, 2].into(), Bytes(33)).unwrap();
        let link = Scheme::None.apply(&phy, Timing { rtt: Duration::ZERO, feedback: None });
        assert_eq!((&link.parts().t, &link.parts().d), (phy.t(), phy.d()));
        assert!(std::ptr::eq(&link.parts().t[..], &phy.t()[..]), "shared, not copied");
        assert_eq!(link.parts().lost, [(1, 2), (2, 2)]);
        assert_eq!((link.parts().slots_used, link.parts().span), (4, (1, 11)));
        assert_eq!(link.parts().gap, 4);
    }
}
