//! The PHY trace and its validity rules.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::trace::column::LATEST;
use crate::trace::median::lower_median;
use crate::trace::{Column, Fault, Loading, Notes, Sizes};
use crate::units::{Bytes, Duration};

/// Transmission time `t` and decoding time `d` of every slot; `d = 0` means erased.
///
/// Every value of this type is valid: from 1 to 2^32 - 1 slots, `t` strictly increasing and not
/// negative, `d` not negative, `t + d` below 2^61, LLDU sizes above zero (one for all slots, or one
/// per slot).
///
/// ```
/// use clift::trace::PhyTrace;
/// use clift::units::{Bytes, Duration};
/// let phy = PhyTrace::new(vec![0, 10, 20].into(), vec![5, 0, 5].into(), Bytes(33)).unwrap();
/// assert_eq!(phy.len(), 3);
/// assert_eq!(phy.nominal_decoding(), Duration::from_nanos(5));
/// ```
#[derive(Clone, Debug)]
pub struct PhyTrace {
    t: Column,
    d: Column,
    lldu: Sizes,
    header: Header,
    facts: Arc<Facts>,
}

/// Traces are equal if their slots and headers are equal.
impl PartialEq for PhyTrace {
    fn eq(&self, other: &Self) -> bool {
        (&self.t, &self.d, &self.lldu, &self.header)
            == (&other.t, &other.d, &other.lldu, &other.header)
    }
}

/// Values that need a pass over the trace, computed on first use; clones share them.
#[derive(Debug, Default)]
struct Facts {
    nominal: OnceLock<Duration>,
    gap: OnceLock<Duration>,
    erased: OnceLock<usize>,
}

/// Metadata that a trace file may contain.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Header {
    /// Nominal decoding time (`decode_ns`).
    pub decode: Option<Duration>,
    /// Free text.
    pub description: Option<String>,
    /// Origin of the trace.
    pub source: Option<String>,
    /// Time after which the trace repeats (`period_ns`), if the file gives it: longer than from the
    /// first slot to the last.
    pub period: Option<Duration>,
    /// Round-trip time of the trace (`rtt_ns`): twice the part of a measured delay that `d` does
    /// not include.
    pub rtt: Option<Duration>,
    /// How an import interpreted a foreign file.
    pub notes: Notes,
    /// How packets are loaded onto its slots, if the file says so.
    pub loading: Loading,
    /// True if the trace was read from a file of CLIFT without a `checksum`, which earlier
    /// versions wrote: damage to it is not noticed. It is not written into files.
    #[serde(skip)]
    pub unchecked: bool,
}

impl PhyTrace {
    /// A trace of `t` and `d` in nanoseconds, one value each per slot, and the slot size in bytes:
    /// one for all, or one per slot ([`Sizes`]).
    ///
    /// # Errors
    /// A [`Fault`] with the first faulty slot.
    pub fn new(t: Column, d: Column, lldu: impl Into<Sizes>) -> Result<Self, Fault> {
        Self::with_header(t, d, lldu, Header::default())
    }

    /// As [`PhyTrace::new`], with the metadata of the file.
    ///
    /// # Errors
    /// A [`Fault`] with the first faulty slot.
    pub fn with_header(
        t: Column,
        d: Column,
        lldu: impl Into<Sizes>,
        header: Header,
    ) -> Result<Self, Fault> {
        let lldu = lldu.into();
        if lldu.most().0 == 0 {
            return Err(Fault::zero_lldu());
        }
        if t.len() != d.len() {
            return Err(Fault::length(t.len(), "d", d.len(), "give one d for each t"));
        }
        if t.is_empty() {
            return Err(Fault::empty());
        }
        lldu.check(t.len())?;
        if u32::try_from(t.len()).is_err() {
            return Err(Fault::too_long(t.len()));
        }
        if header.decode.is_some_and(|d| d.as_nanos() == 0 || d.as_nanos() > LATEST as u64) {
            return Err(Fault::decode());
        }
        // Two branch-free passes that the compiler vectorises, without comparisons, which x86-64's
        // baseline vectors lack for 64 bits; the slow search runs only for an invalid trace. All times
        // are in range if no bit from `LATEST` up is set in any t, d or t + d; then the difference of
        // two t cannot wrap, and its sign tells their order.
        let bits =
            t.iter().zip(d.iter()).fold(0, |bits, (&t, &d)| bits | t | d | t.wrapping_add(d));
        let bounded = (0..LATEST).contains(&bits);
        let descents =
            t.windows(2).fold(0, |bits, pair| bits | pair[1].wrapping_sub(pair[0]).wrapping_sub(1));
        let sorted = descents >= 0;
        if !(sorted && bounded) {
            return Err(first_fault(&t, &d));
        }
        let span = t[t.len() - 1] - t[0];
        if header.period.is_some_and(|p| !(span as u64 + 1..=LATEST as u64).contains(&p.as_nanos()))
        {
            let cure = "the time from the first slot to the last, and at most 2^61";
            return Err(Fault::Text(format!("period_ns must be above {span}, {cure}")));
        }
        if header.rtt.is_some_and(|rtt| rtt.as_nanos() > LATEST as u64) {
            return Err(Fault::new("rtt_ns must be at most 2^61 (73 years); check the unit"));
        }
        header.loading.check()?;
        Ok(Self { t, d, lldu, header, facts: Arc::default() })
    }

    /// The same slots with other decoding times; the nominal one stays.
    pub(crate) fn with_decoding(&self, d: Vec<i64>) -> Result<Self, Fault> {
        let header = Header { decode: Some(self.nominal_decoding()), ..self.header.clone() };
        Self::with_header(self.t.clone(), d.into(), self.lldu.clone(), header)
    }

    /// Transmission times in nanoseconds.
    pub fn t(&self) -> &Column {
        &self.t
    }

    /// Decoding times in nanoseconds; 0 means erased.
    pub fn d(&self) -> &Column {
        &self.d
    }

    /// Payload of a slot; the largest if slots differ.
    pub fn lldu(&self) -> Bytes {
        self.lldu.most()
    }

    /// Payloads of the slots.
    pub fn sizes(&self) -> &Sizes {
        &self.lldu
    }

    /// Metadata of the file.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Sets the origin of the trace, unless its file gives one.
    pub(super) fn set_source(&mut self, source: Option<String>) {
        let own = &mut self.header.source;
        *own = own.take().or(source);
    }

    /// Adds a warning of the import.
    pub(super) fn warn(&mut self, warning: String) {
        self.header.notes.warnings.push(warning);
    }

    /// Number of slots.
    #[allow(clippy::len_without_is_empty)] // a trace is never empty
    pub fn len(&self) -> usize {
        self.t.len()
    }

    /// Number of erased slots.
    pub(crate) fn erased(&self) -> usize {
        // The sign bit of `d - 1` is set only for `d = 0`: sums without a branch or a check vectorise.
        let is_erased = |&d: &i64| (d.wrapping_sub(1) as u64 >> 63) as usize;
        let count = || self.d.iter().map(is_erased).fold(0usize, usize::wrapping_add);
        *self.facts.erased.get_or_init(count)
    }

    /// `d_nom`: the header's decoding time, else the lower median of the non-zero `d`, else 1 ns
    /// (DESIGN section 4).
    pub fn nominal_decoding(&self) -> Duration {
        *self.facts.nominal.get_or_init(|| {
            self.header.decode.unwrap_or_else(|| {
                let median = lower_median(|| self.d.iter().copied().filter(|&d| d > 0));
                Duration::from_nanos(median.unwrap_or(1) as u64)
            })
        })
    }

    /// Duration of the return path of a link with this round-trip time: half of it. If the trace is
    /// an import of measured delays, which puts the forward delay in `d` and sets the RTT to 0, the
    /// return path takes the nominal decoding time.
    ///
    /// ```
    /// use clift::trace::{Header, PhyTrace};
    /// use clift::units::{Bytes, Duration};
    /// let ms = Duration::from_millis;
    /// let (t, d) = (vec![0, 10], vec![25_000_000, 25_000_000]);
    /// let header = Header { rtt: Some(Duration::ZERO), ..Header::default() };
    /// let imported = PhyTrace::with_header(t.into(), d.into(), Bytes(1500), header)?;
    /// assert_eq!(imported.way_back(Duration::ZERO), ms(25));
    /// assert_eq!(imported.way_back(ms(60)), ms(30)); // an explicit RTT
    /// # Ok::<(), clift::trace::Fault>(())
    /// ```
    pub fn way_back(&self, rtt: Duration) -> Duration {
        if rtt == Duration::ZERO && self.header.rtt == Some(Duration::ZERO) {
            return self.nominal_decoding();
        }
        rtt.half()
    }

    /// The lower median of the gaps between consecutive slots; 0 for a single slot.
    pub fn median_gap(&self) -> Duration {
        *self.facts.gap.get_or_init(|| {
            // `t` is increasing from at least 0, so nothing wraps; an overflow check would prevent
            // vectorisation.
            let gaps = || self.t.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
            let median = lower_median(gaps);
            Duration::from_nanos(median.unwrap_or(0) as u64)
        })
    }
}

fn first_fault(t: &[i64], d: &[i64]) -> Fault {
    let mut before = -1;
    for (slot, (&t, &d)) in t.iter().zip(d).enumerate() {
        let fault = |what: &str| Fault::Text(format!("slot {slot}: {what}"));
        if let Some((column, value)) =
            [("t", t), ("d", d)].into_iter().find(|(_, value)| *value < 0)
        {
            let cure = "is negative; times start at 0, and 0 in d means erased";
            return fault(&format!("{column} = {value} ns {cure}"));
        }
        if t <= before {
            let cure = "sort the trace and drop repeated times";
            return fault(&format!("t = {t} ns does not come after the slot before it; {cure}"));
        }
        if t >= LATEST || d >= LATEST - t {
            return Fault::overflow(slot);
        }
        before = t;
    }
    unreachable!("only called on a faulty trace")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn trace(t: Vec<i64>, d: Vec<i64>) -> Result<PhyTrace, Fault> {
        PhyTrace::new(t.into(), d.into(), Bytes(33))
    }

    fn time() -> impl Strategy<Value = i64> {
        let limits = [i64::MIN, -1, 0, 1, LATEST - 1, LATEST, i64::MAX];
        prop_oneof![3 => 0..8i64, 1 => prop::sample::select(limits.to_vec())]
    }

    proptest! {
        #[test]
        fn a_trace_is_valid_if_each_slot_is(slots in prop::collection::vec((time(), time()), 1..4)) {
            let (t, d): (Vec<i64>, Vec<i64>) = slots.iter().copied().unzip();
            let is_sorted = t.is_sorted_by(|before, after| before < after);
            let is_valid = |&(t, d): &(i64, i64)| {
                (0..LATEST).contains(&t) && d >= 0 && t.checked_add(d).is_some_and(|sum| sum < LATEST)
            };
            let expected = is_sorted && slots.iter().all(is_valid);
            prop_assert_eq!(trace(t, d).is_ok(), expected);
        }
    }

    #[test]
    fn faults_name_the_first_faulty_slot() {
        let fault = |t: &[i64], d: &[i64], expected: &str| {
            let fault = trace(t.to_vec(), d.to_vec()).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{fault}");
        };
        fault(&[], &[], "the trace is empty;");
        fault(&[0], &[], "t has 1 value and d has 0;");
        fault(&[0, 5, 5], &[1; 3], "slot 2: t = 5 ns does not come after");
        fault(&[0, 5], &[1, -1], "slot 1: d = -1 ns is negative;");
        fault(&[0, i64::MAX], &[1; 2], "slot 1: t + d is over 2^61 ns");
        let empty = PhyTrace::new(vec![0].into(), vec![1].into(), Bytes(0));
        assert_eq!(empty.unwrap_err(), Fault::zero_lldu());
    }

    #[test]
    fn a_period_must_hold_the_whole_trace() {
        let with = |period| {
            let header = Header { period: Some(Duration::from_nanos(period)), ..Header::default() };
            PhyTrace::with_header(vec![5, 15].into(), vec![1, 1].into(), Bytes(33), header)
        };
        assert!(with(10).unwrap_err().to_string().starts_with("period_ns must be above 10,"));
        assert!(with(11).is_ok());
    }

    #[test]
    fn an_all_erased_trace_is_valid_with_a_nominal_decoding_of_1_ns() {
        assert_eq!(
            trace(vec![0, 1], vec![0, 0]).unwrap().nominal_decoding(),
            Duration::from_nanos(1)
        );
    }

    #[test]
    fn nominal_decoding_is_the_lower_median_of_received_slots() {
        let d = vec![0, 9, 3, 0, 7, 5];
        assert_eq!(trace((0..6).collect(), d).unwrap().nominal_decoding(), Duration::from_nanos(5));
    }
}
