//! Link-layer reliability schemes, one folder each.
//!
//! A scheme has an open-loop form, a pure function from a [`crate::trace::PhyTrace`] to a
//! [`LinkTrace`] as if every slot were used (the papers' Trace Manager Tool; DESIGN section 4), a
//! live form that runs with the traffic ([`LiveConfig`]; DESIGN section 5), and a closed form over
//! a Gilbert-Elliott channel ([`law`]), as far as it has them: [`SchemeForms`]. [`LinkConfig`] says
//! what a link is made of and builds it. A [`SchemeKind`] in a
//! [`Registry`](crate::Registry) is another scheme.

pub mod adaptive_harq;
mod arq;
mod arrivals;
pub mod carrier;
mod code;
mod fec;
mod feedback;
mod forms;
mod harq2;
pub mod hybrid;
pub mod law;
mod live;
mod medium;
mod none;
pub mod ntn;
mod open_loop;
pub mod printed;
mod registry;
mod successor;
mod text;
mod timing;
mod window;
mod word;

pub use adaptive_harq::{AdaptiveHarqConfig, AdaptiveHarqOptions, Repairs, Sizing};
pub use arq::Arq;
pub use code::BlockCode;
pub use fec::Fec;
pub use feedback::Feedback;
pub use forms::SchemeForms;
pub use harq2::Harq2;
pub use hybrid::{HybridConfig, HybridFecArq, HybridLink, HybridOptions};
pub use live::{LiveBuilder, LiveConfig, LiveOptions};
pub use medium::{Building, LinkConfig, Medium};
pub use open_loop::open_loop;
pub use printed::Printed;
pub use registry::{ParseScheme, SchemeKind};
pub use timing::Timing;

pub use crate::trace::{LinkStats, LinkTrace, Parts};

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::budget::{Budget, Refusal};
use crate::config::Fault;
use crate::scheme::law::{Chain, Prediction, RecoveryDelays, Setting};
use crate::trace::PhyTrace;

/// The schemes of the core.
static BUILT_IN: [SchemeKind; 4] = [none::KIND, fec::KIND, arq::KIND, harq2::KIND];

/// A link-layer reliability scheme and its parameters, by its text wherever it is written.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Scheme {
    /// No scheme: the link trace is the PHY trace.
    None,
    /// Block erasure code, no feedback.
    Fec(Fec),
    /// Selective-repeat ARQ.
    Arq(Arq),
    /// Hybrid ARQ of type II: a block code whose repair LLDUs are also sent on demand.
    Harq2(Harq2),
    /// A scheme from outside the core.
    Own(OwnScheme),
}

/// A scheme from outside the core; those of the same text are the same.
#[derive(Clone, Debug)]
pub struct OwnScheme(Arc<dyn SchemeForms>);

impl Scheme {
    /// Link trace over `phy`, every slot used (TMT, DESIGN section 4; Kuhn 2014, sections 3.1 and
    /// 3.5). Takes time linear in the slots and, beyond the link trace, memory for the LLDUs that
    /// wait to be sent again.
    ///
    /// Where slots differ in size ([`PhyTrace::sizes`]), a data LLDU has that of the slot of its
    /// first transmission. ARQ cuts an LLDU that does not fit into a smaller slot into pieces, each
    /// with its own slot. A code word counts in bytes: it carries the bytes of its data slots and
    /// is decoded once as many bytes have arrived in its slots, as with a code whose symbols are
    /// smaller than any slot.
    ///
    /// ```
    /// use clift::scheme::{Scheme, Timing};
    /// use clift::trace::PhyTrace;
    /// use clift::units::{Bytes, Duration};
    /// // Slot 1 is erased; its sender knows of it 25 ns later and repeats it in slot 4.
    /// let t = vec![0, 10, 20, 30, 40, 50];
    /// let phy = PhyTrace::new(t.into(), vec![5, 0, 5, 5, 5, 5].into(), Bytes(33)).unwrap();
    /// let timing = Timing { rtt: Duration::from_nanos(20), feedback: None };
    /// let link = "ARQ".parse::<Scheme>().unwrap().apply(&phy, timing);
    /// assert_eq!(link.parts().t[..], [0, 10, 20, 30, 50]);
    /// assert_eq!(link.parts().d[..], [5, 35, 5, 5, 5]);
    /// assert_eq!(link.stats().efficiency, 5.0 / 6.0);
    /// ```
    pub fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        self.forms().apply(phy, timing).over_slots_of(phy)
    }

    /// The same within a budget: a data LLDU has two columns of 8 bytes, a third where sizes
    /// differ, and an erased one as much again.
    ///
    /// # Errors
    /// If the budget is exceeded, or a scheme registered from outside the core fails.
    pub fn apply_within(
        &self,
        phy: &PhyTrace,
        timing: Timing,
        budget: &Budget<'_>,
    ) -> Result<LinkTrace, Refusal> {
        let (slots, erased) = (phy.len(), phy.erased());
        let columns = if phy.sizes().column().is_some() { 3 } else { 2 };
        let bytes = 8 * columns * (slots + erased) as u64;
        budget.take(bytes, format_args!("{slots} slots and what {self} makes of them"))?;
        budget.ask()?;
        let made = self.forms().try_apply(phy, timing).map_err(Refusal::Failed)?;
        Ok(made.over_slots_of(phy))
    }

    /// Long-run values of this scheme over `chain`: exact, from the Markov chain.
    ///
    /// FEC and ARQ are what [`Scheme::apply`] converges to on a long trace of regular slots.
    /// HARQ-II takes blocks to be sent in consecutive slots, unless [`Setting::blocks`] says
    /// otherwise. Takes O(n^2) for a block of n, O(k^2 R) for R rounds.
    ///
    /// ```
    /// use clift::scheme::Scheme;
    /// use clift::scheme::law::{Chain, Setting};
    /// let chain = Chain::new(0.98, 0.8, 0.0, 1.0).unwrap();
    /// let predict = |text: &str| {
    ///     text.parse::<Scheme>().unwrap().predict(&chain, &Setting::default()).unwrap()
    /// };
    /// let (harq, arq) = (predict("HARQ(38/51, rounds 2)"), predict("ARQ"));
    /// assert!((arq.efficiency - 10.0 / 11.0).abs() < 1e-12);
    /// assert!(harq.efficiency < arq.efficiency);
    /// assert!(harq.recovery_delay_ms < arq.recovery_delay_ms);
    /// ```
    ///
    /// # Errors
    /// If the rounds are too many to follow, or rounds cut blocks apart and the slots have no
    /// length; if the scheme has no closed form.
    pub fn predict(&self, chain: &Chain, setting: &Setting) -> Result<Prediction, Fault> {
        self.forms().predict(chain, setting)
    }

    /// The law of the recovery delay of this scheme over `chain`: of data LLDUs erased at first and
    /// recovered later, as [`Prediction::recovery_delay_ms`] is its mean. Without a scheme: empty.
    ///
    /// Takes O(n k (n-k)) for FEC, O(k^2 R^2 (n + k)) for R rounds of HARQ-II: for blocks of some
    /// hundred LLDUs. An unlimited scheme is followed until less than 1e-15 of the LLDUs are left.
    ///
    /// ```
    /// use clift::scheme::Scheme;
    /// use clift::scheme::law::{Chain, Setting};
    /// let arq: Scheme = "ARQ".parse().unwrap();
    /// let chain = Chain::bernoulli(0.1).unwrap();
    /// let law = arq.recovery_delays(&chain, &Setting::default()).unwrap();
    /// assert!((law.probability[0] - 0.9).abs() < 1e-12); // one retransmission is enough
    /// assert!(law.delay_ms[0] >= 750.0);
    /// ```
    ///
    /// # Errors
    /// As [`Scheme::predict`]; also if rounds cut blocks apart, which has no closed form.
    pub fn recovery_delays(
        &self,
        chain: &Chain,
        setting: &Setting,
    ) -> Result<RecoveryDelays, Fault> {
        self.forms().recovery_delays(chain, setting)
    }

    /// A scheme from outside the core.
    pub fn own(forms: impl SchemeForms + 'static) -> Self {
        Self::Own(OwnScheme(Arc::new(forms)))
    }

    /// Functions that each scheme provides.
    fn forms(&self) -> &dyn SchemeForms {
        match self {
            Self::None => &none::NoScheme,
            Self::Fec(fec) => fec,
            Self::Arq(arq) => arq,
            Self::Harq2(harq) => harq,
            Self::Own(own) => &*own.0,
        }
    }
}

impl PartialEq for OwnScheme {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for OwnScheme {}

impl Hash for OwnScheme {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_string().hash(state);
    }
}
