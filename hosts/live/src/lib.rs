//! The live emulator: a scenario's link in real time between two hosts of the Linux kernel.
//!
//! The two hosts are network namespaces ([`hosts`]) whose TUN devices end in this process. One thread
//! ([`wire`]) reads what a host sends, hands it to the same link that the engine drives, and writes it
//! to the other host when the link says so. How late that was is recorded ([`Lateness`]).
//!
//! Nothing outside the namespaces is touched. They have no name and live as long as their processes,
//! which die with this one: after any exit, `kill -9` included, nothing is left.
#![cfg(target_os = "linux")]

mod capture;
mod flows;
mod hosts;
mod lateness;
mod sys;
mod wire;

pub use capture::{CaptureTo, Captured};
pub use hosts::{Commands, hindrances};
pub use lateness::Lateness;
pub use wire::{Direction, Report};

use std::io;
use std::path::Path;

use clift::config::Fault;
use clift::simulation::{Setup, SetupError, Way};
use thiserror::Error;

/// Why a link could not be run live.
#[derive(Debug, Error)]
pub enum LiveError {
    /// The link cannot be built.
    #[error(transparent)]
    Link(#[from] Fault),
    /// The setup has no single path.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// Proxies are the engine's.
    #[error("proxies (`pep`) are of clift's own TCP; leave them out, or run proxies in the hosts")]
    Proxies,
    /// The hosts could not be made: what was tried, and the kernel's answer.
    #[error("{0}")]
    Hosts(String),
    /// What was captured cannot be written.
    #[error(transparent)]
    Capture(#[from] clift::capture::CaptureError),
    /// The kernel refused something.
    #[error("{what}: {source}")]
    Kernel {
        /// What was tried.
        what: String,
        /// Its answer.
        source: io::Error,
    },
}

/// Runs `commands` over the way there and the way back of `setup`, until the first command is done.
/// `log`: a file for what arrived and became of it. `capture`: a file for the packets themselves,
/// written after the run.
///
/// # Errors
/// If the link cannot be built, the kernel gives no namespaces or devices, or the log or the capture
/// cannot be written.
pub fn run(
    setup: &Setup,
    commands: &Commands,
    log: Option<&Path>,
    capture: Option<&CaptureTo>,
) -> Result<Report, LiveError> {
    if !setup.proxies.is_empty() {
        return Err(LiveError::Proxies);
    }
    capture.map_or(Ok(()), CaptureTo::check)?;
    let [forward, backward] = setup.chain()?;
    let mut there = Way::new(forward, setup.seed, 0)?;
    let mut back = Way::new(backward, setup.seed, forward.len() as u32)?;
    if capture.is_some() {
        there.count_units(forward);
        back.count_units(backward);
    }
    let signals = sys::Signals::catch()?;
    let hosts = hosts::Hosts::make(commands)?;
    let real_time = sys::prefer_this_thread();
    let kept = capture.map(capture::Capture::new);
    let wire = wire::Wire::new([there, back], hosts, signals, log, kept);
    let ran = wire.and_then(|wire| wire.run(real_time));
    sys::be_ordinary(real_time);
    let (mut report, kept) = ran?;
    if let (Some((kept, epoch)), Some(to)) = (kept, capture) {
        report.captured = Some(kept.write(to, epoch)?);
    }
    Ok(report)
}
