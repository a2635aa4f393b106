//! Slots one after the other: level, mutual information, fate.

#[cfg(feature = "parquet")]
use std::io::{self, Write};

use rand_chacha::ChaCha8Rng;

use super::code::PerTable;
use super::information::InformationTable;
use super::receiver::{Interleaver, Receiver};
use super::samples::{Samples, Source};
use crate::budget::{Budget, Refusal};
use crate::seed::uniform;
#[cfg(feature = "parquet")]
use crate::trace::parquet::{Kind, Values, Writer};
#[cfg(feature = "parquet")]
use crate::units::Bytes;
use crate::units::Duration;

/// Makes the slots of a trace in order, as many at a time as wanted, in constant memory.
///
/// However it is cut, the slots are the same. One uniform draw a slot decides its fate, so a
/// higher Es/N0 with the same seed never erases a slot that arrived before.
#[derive(Clone, Debug)]
pub struct Synthesis {
    samples: Samples,
    per: PerTable,
    fate: ChaCha8Rng,
    interleaver: Interleaver,
    slot_ns: u64,
    decode_ns: i64,
    next: u64,
}

/// Some slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotColumns {
    /// Start of each, in ns.
    pub t: Vec<i64>,
    /// Decoding time of each, in ns; 0: erased.
    pub d: Vec<i64>,
    /// Mean mutual information per coded bit of its code word, 0 to 1.
    pub information: Vec<f32>,
}

impl Synthesis {
    /// Slots that are prepared at a time.
    const BLOCK: u64 = 1 << 12;

    /// How many samples, `step_ns` apart, `count` slots look at.
    pub(super) fn samples(count: usize, slot: Duration, step_ns: f64, receiver: &Receiver) -> u64 {
        let last = count as u64 * slot.as_nanos() + receiver.interleaver.depth.as_nanos();
        (last as f64 / step_ns) as u64 + 3
    }

    pub(super) fn new(
        source: Source,
        step_ns: f64,
        receiver: &Receiver,
        slot: Duration,
        rng: &ChaCha8Rng,
    ) -> Self {
        let mut fate = rng.clone();
        fate.set_stream(5);
        let table = InformationTable::new(receiver.modulation);
        Self {
            samples: Samples::new(source, table, step_ns),
            per: PerTable::new(&receiver.code),
            fate,
            interleaver: receiver.interleaver,
            slot_ns: slot.as_nanos(),
            decode_ns: receiver.interleaver.decoding_time(slot).as_nanos() as i64,
            next: 0,
        }
    }

    /// The next `count` slots.
    pub fn slots(&mut self, count: usize) -> SlotColumns {
        let slots = self.slots_within(count, &Budget::unlimited());
        slots.expect("nobody stops this, and memory for the slots is there or nowhere")
    }

    /// The same within a budget.
    ///
    /// # Errors
    /// If the slots need more memory than the budget allows.
    pub fn slots_within(
        &mut self,
        count: usize,
        budget: &Budget<'_>,
    ) -> Result<SlotColumns, Refusal> {
        let (t, d) = budget.columns(count as u64)?;
        let information = budget.room(count as u64, format_args!("{count} slots"))?;
        let mut slots = SlotColumns { t, d, information };
        let mut left = count as u64;
        while left > 0 {
            budget.ask()?;
            let block = left.min(Self::BLOCK);
            self.block(block, &mut slots);
            left -= block;
        }
        Ok(slots)
    }

    /// Writes the next `count` slots of `lldu` as a Parquet trace, in constant memory; with a third
    /// column `mi`, their mutual information, if `information`.
    ///
    /// # Errors
    /// If the writer fails.
    #[cfg(feature = "parquet")]
    pub fn write_parquet(
        &mut self,
        count: usize,
        lldu: Bytes,
        information: bool,
        out: impl Write + Send,
    ) -> io::Result<()> {
        const PART: usize = 1 << 18;
        let columns = [("t_ns", Kind::I64), ("d_ns", Kind::I64), ("mi", Kind::F32)];
        let columns = &columns[..if information { 3 } else { 2 }];
        let keys = [
            ("clift-trace", "1".to_owned()),
            ("lldu_bytes", lldu.0.to_string()),
            ("decode_ns", self.decode_ns.to_string()),
        ];
        let mut file = Writer::new(out, columns, keys)?;
        for start in (0..count).step_by(PART) {
            let slots = self.slots(PART.min(count - start));
            let values =
                [Values::I64(&slots.t), Values::I64(&slots.d), Values::F32(&slots.information)];
            file.part(&values[..columns.len()])?;
        }
        file.finish()
    }

    fn block(&mut self, count: u64, slots: &mut SlotColumns) {
        let depth = self.interleaver.depth.as_nanos();
        let (from, last) = (self.next * self.slot_ns, (self.next + count - 1) * self.slot_ns);
        self.samples.prepare(from, last + depth);
        for slot in self.next..self.next + count {
            let t = slot * self.slot_ns;
            let information = self.information(t, depth);
            let lost = uniform(&mut self.fate) < self.per.at(information);
            slots.t.push(t as i64);
            slots.d.push(if lost { 0 } else { self.decode_ns });
            slots.information.push(information as f32);
        }
        self.next += count;
    }

    #[inline]
    fn information(&self, t: u64, depth: u64) -> f64 {
        if depth == 0 {
            return self.samples.at(t);
        }
        match self.interleaver.branches {
            None => self.samples.mean(t, t + depth),
            Some(branches) => {
                let branches = u64::from(branches.get());
                let sum: f64 =
                    (0..branches).map(|j| self.samples.at(t + j * depth / branches)).sum();
                sum / branches as f64
            }
        }
    }
}
