//! The PHY trace and what makes one valid.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::trace::median::lower_median;
use crate::trace::{Column, Loading, Notes, Sizes};
use crate::units::{Bytes, Duration, counted};

/// Transmission time `t` and decoding time `d` of every slot; `d = 0` means erased.
///
/// A value of this type is valid: from 1 to 2^32 - 1 slots, `t` strictly increasing and not
/// negative, `d` not negative, `t + d` below 2^61, LLDU sizes above zero: one for all slots, or one
/// each.
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
    medians: Arc<Medians>,
}

/// Traces are equal if their slots and what their headers say are.
impl PartialEq for PhyTrace {
    fn eq(&self, other: &Self) -> bool {
        (&self.t, &self.d, &self.lldu, &self.header)
            == (&other.t, &other.d, &other.lldu, &other.header)
    }
}

/// What takes a pass over the trace, found when it is first asked for; clones share it.
#[derive(Debug, Default)]
struct Medians {
    nominal: OnceLock<Duration>,
    gap: OnceLock<Duration>,
}

/// What a trace file may say about itself.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Header {
    /// Nominal decoding time (`decode_ns`).
    pub decode: Option<Duration>,
    /// Free text.
    pub description: Option<String>,
    /// Where the trace comes from.
    pub source: Option<String>,
    /// After how long the trace repeats (`period_ns`), where the file says so: longer than from
    /// the first slot to the last.
    pub period: Option<Duration>,
    /// Round-trip time that belongs to the trace (`rtt_ns`): twice the part of a measured delay
    /// that is not in `d`.
    pub rtt: Option<Duration>,
    /// How an import understood a foreign file.
    pub notes: Notes,
    /// How packets go onto its slots, where the file says so.
    pub loading: Loading,
}

/// Why a trace is not one. `slot` counts from 0.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum TraceError {
    /// No slot at all.
    #[error("the trace is empty; give at least one slot")]
    Empty,
    /// The two columns differ in length.
    #[error("t has {} and d has {d}; give one d for each t", counted(*.t, "value", "values"))]
    Lengths {
        /// Values in `t`.
        t: usize,
        /// Values in `d`.
        d: usize,
    },
    /// `t` does not increase.
    #[error(
        "slot {slot}: t = {t} ns does not come after the slot before it; sort the trace and drop repeated times"
    )]
    Unsorted {
        /// The offending slot.
        slot: usize,
        /// Its time.
        t: i64,
    },
    /// A negative time.
    #[error(
        "slot {slot}: {column} = {value} ns is negative; times start at 0, and 0 in d means erased"
    )]
    Negative {
        /// The offending slot.
        slot: usize,
        /// `t` or `d`.
        column: &'static str,
        /// What it holds.
        value: i64,
    },
    /// `t + d` leaves the range of times.
    #[error("slot {slot}: t + d is over 2^61 ns (73 years); check the unit")]
    Overflow {
        /// The offending slot.
        slot: usize,
    },
    /// More slots than a `u32` can number.
    #[error("the trace has {slots} slots; the most is 4294967295, so cut it into parts")]
    TooLong {
        /// Slots offered.
        slots: usize,
    },
    /// Nothing is left of the trace.
    #[error(
        "an offset of {:.9} s leaves no slot: the last is at {:.9} s; start earlier",
        start.as_secs_f64(), last.as_secs_f64()
    )]
    Offset {
        /// Where it was to start.
        start: Duration,
        /// `t` of its last slot.
        last: Duration,
    },
    /// A mutual information that is none.
    #[error("slot {slot}: the mutual information per coded bit is not from 0 to 1")]
    Information {
        /// The offending slot.
        slot: usize,
    },
    /// LLDUs without bytes.
    #[error("an LLDU of 0 bytes carries nothing; give lldu_bytes of at least 1")]
    ZeroLldu,
    /// A slot without bytes, or with more than a size can tell.
    #[error("slot {slot}: an LLDU of {bytes} bytes; give 1 to 4294967295")]
    Size {
        /// The offending slot.
        slot: usize,
        /// What is given.
        bytes: i64,
    },
    /// Not a size for each slot.
    #[error(
        "t has {} and bytes has {bytes}; give one size for each t, or one for all",
        counted(*.t, "value", "values")
    )]
    SizeCount {
        /// Values in `t`.
        t: usize,
        /// Sizes.
        bytes: usize,
    },
    /// A column of another length than `t`.
    #[error("t has {} and {column} has {values}; give one for each t", counted(*.t, "value", "values"))]
    ColumnLength {
        /// The column.
        column: &'static str,
        /// Values in `t`.
        t: usize,
        /// Values in the column.
        values: usize,
    },
    /// A data LLDU that cannot be.
    #[error("LLDU {slot}: {reason}")]
    Unit {
        /// Its number.
        slot: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Fewer slots than data LLDUs.
    #[error(
        "{slots} slots for {lldus} data LLDUs; each has a slot of its own, so give {lldus} or more"
    )]
    FewSlots {
        /// Slots that are said.
        slots: u64,
        /// Data LLDUs.
        lldus: usize,
    },
    /// A nominal decoding time that cannot be one.
    #[error("decode_ns must be from 1 to 2^61; leave it out to have it taken from the trace")]
    Decode,
    /// A period within which the trace does not fit.
    #[error(
        "period_ns must be above {span}, the time from the first slot to the last, and at most 2^61"
    )]
    Period {
        /// Time from the first slot to the last, ns.
        span: i64,
    },
    /// A round-trip time beyond the range of times.
    #[error("rtt_ns must be at most 2^61 (73 years); check the unit")]
    Rtt,
    /// A clock that cannot be one.
    #[error(
        "tick_ns must be at most 2^61, and tick_phase_ns below it; leave both out if any time will do"
    )]
    Tick,
}

/// Times stay below this so that sums of a few of them cannot overflow int64.
pub(crate) const LATEST: i64 = 1 << 61;

impl PhyTrace {
    /// A trace of `t` and `d` in nanoseconds, one value each per slot, and the bytes of a slot, or of
    /// each ([`Sizes`]).
    ///
    /// # Errors
    /// A [`TraceError`] that names the first slot in the way.
    pub fn new(t: Column, d: Column, lldu: impl Into<Sizes>) -> Result<Self, TraceError> {
        Self::with_header(t, d, lldu, Header::default())
    }

    /// The same with what the file says about itself.
    ///
    /// # Errors
    /// A [`TraceError`] that names the first slot in the way.
    pub fn with_header(
        t: Column,
        d: Column,
        lldu: impl Into<Sizes>,
        header: Header,
    ) -> Result<Self, TraceError> {
        let lldu = lldu.into();
        if lldu.most().0 == 0 {
            return Err(TraceError::ZeroLldu);
        }
        if t.len() != d.len() {
            return Err(TraceError::Lengths { t: t.len(), d: d.len() });
        }
        if t.is_empty() {
            return Err(TraceError::Empty);
        }
        lldu.check(t.len())?;
        if u32::try_from(t.len()).is_err() {
            return Err(TraceError::TooLong { slots: t.len() });
        }
        if header.decode.is_some_and(|d| d.as_nanos() == 0 || d.as_nanos() > LATEST as u64) {
            return Err(TraceError::Decode);
        }
        // One branch-free pass that the compiler vectorises; the slow search only runs on a fault.
        let sorted = t.windows(2).fold(true, |ok, pair| ok & (pair[0] < pair[1]));
        let bounded = t
            .iter()
            .zip(d.iter())
            .fold(true, |ok, (&t, &d)| ok & (t >= 0) & (d >= 0) & (t < LATEST) & (d < LATEST - t));
        if !(sorted && bounded) {
            return Err(first_fault(&t, &d));
        }
        let span = t[t.len() - 1] - t[0];
        if header.period.is_some_and(|p| !(span as u64 + 1..=LATEST as u64).contains(&p.as_nanos()))
        {
            return Err(TraceError::Period { span });
        }
        if header.rtt.is_some_and(|rtt| rtt.as_nanos() > LATEST as u64) {
            return Err(TraceError::Rtt);
        }
        header.loading.check()?;
        Ok(Self { t, d, lldu, header, medians: Arc::default() })
    }

    /// Transmission times in nanoseconds.
    pub fn t(&self) -> &Column {
        &self.t
    }

    /// Decoding times in nanoseconds; 0 means erased.
    pub fn d(&self) -> &Column {
        &self.d
    }

    /// Payload of one slot; of the largest where they differ.
    pub fn lldu(&self) -> Bytes {
        self.lldu.most()
    }

    /// Payloads of the slots.
    pub fn sizes(&self) -> &Sizes {
        &self.lldu
    }

    /// What the file said about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Says where the trace comes from, unless it does so itself.
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

    /// `d_nom`: the header's decoding time, else the lower median of the non-zero `d`, else 1 ns
    /// (DESIGN section 4).
    pub fn nominal_decoding(&self) -> Duration {
        *self.medians.nominal.get_or_init(|| {
            self.header.decode.unwrap_or_else(|| {
                let median = lower_median(|| self.d.iter().copied().filter(|&d| d > 0));
                Duration::from_nanos(median.unwrap_or(1) as u64)
            })
        })
    }

    /// How long the way back of a link of this round-trip time takes: half of it. Where the delays
    /// of the way there stand in `d` and the round-trip time therefore is 0 (an import of measured
    /// delays), the way back takes what the way there nominally does.
    ///
    /// ```
    /// use clift::trace::{Header, PhyTrace};
    /// use clift::units::{Bytes, Duration};
    /// let ms = Duration::from_millis;
    /// let (t, d) = (vec![0, 10], vec![25_000_000, 25_000_000]);
    /// let header = Header { rtt: Some(Duration::ZERO), ..Header::default() };
    /// let imported = PhyTrace::with_header(t.into(), d.into(), Bytes(1500), header)?;
    /// assert_eq!(imported.way_back(Duration::ZERO), ms(25));
    /// assert_eq!(imported.way_back(ms(60)), ms(30)); // somebody says otherwise
    /// # Ok::<(), clift::trace::TraceError>(())
    /// ```
    pub fn way_back(&self, rtt: Duration) -> Duration {
        if rtt == Duration::ZERO && self.header.rtt == Some(Duration::ZERO) {
            return self.nominal_decoding();
        }
        rtt.half()
    }

    /// The lower median of the gaps between consecutive slots, 0 with a single slot.
    pub fn median_gap(&self) -> Duration {
        *self.medians.gap.get_or_init(|| {
            // `t` rises from 0 on, so nothing wraps; an overflow check would keep it from vectorising.
            let gaps = || self.t.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
            let median = lower_median(gaps);
            Duration::from_nanos(median.unwrap_or(0) as u64)
        })
    }
}

fn first_fault(t: &[i64], d: &[i64]) -> TraceError {
    let mut before = -1;
    for (slot, (&t, &d)) in t.iter().zip(d).enumerate() {
        if t < 0 {
            return TraceError::Negative { slot, column: "t", value: t };
        }
        if d < 0 {
            return TraceError::Negative { slot, column: "d", value: d };
        }
        if t <= before {
            return TraceError::Unsorted { slot, t };
        }
        if t >= LATEST || d >= LATEST - t {
            return TraceError::Overflow { slot };
        }
        before = t;
    }
    unreachable!("only called on a faulty trace")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(t: Vec<i64>, d: Vec<i64>) -> Result<PhyTrace, TraceError> {
        PhyTrace::new(t.into(), d.into(), Bytes(33))
    }

    #[test]
    fn faults_name_the_first_slot_in_the_way() {
        assert_eq!(trace(vec![], vec![]).unwrap_err(), TraceError::Empty);
        assert_eq!(trace(vec![0], vec![]).unwrap_err(), TraceError::Lengths { t: 1, d: 0 });
        assert_eq!(
            trace(vec![0, 5, 5], vec![1; 3]).unwrap_err(),
            TraceError::Unsorted { slot: 2, t: 5 }
        );
        assert!(matches!(
            trace(vec![0, 5], vec![1, -1]).unwrap_err(),
            TraceError::Negative { slot: 1, column: "d", .. }
        ));
        assert_eq!(
            trace(vec![0, i64::MAX], vec![1; 2]).unwrap_err(),
            TraceError::Overflow { slot: 1 }
        );
        assert_eq!(
            PhyTrace::new(vec![0].into(), vec![1].into(), Bytes(0)).unwrap_err(),
            TraceError::ZeroLldu
        );
    }

    #[test]
    fn a_period_must_hold_the_whole_trace() {
        let with = |period| {
            let header = Header { period: Some(Duration::from_nanos(period)), ..Header::default() };
            PhyTrace::with_header(vec![5, 15].into(), vec![1, 1].into(), Bytes(33), header)
        };
        assert_eq!(with(10).unwrap_err(), TraceError::Period { span: 10 });
        assert!(with(11).is_ok());
    }

    #[test]
    fn an_all_erased_trace_is_valid_and_decodes_in_a_nanosecond() {
        assert_eq!(
            trace(vec![0, 1], vec![0, 0]).unwrap().nominal_decoding(),
            Duration::from_nanos(1)
        );
    }

    #[test]
    fn the_median_is_the_lower_one_of_those_that_arrived() {
        let d = vec![0, 9, 3, 0, 7, 5];
        assert_eq!(trace((0..6).collect(), d).unwrap().nominal_decoding(), Duration::from_nanos(5));
    }
}
