//! The link trace: what became of every data LLDU.

use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::trace::{Column, Loading, PhyTrace, Sizes};
use crate::units::{Bytes, Duration};

/// Per data LLDU, in order of `t`: first transmission time, recovery time, number of
/// transmissions, and for a lost one when it was given up (DESIGN: words).
///
/// Exceptions are kept apart from the columns, so that a trace of 10^8 LLDUs fits in memory twice.
#[derive(Clone, Debug)]
pub struct LinkTrace {
    parts: Parts,
    /// What many runs over one trace ask for.
    retransmissions: OnceLock<Vec<(u32, u64)>>,
}

impl PartialEq for LinkTrace {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

/// What a scheme writes and a [`LinkTrace`] is made of. `u32` indices bound a link trace to 2^32
/// LLDUs (64 GiB of columns).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Parts {
    /// First transmission time of each data LLDU, ns.
    #[serde(skip)]
    pub t: Column,
    /// Recovery time d', ns: delivered at `t + d' + RTT/2`; 0: not delivered.
    #[serde(skip)]
    pub d: Column,
    /// The lost LLDUs: (index, time from `t` to giving up in ns, at least 1), by index. An LLDU
    /// with `d' = 0` that is not here is censored: still pending when the trace ended.
    pub lost: Vec<(u32, i64)>,
    /// LLDUs transmitted other than once: (index, transmissions), by index.
    pub transmissions: Vec<(u32, u32)>,
    /// LLDUs erased at their first transmission and recovered later, by count and by the sum of
    /// their d' in ns (for the mean recovery delay).
    pub recovered: (u64, u128),
    /// Slots that carried anything.
    pub slots_used: u64,
    /// Round-trip time that the link was made for.
    pub rtt: Duration,
    /// How long its way back takes ([`PhyTrace::way_back`]).
    pub back: Duration,
    /// Payload of an LLDU; of the largest slot where they differ.
    pub lldu: Bytes,
    /// Where slots differ in size, what each LLDU has; [`Scheme::apply`] sees to it.
    ///
    /// [`Scheme::apply`]: crate::scheme::Scheme::apply
    pub sizes: Option<LinkSizes>,
    /// Slots of the PHY trace.
    pub slots: u64,
    /// `t` of the PHY trace's first and last slot, ns.
    pub span: (i64, i64),
    /// From the last slot to where the trace repeats, ns ([`PhyTrace::period`]): the lower median
    /// of the gaps between slots unless the trace's header tells.
    pub gap: i64,
    /// How packets go onto the LLDUs, where the PHY trace says so.
    pub loading: Loading,
}

/// Bytes of LLDUs that differ in size.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct LinkSizes {
    /// Of each data LLDU: that of the slot of its first transmission.
    #[serde(skip)]
    pub lldus: Sizes,
    /// Of all slots of the PHY trace.
    pub all: u64,
    /// Of the slots that carried anything.
    pub used: u64,
}

impl Parts {
    /// What every scheme takes over from the PHY trace; the rest is still empty.
    pub fn of(phy: &PhyTrace, rtt: Duration) -> Self {
        Self {
            t: Vec::new().into(),
            d: Vec::new().into(),
            lost: Vec::new(),
            transmissions: Vec::new(),
            recovered: (0, 0),
            slots_used: 0,
            rtt,
            back: phy.way_back(rtt),
            lldu: phy.lldu(),
            sizes: None,
            slots: phy.len() as u64,
            span: (phy.t()[0], phy.t()[phy.len() - 1]),
            gap: phy.period().as_nanos() as i64 - (phy.t()[phy.len() - 1] - phy.t()[0]),
            loading: phy.header().loading,
        }
    }

    /// Notes that the erased among the data LLDUs (`t`, `d`) were recovered at the instant `at`.
    #[inline]
    pub(crate) fn rebuild(&mut self, t: &[i64], d: &mut [i64], at: i64) {
        // No branch on what was erased, for it would be mispredicted; and the sum in two halves of
        // 32 bits, so that the compiler can vectorise it.
        let (mut count, mut high, mut low) = (0, 0, 0);
        for (&t, d) in t.iter().zip(d) {
            let erased = *d == 0;
            let after = if erased { at.wrapping_sub(t) } else { 0 };
            *d |= after;
            count += u64::from(erased);
            high += after as u64 >> 32;
            low += after as u64 & u64::from(u32::MAX);
        }
        self.recovered.0 += count;
        self.recovered.1 += (u128::from(high) << 32) + u128::from(low);
    }

    /// Notes that the erased among the data LLDUs (`t`, `d`), the first of them number `first`,
    /// were given up at the instant `at`.
    pub(crate) fn give_up(&mut self, first: usize, t: &[i64], d: &[i64], at: i64) {
        for (index, (&t, &d)) in (first..).zip(t.iter().zip(d)) {
            if d == 0 {
                self.lost.push((index as u32, at - t));
            }
        }
    }
}

impl LinkTrace {
    /// A link trace of `parts`, which a scheme guarantees to belong together.
    pub fn from_parts(parts: Parts) -> Self {
        debug_assert_eq!(parts.t.len(), parts.d.len());
        debug_assert!(parts.lost.is_sorted_by_key(|&(index, _)| index));
        debug_assert!(parts.transmissions.is_sorted_by_key(|&(index, _)| index));
        Self { parts, retransmissions: OnceLock::new() }
    }

    /// The same with the sizes of the slots of `phy`, from which a scheme made it. Slots that carried
    /// nothing are the last ones.
    pub(crate) fn sized_by(self, phy: &PhyTrace) -> Self {
        if phy.sizes().column().is_none() || self.is_empty() {
            return self;
        }
        let mut slot = 0;
        let of_slots = self.parts.t.iter().map(|&t| {
            // Data LLDUs go in order of t, as slots do.
            slot += phy.t()[slot..].iter().take_while(|&&start| start < t).count();
            i64::from(phy.sizes().at(slot.min(phy.len() - 1)))
        });
        let of_slots = of_slots.collect::<Vec<_>>();
        let used = self.parts.slots_used.min(self.parts.slots) as usize;
        let sizes = Sizes::each(of_slots.into()).ok().map(|lldus| LinkSizes {
            lldus,
            all: phy.bytes(),
            used: phy.sizes().before(used),
        });
        Self { parts: Parts { sizes, ..self.parts }, ..self }
    }

    /// The same with the sizes of `phy`, whose slots are its data LLDUs: what other slots there are
    /// have as many bytes in the mean.
    pub(super) fn sized_with(self, phy: &PhyTrace) -> Self {
        if phy.sizes().column().is_none() {
            return self;
        }
        let mean = phy.bytes() as f64 / phy.len() as f64;
        let all = (mean * self.parts.slots as f64).round() as u64;
        let sizes = LinkSizes { lldus: phy.sizes().clone(), all, used: all };
        Self { parts: Parts { sizes: Some(sizes), ..self.parts }, ..self }
    }

    /// Payload of the LLDU `index`, which there must be.
    pub fn bytes(&self, index: usize) -> u32 {
        self.parts.sizes.as_ref().map_or(self.parts.lldu.0, |sizes| sizes.lldus.at(index))
    }

    /// Data LLDUs by retransmissions (transmissions - 1), as [`LinkStats::retransmissions`] has them;
    /// counted once.
    ///
    /// [`LinkStats::retransmissions`]: super::LinkStats::retransmissions
    pub fn retransmissions(&self) -> &[(u32, u64)] {
        self.retransmissions.get_or_init(|| {
            super::link_stats::retransmissions(self.len() as u64, &self.parts.transmissions)
        })
    }

    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Number of data LLDUs; may be 0.
    pub fn len(&self) -> usize {
        self.parts.t.len()
    }

    /// Whether it holds no data LLDU (a trace shorter than one FEC block).
    pub fn is_empty(&self) -> bool {
        self.parts.t.is_empty()
    }

    /// Time from `t` of LLDU `index` until it was given up, ns; 0 if delivered or censored.
    pub fn lost_ns(&self, index: usize) -> i64 {
        sparse(&self.parts.lost, index).unwrap_or(0)
    }

    /// How often LLDU `index` was transmitted.
    pub fn transmissions(&self, index: usize) -> u32 {
        sparse(&self.parts.transmissions, index).unwrap_or(1)
    }

    /// [`LinkTrace::lost_ns`] of every LLDU.
    ///
    /// ```
    /// use clift::scheme::{Scheme, Timing};
    /// use clift::trace::PhyTrace;
    /// use clift::units::{Bytes, Duration};
    /// let phy = PhyTrace::new(vec![0, 10, 20].into(), vec![5, 0, 5].into(), Bytes(33)).unwrap();
    /// let timing = Timing { rtt: Duration::from_millis(500), feedback: None };
    /// assert_eq!(Scheme::None.apply(&phy, timing).lost_column(), [0, 5, 0]);
    /// ```
    pub fn lost_column(&self) -> Vec<i64> {
        dense(&self.parts.lost, 0, 0..self.len())
    }

    /// [`LinkTrace::transmissions`] of every LLDU.
    pub fn transmissions_column(&self) -> Vec<u32> {
        dense(&self.parts.transmissions, 1, 0..self.len())
    }
}

/// The value at `index` of a list by index.
fn sparse<T: Copy>(list: &[(u32, T)], index: usize) -> Option<T> {
    let index = u32::try_from(index).ok()?;
    let place = list.binary_search_by_key(&index, |&(index, _)| index).ok()?;
    Some(list[place].1)
}

/// The part `rows` of the list as a column, `usual` where the list says nothing.
pub(super) fn dense<T: Copy>(list: &[(u32, T)], usual: T, rows: Range<usize>) -> Vec<T> {
    let mut column = vec![usual; rows.len()];
    let first = list.partition_point(|&(index, _)| (index as usize) < rows.start);
    for &(index, value) in &list[first..] {
        let Some(place) = column.get_mut(index as usize - rows.start) else { break };
        *place = value;
    }
    column
}
