//! Work of the core that Python can stop at any moment, within a budget of memory.
//!
//! The work runs on a separate thread, while Python's thread waits and checks for signals. So
//! Ctrl-C works even where the work does not check for it: in a closed form, or while it opens a
//! pipe that nobody writes to. Work that checks ends at once; other work continues, and its result
//! is dropped.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration as WallTime;

use clift::budget::{Budget, MemoryLimit};
use clift::units::Size;
use pyo3::prelude::*;

use crate::errors::{memory_error, scenario_error};
use crate::own::raised;

/// How often to look for signals.
const LOOK: WallTime = WallTime::from_millis(50);
/// How long stopped work has to remove what it began.
const GRACE: WallTime = WallTime::from_millis(200);
/// Stack of the thread, as the main one has it.
const STACK: usize = 8 << 20;

/// Memory limit set by Python, in bytes; 0: the core's default share of the free memory.
static MOST: AtomicU64 = AtomicU64::new(0);

/// The memory limit in effect.
pub(crate) fn most() -> MemoryLimit {
    match MOST.load(Ordering::Relaxed) {
        0 => MemoryLimit::Free,
        u64::MAX => MemoryLimit::Unlimited,
        bytes => MemoryLimit::Bytes(bytes),
    }
}

/// Function that gets a line before a large amount of memory is used; `None`: no function.
static TELLER: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// Sets the function that gets a line before a large amount of memory is used: a callable, or None.
#[pyfunction]
pub(crate) fn set_teller(teller: Option<Py<PyAny>>) {
    if let Ok(mut own) = TELLER.lock() {
        *own = teller;
    }
}

/// Passes the collected lines to that function. An exception in it ends the work.
fn tell(py: Python<'_>, said: &Mutex<Vec<String>>) -> PyResult<()> {
    let lines = said.lock().map(|mut said| std::mem::take(&mut *said)).unwrap_or_default();
    for line in lines {
        let teller = TELLER.lock().ok().and_then(|own| own.as_ref().map(|own| own.clone_ref(py)));
        if let Some(teller) = teller {
            teller.call1(py, (line,))?;
        }
    }
    Ok(())
}

/// Sets how many bytes one piece of work may take: 0 for the default, 2^64 - 1 for any amount. What
/// was set before.
#[pyfunction]
pub(crate) fn set_memory_limit(bytes: u64) -> u64 {
    MOST.swap(bytes, Ordering::Relaxed)
}

/// Bytes of a size such as `16 GB`.
#[pyfunction]
pub(crate) fn parse_size(text: &str) -> PyResult<u64> {
    text.parse::<Size>().map(|size| size.0).map_err(scenario_error)
}

/// Bytes that are free, where that can be known.
#[pyfunction]
pub(crate) fn free_memory() -> Option<u64> {
    clift::budget::free_memory()
}

/// What `job` makes, unless a signal handler of Python raises; `error` is for what it cannot make.
pub(crate) fn work<T: Send + 'static, E: std::fmt::Display + Send + 'static>(
    py: Python<'_>,
    job: impl FnOnce(&Budget<'_>) -> Result<T, E> + Send + 'static,
    error: impl FnOnce(E) -> PyErr,
) -> PyResult<T> {
    let (made, short) = watched(py, job)?;
    made.map_err(|fault| if short { memory_error(fault) } else { error(fault) })
}

/// Returns the result unchanged, and whether memory was refused. An exception of a part written in
/// Python takes precedence.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>,
    job: impl FnOnce(&Budget<'_>) -> T + Send + 'static,
) -> PyResult<(T, bool)> {
    let slot = Arc::new(Mutex::new(None));
    let made = Arc::clone(&slot);
    let short = watch(
        py,
        Box::new(move |budget| {
            let result = panic::catch_unwind(AssertUnwindSafe(|| job(budget)));
            if let Ok(mut made) = made.lock() {
                *made = Some(result);
            }
        }),
    )?;
    match slot.lock().ok().and_then(|mut made| made.take()) {
        Some(Ok(made)) => Ok((made, short)),
        Some(Err(panicked)) => panic::resume_unwind(panicked),
        None => unreachable!("a job that has ended leaves its result"),
    }
}

/// Work of any result: one type, so that the thread and its channel are compiled once.
type Job = Box<dyn FnOnce(&Budget<'_>) + Send>;

/// Does the work on a thread; returns whether memory was refused.
fn watch(py: Python<'_>, job: Job) -> PyResult<bool> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, done) = mpsc::sync_channel(1);
    let flag = Arc::clone(&stop);
    let said = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&said);
    let most = most();
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        let go_on = || !flag.load(Ordering::Relaxed);
        let tell = |line: &str| {
            if let Ok(mut said) = said.lock() {
                said.push(line.to_owned());
            }
        };
        let budget = Budget::new(most, Some(&go_on)).telling(&tell);
        let raised = raised::on_thread(|| {
            job(&budget);
            raised::take()
        });
        // Nobody listens any more to what was stopped.
        let _ = sender.send((raised, budget.is_short()));
    });
    let thread =
        thread.map_err(|error| memory_error(format!("no thread can be started: {error}")))?;
    let (raised, short) = py.detach(move || {
        loop {
            let ended = done.recv_timeout(LOOK);
            if heard.lock().is_ok_and(|said| !said.is_empty()) {
                Python::attach(|py| tell(py, &heard))?;
            }
            match ended {
                Ok(ended) => return Ok(ended),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the thread always sends"),
            }
            if let Err(raised) = Python::attach(|py| py.check_signals()) {
                stop.store(true, Ordering::Relaxed);
                let _ = done.recv_timeout(GRACE);
                raised::leave(thread);
                return Err(raised);
            }
        }
    })?;
    raised.map_or(Ok(short), Err)
}
