//! Land mobile satellite channels.

use std::path::PathBuf;

use clift::budget::{Budget, Refusal};
use clift::channel::lms::{LandMobile, Segment, Series};
use clift::seed::Seed;
use clift::trace::write_file;
use clift::units::Duration;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::channel::config;
use crate::errors::{described_error, scenario_error};
use crate::trace::{PyPhyTrace, files};
use crate::work::work;

/// Number of the random stream of a channel without a trace.
const CHANNEL: u32 = 0;

/// A land mobile satellite channel at an Es/N0; `clift.channel.lms` wraps it.
#[pyclass(frozen, name = "LandMobile", module = "clift._clift")]
pub(crate) struct PyLandMobile {
    channel: LandMobile,
    esn0_db: f64,
}

#[pymethods]
impl PyLandMobile {
    /// From a dictionary with the keys of `[channel]`.
    #[new]
    fn new(described: &Bound<'_, PyAny>) -> PyResult<Self> {
        let made = config(described)?.land_mobile();
        let (channel, esn0_db) =
            made.map_err(|fault| described_error(described.py(), fault.within("channel")))?;
        Ok(Self { channel, esn0_db })
    }

    #[getter]
    fn esn0_db(&self) -> f64 {
        self.esn0_db
    }

    #[getter]
    fn doppler_hz(&self) -> f64 {
        self.channel.motion.doppler_hz()
    }

    /// Makes the PHY trace.
    fn trace(&self, py: Python<'_>, duration_ns: u64, seed: u64) -> PyResult<PyPhyTrace> {
        let duration = Duration::from_nanos(duration_ns);
        let (channel, db, named) = (self.channel.clone(), self.esn0_db, (Seed(seed), CHANNEL));
        let make = move |budget: &Budget<'_>| channel.trace_within(db, duration, named, budget);
        work(py, make, scenario_error).map(PyPhyTrace)
    }

    /// Makes the PHY traces of the same drive at several Es/N0.
    fn traces(
        &self,
        py: Python<'_>,
        esn0_db: Vec<f64>,
        duration_ns: u64,
        seed: u64,
    ) -> PyResult<Vec<PyPhyTrace>> {
        let duration = Duration::from_nanos(duration_ns);
        let (channel, named) = (self.channel.clone(), (Seed(seed), CHANNEL));
        let make =
            move |budget: &Budget<'_>| channel.traces_within(&esn0_db, duration, named, budget);
        let traces = work(py, make, scenario_error)?;
        Ok(traces.into_iter().map(PyPhyTrace).collect())
    }

    /// The PHY trace of a measured series of Es/N0 (ns, dB), passed through the receiver.
    fn of_series(
        &self,
        py: Python<'_>,
        t_ns: PyReadonlyArray1<'_, i64>,
        esn0_db: PyReadonlyArray1<'_, f64>,
        seed: u64,
    ) -> PyResult<PyPhyTrace> {
        let (t, db) = (t_ns.as_array().to_vec(), esn0_db.as_array().to_vec());
        let channel = self.channel.clone();
        let make = move |budget: &Budget<'_>| {
            channel.of_series_within(Series::new(t, db)?, (Seed(seed), CHANNEL), budget)
        };
        work(py, make, scenario_error).map(PyPhyTrace)
    }

    /// Writes the trace to a Parquet file while it is made, optionally with its mutual information.
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        duration_ns: u64,
        seed: u64,
        information: bool,
    ) -> PyResult<()> {
        let duration = Duration::from_nanos(duration_ns);
        let count = self.channel.count(duration).map_err(scenario_error)?;
        let made = self.channel.synthesis(self.esn0_db, Seed(seed), CHANNEL);
        let mut slots = made.map_err(scenario_error)?;
        let lldu = self.channel.lldu;
        files(py, move |budget| {
            write_file(&path, &|| budget.ask().is_ok(), |out| {
                Ok(slots.write_parquet(count, lldu, information, out)?)
            })
        })
    }

    /// Mutual information per coded bit of each slot of the trace.
    #[pyo3(name = "information")]
    fn information_of_slots<'py>(
        &self,
        py: Python<'py>,
        duration_ns: u64,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let duration = Duration::from_nanos(duration_ns);
        let (channel, db, named) = (self.channel.clone(), self.esn0_db, (Seed(seed), CHANNEL));
        let make =
            move |budget: &Budget<'_>| channel.information_within(db, duration, named, budget);
        work(py, make, scenario_error).map(|trace| PyArray1::from_slice(py, trace.values()))
    }

    /// Levels in dB relative to the reference: `count` samples, each `stride`-th one. Also returns
    /// the time between them in seconds.
    fn levels<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        stride: usize,
        seed: u64,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, f64)> {
        let (mut fading, step_s, scale) =
            self.channel.fading(Seed(seed), CHANNEL).map_err(scenario_error)?;
        let stride = stride.max(1);
        let draw = move |budget: &Budget<'_>| {
            let mut levels = budget.room(count as u64, format_args!("{count} levels"))?;
            for number in 0..count {
                if number % 4096 == 0 {
                    budget.ask()?;
                }
                let power = fading.power() * scale;
                (1..stride).for_each(|_| {
                    fading.power();
                });
                levels.push((10.0 * power.log10()) as f32);
            }
            Ok::<_, Refusal>(levels)
        };
        let levels = work(py, draw, scenario_error)?;
        Ok((PyArray1::from_vec(py, levels), step_s * stride as f64))
    }

    /// The first `count` sections of the road under [`Self::levels`]: state, length in metres, and
    /// six columns of direct path, its spread and multipath in dB at the start and at the end.
    fn road<'py>(&self, py: Python<'py>, count: usize, seed: u64) -> Road<'py> {
        let road: Vec<Segment> =
            self.channel.propagation.segments(Seed(seed), CHANNEL).take(count).collect();
        let states = road.iter().map(|segment| segment.state as i64).collect();
        let column = |of: fn(&Segment) -> f64| -> Vec<f64> { road.iter().map(of).collect() };
        let columns: [fn(&Segment) -> f64; 7] = [
            |segment| segment.length_m,
            |segment| segment.from.direct_db,
            |segment| segment.from.psi_db,
            |segment| segment.from.multipath_db,
            |segment| segment.to.direct_db,
            |segment| segment.to.psi_db,
            |segment| segment.to.multipath_db,
        ];
        let columns = columns.map(|of| PyArray1::from_vec(py, column(of)));
        (PyArray1::from_vec(py, states), columns.to_vec())
    }

    /// P(level <= db) for each of `db`, in closed form.
    fn level_cdf(&self, py: Python<'_>, db: Vec<f64>) -> Vec<f64> {
        py.detach(|| db.iter().map(|&db| self.channel.level_cdf(db)).collect())
    }

    /// Mean mutual information per coded bit, in closed form.
    fn mean_information(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.channel.mean_information(self.esn0_db)).map_err(scenario_error)
    }

    /// PER over the Gaussian channel at each Es/N0 in dB.
    fn awgn_per(&self, esn0_db: Vec<f64>) -> Vec<f64> {
        let information = self.awgn_information(esn0_db);
        information.into_iter().map(|x| self.channel.receiver.code.per(x)).collect()
    }

    /// Mutual information per coded bit over the Gaussian channel at each Es/N0 in dB.
    fn awgn_information(&self, esn0_db: Vec<f64>) -> Vec<f64> {
        let modulation = self.channel.receiver.modulation;
        esn0_db.into_iter().map(|db| modulation.information(10f64.powf(db / 10.0))).collect()
    }
}

type Road<'py> = (Bound<'py, PyArray1<i64>>, Vec<Bound<'py, PyArray1<f64>>>);
