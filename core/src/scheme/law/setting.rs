//! The times of a link that the closed forms need.

use crate::scheme::Timing;
use crate::units::Duration;

/// The times of a link: round trip, feedback, slots, decoding; and how HARQ-II blocks are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Setting {
    /// Round-trip time and feedback time.
    pub timing: Timing,
    /// From the start of a slot to the start of the next (the papers' T_P). Zero: slots are short
    /// beside the round trip, so that blocks take no time and the channel has forgotten what it did
    /// when a retransmission is sent.
    pub slot: Duration,
    /// Decoding time of what arrives; also `d_nom`.
    pub decode: Duration,
    /// How the blocks of HARQ-II lie in the slots; no other scheme looks at it.
    pub blocks: Blocks,
}

/// How the blocks of HARQ-II lie in the slots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Blocks {
    /// Each in consecutive slots, as the papers assume: exact.
    Consecutive,
    /// Cut apart by the repair rounds of other blocks, as [`crate::scheme::Scheme::apply`] does:
    /// rounds start between two slots of a block as a Poisson process does. An approximation.
    CutApart,
}

/// 500 ms of round trip and slots of 114,783 ns (33 bytes at 2.3 Mbit/s) as in Kuhn 2014; decoding
/// takes no time.
impl Default for Setting {
    fn default() -> Self {
        Self {
            timing: Timing { rtt: Duration::from_millis(500), feedback: None },
            slot: Duration::from_nanos(114_783),
            decode: Duration::ZERO,
            blocks: Blocks::Consecutive,
        }
    }
}

impl Setting {
    /// Slots from one that is erased to the one that carries its repair: the first that starts no
    /// earlier than feedback; at least 1. `None`: so many that the channel has forgotten.
    ///
    /// ```
    /// use clift::scheme::law::Setting;
    /// assert_eq!(Setting::default().feedback_slots(), Some(4357)); // 500 ms / 114,783 ns
    /// ```
    pub fn feedback_slots(&self) -> Option<u64> {
        let feedback = self.timing.feedback(self.decode).as_nanos();
        match self.slot.as_nanos() {
            0 => None,
            slot => Some(feedback.div_ceil(slot).max(1)),
        }
    }

    /// [`Self::feedback_slots`] as a time.
    pub(crate) fn feedback_ns(&self) -> f64 {
        match self.feedback_slots() {
            None => self.timing.feedback(self.decode).as_nanos() as f64,
            Some(slots) => slots as f64 * self.slot_ns(),
        }
    }

    pub(crate) fn slot_ns(&self) -> f64 {
        self.slot.as_nanos() as f64
    }

    /// Delay of an LLDU that is recovered `wait_ns` after the start of its first slot, but for
    /// decoding and propagation.
    pub(crate) fn delay_ms(&self, wait_ns: f64) -> f64 {
        (wait_ns + self.decode.as_nanos() as f64) / 1e6 + self.rtt_ms() / 2.0
    }

    /// Delay of an LLDU that arrives at once.
    pub(crate) fn least_delay_ms(&self) -> f64 {
        self.delay_ms(0.0)
    }

    pub(crate) fn rtt_ms(&self) -> f64 {
        self.timing.rtt.as_nanos() as f64 / 1e6
    }
}
