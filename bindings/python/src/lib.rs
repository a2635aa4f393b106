//! Python binding of CLIFT: conversion only, no logic. The public API is the package `clift`.
use pyo3::prelude::*;

/// The compiled part of `clift`; import `clift` instead.
#[pymodule(gil_used = false)]
mod _clift {}
