//! What a run asks of whoever makes or keeps traces.

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

/// Traces by what they are made from; equal demands get equal traces. What nobody says how to make is
/// refused.
pub trait Traces: Sync {
    /// A PHY trace.
    ///
    /// # Errors
    /// A file that cannot be read, or a channel that makes no trace: the message is one line.
    fn phy(&self, _spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        Err(MakeError::Nothing)
    }

    /// What a scheme makes of a PHY trace beforehand.
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

    /// The link trace of this name.
    ///
    /// # Errors
    /// If there is no such link trace.
    fn held_link(&self, name: &Path) -> Result<Arc<LinkTrace>, MakeError> {
        Memory::default().held_link(name)
    }

    /// The mutual information of this name.
    ///
    /// # Errors
    /// If there is no mutual information of this name.
    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        Memory::default().held_information(name)
    }

    /// The mutual information of a land mobile channel over time.
    ///
    /// # Errors
    /// If the channel makes no trace.
    fn information(&self, _spec: &InformationSpec) -> Result<Information, MakeError> {
        Err(MakeError::Nothing)
    }

    /// The delays in a file.
    ///
    /// # Errors
    /// If the file holds no delays: file, line and what is wrong.
    fn delays(&self, _file: &str) -> Result<Arc<DelaySeries>, MakeError> {
        Err(MakeError::Nothing)
    }

    /// The web page in a file.
    ///
    /// # Errors
    /// If the file holds no page: file, line and what is wrong.
    fn page(&self, _file: &str) -> Result<Arc<PageContent>, MakeError> {
        Err(MakeError::Nothing)
    }
}

/// The delay that varies, if there is one.
pub(super) fn varying(
    delays: Option<&Delays>,
    keep_order: bool,
    traces: &dyn Traces,
) -> Result<Option<Propagation>, MakeError> {
    delays.map(|own| own.propagation(keep_order, |file| traces.delays(file))).transpose()
}

/// Which mutual information a run needs.
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

/// What adaptive HARQ lives on.
#[derive(Clone, Debug)]
pub struct Information {
    /// Mutual information per coded bit of the channel over time.
    pub trace: Arc<MiTrace>,
    /// Mean of the mutual information in closed form.
    pub mean: f64,
}

/// Why a cell does not become a run.
#[derive(Debug, Error)]
pub enum SetupFault {
    /// A key that does not go with the traces.
    #[error(transparent)]
    Key(#[from] Fault),
    /// A trace that cannot be made.
    #[error(transparent)]
    Trace(#[from] MakeError),
}
