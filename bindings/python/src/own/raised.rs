//! Exceptions of parts written in Python, kept until the work that they ended can hand them on.
//!
//! A run, and whatever else calls such parts, stays on one thread, so that is where they are kept.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

thread_local! {
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether there is anything written in Python.
static EXPECTED: AtomicBool = AtomicBool::new(false);

/// From now on threads are made ready for calls.
pub(super) fn expect_calls() {
    EXPECTED.store(true, Ordering::Relaxed);
}

/// Does work that may call Python on a thread that Python does not know. Attached once, a thread is
/// attached again in a tenth of the time.
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

/// Keeps an exception, unless one came before.
pub(crate) fn raise(error: PyErr) {
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
}

/// Whether work on this thread is to end.
pub(crate) fn is_raised() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// The exception that ended the work on this thread.
pub(crate) fn take() -> Option<PyErr> {
    RAISED.take()
}

/// The same as an error.
pub(crate) fn check() -> PyResult<()> {
    take().map_or(Ok(()), Err)
}

/// What a call gives; `None` once an exception was raised.
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
