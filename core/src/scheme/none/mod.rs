//! No scheme.

pub(super) mod law;
pub(super) mod live;
pub(super) mod open;

use std::fmt;

use crate::config::Fault;
use crate::link::BuiltLink;
use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::{LiveBuilder, Scheme, SchemeForms, SchemeKind, Timing};
use crate::trace::{LinkTrace, PhyTrace};

/// The row of no scheme.
pub(super) const KIND: SchemeKind = SchemeKind {
    name: "none",
    summary: "No scheme: the link trace is the PHY trace.",
    texts: &["none"],
    parse: &|arguments| arguments.options([]).map(|[]| Scheme::None),
};

/// No scheme: the link trace is the PHY trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoScheme;

impl SchemeForms for NoScheme {
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        open::apply(phy, timing)
    }

    fn live(&self, builder: &LiveBuilder<'_>) -> Result<BuiltLink, Fault> {
        builder.link(live::LiveNone)
    }

    fn predict(&self, chain: &Chain, setting: &Setting) -> Result<Prediction, Fault> {
        Ok(law::predict(chain, setting))
    }

    fn recovery_delays(&self, _: &Chain, _: &Setting) -> Result<RecoveryDelays, Fault> {
        Ok(RecoveryDelays::default())
    }
}

impl fmt::Display for NoScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KIND.name)
    }
}
