//! The log of a transport, recorded by repeating a run.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use super::engine::{CaptureError, run_into};
use crate::config::Fault;
use crate::simulation::{Observer, Setup, run};
use crate::transport::Log;
use crate::units::Instant;

/// Runs a setup and writes the log of a flow's sender (flows count from 0) to `path`: for QUIC a
/// qlog in JSON text sequences (RFC 7464). `go_on` is called regularly, and the run stops if it
/// returns false. Returns the number of bytes written.
///
/// Memory does not grow with the run, because the log is written during the run.
///
/// ```
/// use clift::capture::record_log;
/// use clift::scenario::{Scenario, Store};
/// use clift::trace::Folder;
/// let text = r#"
///     duration = "2 s"
///     [[path]]
///     leg = { rate = "1 Mbit/s", delay = "20 ms" }
/// "#;
/// let scenario = Scenario::parse("leg.toml", text, &[], &clift::Registry::new())?;
/// let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new("")))?;
/// let refused = record_log(&setup, 0, "x.sqlog".as_ref(), &|| true).unwrap_err();
/// assert_eq!(refused.to_string(), "flow 0: tcp does not write a log; quic does");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the flow does not exist, its transport does not write a log, the run has no outcome, or the
/// file cannot be written; the file is then unchanged.
pub fn record_log(
    setup: &Setup,
    flow: usize,
    path: &Path,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<u64, CaptureError> {
    let mut setup = setup.clone();
    let flows = setup.flows.len();
    let Some(logged) = setup.flows.get_mut(flow) else {
        let fault = format!("flow {flow}: there are {flows} flows, counted from 0");
        return Err(Fault::at(fault).into());
    };
    let log = Log::default();
    let Some(transport) = logged.transport.logging(log.clone()) else {
        let transport = logged.transport.name();
        let fault = format!("flow {flow}: {transport} does not write a log; quic does");
        return Err(Fault::at(fault).into());
    };
    logged.transport = transport;

    run_into(path, go_on, |out| {
        let mut drain = Drain { log, out, written: 0, failed: None, go_on };
        let outcome = run(&setup, &mut drain);
        drain.drain();
        let Drain { written, failed, .. } = drain;
        failed.map_or(Ok(outcome.map(|_| written)), Err)
    })
}

/// Moves the log to the file, every few thousand events.
struct Drain<'a, W: Write + ?Sized> {
    log: Log,
    out: &'a mut W,
    written: u64,
    failed: Option<io::Error>,
    go_on: &'a (dyn Fn() -> bool + Sync),
}

impl<W: Write + ?Sized> Drain<'_, W> {
    fn drain(&mut self) {
        let bytes = self.log.take();
        self.written += bytes.len() as u64;
        if self.failed.is_none() {
            self.failed = self.out.write_all(&bytes).err();
        }
    }
}

impl<W: Write + ?Sized> Observer for Drain<'_, W> {
    fn checkpoint(&mut self, _now: Instant, _bytes_in_order: u64) -> ControlFlow<()> {
        self.drain();
        match self.failed.is_none() && (self.go_on)() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }
}
