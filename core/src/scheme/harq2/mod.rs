//! HARQ of type II.

pub(super) mod law;
pub(super) mod live;
pub(super) mod open;

use std::fmt;

use crate::config::Fault;
use crate::link::BuiltLink;
use crate::scheme::feedback::Feedback;
use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::printed::{Printed, ratio, rtt_ms};
use crate::scheme::{BlockCode, LiveBuilder, Scheme, SchemeForms, SchemeKind, Timing, open_loop};
use crate::trace::{LinkTrace, PhyTrace};
use crate::units::Limit;

/// The row of HARQ-II.
pub(super) const KIND: SchemeKind = SchemeKind {
    name: "HARQ",
    summary: "Hybrid ARQ of type II: a block code whose repair LLDUs are also sent on demand.",
    texts: &["HARQ(10/12)", "HARQ(10/12, extra 1, rounds 2)"],
    parse: &|mut arguments| {
        let code = BlockCode::next(&mut arguments)?;
        let [extra, rounds] = arguments.options(["extra", "rounds"])?;
        let (extra, max_rounds) = (extra.unwrap_or(0), rounds.into());
        Ok(Scheme::Harq2(Harq2 { code, extra, max_rounds }))
    },
};

/// Hybrid ARQ of type II: a block code whose repair LLDUs are also sent on demand.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Harq2 {
    /// The block of the first transmission.
    pub code: BlockCode,
    /// Repair LLDUs sent in a round beyond those missing (N_S).
    pub extra: u32,
    /// How many rounds may be asked for.
    pub max_rounds: Limit,
}

impl Harq2 {
    /// The link trace by the live form.
    pub(super) fn by_live(self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        let live = live::LiveHarq2::new(self, 0, Feedback::over(phy, timing), None);
        let block = (self.code.data(), self.code.total());
        open_loop::of_blocks(live, block, phy.len(), phy, timing)
    }
}

impl SchemeForms for Harq2 {
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        match phy.sizes().column() {
            None => open::apply(*self, phy, timing),
            Some(_) => self.by_live(phy, timing),
        }
    }

    fn live(&self, builder: &LiveBuilder<'_>) -> Result<BuiltLink, Fault> {
        let (flush, feedback) = (builder.flush_ns(), builder.feedback());
        builder.link(live::LiveHarq2::new(*self, flush, feedback, builder.window()))
    }

    fn predict(&self, chain: &Chain, setting: &Setting) -> Result<Prediction, Fault> {
        law::predict(self, chain, setting)
    }

    fn recovery_delays(&self, chain: &Chain, setting: &Setting) -> Result<RecoveryDelays, Fault> {
        law::delays(self, chain, setting)
    }

    fn printed(&self, chain: &Chain, setting: &Setting) -> Result<Option<Printed>, Fault> {
        law::printed(self, chain, setting).map(Some)
    }

    fn printed_delay_ms(&self, link: &LinkTrace) -> Option<f64> {
        let (parts, rtt_ms) = (link.parts(), rtt_ms(link));
        let data = self.code.data();
        let blocks = (link.len() / data) as u64;
        let repaired = parts.transmissions.chunks_exact(data);
        let decoded =
            repaired.filter(|block| block.iter().all(|&(index, _)| parts.d[index as usize] > 0));
        let rounds = decoded.map(|block| u64::from(block[0].1) - 1).sum();
        let first = self.code.total() as f64 * (parts.gap as f64 / 1e6);
        Some(first + rtt_ms / 2.0 + ratio(rounds, blocks)? * rtt_ms)
    }
}

impl fmt::Display for Harq2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HARQ({}", self.code)?;
        if self.extra > 0 {
            write!(f, ", extra {}", self.extra)?;
        }
        if let Limit::AtMost(limit) = self.max_rounds {
            write!(f, ", rounds {limit}")?;
        }
        f.write_str(")")
    }
}
