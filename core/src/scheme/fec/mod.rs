//! FEC, plain and interleaved.

pub(super) mod law;
pub(super) mod live;
pub(super) mod open;

use std::fmt;
use std::num::NonZeroU32;

use crate::config::Fault;
use crate::link::BuiltLink;
use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::printed::{Printed, fec_delay_ms, fec_efficiency, ratio, rtt_ms};
use crate::scheme::{BlockCode, LiveBuilder, Scheme, SchemeForms, SchemeKind, Timing, open_loop};
use crate::trace::{LinkTrace, PhyTrace};

/// The row of FEC.
pub(super) const KIND: SchemeKind = SchemeKind {
    name: "FEC",
    summary: "A block erasure code without feedback, plain or interleaved.",
    texts: &["FEC(10/12)", "FEC(10/12, interleave 8)"],
    parse: &|mut arguments| {
        let code = BlockCode::next(&mut arguments)?;
        let [interleave] = arguments.options(["interleave"])?;
        let interleave = NonZeroU32::new(interleave.unwrap_or(1));
        let interleave = interleave.ok_or("interleave 0 sends nothing")?;
        Ok(Scheme::Fec(Fec { code, interleave }))
    },
};

/// Block erasure code, no feedback.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fec {
    /// The block.
    pub code: BlockCode,
    /// Interleaving depth in code words; 1: none.
    pub interleave: NonZeroU32,
}

impl Fec {
    /// The link trace by the live form: of whole super-blocks only.
    pub(super) fn by_live(self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        let depth = self.interleave.get() as usize;
        let block = [self.code.data(), self.code.total()].map(|units| depth.saturating_mul(units));
        let slots = phy.len() / block[1] * block[1];
        open_loop::of_blocks(live::LiveFec::new(self, 0), block.into(), slots, phy, timing)
    }
}

impl SchemeForms for Fec {
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        match phy.sizes().column() {
            None => open::apply(*self, phy, timing),
            Some(_) => self.by_live(phy, timing),
        }
    }

    fn live(&self, builder: &LiveBuilder<'_>) -> Result<BuiltLink, Fault> {
        builder.link(live::LiveFec::new(*self, builder.flush_ns()))
    }

    fn predict(&self, chain: &Chain, setting: &Setting) -> Result<Prediction, Fault> {
        Ok(law::predict(*self, chain, setting))
    }

    fn recovery_delays(&self, chain: &Chain, setting: &Setting) -> Result<RecoveryDelays, Fault> {
        Ok(law::delays(*self, chain, setting))
    }

    fn printed(&self, chain: &Chain, setting: &Setting) -> Result<Option<Printed>, Fault> {
        let chain = chain.every(self.interleave.get().into());
        let delay_ms = fec_delay_ms(&chain, self.code, setting);
        Ok(Some(Printed { efficiency: fec_efficiency(&chain, self.code), delay_ms }))
    }

    fn printed_delay_ms(&self, link: &LinkTrace) -> Option<f64> {
        let parts = link.parts();
        let rebuilt = ratio(parts.recovered.0, link.len() as u64)?;
        let slot_ms = parts.gap as f64 / 1e6;
        Some(rtt_ms(link) / 2.0 + rebuilt * self.code.total() as f64 / 2.0 * slot_ms)
    }
}

impl fmt::Display for Fec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self { code, interleave: NonZeroU32::MIN } => write!(f, "FEC({code})"),
            Self { code, interleave } => write!(f, "FEC({code}, interleave {interleave})"),
        }
    }
}
