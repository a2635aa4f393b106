//! Land mobile satellite channels.

use std::num::NonZeroU32;

use clift::channel::lms::{
    Code, IsolatedTrees, LandMobile, LmsError, Loo, Modulation, Motion, Preset, Propagation,
    Reference, Series, Synthesis, environments,
};
use clift::seed::Seed;
use clift::trace::MiTrace;
use clift::units::{Bytes, Duration};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::scenario_error;
use crate::trace::PyPhyTrace;

/// The number of the random stream of a channel that stands alone.
const CHANNEL: u32 = 0;

/// A land mobile satellite channel at an Es/N0; `clift.channel.lms` wraps it.
#[pyclass(frozen, name = "LandMobile", module = "clift._clift")]
pub(crate) struct PyLandMobile {
    channel: LandMobile,
    esn0_db: f64,
}

#[pymethods]
impl PyLandMobile {
    #[new]
    #[pyo3(signature = (preset, *, esn0_db=None, interleaving_ns=None, branches=None,
                        environment=None, model=None, elevation_deg=40.0, carrier_ghz=2.2,
                        loo=None, trees=None, speed_kmh=60.0, reference=None, modulation=None, code=None,
                        per_table=None, per_axis="mi", threshold=None, offset_db=None,
                        slot_ns=None, lldu_bytes=None))]
    #[allow(clippy::too_many_arguments)] // they are keywords in Python
    fn new(
        preset: &str,
        esn0_db: Option<f64>,
        interleaving_ns: Option<u64>,
        branches: Option<u32>,
        environment: Option<&str>,
        model: Option<&str>,
        elevation_deg: f64,
        carrier_ghz: f64,
        loo: Option<(f64, f64, f64, f64)>,
        trees: Option<(f64, f64, f64, f64, f64)>,
        speed_kmh: f64,
        reference: Option<&str>,
        modulation: Option<&str>,
        code: Option<&str>,
        per_table: Option<Vec<(f64, f64)>>,
        per_axis: &str,
        threshold: Option<f64>,
        offset_db: Option<f64>,
        slot_ns: Option<u64>,
        lldu_bytes: Option<u32>,
    ) -> PyResult<Self> {
        let preset: Preset = preset.parse().map_err(scenario_error)?;
        let mut channel = preset.channel();
        let receiver = &mut channel.receiver;
        if let Some(name) = environment {
            channel.propagation =
                propagation(name, model, elevation_deg, carrier_ghz).map_err(scenario_error)?;
            // The calibration of a preset belongs to its own propagation.
            receiver.offset_db = 0.0;
            receiver.interleaver.branches = None;
        }
        if let Some((direct_db, psi_db, multipath_db, correlation_m)) = loo {
            let loo = Loo { direct_db, psi_db, multipath_db };
            channel.propagation =
                Propagation::steady(loo, correlation_m).map_err(scenario_error)?;
        }
        if let Some((gap_m, crossing_m, depth_db, depth_sd_db, multipath_db)) = trees {
            let trees = IsolatedTrees { gap_m, crossing_m, depth_db, depth_sd_db, multipath_db };
            channel.propagation = Propagation::trees(trees).map_err(scenario_error)?;
        }
        channel.motion = Motion::new(speed_kmh, carrier_ghz).map_err(scenario_error)?;
        if let Some(reference) = reference {
            channel.reference = parse_reference(reference).map_err(scenario_error)?;
        }
        if let Some(depth) = interleaving_ns {
            receiver.interleaver.depth = Duration::from_nanos(depth);
        }
        if let Some(branches) = branches {
            receiver.interleaver.branches = NonZeroU32::new(branches);
        }
        if let Some(modulation) = modulation {
            receiver.modulation = modulation.parse().map_err(scenario_error)?;
        }
        let own = parse_code(code, per_table, per_axis, threshold, receiver.modulation);
        if let Some(code) = own.map_err(scenario_error)? {
            receiver.code = code;
        }
        if let Some(offset) = offset_db {
            receiver.offset_db = offset;
        }
        if let Some(slot) = slot_ns {
            channel.slot = Duration::from_nanos(slot);
        }
        if let Some(bytes) = lldu_bytes {
            channel.lldu = Bytes(bytes);
        }
        Ok(Self { channel, esn0_db: esn0_db.unwrap_or(preset.esn0_db()) })
    }

    #[getter]
    fn esn0_db(&self) -> f64 {
        self.esn0_db
    }

    #[getter]
    fn lldu_bytes(&self) -> u32 {
        self.channel.lldu.0
    }

    #[getter]
    fn slot_ns(&self) -> u64 {
        self.channel.slot.as_nanos()
    }

    #[getter]
    fn decode_ns(&self) -> u64 {
        self.channel.receiver.interleaver.decoding_time(self.channel.slot).as_nanos()
    }

    #[getter]
    fn doppler_hz(&self) -> f64 {
        self.channel.motion.doppler_hz()
    }

    /// Slots in a duration.
    fn count(&self, duration_ns: u64) -> PyResult<usize> {
        self.channel.count(Duration::from_nanos(duration_ns)).map_err(scenario_error)
    }

    /// The PHY trace.
    fn trace(&self, py: Python<'_>, duration_ns: u64, seed: u64) -> PyResult<PyPhyTrace> {
        let duration = Duration::from_nanos(duration_ns);
        let trace = py.detach(|| self.channel.trace(self.esn0_db, duration, Seed(seed), CHANNEL));
        trace.map(PyPhyTrace).map_err(scenario_error)
    }

    /// A measured series of Es/N0 (ns, dB) through the receiver.
    fn of_series(
        &self,
        py: Python<'_>,
        t_ns: PyReadonlyArray1<'_, i64>,
        esn0_db: PyReadonlyArray1<'_, f64>,
        seed: u64,
    ) -> PyResult<PyPhyTrace> {
        let (t, db) = (t_ns.as_array().to_vec(), esn0_db.as_array().to_vec());
        let trace = py.detach(|| {
            let series = Series::new(t, db)?;
            self.channel.of_series(series, Seed(seed), CHANNEL)
        });
        trace.map(PyPhyTrace).map_err(scenario_error)
    }

    /// The slots of a trace, part by part.
    fn stream(&self, seed: u64) -> PyResult<PySlots> {
        let slots = self.channel.synthesis(self.esn0_db, Seed(seed), CHANNEL);
        slots.map(|synthesis| PySlots { synthesis }).map_err(scenario_error)
    }

    /// Levels in dB relative to the reference: every `stride`-th sample, `count` of them, and the
    /// time between them in seconds.
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
        let levels: Vec<f32> = py.detach(|| {
            (0..count)
                .map(|_| {
                    let power = fading.power() * scale;
                    (1..stride).for_each(|_| {
                        fading.power();
                    });
                    (10.0 * power.log10()) as f32
                })
                .collect()
        });
        Ok((PyArray1::from_vec(py, levels), step_s * stride as f64))
    }

    /// P(level <= db) for each of `db`: the closed form.
    fn level_cdf(&self, py: Python<'_>, db: Vec<f64>) -> Vec<f64> {
        py.detach(|| db.iter().map(|&db| self.channel.level_cdf(db)).collect())
    }

    /// The closed form of the mean mutual information per coded bit.
    fn mean_information(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.channel.mean_information(self.esn0_db)).map_err(scenario_error)
    }

    /// PER over the Gaussian channel at each Es/N0 in dB.
    fn awgn_per(&self, esn0_db: Vec<f64>) -> Vec<f64> {
        let receiver = &self.channel.receiver;
        let information = |db: f64| receiver.modulation.information(10f64.powf(db / 10.0));
        esn0_db.iter().map(|&db| receiver.code.per(information(db))).collect()
    }
}

impl PyLandMobile {
    /// The mutual information per coded bit of each slot.
    pub(crate) fn information(&self, duration: Duration, seed: Seed) -> Result<MiTrace, LmsError> {
        self.channel.information(self.esn0_db, duration, seed, CHANNEL)
    }
}

/// Slots without end, made as they are asked for.
#[pyclass(name = "LmsSlots", module = "clift._clift")]
pub(crate) struct PySlots {
    synthesis: Synthesis,
}

type Columns<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl PySlots {
    /// The next `count` slots: t, d, mutual information per coded bit.
    fn next<'py>(&mut self, py: Python<'py>, count: usize) -> Columns<'py> {
        let slots = py.detach(|| self.synthesis.slots(count));
        (
            PyArray1::from_vec(py, slots.t),
            PyArray1::from_vec(py, slots.d),
            PyArray1::from_vec(py, slots.information),
        )
    }
}

/// Names that the channel knows: presets, environments of either model, codes.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn lms_names()
-> (Vec<&'static str>, Vec<&'static str>, Vec<&'static str>, Vec<&'static str>) {
    let (p681, perez_fontan) = environments();
    (Preset::ALL.map(|(name, _)| name).to_vec(), p681, perez_fontan, Code::NAMES.to_vec())
}

/// The environment of a model; without one, of P.681 if that has it.
fn propagation(
    environment: &str,
    model: Option<&str>,
    elevation_deg: f64,
    carrier_ghz: f64,
) -> Result<Propagation, LmsError> {
    let (p681, perez_fontan) = environments();
    match model {
        Some("p681") => Propagation::p681(environment, elevation_deg, carrier_ghz),
        Some("perez-fontan") => Propagation::perez_fontan(environment, elevation_deg, carrier_ghz),
        Some(other) => Err(LmsError::Unknown {
            what: "model",
            given: other.to_owned(),
            known: "p681, perez-fontan".to_owned(),
        }),
        None if p681.contains(&environment) => {
            Propagation::p681(environment, elevation_deg, carrier_ghz)
        }
        None if perez_fontan.contains(&environment) => {
            Propagation::perez_fontan(environment, elevation_deg, carrier_ghz)
        }
        None => Err(LmsError::Unknown {
            what: "environment",
            given: environment.to_owned(),
            known: format!(
                "{} (p681), {} (perez-fontan)",
                p681.join(", "),
                perez_fontan.join(", ")
            ),
        }),
    }
}

fn parse_reference(text: &str) -> Result<Reference, LmsError> {
    match text {
        "mean" => Ok(Reference::UnitMeanPower),
        "los" => Ok(Reference::LineOfSight),
        _ => Err(LmsError::Unknown {
            what: "reference",
            given: text.to_owned(),
            known: "mean (unit mean power), los (line of sight)".to_owned(),
        }),
    }
}

/// At most one of a name, a table and a threshold.
fn parse_code(
    name: Option<&str>,
    table: Option<Vec<(f64, f64)>>,
    axis: &str,
    threshold: Option<f64>,
    modulation: Modulation,
) -> Result<Option<Code>, LmsError> {
    match (name, table, threshold) {
        (None, None, None) => Ok(None),
        (Some(name), None, None) => Code::named(name).map(Some),
        (None, Some(table), None) if axis == "esn0" => {
            Code::from_esn0(&table, modulation).map(Some)
        }
        (None, Some(table), None) => Code::from_information(&table).map(Some),
        (None, None, Some(threshold)) => Code::threshold(threshold).map(Some),
        _ => Err(LmsError::Table(
            "stands beside another code; give one of code, per_table and threshold".to_owned(),
        )),
    }
}
