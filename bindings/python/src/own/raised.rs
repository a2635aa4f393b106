//! Keeps exceptions of parts written in Python until the work that they ended can raise them.
//!
//! Exceptions are kept per thread, because a run, like any other work that calls such parts, stays
//! on one thread.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a part written in Python is registered.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// From now on, threads are prepared for calls to Python.
pub(super) fn expect_calls() {
    EXPECTED.store(true, Ordering::Relaxed);
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

/// Calls Python; returns `None` once an exception was raised.
#[inline]
pub(super) fn ask<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    if is_raised() {
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
