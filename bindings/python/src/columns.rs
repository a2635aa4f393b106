//! Columns of nanoseconds between numpy and the core, without copies where that is safe.

use clift::trace::Column;
use numpy::ndarray::ArrayView1;
use numpy::{PyArray1, PyArrayMethods, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::trace_error;
use crate::scheme::LinkTrace;
use crate::trace::PyPhyTrace;

/// Converts `values` (an array, a list, ...) to a column; `name` is for messages.
///
/// A contiguous int64 array that nobody can write to is shared; anything else is copied.
/// The read-only flag of an array can be reset, and the memory of other objects may change. So only
/// views of `bytes` and of our own columns are shared. Masked entries are rejected.
pub(crate) fn column(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Column> {
    let numpy = values.py().import("numpy")?;
    if numpy.getattr("ma")?.call_method1("is_masked", (values,))?.is_truthy()? {
        return Err(trace_error(format!(
            "{name} has masked entries; fill them, with 0 in d_ns for what was not received"
        )));
    }
    let array =
        numpy.call_method1("asarray", (values,)).map_err(|_| not_integers(name, "objects"))?;
    if array.getattr("ndim")?.extract::<usize>()? != 1 {
        return Err(trace_error(format!("{name} must have one dimension")));
    }
    // numpy makes an array of floats from an empty list.
    if array.len()? == 0 {
        return Ok(Vec::new().into());
    }
    let dtype = array.getattr("dtype")?;
    match dtype.getattr("kind")?.extract::<char>()? {
        'i' => {}
        'u' => check_fits(name, &array)?,
        _ => return Err(not_integers(name, &dtype.str()?.to_string())),
    }
    // A field of a record or a view of a buffer may be misaligned: such an array is copied.
    let array = numpy.call_method1("require", (&array, "int64", ["C", "A"]))?;
    let array = array.cast_into::<PyArray1<i64>>()?;
    if is_unchangeable(array.as_untyped())? {
        return Ok(Column::shared(ReadOnly::new(array)?));
    }
    Ok(array.readonly().as_slice()?.to_vec().into())
}

/// A read-only view of `column`, which `owner` keeps in place.
pub(crate) fn view<'py>(column: &Column, owner: Bound<'py, PyAny>) -> Bound<'py, PyArray1<i64>> {
    // SAFETY: the owner is a frozen class that outlives the view, so its column is neither moved
    // nor freed before.
    let array = unsafe { PyArray1::borrow_from_array(&ArrayView1::from(&column[..]), owner) };
    array.readwrite().make_nonwriteable();
    array
}

fn not_integers(name: &str, kind: &str) -> PyErr {
    let cure = match name.ends_with("_ns") {
        true => "nanoseconds, e.g. numpy.rint(seconds * 1e9).astype(\"int64\")",
        false => "numbers, e.g. of int64",
    };
    trace_error(format!("{name} holds {kind}, not integers; give whole {cure}"))
}

fn check_fits(name: &str, array: &Bound<'_, PyAny>) -> PyResult<()> {
    let largest = array.call_method0("max")?.extract::<u64>()?;
    if largest > i64::MAX as u64 {
        return Err(trace_error(format!("{name} holds {largest} ns, over 2^61; check the unit")));
    }
    Ok(())
}

fn is_unchangeable(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    let writeable = array.getattr("flags")?.get_item("WRITEABLE")?.extract::<bool>()?;
    if writeable {
        return Ok(false);
    }
    let base = array.getattr("base")?;
    match base.cast::<PyUntypedArray>() {
        Ok(base) => is_unchangeable(base),
        Err(_) => Ok(base.is_instance_of::<PyBytes>()
            || base.is_instance_of::<PyPhyTrace>()
            || base.is_instance_of::<LinkTrace>()),
    }
}

/// A read-only array, and the address of its values.
struct ReadOnly {
    _array: Py<PyArray1<i64>>,
    values: *const i64,
    len: usize,
}

// SAFETY: the values are only read, and this object owns a reference to their array.
unsafe impl Send for ReadOnly {}
// SAFETY: as above.
unsafe impl Sync for ReadOnly {}

impl ReadOnly {
    fn new(array: Bound<'_, PyArray1<i64>>) -> PyResult<Self> {
        let (values, len) = {
            let borrowed = array.readonly();
            let slice = borrowed.as_slice()?;
            (slice.as_ptr(), slice.len())
        };
        Ok(Self { _array: array.unbind(), values, len })
    }
}

impl AsRef<[i64]> for ReadOnly {
    fn as_ref(&self) -> &[i64] {
        // SAFETY: pointer and length are those of the array's slice, which numpy does not move
        // while a reference to the array exists.
        unsafe { std::slice::from_raw_parts(self.values, self.len) }
    }
}
