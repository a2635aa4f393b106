//! Slots as a reader meets them, checked one by one so that a fault has a line.

use crate::trace::error::{Fault, ReadError, Snippet};
use crate::trace::{Header, PhyTrace, TraceError};
use crate::units::Bytes;

/// More slots than a link trace can index.
pub(crate) const MOST: u64 = u32::MAX as u64;

/// Two growing columns, `t` strictly increasing.
#[derive(Default)]
pub(crate) struct Slots {
    t: Vec<i64>,
    d: Vec<i64>,
}

impl Slots {
    /// Appends a slot; `text` is its time as the file has it, for messages.
    pub(crate) fn push(&mut self, t: i64, d: i64, text: &[u8]) -> Result<(), Fault> {
        if self.t.last().is_some_and(|&last| last >= t) {
            return Err(Fault::Unsorted(Snippet::new(text)));
        }
        self.t.push(t);
        self.d.push(d);
        Ok(())
    }

    /// Their times and whatever stands for `d`.
    pub(crate) fn into_columns(self) -> (Vec<i64>, Vec<i64>) {
        (self.t, self.d)
    }

    /// The trace of them.
    pub(crate) fn finish(mut self, lldu: Bytes, header: Header) -> Result<PhyTrace, ReadError> {
        if self.t.is_empty() {
            return Err(TraceError::Empty.into());
        }
        self.t.shrink_to_fit();
        self.d.shrink_to_fit();
        Ok(PhyTrace::with_header(self.t.into(), self.d.into(), lldu, header)?)
    }
}
