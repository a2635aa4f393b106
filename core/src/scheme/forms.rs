//! What makes a scheme: the forms that it has.

use std::fmt;

use crate::config::Fault;
use crate::link::BuiltLink;
use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::scheme::{LiveBuilder, Printed, Timing};
use crate::trace::{LinkTrace, PhyTrace};

/// The forms of a scheme with its parameters: the open-loop form, and the others as far as it has
/// them. Its `Display` is its text, which [`SchemeKind::parse`](super::SchemeKind::parse) reads
/// back: schemes of the same text are the same.
pub trait SchemeForms: fmt::Debug + fmt::Display + Send + Sync {
    /// Open-loop form: the link trace of the scheme over `phy`, every slot used. A
    /// [`LinkTraceBuilder`](crate::trace::LinkTraceBuilder) puts it together. Slots may differ in
    /// size ([`PhyTrace::sizes`]); the size of each data LLDU follows from its slot.
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace;

    /// The same for a scheme that can fail to make one.
    ///
    /// # Errors
    /// The reason, in one line, if the scheme cannot use the trace.
    fn try_apply(&self, phy: &PhyTrace, timing: Timing) -> Result<LinkTrace, String> {
        Ok(self.apply(phy, timing))
    }

    /// The live form: a link that runs the scheme with the traffic. [`LiveBuilder::link`] makes it
    /// of a [`LiveScheme`](crate::link::LiveScheme).
    ///
    /// # Errors
    /// If the link is not valid; by default, that the scheme has no live form.
    fn live(&self, _builder: &LiveBuilder<'_>) -> Result<BuiltLink, Fault> {
        Err(Fault::at(format!(
            "{self} has no live form, only link traces made beforehand; leave `live` out"
        )))
    }

    /// Closed form: long-run values of the scheme over `chain`.
    ///
    /// # Errors
    /// If the law is too long to compute; by default, that the scheme has no closed form.
    fn predict(&self, _chain: &Chain, _setting: &Setting) -> Result<Prediction, Fault> {
        Err(no_closed_form(self))
    }

    /// The law of the recovery delay over `chain`.
    ///
    /// # Errors
    /// As for [`SchemeForms::predict`].
    fn recovery_delays(&self, _chain: &Chain, _setting: &Setting) -> Result<RecoveryDelays, Fault> {
        Err(no_closed_form(self))
    }

    /// The paper's expressions (Kuhn 2014) over `chain`; `None` for a scheme that the paper lacks.
    ///
    /// # Errors
    /// If its expressions can't be followed.
    fn printed(&self, _chain: &Chain, _setting: &Setting) -> Result<Option<Printed>, Fault> {
        Ok(None)
    }

    /// The delay that Kuhn 2014 prints for the scheme, evaluated on a link trace that it made; ms.
    fn printed_delay_ms(&self, _link: &LinkTrace) -> Option<f64> {
        None
    }
}

fn no_closed_form(scheme: &(impl fmt::Display + ?Sized)) -> Fault {
    Fault::at(format!("{scheme} has no closed form; apply it to a trace of the channel"))
}
