//! Stage 2: link-layer reliability schemes, open loop (the papers' Trace Manager Tool).
//!
//! A scheme is a pure function from a [`crate::trace::PhyTrace`] to a [`LinkTrace`], as if every
//! slot were used (DESIGN section 4).

mod arq;
mod arrivals;
mod fec;
mod file;
mod harq2;
mod link_trace;
mod none;
mod printed;
mod stats;
mod text;

pub use link_trace::{LinkTrace, Parts, Timing};
pub use stats::LinkStats;

use std::num::NonZeroU32;

use thiserror::Error;

use crate::trace::PhyTrace;

/// A link-layer reliability scheme and its parameters.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Scheme {
    /// No scheme: the link trace is the PHY trace.
    None,
    /// Block erasure code, no feedback.
    Fec {
        /// The block.
        code: BlockCode,
        /// Interleaving depth in code words; 1: none.
        interleave: NonZeroU32,
    },
    /// Selective-repeat ARQ.
    Arq {
        /// How often an LLDU may be sent again.
        max_retx: Persistency,
    },
    /// Hybrid ARQ of type II: a block code whose repair LLDUs are also sent on demand.
    Harq2 {
        /// The block of the first transmission.
        code: BlockCode,
        /// Repair LLDUs sent in a round beyond those missing (N_S).
        extra: u32,
        /// How many rounds may be asked for.
        max_rounds: Persistency,
    },
}

/// An (n, k) block code over LLDUs: `data` of them carry data, the rest repair.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct BlockCode {
    data: u32,
    total: u32,
}

/// A limit on retransmissions or repair rounds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Persistency {
    /// Until it gets through.
    Unlimited,
    /// At most so many.
    AtMost(u32),
}

/// Parameters that make no scheme.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum SchemeError {
    /// No data in a block.
    #[error("a block of {total} LLDUs without data; write data/total, e.g. 10/12")]
    NoData {
        /// Block length asked for.
        total: u32,
    },
    /// `data > total`.
    #[error("{data}/{total} sends fewer LLDUs than it carries; write data/total, e.g. 10/12")]
    Block {
        /// Data LLDUs asked for.
        data: u32,
        /// Block length asked for.
        total: u32,
    },
    /// A block too long.
    #[error("a block of {total} LLDUs is too long; the most is 65535")]
    Long {
        /// Block length asked for.
        total: u32,
    },
    /// Interleaving by 0.
    #[error("interleave 0 sends nothing; give the depth in code words, 1 for none")]
    Interleave,
    /// Text that is no scheme.
    #[error(
        "{text}: {reason}; write none, FEC(10/12), FEC(10/12, interleave 8), ARQ, ARQ(max 3), \
         HARQ(10/12) or HARQ(10/12, extra 1, rounds 2)"
    )]
    Text {
        /// What was written.
        text: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Scheme {
    /// What the link makes of `phy` if every slot is used: the link trace (TMT, DESIGN section 4;
    /// seed 000 sections 3.1 and 3.5). Takes time linear in the slots and, beyond the link trace,
    /// memory for what waits to be sent again.
    ///
    /// ```
    /// use clift::scheme::{Scheme, Timing};
    /// use clift::trace::PhyTrace;
    /// use clift::units::{Bytes, Duration};
    /// // Slot 1 is erased; its sender knows of it 25 ns later and repeats it in slot 4.
    /// let t = vec![0, 10, 20, 30, 40, 50];
    /// let phy = PhyTrace::new(t.into(), vec![5, 0, 5, 5, 5, 5].into(), Bytes(33)).unwrap();
    /// let timing = Timing { rtt: Duration::from_nanos(20), feedback: None };
    /// let link = "ARQ".parse::<Scheme>().unwrap().apply(&phy, timing);
    /// assert_eq!(link.parts().t[..], [0, 10, 20, 30, 50]);
    /// assert_eq!(link.parts().d[..], [5, 35, 5, 5, 5]);
    /// assert_eq!(link.stats().efficiency, 5.0 / 6.0);
    /// ```
    pub fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        match *self {
            Self::None => none::apply(phy, timing),
            Self::Fec { code, interleave } => fec::apply(code, interleave, phy, timing),
            Self::Arq { max_retx } => arq::apply(max_retx, phy, timing),
            Self::Harq2 { code, extra, max_rounds } => {
                harq2::apply(harq2::Harq2 { code, extra, max_rounds }, phy, timing)
            }
        }
    }
}

impl BlockCode {
    /// A code with `data` of `total` LLDUs carrying data.
    ///
    /// ```
    /// use clift::scheme::BlockCode;
    /// assert!(BlockCode::new(10, 12).is_ok());
    /// assert!(BlockCode::new(12, 10).is_err());
    /// ```
    ///
    /// # Errors
    /// Unless `1 <= data <= total <= 65535`.
    pub const fn new(data: u32, total: u32) -> Result<Self, SchemeError> {
        if data == 0 {
            return Err(SchemeError::NoData { total });
        }
        if data > total {
            return Err(SchemeError::Block { data, total });
        }
        if total > u16::MAX as u32 {
            return Err(SchemeError::Long { total });
        }
        Ok(Self { data, total })
    }

    /// LLDUs of a block that carry data (k, the papers' N_D).
    pub const fn data(self) -> usize {
        self.data as usize
    }

    /// LLDUs of a block (n, the papers' N_D + N_R).
    pub const fn total(self) -> usize {
        self.total as usize
    }
}

impl Persistency {
    /// Whether one more is allowed after `done`.
    #[inline]
    pub const fn allows(self, done: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::AtMost(limit) => done < limit,
        }
    }
}

/// `d_nom` in the schemes' arithmetic; the trace keeps it below 2^61.
fn nominal_ns(phy: &PhyTrace) -> i64 {
    phy.nominal_decoding().as_nanos() as i64
}
