//! The core's errors as the package's exceptions: the only place that raises them.

use std::fmt::Display;

use pyo3::PyErr;

mod exceptions {
    #![allow(missing_docs, unreachable_pub)] // what the macro makes is not public
    pyo3::import_exception!(clift.errors, TraceError);
}

/// `clift.TraceError` with the error's message.
pub(crate) fn trace_error(error: impl Display) -> PyErr {
    exceptions::TraceError::new_err(error.to_string())
}
