//! The interface through which a run requests traces.

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use super::spec::PhySpec;
use crate::application::PageContent;
use crate::channel::lms::LandMobile;
use crate::config::Fault;
use crate::link::{DelaySeries, DelayTable, Delays, Propagation};
use crate::scheme::{Scheme, Timing};
use crate::trace::{FileError, LinkTrace, MiTrace, PhyTrace};
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
        Err(MakeError::not_held(name, "a link trace"))
    }

    /// The mutual information in memory with this name.
    ///
    /// # Errors
    /// If no mutual information has this name.
    fn held_information(&self, name: &Path) -> Result<Information, MakeError> {
        Err(MakeError::not_held(name, "mutual information"))
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

/// The varying delay, if one is given. A single row is a fixed delay.
pub(super) fn varying(
    delays: Option<&Delays>,
    keep_order: bool,
    traces: &dyn Traces,
) -> Result<Option<Propagation>, MakeError> {
    let series = match delays {
        None => return Ok(None),
        Some(Delays::File(file)) => traces.delays(file)?,
        Some(Delays::Rows(rows)) => {
            let (time_s, delay_ms) = rows.iter().copied().unzip();
            let series = DelayTable { time_s, delay_ms, ..DelayTable::default() }.series();
            Arc::new(series.map_err(|fault| FileError::new("delays".to_owned(), fault))?)
        }
    };
    Ok(Some(match series.only() {
        Some(delay) => Propagation::Fixed(delay),
        None => Propagation::Varying { series, keep_order },
    }))
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

/// Error of making a trace. The message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MakeError {
    /// A file is missing or its content is not valid.
    #[error(transparent)]
    File(#[from] FileError),
    /// As `File`, for a trace that a key of the scenario names.
    #[error("{key}: {error}")]
    Trace {
        /// The dotted key.
        key: String,
        /// What is wrong with the file.
        error: FileError,
    },
    /// Parameters of a channel are out of range, or it makes no trace with them; an object in memory
    /// has another type; or the objects of a file are not a valid page.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A description has neither a file nor slots.
    #[error("a PHY trace needs a file or a channel; give one of them")]
    Nothing,
}

impl MakeError {
    pub(super) fn held(name: &Path, fault: String) -> Self {
        Self::Fault(Fault::at(format!("{}: {fault}", name.display())))
    }

    /// Nothing with this name is in memory.
    pub(super) fn not_held(name: &Path, wanted: &str) -> Self {
        let kind = wanted.trim_start_matches("a ");
        Self::held(name, format!("no {kind} with this name is in memory"))
    }
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
