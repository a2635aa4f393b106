//! The analytical model, over arrays of channels.

use clift::budget::Budget;
use clift::config::Fault;
use clift::scheme::law::{Blocks, Chain, Prediction, Setting};
use clift::scheme::{HybridFecArq, Printed, Timing};
use clift::units::{Duration, Probability};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::scenario_error;
use crate::own;
use crate::work::work;

/// Channels: arrays of alpha, beta, p_good and p_bad.
type Channels<'py> = [PyReadonlyArray1<'py, f64>; 4];
/// rtt, slot, decode, feedback in ns.
type Times = (u64, u64, u64, Option<u64>);

/// A named value of a `T`.
type Named<T> = (&'static str, fn(&T) -> f64);

/// Delays in ms and their probabilities.
type Distribution<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Predicts the metrics of `scheme` over each channel: names to arrays, NaN without a defined mean.
#[pyfunction]
pub(crate) fn model_predict<'py>(
    py: Python<'py>,
    scheme: &str,
    channels: Channels<'py>,
    times: Times,
    cut_apart: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let scheme = own::scheme(scheme)?;
    let setting = setting(times, cut_apart);
    let chains = chains(&channels)?;
    let rows = each(py, chains, move |chain| scheme.predict(chain, &setting))?;
    let dict = PyDict::new(py);
    let values: [Named<Prediction>; 7] = [
        ("efficiency", |row| row.efficiency),
        ("residual_loss", |row| row.residual_loss),
        ("coding_ratio", |row| row.coding_ratio),
        ("transmissions", |row| row.transmissions),
        ("recovered", |row| row.recovered),
        ("recovery_delay_ms", |row| row.recovery_delay_ms.unwrap_or(f64::NAN)),
        ("mean_delay_ms", |row| row.mean_delay_ms.unwrap_or(f64::NAN)),
    ];
    for (name, value) in values {
        dict.set_item(name, column(py, rows.iter().map(value)))?;
    }
    Ok(dict)
}

/// The values that Kuhn 2014 prints for `scheme` over each channel: efficiencies, and delays in ms;
/// NaN where it prints none.
#[pyfunction]
pub(crate) fn model_printed<'py>(
    py: Python<'py>,
    scheme: &str,
    channels: Channels<'py>,
    times: Times,
) -> PyResult<Distribution<'py>> {
    let scheme = own::scheme(scheme)?;
    let setting = setting(times, false);
    let chains = chains(&channels)?;
    let rows = each(py, chains, move |chain| scheme.printed(chain, &setting))?;
    let values = |value: fn(&Printed) -> f64| {
        rows.iter().map(move |row| row.as_ref().map_or(f64::NAN, value))
    };
    Ok((column(py, values(|row| row.efficiency)), column(py, values(|row| row.delay_ms))))
}

/// The distribution of the recovery delay over one channel: delays in ms and their probabilities.
#[pyfunction]
pub(crate) fn model_recovery_delays<'py>(
    py: Python<'py>,
    scheme: &str,
    channel: [f64; 4],
    times: Times,
    cut_apart: bool,
) -> PyResult<Distribution<'py>> {
    let scheme = own::scheme(scheme)?;
    let [alpha, beta, p_good, p_bad] = channel;
    let chain = Chain::new(alpha, beta, p_good, p_bad).map_err(scenario_error)?;
    let setting = setting(times, cut_apart);
    let find = move |_: &Budget<'_>| scheme.recovery_delays(&chain, &setting);
    let law = work(py, find, scenario_error)?;
    Ok((PyArray1::from_vec(py, law.delay_ms), PyArray1::from_vec(py, law.probability)))
}

/// P(m, n) of one channel for m = 0..=n.
#[pyfunction]
pub(crate) fn model_erasures(
    py: Python<'_>,
    n: usize,
    channel: [f64; 4],
) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let [alpha, beta, p_good, p_bad] = channel;
    let chain = Chain::new(alpha, beta, p_good, p_bad).map_err(scenario_error)?;
    let find = move |_: &Budget<'_>| Ok::<_, Fault>(chain.erasures(n));
    Ok(PyArray1::from_vec(py, work(py, find, scenario_error)?))
}

/// alpha and beta of the chains with this erasure probability and mean burst; burst NaN: no memory.
#[pyfunction]
pub(crate) fn model_chain<'py>(
    py: Python<'py>,
    p: PyReadonlyArray1<'py, f64>,
    burst: PyReadonlyArray1<'py, f64>,
) -> PyResult<Distribution<'py>> {
    let pairs = p.as_slice()?.iter().zip(burst.as_slice()?);
    let chain = |(&p, &burst): (&f64, &f64)| {
        if burst.is_nan() { Chain::bernoulli(p) } else { Chain::from_erasures(p, burst) }
    };
    let chains = pairs.map(chain).collect::<Result<Vec<_>, _>>().map_err(scenario_error)?;
    let staying = |state: usize| chains.iter().map(move |chain| chain.staying()[state]);
    Ok((column(py, staying(0)), column(py, staying(1))))
}

/// Hybrid FEC/ARQ-SR for each loss probability: names to arrays.
#[pyfunction]
pub(crate) fn model_hybrid<'py>(
    py: Python<'py>,
    k: u32,
    n: u32,
    n_first: u32,
    frames: u32,
    persistency: u32,
    p: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let row = |&p: &f64| {
        let p = Probability::new(p).map_err(scenario_error)?;
        HybridFecArq::new(k, n, frames, persistency, p)
            .and_then(|model| model.with_first(n_first))
            .map_err(scenario_error)
    };
    let rows = p.as_slice()?.iter().map(row).collect::<PyResult<Vec<_>>>()?;
    let dict = PyDict::new(py);
    let values: [Named<HybridFecArq>; 9] = [
        ("transmission", HybridFecArq::transmission),
        ("frame", HybridFecArq::frame),
        ("frame_loss", HybridFecArq::frame_loss),
        ("packet", HybridFecArq::packet),
        ("packet_loss", HybridFecArq::packet_loss),
        ("transmissions", HybridFecArq::transmissions),
        ("units", HybridFecArq::units),
        ("useful_share", HybridFecArq::useful_share),
        ("code_rate", HybridFecArq::code_rate),
    ];
    for (name, value) in values {
        dict.set_item(name, column(py, rows.iter().map(value)))?;
    }
    Ok(dict)
}

/// Applies `row` to each chain.
fn each<T: Send + 'static>(
    py: Python<'_>,
    chains: Vec<Chain>,
    row: impl Fn(&Chain) -> Result<T, Fault> + Send + 'static,
) -> PyResult<Vec<T>> {
    let rows = move |budget: &Budget<'_>| {
        let one = |chain: &Chain| {
            budget.ask().map_err(|refused| refused.to_string())?;
            row(chain).map_err(|error| error.to_string())
        };
        chains.iter().map(one).collect::<Result<Vec<_>, String>>()
    };
    work(py, rows, scenario_error)
}

fn setting((rtt, slot, decode, feedback): Times, cut_apart: bool) -> Setting {
    Setting {
        timing: Timing {
            rtt: Duration::from_nanos(rtt),
            feedback: feedback.map(Duration::from_nanos),
        },
        slot: Duration::from_nanos(slot),
        decode: Duration::from_nanos(decode),
        blocks: if cut_apart { Blocks::CutApart } else { Blocks::Consecutive },
    }
}

fn chains(channels: &Channels<'_>) -> PyResult<Vec<Chain>> {
    let [alpha, beta, p_good, p_bad] = channels;
    let (alpha, beta) = (alpha.as_slice()?, beta.as_slice()?);
    let (p_good, p_bad) = (p_good.as_slice()?, p_bad.as_slice()?);
    let rows = alpha.iter().zip(beta).zip(p_good.iter().zip(p_bad));
    rows.map(|((&alpha, &beta), (&p_good, &p_bad))| Chain::new(alpha, beta, p_good, p_bad))
        .collect::<Result<_, _>>()
        .map_err(scenario_error)
}

fn column<'py>(py: Python<'py>, values: impl Iterator<Item = f64>) -> Bound<'py, PyArray1<f64>> {
    PyArray1::from_vec(py, values.collect())
}
