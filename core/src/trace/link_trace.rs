//! The link trace: the fate of every data LLDU.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::trace::{Column, Loading, PhyTrace, Sizes};
use crate::units::{Bytes, Duration};

/// For each data LLDU, in order of `t`: first transmission time, recovery time, number of
/// transmissions, and, if lost, the time at which it was given up (DESIGN: words).
///
/// Exceptions are stored apart from the columns, so that a trace of 10^8 LLDUs fits in memory
/// twice.
#[derive(Clone, Debug)]
pub struct LinkTrace {
    parts: Parts,
    /// Slots of the PHY trace before data LLDU 0, [`EVERY`], 2 [`EVERY`], ...; empty if the PHY trace
    /// is unknown.
    slots_before: Vec<u32>,
    /// Cached, because many runs over one trace need it.
    retransmissions: OnceLock<Vec<(u32, u64)>>,
}

/// Slots of the PHY trace are taken to be spread evenly between this many data LLDUs.
const EVERY: usize = 256;

impl PartialEq for LinkTrace {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

/// The content of a [`LinkTrace`], as a scheme produces it. `u32` indices limit a link trace to
/// 2^32 LLDUs (64 GiB of columns).
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
    /// LLDUs with a number of transmissions other than 1: (index, transmissions), by index.
    pub transmissions: Vec<(u32, u32)>,
    /// LLDUs whose first transmission was erased and that were recovered: their number, and the sum
    /// of their d' in ns (for the mean recovery delay).
    pub recovered: (u64, u128),
    /// Slots that carried anything.
    pub slots_used: u64,
    /// Round-trip time of the link.
    pub rtt: Duration,
    /// Duration of the return path ([`PhyTrace::way_back`]).
    pub back: Duration,
    /// Payload of an LLDU; of the largest slot if slots differ.
    pub lldu: Bytes,
    /// Sizes, if slots differ in size; set by [`Scheme::apply`].
    ///
    /// [`Scheme::apply`]: crate::scheme::Scheme::apply
    pub sizes: Option<LinkSizes>,
    /// Slots of the PHY trace.
    pub slots: u64,
    /// `t` of the PHY trace's first and last slot, ns.
    pub span: (i64, i64),
    /// Time from the last slot to the first of the repetition, ns ([`PhyTrace::period`]): the lower
    /// median of the gaps between slots, unless the header of the trace gives a period.
    pub gap: i64,
    /// How packets are loaded onto the LLDUs, if the PHY trace specifies it.
    pub loading: Loading,
}

/// Sizes of LLDUs that differ in size, in bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct LinkSizes {
    /// Size of each data LLDU: that of the slot of its first transmission.
    #[serde(skip)]
    pub lldus: Sizes,
    /// Bytes of all slots of the PHY trace.
    pub all: u64,
    /// Bytes of the slots that carried anything.
    pub used: u64,
}

impl Parts {
    /// The properties that every scheme copies from the PHY trace; the rest is empty.
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

    /// Records that the erased ones of the data LLDUs (`t`, `d`) were recovered at time `at`.
    #[inline]
    pub(crate) fn rebuild(&mut self, t: &[i64], d: &mut [i64], at: i64) {
        // No branch on erasures, which would be mispredicted.
        let (mut count, mut sum) = (0, 0u128);
        for (&t, d) in t.iter().zip(d) {
            let erased = *d == 0;
            let after = if erased { at.wrapping_sub(t) } else { 0 };
            *d |= after;
            count += u64::from(erased);
            sum = sum.wrapping_add(after as u128);
        }
        self.recovered.0 += count;
        self.recovered.1 += sum;
    }

    /// Records that the erased ones of the data LLDUs (`t`, `d`), which start at index `first`,
    /// were given up at time `at`.
    pub(crate) fn give_up(&mut self, first: usize, t: &[i64], d: &[i64], at: i64) {
        for (index, (&t, &d)) in (first..).zip(t.iter().zip(d)) {
            if d == 0 {
                self.lost.push((index as u32, at - t));
            }
        }
    }
}

impl LinkTrace {
    /// A link trace of `parts`; the scheme guarantees that they are consistent.
    pub fn from_parts(parts: Parts) -> Self {
        assert_eq!(parts.t.len(), parts.d.len());
        assert!(parts.lost.is_sorted_by_key(|&(index, _)| index));
        assert!(parts.transmissions.is_sorted_by_key(|&(index, _)| index));
        Self { parts, slots_before: Vec::new(), retransmissions: OnceLock::new() }
    }

    /// The same link trace with the places and sizes of the slots of `phy`, from which a scheme
    /// computed it. Unused slots are the last ones.
    pub(crate) fn over_slots_of(mut self, phy: &PhyTrace) -> Self {
        let (slots, mut slot, mut step) = (&phy.t()[..], 0, 0);
        let every = self.parts.t.iter().step_by(EVERY);
        self.slots_before = every
            .map(|&t| {
                // About as far on as the last time: any other search would miss the cache.
                let last = slot;
                slot = slots.len().min(last + step);
                while slot > last && slots[slot - 1] >= t {
                    slot -= 1;
                }
                while slots.get(slot).is_some_and(|&start| start < t) {
                    slot += 1;
                }
                step = slot - last;
                slot as u32
            })
            .collect();
        if phy.sizes().column().is_none() || self.is_empty() {
            return self;
        }
        let mut slot = 0;
        let of_slots = self.parts.t.iter().map(|&t| {
            // Data LLDUs are in order of t, as slots are.
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

    /// The same link trace with the sizes of `phy`, whose slots are its data LLDUs; other slots are
    /// assumed to have the mean size.
    pub(super) fn sized_with(self, phy: &PhyTrace) -> Self {
        if phy.sizes().column().is_none() {
            return self;
        }
        let mean = phy.bytes() as f64 / phy.len() as f64;
        let all = (mean * self.parts.slots as f64).round() as u64;
        let sizes = LinkSizes { lldus: phy.sizes().clone(), all, used: all };
        Self { parts: Parts { sizes: Some(sizes), ..self.parts }, ..self }
    }

    /// Slots of the PHY trace before data LLDU number `lldu`, counted on over repetitions of the
    /// trace.
    pub(crate) fn slots_before(&self, lldu: u64) -> f64 {
        let (all, len) = (self.parts.slots as f64, self.len().max(1));
        let (cycles, place) = (lldu / len as u64, (lldu % len as u64) as usize);
        let known = place / EVERY;
        let slots = |known: usize| self.slots_before.get(known).map(|&slots| f64::from(slots));
        let (first, from) = slots(known).map_or((0.0, 0), |slots| (slots, known * EVERY));
        let (next, to) = slots(known + 1).map_or((all, len), |slots| (slots, (known + 1) * EVERY));
        let (part, whole) = ((place - from) as f64, (to - from) as f64);
        cycles as f64 * all + first + (next - first) * (part / whole)
    }

    /// Payload of the LLDU `index`; panics if it does not exist.
    pub fn bytes(&self, index: usize) -> u32 {
        self.parts.sizes.as_ref().map_or(self.parts.lldu.0, |sizes| sizes.lldus.at(index))
    }

    /// Histogram of retransmissions (transmissions - 1) as in [`LinkStats::retransmissions`];
    /// computed once.
    ///
    /// [`LinkStats::retransmissions`]: super::LinkStats::retransmissions
    pub fn retransmissions(&self) -> &[(u32, u64)] {
        self.retransmissions.get_or_init(|| histogram(self.len() as u64, &self.parts.transmissions))
    }

    /// Share of the used slots that are known to have been erased: first transmissions of data, and
    /// with a scheme that only retransmits, every transmission but the last.
    pub(crate) fn share_erased(&self) -> f64 {
        let Parts { recovered, lost, slots_used, .. } = &self.parts;
        let counts = self.retransmissions().iter();
        let again: u64 = counts.map(|&(times, count)| u64::from(times) * count).sum();
        let repaired = match self.len() as u64 + again == *slots_used {
            true => again,
            false => recovered.0,
        };
        let erased = repaired + lost.len() as u64;
        if *slots_used == 0 { 0.0 } else { erased as f64 / *slots_used as f64 }
    }

    /// Slots of the PHY trace before data LLDU 0, 256, 512, ..., by which capacity is counted over a
    /// part of the trace; empty if the PHY trace is unknown: slots are then spread evenly.
    pub fn slot_marks(&self) -> &[u32] {
        &self.slots_before
    }

    /// The same link trace with the [`LinkTrace::slot_marks`] of another process.
    #[must_use]
    pub fn with_slot_marks(self, slots_before: Vec<u32>) -> Self {
        Self { slots_before, ..self }
    }

    /// The content of the link trace.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Number of data LLDUs; may be 0.
    pub fn len(&self) -> usize {
        self.parts.t.len()
    }

    /// True if it has no data LLDUs (a trace shorter than one FEC block).
    pub fn is_empty(&self) -> bool {
        self.parts.t.is_empty()
    }

    /// Time from `t` of LLDU `index` until it was given up, ns; 0 if delivered or censored.
    pub fn lost_ns(&self, index: usize) -> i64 {
        sparse(&self.parts.lost, index).unwrap_or(0)
    }

    /// Number of transmissions of LLDU `index`.
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

/// Data LLDUs by retransmissions.
fn histogram(data_units: u64, transmissions: &[(u32, u32)]) -> Vec<(u32, u64)> {
    let mut histogram = BTreeMap::new();
    let once = data_units - transmissions.len() as u64;
    if once > 0 {
        histogram.insert(0, once);
    }
    for &(_, times) in transmissions {
        *histogram.entry(times - 1).or_insert(0) += 1;
    }
    histogram.into_iter().collect()
}

/// The value at `index` in a sparse list.
fn sparse<T: Copy>(list: &[(u32, T)], index: usize) -> Option<T> {
    let index = u32::try_from(index).ok()?;
    let place = list.binary_search_by_key(&index, |&(index, _)| index).ok()?;
    Some(list[place].1)
}

/// The rows `rows` of a sparse list as a column, with `usual` for absent entries.
pub(super) fn dense<T: Copy>(list: &[(u32, T)], usual: T, rows: Range<usize>) -> Vec<T> {
    let mut column = vec![usual; rows.len()];
    let first = list.partition_point(|&(index, _)| (index as usize) < rows.start);
    for &(index, value) in &list[first..] {
        let Some(place) = column.get_mut(index as usize - rows.start) else { break };
        *place = value;
    }
    column
}
