//! Selective-repeat ARQ.

pub(super) mod law;
pub(super) mod live;
pub(super) mod open;

use std::fmt;

use crate::config::Fault;
use crate::link::BuiltLink;
use crate::scheme::feedback::Feedback;
use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::printed::{Printed, ratio, rtt_ms};
use crate::scheme::{LiveBuilder, Scheme, SchemeForms, SchemeKind, Timing, open_loop};
use crate::trace::{LinkTrace, PhyTrace};
use crate::units::Limit;

/// The row of ARQ.
pub(super) const KIND: SchemeKind = SchemeKind {
    name: "ARQ",
    summary: "Selective-repeat ARQ: erased LLDUs are sent again.",
    texts: &["ARQ", "ARQ(max 3)"],
    parse: &|arguments| {
        let [max] = arguments.options(["max"])?;
        Ok(Scheme::Arq(Arq { max_retx: max.into() }))
    },
};

/// Selective-repeat ARQ.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Arq {
    /// How often an LLDU may be sent again.
    pub max_retx: Limit,
}

impl Arq {
    /// The link trace by the live form.
    pub(super) fn by_live(self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        let live = live::LiveArq::new(self.max_retx, Feedback::over(phy, timing), None);
        open_loop::of_blocks(live, (1, 1), phy.len(), phy, timing)
    }
}

impl SchemeForms for Arq {
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        match phy.sizes().column() {
            None => open::apply(*self, phy, timing),
            Some(_) => self.by_live(phy, timing),
        }
    }

    fn live(&self, builder: &LiveBuilder<'_>) -> Result<BuiltLink, Fault> {
        builder.link(live::LiveArq::new(self.max_retx, builder.feedback(), builder.window()))
    }

    fn predict(&self, chain: &Chain, setting: &Setting) -> Result<Prediction, Fault> {
        Ok(law::predict(self.max_retx, chain, setting))
    }

    fn recovery_delays(&self, chain: &Chain, setting: &Setting) -> Result<RecoveryDelays, Fault> {
        Ok(law::delays(self.max_retx, chain, setting))
    }

    fn printed(&self, chain: &Chain, setting: &Setting) -> Result<Option<Printed>, Fault> {
        let (rtt_ms, efficiency) = (setting.rtt_ms(), chain.arrival_probability());
        // The mean of i over p^(i-1) (1 - p).
        Ok(Some(Printed { efficiency, delay_ms: rtt_ms / 2.0 + rtt_ms / efficiency }))
    }

    fn printed_delay_ms(&self, link: &LinkTrace) -> Option<f64> {
        let (parts, rtt_ms) = (link.parts(), rtt_ms(link));
        let recovered = parts.transmissions.iter();
        let recovered = recovered.filter(|&&(index, _)| parts.d[index as usize] > 0);
        let rounds = recovered.map(|&(_, times)| u64::from(times) - 1).sum();
        Some(rtt_ms / 2.0 + ratio(rounds, parts.recovered.0)? * rtt_ms)
    }
}

impl fmt::Display for Arq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.max_retx {
            Limit::Unlimited => f.write_str("ARQ"),
            Limit::AtMost(limit) => write!(f, "ARQ(max {limit})"),
        }
    }
}
