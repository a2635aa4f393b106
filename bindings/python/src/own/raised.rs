//! Keeps exceptions of parts written in Python until the work that they ended can raise them.
//!
//! Exceptions are kept per thread, because a run, like any other work that calls such parts, stays
//! on one thread.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clift::sync::lock;
use pyo3::prelude::*;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a part written in Python is registered.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// Whether the interpreter ends, so that Python is not called any more.
static ENDS: AtomicBool = AtomicBool::new(false);

/// Threads that were stopped and may still be in a call to Python.
static LEFT: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// How often, and how many times, the end of the process looks whether these have ended.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: usize = 500;

/// From now on, threads are prepared for calls to Python, and the interpreter waits for them at its
/// end: it aborts if one returns from Python then.
pub(super) fn expect_calls(py: Python<'_>) -> PyResult<()> {
    if !EXPECTED.swap(true, Ordering::Relaxed) {
        let wait = wrap_pyfunction!(wait_for_left, py)?;
        py.import("atexit")?.call_method1("register", (wait,))?;
    }
    Ok(())
}

#[pyfunction]
fn wait_for_left(py: Python<'_>) -> PyResult<()> {
    ENDS.store(true, Ordering::Relaxed);
    for _ in 0..LOOKS {
        if lock(&LEFT).iter().all(JoinHandle::is_finished) {
            break;
        }
        py.detach(|| thread::sleep(LOOK));
        py.check_signals()?;
    }
    Ok(())
}

/// Leaves a thread that has been stopped, and ends with its call to Python.
pub(crate) fn leave(thread: JoinHandle<()>) {
    let mut left = lock(&LEFT);
    left.retain(|one| !one.is_finished());
    left.push(thread);
}

/// Runs work that may call Python on a thread that Python did not create. Attaching the thread once
/// makes each later attachment ten times faster.
pub(crate) fn on_thread<T: Send>(job: impl FnOnce() -> T + Send) -> T {
    if !EXPECTED.load(Ordering::Relaxed) {
        return job();
    }
    let mut job = Some(job);
    let ready = Python::try_attach(|py| job.take().map(|job| py.detach(job)));
    match (ready.flatten(), job) {
        (Some(made), _) => made,
        (None, Some(job)) => job(),
        // The job was taken, so it was done.
        (None, None) => unreachable!("a job that was taken is done"),
    }
}

/// Keeps an exception, unless one is kept already.
pub(crate) fn raise(error: PyErr) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Whether work on this thread must end.
pub(crate) fn is_raised() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// Takes the exception that ended the work on this thread.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.take()
}

/// As `take`, but returns the exception as an error.
pub(crate) fn check() -> PyResult<()> {
    take().map_or(Ok(()), Err)
}

/// Calls Python; returns `None` once an exception was raised, or if the interpreter ends.
#[inline]
pub(super) fn ask<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    if is_raised() || ENDS.load(Ordering::Relaxed) {
        return None;
    }
    match Python::try_attach(call)? {
        Ok(made) => Some(made),
        Err(error) => {
            raise(error);
            None
        }
    }
}
