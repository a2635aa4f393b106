//! The interface through which a run requests traces.

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::memory::Memory;
use super::spec::PhySpec;
use super::store::MakeError;
use crate::application::PageContent;
use crate::channel::lms::LandMobile;
use crate::config::Fault;
use crate::link::{DelaySeries, Delays, Propagation};
use crate::scheme::{Scheme, Timing};
use crate::trace::{LinkTrace, MiTrace, PhyTrace};
use crate::units::Duration;

/// A source of traces, requested by description; equal requests return equal traces. The default of
/// each method fails.
pub trait Traces: Sync {
    /// A PHY trace.
    ///
    /// # Errors
    /// If a file cannot be read, or a channel yields an empty trace. The message is one line.
    fn phy(&self, _spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        Err(MakeError::Nothing)
    }

    /// The link trace that a scheme makes from a PHY trace.
    ///
    /// # Errors
    /// As for the PHY trace.
    fn link_trace(
        &self,
        spec: &PhySpec,
        scheme: &Scheme,
        timing: Timing,
    ) -> Result<Arc<LinkTrace>, MakeError> {
        Ok(Arc::new(scheme.apply(&self.phy(spec)?, timing)))
    }

    /// The link trace in memory with this name.
    ///
    /// # Errors
    /// If no link trace has this name.
    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError> {
        Memory::default().held_link(name)
    }

    /// The mutual information in memory with this name.
    ///
    /// # Errors
    /// If no mutual information has this name.
    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        Memory::default().held_information(name)
    }

    /// The mutual information of a land mobile channel over time.
    ///
    /// # Errors
    /// Fails if the channel makes no trace.
    fn information(&self, _spec: &InformationSpec) -> Result<Information, MakeError> {
        Err(MakeError::Nothing)
    }

    /// The delays in a file.
    ///
    /// # Errors
    /// Fails if the file does not contain valid delays; the message has file, line and cause.
    fn delays(&self, _file: &str) -> Result<Arc<DelaySeries>, MakeError> {
        Err(MakeError::Nothing)
    }

    /// The times in a file, in ascending order.
    ///
    /// # Errors
    /// Fails if the file does not contain valid times; the message has file, line and cause.
    fn times(&self, _file: &str) -> Result<Vec<Duration>, MakeError> {
        Err(MakeError::Nothing)
    }

    /// The web page in a file.
    ///
    /// # Errors
    /// Fails if the file does not contain a valid page; the message has file, line and cause.
    fn page(&self, _file: &str) -> Result<Arc<PageContent>, MakeError> {
        Err(MakeError::Nothing)
    }
}

/// The varying delay, if one is given.
pub(super) fn varying(
    delays: Option<&Delays>,
    keep_order: bool,
    traces: &dyn Traces,
) -> Result<Option<Propagation>, MakeError> {
    delays.map(|own| own.propagation(keep_order, |file| traces.delays(file))).transpose()
}

/// Description of the mutual information that a run needs.
#[derive(Clone, Debug, PartialEq)]
pub struct InformationSpec {
    /// The channel.
    pub channel: LandMobile,
    /// Mean Es/N0 of the channel in dB.
    pub esn0_db: f64,
    /// Length of the trace.
    pub length: Duration,
    /// Seed of the channel.
    pub seed: u64,
}

/// Input of adaptive HARQ: the mutual information of its channel.
#[derive(Clone, Debug)]
pub struct Information {
    /// Mutual information per coded bit of the channel over time.
    pub trace: Arc<MiTrace>,
    /// Mean mutual information, in closed form.
    pub mean: f64,
}

/// Error of turning a cell into a setup.
#[derive(Debug, Error)]
pub enum SetupFault {
    /// A key that does not fit the traces.
    #[error(transparent)]
    Key(#[from] Fault),
    /// A trace that cannot be made.
    #[error(transparent)]
    Trace(#[from] MakeError),
}
