//! Stage 1': models that make a PHY trace, alone or on top of one.
//!
//! An [`ErasureChannel`] says which slots are erased: [`Bernoulli`] each for itself,
//! [`GilbertElliott`] in bursts. It makes a trace of [`RegularSlots`] or erases further slots of a
//! trace that is there (DESIGN section 6). [`lms`] has the land mobile satellite channels.
//! [`ChannelConfig`] describes any of them: what scenario files, the library and the command line
//! take. A further model is a variant of [`Model`].

mod bernoulli;
mod bursts;
mod config;
mod gilbert_elliott;
pub mod lms;

pub use bernoulli::Bernoulli;
pub use bursts::{Burst, Bursts};
pub use config::{ChannelConfig, Model, Slots};
pub use gilbert_elliott::GilbertElliott;

use rand_chacha::ChaCha8Rng;

use crate::budget::Budget;
use crate::config::Fault;
use crate::seed::{Seed, Stream};
use crate::trace::{Header, PhyTrace, TraceError};
use crate::units::{Bytes, Duration, Probability};

/// A model of which slots are erased.
pub trait ErasureChannel {
    /// Erases slots of the decoding times `d` (sets them to 0). The first n slots fare the same
    /// however many follow.
    fn erase(&self, d: &mut [i64], rng: &mut ChaCha8Rng);

    /// The trace of this channel over regular slots; `channel` names the random stream.
    ///
    /// # Errors
    /// If `slots` make no trace.
    fn trace(&self, slots: &RegularSlots, seed: Seed, channel: u32) -> Result<PhyTrace, Fault> {
        self.trace_within(slots, seed, channel, &Budget::unlimited())
    }

    /// The same within a budget.
    ///
    /// # Errors
    /// As [`Self::trace`], and what the budget refuses.
    fn trace_within(
        &self,
        slots: &RegularSlots,
        seed: Seed,
        channel: u32,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, Fault> {
        let (t, mut d) = slots.columns(budget)?;
        self.erase(&mut d, &mut seed.rng(Stream::Channel(channel)));
        let header = Header { decode: Some(slots.decode), ..Header::default() };
        Ok(PhyTrace::with_header(t.into(), d.into(), slots.lldu, header)?)
    }

    /// `phy` with further slots erased. If a channel made `phy` from the same seed, `channel` must
    /// be another number than that one's, or the two draw alike.
    fn on(&self, phy: &PhyTrace, seed: Seed, channel: u32) -> PhyTrace {
        let mut d = phy.d().to_vec();
        self.erase(&mut d, &mut seed.rng(Stream::Channel(channel)));
        PhyTrace::with_header(phy.t().clone(), d.into(), phy.sizes().clone(), phy.header().clone())
            .expect("erasing slots of a valid trace leaves it valid")
    }
}

/// Slots at equal distances from time 0 on, each decoded after the same time unless erased.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RegularSlots {
    /// How many.
    pub count: u64,
    /// From the start of one to the start of the next.
    pub every: Duration,
    /// Decoding time; the trace's nominal one too.
    pub decode: Duration,
    /// Payload of a slot.
    pub lldu: Bytes,
}

impl RegularSlots {
    /// `t` and `d` without erasures; checked before memory is taken.
    fn columns(&self, budget: &Budget<'_>) -> Result<(Vec<i64>, Vec<i64>), Fault> {
        if self.count == 0 {
            return Err(TraceError::Empty.into());
        }
        let count = u32::try_from(self.count)
            .map_err(|_| TraceError::TooLong { slots: self.count as usize })?;
        let last = count - 1;
        let every = self.every.as_nanos();
        if every == 0 {
            return Err(Fault::at(
                "slots of 0 ns do not follow each other; give slot_ns of at least 1",
            ));
        }
        let decode = i64::try_from(self.decode.as_nanos()).map_err(|_| TraceError::Decode)?;
        if decode == 0 {
            return Err(TraceError::Decode.into());
        }
        let end = i128::from(last) * i128::from(every) + i128::from(decode);
        if end >= i128::from(crate::trace::LATEST) {
            return Err(TraceError::Overflow { slot: last as usize }.into());
        }
        const PART: u32 = 1 << 22;
        let (mut t, mut d) = budget.columns(self.count)?;
        for first in (0..count).step_by(PART as usize) {
            budget.ask()?;
            let end = count.min(first.saturating_add(PART));
            t.extend((first..end).map(|slot| i64::from(slot) * every as i64));
            d.resize(end as usize, decode);
        }
        Ok((t, d))
    }
}

fn probability(name: &str, value: f64) -> Result<Probability, Fault> {
    Probability::new(value).map_err(|error| Fault::new(name, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOTS: RegularSlots = RegularSlots {
        count: 1000,
        every: Duration::from_nanos(10),
        decode: Duration::from_nanos(7),
        lldu: Bytes(33),
    };

    fn fault(slots: RegularSlots) -> String {
        Bernoulli::new(0.5).unwrap().trace(&slots, Seed(1), 0).unwrap_err().to_string()
    }

    #[test]
    fn slots_are_regular_and_the_header_knows_the_decoding_time() {
        let phy = Bernoulli::new(0.5).unwrap().trace(&SLOTS, Seed(1), 0).unwrap();
        assert_eq!((phy.len(), phy.t()[999], phy.lldu()), (1000, 9990, Bytes(33)));
        assert!(phy.d().iter().all(|&d| d == 0 || d == 7));
        assert_eq!(phy.header().decode, Some(SLOTS.decode));
    }

    #[test]
    fn erasures_add_to_those_of_a_trace() {
        let half = Bernoulli::new(0.5).unwrap();
        let base = half.trace(&SLOTS, Seed(1), 0).unwrap();
        let both = half.on(&base, Seed(1), 1);
        let alone = half.trace(&SLOTS, Seed(1), 1).unwrap();
        for slot in 0..base.len() {
            assert_eq!(both.d()[slot], base.d()[slot].min(alone.d()[slot]));
        }
        assert_eq!((both.t(), both.header()), (base.t(), base.header()));
    }

    #[test]
    fn a_longer_trace_begins_with_the_shorter() {
        let channel = GilbertElliott::new(0.9, 0.7, 0.01, 0.9).unwrap();
        let long = channel.trace(&SLOTS, Seed(3), 0).unwrap();
        let short = channel.trace(&RegularSlots { count: 100, ..SLOTS }, Seed(3), 0).unwrap();
        assert_eq!(short.d()[..], long.d()[..100]);
    }

    #[test]
    fn slots_that_make_no_trace_are_refused() {
        assert!(fault(RegularSlots { count: 0, ..SLOTS }).contains("at least one slot"));
        assert!(fault(RegularSlots { count: 1 << 32, ..SLOTS }).contains("4294967296 slots"));
        assert!(fault(RegularSlots { every: Duration::ZERO, ..SLOTS }).contains("slot_ns"));
        assert!(fault(RegularSlots { every: Duration::MAX, ..SLOTS }).contains("slot 999"));
        assert!(fault(RegularSlots { decode: Duration::ZERO, ..SLOTS }).contains("decode_ns"));
        assert!(fault(RegularSlots { decode: Duration::MAX, ..SLOTS }).contains("decode_ns"));
        assert!(fault(RegularSlots { lldu: Bytes(0), ..SLOTS }).contains("lldu_bytes"));
    }
}
