//! Builds a link trace one data LLDU at a time.

use crate::trace::{LinkTrace, Parts, PhyTrace};
use crate::units::Duration;

/// Builds a [`LinkTrace`] from data LLDUs, in order of their first transmission, each with its
/// fate.
///
/// ```
/// use clift::trace::{Fate, LinkTraceBuilder, PhyTrace};
/// use clift::units::{Bytes, Duration};
/// let phy = PhyTrace::new(vec![0, 10, 20].into(), vec![0, 5, 0].into(), Bytes(33)).unwrap();
/// let mut link = LinkTraceBuilder::new(&phy, Duration::from_millis(500));
/// link.push(0, 2, Fate::Recovered(15)); // retransmitted in the slot at 10 ns
/// link.push(20, 1, Fate::Pending);
/// let link = link.finish();
/// assert_eq!((&link.parts().d[..], link.transmissions(0)), (&[15, 0][..], 2));
/// assert_eq!((link.stats().recovered, link.stats().censored), (1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct LinkTraceBuilder {
    parts: Parts,
    t: Vec<i64>,
    d: Vec<i64>,
}

/// The fate of a data LLDU. Times are in ns from the start of the slot of its first transmission,
/// and are at least 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// Its first transmission is decoded after this time.
    AtOnce(i64),
    /// Its first transmission is erased; it is recovered after this time.
    Recovered(i64),
    /// It is given up after this time.
    Lost(i64),
    /// The trace ends before its fate is decided.
    Pending,
}

impl LinkTraceBuilder {
    /// A link trace without data LLDUs, in which every slot of `phy` counts as used; a scheme that
    /// leaves slots idle corrects this with [`LinkTraceBuilder::slots_used`].
    pub fn new(phy: &PhyTrace, rtt: Duration) -> Self {
        let mut parts = Parts::of(phy, rtt);
        parts.slots_used = parts.slots;
        Self { parts, t: Vec::new(), d: Vec::new() }
    }

    /// Sets the number of slots that carried anything, if not all.
    pub fn slots_used(&mut self, slots: u64) {
        self.parts.slots_used = slots;
    }

    /// Adds a data LLDU first sent in the slot at `t` (ns), with its total number of transmissions.
    ///
    /// # Panics
    /// Panics if `t` is not later than that of the previous LLDU, or a time of `fate` is below 1.
    pub fn push(&mut self, t: i64, transmissions: u32, fate: Fate) {
        assert!(self.t.last().is_none_or(|&before| before < t), "LLDUs in order of t");
        let index = self.t.len() as u32;
        let mut delivered = 0;
        match fate {
            Fate::AtOnce(after) | Fate::Recovered(after) | Fate::Lost(after) if after < 1 => {
                panic!("{fate:?} of the LLDU at {t} ns; give 1 ns or more");
            }
            Fate::AtOnce(after) => delivered = after,
            Fate::Recovered(after) => {
                delivered = after;
                self.parts.recovered.0 += 1;
                self.parts.recovered.1 += u128::from(after.unsigned_abs());
            }
            Fate::Lost(after) => self.parts.lost.push((index, after)),
            Fate::Pending => {}
        }
        if transmissions != 1 {
            self.parts.transmissions.push((index, transmissions));
        }
        self.t.push(t);
        self.d.push(delivered);
    }

    /// The link trace.
    pub fn finish(self) -> LinkTrace {
        LinkTrace::from_parts(Parts { t: self.t.into(), d: self.d.into(), ..self.parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn builder() -> LinkTraceBuilder {
        let phy = PhyTrace::new(vec![0, 10, 20, 30].into(), vec![5, 0, 0, 5].into(), Bytes(33));
        LinkTraceBuilder::new(&phy.unwrap(), Duration::from_nanos(100))
    }

    #[test]
    fn every_fate_is_recorded() {
        let mut link = builder();
        link.push(0, 1, Fate::AtOnce(5));
        link.push(10, 2, Fate::Recovered(25));
        link.push(20, 1, Fate::Lost(7));
        link.push(30, 3, Fate::Pending);
        let mut fewer = link.clone();
        fewer.slots_used(3);
        let link = link.finish();
        assert_eq!(link.parts().d[..], [5, 25, 0, 0]);
        assert_eq!((link.lost_column(), link.parts().recovered), (vec![0, 0, 7, 0], (1, 25)));
        assert_eq!(link.transmissions_column(), [1, 2, 1, 3]);
        assert_eq!((link.parts().slots_used, fewer.finish().parts().slots_used), (4, 3));
    }

    #[test]
    #[should_panic(expected = "in order of t")]
    fn slots_must_be_in_order() {
        let mut link = builder();
        link.push(10, 1, Fate::Pending);
        link.push(10, 1, Fate::Pending);
    }
}
