//! Runs of the engine: one setup, or many on all cores. Python can interrupt them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration as WallTime, Instant as WallClock};

use clift::budget::Budget;
use clift::simulation::{self as engine, Observer};
use clift::sync::lock;
use clift::units::Instant;
use pyo3::prelude::*;

use crate::errors::run_error;
use crate::outcome::Outcome;
use crate::own::raised;
use crate::scenario::{PyScenario, Wrong};
use crate::simulation::Setup;
use crate::work::most;

/// Interval at which a run checks for Ctrl-C and reports progress.
const LOOK: WallTime = WallTime::from_millis(50);
/// Time for runs to end after Ctrl-C.
const GRACE: WallTime = WallTime::from_millis(250);

/// Runs one setup. `progress(simulated_ns, bytes_in_order)` is called about 20 times per second.
#[pyfunction]
#[pyo3(signature = (setup, progress=None))]
pub(crate) fn run(py: Python<'_>, setup: &Setup, progress: Option<Py<PyAny>>) -> PyResult<Outcome> {
    drop(raised::take());
    let mut observer = Watcher { progress, looked: now(), failure: None };
    let outcome = py.detach(|| engine::run(&setup.0, &mut observer));
    raised::check()?;
    match observer.failure {
        Some(failure) => Err(failure),
        None => outcome.map(|own| Outcome::new(own, &setup.0)).map_err(run_error),
    }
}

/// A scenario, and the numbers of its cell and replication.
type Task = (Py<PyScenario>, usize, u32);

/// Runs `count` scenarios, each as a replication of a cell, on `threads` threads, which begin while
/// `tasks` still makes them. `progress(done)` is called about 20 times per second; an exception in
/// it or in `tasks` (or Ctrl-C) stops the runs. Returns, in input order, an outcome, an error
/// message, or None if a run did not finish, and the exception that stopped the runs. If a scenario
/// is not valid, raises its error with the task's number as `task`.
#[pyfunction]
#[pyo3(signature = (tasks, count, threads, progress=None))]
#[allow(clippy::type_complexity)]
pub(crate) fn run_many(
    py: Python<'_>,
    tasks: &Bound<'_, PyAny>,
    count: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<Option<Result_>>, Option<PyErr>)> {
    let tasks = tasks.try_iter()?.unbind();
    let coming: Arc<[OnceLock<Option<Task>>]> = (0..count).map(|_| OnceLock::new()).collect();
    let places = Arc::clone(&coming);
    let make = move |stop: &AtomicBool| {
        let made = Python::attach(|py| {
            let going_on = |_: &_| !stop.load(Ordering::Relaxed);
            for (place, task) in places.iter().take_while(going_on).zip(tasks.into_bound(py)) {
                drop(place.set(Some(task?.extract()?)));
            }
            Ok(())
        });
        // Threads wait for those that do not come.
        places.iter().for_each(|place| drop(place.set(None)));
        made
    };
    let most = most();
    let (made, stopped) = py.detach(|| {
        on_threads(count, threads, &progress, make, move |index, stop| {
            let (scenario, cell, replication) = coming[index].wait().as_ref()?;
            let go_on = || !stop.load(Ordering::Relaxed);
            let budget = Budget::new(most, Some(&go_on));
            let prepared = scenario.get().prepared_once(*cell, *replication, &budget);
            // The input of a run is dropped at its end, so memory holds the traces of at most one
            // run per thread.
            let setup = match prepared {
                Ok(setup) => setup,
                // Another task's fault stopped this one, which has no fault itself.
                Err(wrong) if budget.is_stopped() && !matches!(wrong, Wrong::Raised(_)) => {
                    return None;
                }
                Err(wrong) => {
                    stop.store(true, Ordering::Relaxed);
                    return Some(Err(wrong));
                }
            };
            let outcome = engine::run(&setup, &mut Stoppable(stop));
            if let Err(raised) = raised::check() {
                stop.store(true, Ordering::Relaxed);
                return Some(Ok(Err(raised)));
            }
            match outcome {
                Err(engine::RunError::Interrupted { .. }) => None,
                Err(error) => Some(Ok(Ok(Result_::Error(error.to_string())))),
                Ok(outcome) => Some(Ok(Ok(Result_::Outcome(Outcome::new(outcome, &setup))))),
            }
        })
    });
    // An exception in a part written in Python ends all runs. If there are several, the first one
    // is raised.
    let mut raised = None;
    let mut results = Vec::with_capacity(count);
    // Tasks start in order, so the first of several invalid ones is usually among the results,
    // unless the fault of a later one stopped it.
    for (index, one) in made.into_iter().enumerate() {
        results.push(match one {
            None => None,
            Some(Ok(Ok(result))) => Some(result),
            Some(Ok(Err(error))) => {
                raised.get_or_insert(error);
                None
            }
            Some(Err(wrong)) if stopped.is_none() => {
                let error = wrong.error(py);
                if !matches!(wrong, Wrong::Raised(_)) {
                    error.value(py).setattr("task", index)?;
                }
                return Err(error);
            }
            Some(Err(_)) => None,
        });
    }
    Ok((results, stopped.or(raised)))
}

/// The result of a finished run in `run_many`: an outcome, or the message of its error.
#[derive(IntoPyObject)]
pub(crate) enum Result_ {
    Outcome(Outcome),
    Error(String),
}

/// State shared by the threads that process jobs.
struct Jobs<T, J> {
    /// Result of each job. The waiting thread is not woken for every result, because that takes as
    /// long as a short run.
    results: Vec<Mutex<Option<T>>>,
    next: AtomicUsize,
    done: AtomicUsize,
    stop: AtomicBool,
    job: J,
}

impl<T, J: Fn(usize, &AtomicBool) -> Option<T>> Jobs<T, J> {
    /// Processes the next free job until no job is left or the stop flag is set.
    fn work(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = self.results.get(index) else { return };
            if let Some(result) = (self.job)(index, &self.stop) {
                *lock(place) = Some(result);
                self.done.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Takes the results so far.
    fn take(&self) -> Vec<Option<T>> {
        self.results.iter().map(|place| lock(place).take()).collect()
    }
}

/// Processes `count` jobs on threads until all are done or the stop flag is set, by a thread or by
/// Python. Threads that do not end soon after that are abandoned. `make` makes what the jobs wait
/// for.
fn on_threads<T: Send + 'static>(
    count: usize,
    threads: usize,
    progress: &Option<Py<PyAny>>,
    make: impl FnOnce(&AtomicBool) -> PyResult<()>,
    job: impl Fn(usize, &AtomicBool) -> Option<T> + Send + Sync + 'static,
) -> (Vec<Option<T>>, Option<PyErr>) {
    let jobs = Arc::new(Jobs {
        results: (0..count).map(|_| Mutex::new(None)).collect(),
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        job,
    });
    // No value is sent; the channel closes once all threads have ended.
    let (open, closed) = mpsc::channel::<()>();
    let mut workers = Vec::new();
    for _ in 0..threads.clamp(1, count.max(1)) {
        let (open, jobs) = (open.clone(), Arc::clone(&jobs));
        workers.push(thread::spawn(move || {
            let _open = open;
            raised::on_thread(|| jobs.work());
        }));
    }
    drop(open);
    let mut stopped = make(&jobs.stop).err().map(|failure| (failure, now()));
    jobs.stop.fetch_or(stopped.is_some(), Ordering::Relaxed);
    while closed.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
        match &stopped {
            Some((_, since)) if since.elapsed() >= GRACE => {
                workers.into_iter().for_each(raised::leave);
                return (jobs.take(), stopped.map(|(failure, _)| failure));
            }
            Some(_) => {}
            None => {
                if let Err(failure) = look(progress, (jobs.done.load(Ordering::Relaxed),)) {
                    jobs.stop.store(true, Ordering::Relaxed);
                    stopped = Some((failure, now()));
                }
            }
        }
    }
    for worker in workers {
        // A panic is a bug in CLIFT and must be visible.
        if let Err(panicked) = worker.join() {
            std::panic::resume_unwind(panicked);
        }
    }
    (jobs.take(), stopped.map(|(failure, _)| failure))
}

/// Lets Python handle signals, and calls the progress function.
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

/// Observes a single run for Python.
struct Watcher {
    progress: Option<Py<PyAny>>,
    looked: WallClock,
    failure: Option<PyErr>,
}

impl Observer for Watcher {
    fn checkpoint(&mut self, at: Instant, bytes_in_order: u64) -> ControlFlow<()> {
        if raised::is_raised() {
            return ControlFlow::Break(());
        }
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

/// Ends a run when the stop flag is set.
struct Stoppable<'a>(&'a AtomicBool);

impl Observer for Stoppable<'_> {
    fn checkpoint(&mut self, _: Instant, _: u64) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) || raised::is_raised() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// The wall clock, used only for the interval of checks and never in a computation.
#[allow(clippy::disallowed_methods)]
fn now() -> WallClock {
    WallClock::now()
}
