//! When status reports leave the receiver, and which of them get through.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::link::ntn::config::AmConfig;
use crate::link::span;
use crate::units::Probability;

/// `t-StatusProhibit` (TS 38.322 section 5.3.4), the delay before a report leaves, and losses.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    prohibit: i64,
    delay: i64,
    loss: Probability,
    rng: ChaCha8Rng,
    /// No report up to and including this time, but for the one that it releases.
    prohibited: Option<i64>,
    held: bool,
    pub(super) sent: u64,
    pub(super) lost: u64,
}

impl Reports {
    pub(super) fn new(config: AmConfig, rng: ChaCha8Rng) -> Self {
        Self {
            prohibit: span(config.t_status_prohibit),
            delay: span(config.status_delay),
            loss: config.status_loss,
            rng,
            prohibited: None,
            held: false,
            sent: 0,
            lost: 0,
        }
    }

    /// When a report that `t-StatusProhibit` holds back may go.
    #[inline]
    pub(super) fn expires(&self) -> Option<i64> {
        self.prohibited.filter(|_| self.held)
    }

    /// A report is due; whether it may go now.
    pub(super) fn may_go(&mut self, now: i64) -> bool {
        self.held = self.prohibited.is_some_and(|until| now <= until);
        !self.held
    }

    /// A report goes; when it leaves the receiver, `None`: it gets lost.
    pub(super) fn go(&mut self, now: i64) -> Option<i64> {
        self.held = false;
        self.prohibited = Some(now + self.prohibit);
        self.sent += 1;
        if self.loss > Probability::ZERO {
            let uniform = (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            if uniform < self.loss.get() {
                self.lost += 1;
                return None;
            }
        }
        Some(now + self.delay)
    }
}
