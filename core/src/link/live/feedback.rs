//! What the far end reports, and when the sender hears of it.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::link::live::slots::Slots;
use crate::units::Probability;

/// The way back of reports, constant in time and possibly lossy.
///
/// A report on the slot at `t` reaches the sender at `t + delay`. A copy that is lost is noticed by
/// nobody: the far end repeats what it still misses, so the next copy comes `repeat` later.
#[derive(Clone, Debug)]
pub(super) struct Feedback {
    pub(super) delay: i64,
    pub(super) repeat: i64,
    pub(super) losses: Losses,
    /// Copies lost so far.
    pub(super) lost: u64,
}

/// What loses reports.
#[derive(Clone, Debug)]
pub(super) enum Losses {
    /// Nothing.
    None,
    /// Each copy is lost with this probability.
    Random(Probability, Box<ChaCha8Rng>),
    /// A copy is lost if the first slot of the way back, at or after it was sent, is erased.
    Trace {
        slots: Box<Slots>,
        /// From a slot until a report on it is sent, ns.
        after: i64,
    },
}

/// The far end gives up repeating a report: so it ends where nothing ever comes back.
const MOST_COPIES: i64 = 1000;

impl Feedback {
    /// When the sender hears of the slot at `t`; `i64::MAX`: never.
    #[inline]
    pub(super) fn report(&mut self, t: i64) -> i64 {
        match self.losses {
            Losses::None => t.saturating_add(self.delay),
            _ => self.report_lossy(t),
        }
    }

    /// When the first copy comes in that is not lost.
    fn report_lossy(&mut self, t: i64) -> i64 {
        for copy in 0..MOST_COPIES {
            let later = copy.saturating_mul(self.repeat);
            let lost = match &mut self.losses {
                Losses::None => false,
                Losses::Random(p, rng) => rng.random_bool(p.get()),
                Losses::Trace { slots, after } => {
                    let sent = t.saturating_add(*after).saturating_add(later);
                    slots.first_from(sent).is_none_or(|slot| slot.d == 0)
                }
            };
            if !lost {
                return t.saturating_add(self.delay).saturating_add(later);
            }
            self.lost += 1;
        }
        i64::MAX
    }
}
