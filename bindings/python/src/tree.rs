//! Converts Python values to a tree, in which objects in memory replace files.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clift::config::{Node, Table, Value};
use clift::scenario::{Information, MemoryObject};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::delays::PyDelaySeries;
use crate::errors::scenario_error;
use crate::information::PyMiTrace;
use crate::scheme::LinkTrace;
use crate::trace::PyPhyTrace;

/// Objects of a tree by name. A name is used only once per process, because results made from
/// objects are cached by name.
pub(crate) type Objects = Vec<(PathBuf, MemoryObject)>;

/// Converts a Python value to a tree; `objects` collects the objects in it.
pub(crate) fn value(any: &Bound<'_, PyAny>, objects: &mut Objects) -> PyResult<Value> {
    let node = if let Ok(text) = any.cast::<PyString>() {
        Node::Text(text.to_str()?.to_owned())
    } else if let Ok(on) = any.cast::<PyBool>() {
        Node::Bool(on.is_true())
    } else if any.is_instance_of::<PyInt>() {
        // A larger integer is not valid in a scenario; as a float it is rejected with a message.
        any.extract().map(Node::Integer).or_else(|_| any.extract().map(Node::Float))?
    } else if let Ok(number) = any.cast::<PyFloat>() {
        Node::Float(number.value())
    } else if let Ok(dict) = any.cast::<PyDict>() {
        let mut table = Table::default();
        for (key, inner) in dict {
            table.insert(key.cast::<PyString>()?.to_str()?, value(&inner, objects)?);
        }
        Node::Table(table)
    } else if any.is_instance_of::<PyList>() || any.is_instance_of::<PyTuple>() {
        let list = any.try_iter()?.map(|inner| value(&inner?, objects));
        Node::List(list.collect::<PyResult<_>>()?)
    } else {
        Node::Text(name(held(any)?, objects))
    };
    Ok(node.into())
}

/// The JSON of a value of the core.
pub(crate) fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(scenario_error)
}

/// The value of the core that `json` wrote.
pub(crate) fn of_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(scenario_error)
}

fn name(held: MemoryObject, objects: &mut Objects) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("memory:{}", NEXT.fetch_add(1, Ordering::Relaxed));
    objects.push((PathBuf::from(&name), held));
    name
}

/// An object of this module, or an object of the package that wraps one.
fn held(any: &Bound<'_, PyAny>) -> PyResult<MemoryObject> {
    if let Ok(trace) = any.cast::<LinkTrace>() {
        return Ok(MemoryObject::Link(Arc::clone(&trace.get().0)));
    }
    if let Ok(phy) = any.cast::<PyPhyTrace>() {
        return Ok(MemoryObject::Phy(Box::new(phy.get().0.clone())));
    }
    if let Ok(delays) = any.cast::<PyDelaySeries>() {
        return Ok(MemoryObject::Delays(Arc::clone(&delays.get().series)));
    }
    if let Ok(information) = any.cast::<PyMiTrace>() {
        let trace = Arc::clone(&information.get().0);
        return Ok(MemoryObject::Information(Information { mean: trace.mean(), trace }));
    }
    match any.getattr_opt(pyo3::intern!(any.py(), "core"))? {
        Some(inner) => held(&inner),
        None => Err(scenario_error(format!("{any}: not a valid value in a scenario"))),
    }
}
