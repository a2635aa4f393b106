//! Runs of the engine: of one setup, or of many on all cores, while Python can interrupt them.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration as WallTime, Instant as WallClock};

use clift::simulation::{self as engine, Observer};
use clift::units::Instant;
use pyo3::prelude::*;

use crate::errors::run_error;
use crate::outcome::Outcome;
use crate::simulation::Setup;

/// How often a run looks whether somebody pressed Ctrl-C, and reports progress.
const LOOK: WallTime = WallTime::from_millis(50);

/// Runs one setup. `progress(simulated_ns, bytes_in_order)` is called about 20 times a second.
#[pyfunction]
#[pyo3(signature = (setup, progress=None))]
pub(crate) fn run(py: Python<'_>, setup: &Setup, progress: Option<Py<PyAny>>) -> PyResult<Outcome> {
    let mut observer = Watcher { progress, looked: now(), failure: None };
    let outcome = py.detach(|| engine::run(&setup.0, &mut observer));
    match observer.failure {
        Some(failure) => Err(failure),
        None => outcome.map(Outcome::new).map_err(run_error),
    }
}

/// Runs many setups on `threads` threads. `progress(done)` is called about 20 times a second; an
/// exception in it (or Ctrl-C) stops the runs. Returns, in input order, an outcome, an error
/// message, or None where a run did not finish, and the exception that stopped them.
#[pyfunction]
#[pyo3(signature = (setups, threads, progress=None))]
#[allow(clippy::type_complexity)]
pub(crate) fn run_many(
    py: Python<'_>,
    setups: Vec<PyRef<'_, Setup>>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Option<Result_>>, Option<PyErr>)> {
    let setups: Vec<Arc<engine::Setup>> = setups.iter().map(|setup| Arc::clone(&setup.0)).collect();
    let (results, stopped) = py.detach(|| run_on_threads(&setups, threads, progress));
    let results = results.into_iter().map(|result| result.map(Result_::from)).collect();
    Ok((results, stopped))
}

/// What `run_many` gives for a finished run: an outcome or the message of its error.
#[derive(IntoPyObject)]
pub(crate) enum Result_ {
    Outcome(Outcome),
    Error(String),
}

impl From<Result<engine::Outcome, engine::RunError>> for Result_ {
    fn from(result: Result<engine::Outcome, engine::RunError>) -> Self {
        match result {
            Ok(outcome) => Self::Outcome(Outcome::new(outcome)),
            Err(error) => Self::Error(error.to_string()),
        }
    }
}

type Finished = Option<Result<engine::Outcome, engine::RunError>>;

/// Threads take the next setup in turn; what each finds depends on nothing but its setup.
fn run_on_threads(
    setups: &[Arc<engine::Setup>],
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> (Vec<Finished>, Option<PyErr>) {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, finished) = mpsc::channel();
    let mut results: Vec<Finished> = vec![None; setups.len()];
    let mut stopped = None;
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, setups.len().max(1)) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(setup) = setups.get(index) else { return };
                    let outcome = engine::run(setup, &mut Stoppable(stop));
                    if sender.send((index, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut done, mut looked) = (0usize, now());
        loop {
            match finished.recv_timeout(LOOK) {
                Ok((index, Err(engine::RunError::Interrupted { .. }))) => results[index] = None,
                Ok((index, outcome)) => {
                    results[index] = Some(outcome);
                    done += 1;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if stopped.is_none() && looked.elapsed() >= LOOK {
                looked = now();
                if let Err(failure) = look(&progress, (done,)) {
                    stop.store(true, Ordering::Relaxed);
                    stopped = Some(failure);
                }
            }
        }
    });
    (results, stopped)
}

/// Lets Python handle signals and call the progress function.
fn look<'py>(
    progress: &Option<Py<PyAny>>,
    arguments: impl for<'a> pyo3::call::PyCallArgs<'a>,
) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        match progress {
            Some(progress) => progress.call1(py, arguments).map(drop),
            None => Ok(()),
        }
    })
}

/// Watches a single run for Python.
struct Watcher {
    progress: Option<Py<PyAny>>,
    looked: WallClock,
    failure: Option<PyErr>,
}

impl Observer for Watcher {
    fn checkpoint(&mut self, at: Instant, bytes_in_order: u64) -> ControlFlow<()> {
        if self.looked.elapsed() < LOOK {
            return ControlFlow::Continue(());
        }
        self.looked = now();
        match look(&self.progress, (at.as_nanos(), bytes_in_order)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

/// Ends a run when the flag goes up.
struct Stoppable<'a>(&'a AtomicBool);

impl Observer for Stoppable<'_> {
    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The wall clock: only for how often to look, never for what a run computes.
#[allow(clippy::disallowed_methods)]
fn now() -> WallClock {
    WallClock::now()
}
