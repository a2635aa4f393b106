//! Slots collected by a reader, checked one by one so that a fault has a line number.

use crate::budget::Budget;
use crate::trace::error::{Fault, ReadError};
use crate::trace::{Header, PhyTrace, Sizes};
use crate::units::Bytes;

/// Growing columns of slots within a budget; `t` is strictly increasing.
pub(crate) struct SlotBuilder<'a> {
    budget: &'a Budget<'a>,
    t: Vec<i64>,
    d: Vec<i64>,
    /// Bytes per slot, if the file gives them.
    bytes: Vec<i64>,
}

impl<'a> SlotBuilder<'a> {
    /// No slots yet.
    pub(crate) fn within(budget: &'a Budget<'a>) -> Self {
        Self { budget, t: Vec::new(), d: Vec::new(), bytes: Vec::new() }
    }

    /// Appends a slot; `text` is its time as written in the file, for messages.
    pub(crate) fn push(&mut self, t: i64, d: i64, text: &[u8]) -> Result<(), Fault> {
        if self.t.last().is_some_and(|&last| last >= t) {
            return Err(Fault::unsorted(text));
        }
        self.budget.grow(&mut self.t, "slots")?;
        self.budget.grow(&mut self.d, "slots")?;
        self.t.push(t);
        self.d.push(d);
        Ok(())
    }

    /// Shifts the times so that the first slot is at 0.
    pub(crate) fn shift(&mut self) {
        let first = self.t.first().copied().unwrap_or_default();
        self.t.iter_mut().for_each(|t| *t -= first);
    }

    /// Adds the size of a slot; either all slots have one or none.
    pub(crate) fn push_size(&mut self, bytes: Bytes) -> Result<(), Fault> {
        self.budget.grow(&mut self.bytes, "slots")?;
        self.bytes.push(i64::from(bytes.0));
        Ok(())
    }

    /// The collected sizes, if any.
    pub(crate) fn sizes(&mut self) -> Result<Option<Sizes>, Fault> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.shrink_to_fit();
        (!bytes.is_empty()).then(|| Sizes::each(bytes.into())).transpose()
    }

    /// Times and decoding times of the slots so far.
    pub(crate) fn columns(&self) -> (&[i64], &[i64]) {
        (&self.t, &self.d)
    }

    /// Their times and the values in place of `d`.
    pub(crate) fn into_columns(self) -> (Vec<i64>, Vec<i64>) {
        (self.t, self.d)
    }

    /// Builds the trace.
    pub(crate) fn finish(
        mut self,
        lldu: impl Into<Sizes>,
        header: Header,
    ) -> Result<PhyTrace, ReadError> {
        if self.t.is_empty() {
            return Err(Fault::empty().into());
        }
        self.t.shrink_to_fit();
        self.d.shrink_to_fit();
        Ok(PhyTrace::with_header(self.t.into(), self.d.into(), lldu, header)?)
    }
}
