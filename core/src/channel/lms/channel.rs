//! A mobile terminal with a satellite channel, and the traces of that channel.

use std::num::NonZeroU32;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fading::Fading;
use super::level_cdf::LevelCdf;
use super::receiver::Receiver;
use super::samples::{Source, decibels};
use super::series::Series;
use super::synthesis::Synthesis;
use super::tables::Propagation;
use super::{out_of_range, within};
use crate::budget::Budget;
use crate::config::Fault;
use crate::seed::{Seed, Stream};
use crate::trace::{self, Header, MiTrace, PhyTrace};
use crate::units::{Bytes, Duration};

/// A land mobile satellite channel: propagation, motion, receiver and slots.
///
/// ```
/// use clift::budget::Budget;
/// use clift::channel::lms::Preset;
/// use clift::seed::Seed;
/// use clift::units::Duration;
/// let channel = Preset::Internet.channel();
/// let (drive, own) = (Duration::from_secs(60), (Seed(1), 0));
/// let phy = channel.trace_within(6.0, drive, own, &Budget::unlimited()).unwrap();
/// assert_eq!(phy.len(), 59_772);
/// assert!((phy.erasures().erasure_rate() - 0.0055).abs() < 0.003);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LandMobile {
    /// States along the road.
    pub propagation: Propagation,
    /// Speed and carrier.
    pub motion: Motion,
    /// The level to which Es/N0 refers.
    pub reference: Reference,
    /// Modulation, interleaver and code.
    pub receiver: Receiver,
    /// Time from the start of one slot to the next.
    pub slot: Duration,
    /// Payload of a slot.
    pub lldu: Bytes,
}

/// Bound of the branches of an interleaver: each slot takes time in proportion to them. DVB-SH
/// (ETSI EN 302 583) has 48.
const MOST_BRANCHES: u32 = 1000;

/// Speed of the terminal and wavelength of the carrier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    speed_mps: f64,
    wavelength_m: f64,
}

impl Motion {
    /// A speed in km/h and a carrier in GHz.
    ///
    /// # Errors
    /// If the terminal stands still (its channel would never change) or a value is out of range.
    pub fn new(speed_kmh: f64, carrier_ghz: f64) -> Result<Self, Fault> {
        let wanted = "a speed in km/h, above 0 (the level of a stationary terminal never changes) and up to 2000";
        if !(speed_kmh > 0.0 && speed_kmh <= 2000.0) {
            return Err(Fault::new("speed", out_of_range(speed_kmh, wanted)));
        }
        within("carrier", carrier_ghz, 0.1, 100.0, "a carrier in GHz from 0.1 to 100")?;
        Ok(Self { speed_mps: speed_kmh / 3.6, wavelength_m: 0.299_792_458 / carrier_ghz })
    }

    /// Maximum Doppler shift, in Hz.
    pub fn doppler_hz(&self) -> f64 {
        self.speed_mps / self.wavelength_m
    }
}

/// The level to which Es/N0 refers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Reference {
    /// Es/N0 of the mean power over fading: the envelope is scaled to unit mean square.
    #[serde(rename = "mean")]
    UnitMeanPower,
    /// Es/N0 of the unshadowed line of sight.
    #[serde(rename = "los")]
    LineOfSight,
}

impl LandMobile {
    /// Number of slots in `duration`.
    ///
    /// # Errors
    /// If there are none, or more than a trace can hold.
    pub fn count(&self, duration: Duration) -> Result<usize, Fault> {
        if self.slot == Duration::ZERO {
            return Err(Fault::new("slot", out_of_range(self.slot, "at least 1 ns")));
        }
        match duration.as_nanos() / self.slot.as_nanos() {
            0 => {
                let wanted =
                    "at least the length of a slot (and of the interleaver, for measured levels)";
                Err(Fault::new("duration", out_of_range(duration, wanted)))
            }
            slots if slots > u64::from(u32::MAX) => {
                Err(trace::Fault::too_long(slots as usize).into())
            }
            slots => Ok(slots as usize),
        }
    }

    /// Checks that [`Self::trace_within`] can generate a trace, apart from its length.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn check(&self, esn0_db: f64) -> Result<(), Fault> {
        within("esn0", esn0_db, -100.0, 100.0, "a level in dB from -100 to 100")?;
        self.check_receiver()
    }

    /// An endless sequence of slots at an Es/N0 in dB; `channel` distinguishes channels with the
    /// same seed.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn synthesis(&self, esn0_db: f64, seed: Seed, channel: u32) -> Result<Synthesis, Fault> {
        self.check(esn0_db)?;
        let rng = seed.rng(Stream::Channel(channel));
        let fading = Box::new(self.fading_of(&rng)?);
        let step_ns = self.step_ns(&fading);
        let source = Source::Fading { fading, db: self.line_of_sight_db(esn0_db) };
        Ok(Synthesis::new(source, step_ns, &self.receiver, self.slot, &rng))
    }

    /// The PHY traces of one drive at several values of Es/N0 in dB, within a budget. Each equals
    /// the result of [`Self::trace_within`], but the fading, which is most of the work, is drawn once.
    ///
    /// ```
    /// use clift::budget::Budget;
    /// use clift::channel::lms::Preset;
    /// use clift::seed::Seed;
    /// use clift::units::Duration;
    /// let channel = Preset::Internet.channel();
    /// let (drive, named) = (Duration::from_secs(9), (Seed(1), 0));
    /// let both = channel.traces_within(&[5.0, 8.0], drive, named, &Budget::unlimited()).unwrap();
    /// assert_eq!(both[1], channel.trace_within(8.0, drive, named, &Budget::unlimited()).unwrap());
    /// ```
    ///
    /// # Errors
    /// As [`Self::trace_within`].
    pub fn traces_within(
        &self,
        esn0_db: &[f64],
        duration: Duration,
        (seed, channel): (Seed, u32),
        budget: &Budget<'_>,
    ) -> Result<Vec<PhyTrace>, Fault> {
        let count = self.count(duration)?;
        esn0_db.iter().try_for_each(|&db| self.check(db))?;
        let rng = seed.rng(Stream::Channel(channel));
        let mut fading = self.fading_of(&rng)?;
        let step_ns = self.step_ns(&fading);
        let samples = Synthesis::samples(count, self.slot, step_ns, &self.receiver);
        let mut levels = budget.room(samples, format_args!("{samples} levels"))?;
        for number in 0..samples {
            if number % 4096 == 0 {
                budget.ask()?;
            }
            levels.push(decibels(fading.power()));
        }
        let levels: Arc<[f64]> = levels.into();
        let traces = esn0_db.iter().map(|&esn0_db| {
            let (levels, db) = (Arc::clone(&levels), self.line_of_sight_db(esn0_db));
            let source = Source::Drawn { levels, next: 0, db };
            let synthesis = Synthesis::new(source, step_ns, &self.receiver, self.slot, &rng);
            self.trace_of(synthesis, count, budget)
        });
        traces.collect()
    }

    /// Time between samples of the fading, in nanoseconds.
    fn step_ns(&self, fading: &Fading) -> f64 {
        fading.step_m() / self.motion.speed_mps * 1e9
    }

    /// Es/N0 in dB of the unshadowed line of sight.
    fn line_of_sight_db(&self, esn0_db: f64) -> f64 {
        esn0_db + self.receiver.offset_db - self.mean_power_db()
    }

    /// The PHY trace of a (seed, channel) pair, within a budget.
    ///
    /// # Errors
    /// As [`Self::synthesis`], if `duration` holds no slot, or if the budget refuses.
    pub fn trace_within(
        &self,
        esn0_db: f64,
        duration: Duration,
        (seed, channel): (Seed, u32),
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, Fault> {
        let count = self.count(duration)?;
        self.trace_of(self.synthesis(esn0_db, seed, channel)?, count, budget)
    }

    /// The mutual information per slot, on which the decisions of [`Self::trace_within`] are based.
    ///
    /// # Errors
    /// As [`Self::trace_within`].
    pub fn information_within(
        &self,
        esn0_db: f64,
        duration: Duration,
        (seed, channel): (Seed, u32),
        budget: &Budget<'_>,
    ) -> Result<MiTrace, Fault> {
        let count = self.count(duration)?;
        let slots = self.synthesis(esn0_db, seed, channel)?.slots_within(count, budget)?;
        Ok(MiTrace::new(self.slot, slots.information)?)
    }

    /// Passes a measured series of Es/N0 through the same receiver, for the duration of the series
    /// less the depth of the interleaver. Propagation and motion are not used.
    ///
    /// # Errors
    /// If a parameter is out of its range, the series is shorter than a slot, or the budget refuses.
    pub fn of_series_within(
        &self,
        series: Series,
        (seed, channel): (Seed, u32),
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, Fault> {
        let depth = self.receiver.interleaver.depth.as_nanos();
        let lasts = series.duration().as_nanos().saturating_sub(depth);
        let count = self.count(Duration::from_nanos(lasts))?;
        let rng = seed.rng(Stream::Channel(channel));
        // Finer than any fading that a series of levels can represent.
        let step_ns = (self.slot.as_nanos() as f64).min(1e6);
        let source = Source::Series(series.shifted(self.receiver.offset_db).every(step_ns));
        let synthesis = Synthesis::new(source, step_ns, &self.receiver, self.slot, &rng);
        self.trace_of(synthesis, count, budget)
    }

    /// Power over distance relative to [`Reference`], the time between samples, and the scale
    /// factor.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn fading(&self, seed: Seed, channel: u32) -> Result<(Fading, f64, f64), Fault> {
        let fading = self.fading_of(&seed.rng(Stream::Channel(channel)))?;
        let step_s = fading.step_m() / self.motion.speed_mps;
        let scale = libm::exp10(-self.mean_power_db() / 10.0);
        Ok((fading, step_s, scale))
    }

    /// P(level <= `db`), with the level relative to the reference: the closed form of the models.
    pub fn level_cdf(&self, db: f64) -> f64 {
        let law = self.propagation.shadowing.law();
        law.cdf(libm::exp10((db + self.mean_power_db()) / 20.0))
    }

    /// E\[MI\]: the mean mutual information per coded bit over all levels at an Es/N0 in dB, from
    /// the closed form of the models. The mean of a single trace scatters around it.
    ///
    /// # Errors
    /// If the Es/N0 is out of its range.
    pub fn mean_information(&self, esn0_db: f64) -> Result<f64, Fault> {
        within("esn0", esn0_db, -100.0, 100.0, "a level in dB from -100 to 100")?;
        let modulation = self.receiver.modulation;
        let zero_db = esn0_db + self.receiver.offset_db;
        let information = |db: f64| modulation.information(libm::exp10((zero_db + db) / 10.0));
        // E[I] = I(top) - integral of the level's CDF over I.
        let below = LevelCdf::of(&self.propagation.shadowing, self.mean_power_db());
        let mut mean = information(LevelCdf::top_db());
        for cell in below.cells() {
            let rise = information(cell.to_db) - information(cell.from_db);
            // Where all bits are received, the level has no effect.
            if rise > 1e-9 {
                mean -= rise * cell.below();
            }
        }
        Ok(mean)
    }

    fn fading_of(&self, rng: &rand_chacha::ChaCha8Rng) -> Result<Fading, Fault> {
        self.check_receiver()?;
        let Propagation { shadowing, correlation_m } = self.propagation.clone();
        Ok(Fading::new(shadowing, correlation_m, self.motion.wavelength_m, rng))
    }

    fn check_receiver(&self) -> Result<(), Fault> {
        let wanted = "a level in dB from -100 to 100";
        within("offset", self.receiver.offset_db, -100.0, 100.0, wanted)?;
        let depth = self.receiver.interleaver.depth;
        if depth > Duration::from_secs(1000) {
            let wanted = "an interleaver of up to 1000 s";
            return Err(Fault::new("interleaving", out_of_range(depth, wanted)));
        }
        let branches = self.receiver.interleaver.branches.map_or(0, NonZeroU32::get);
        if branches > MOST_BRANCHES {
            let wanted = format!("at most {MOST_BRANCHES}, or 0 for evenly");
            return Err(Fault::new("branches", out_of_range(branches, &wanted)));
        }
        Ok(())
    }

    /// The level in dB by which the envelope is normalised.
    fn mean_power_db(&self) -> f64 {
        match self.reference {
            Reference::LineOfSight => 0.0,
            Reference::UnitMeanPower => {
                10.0 * libm::log10(self.propagation.shadowing.law().mean_power())
            }
        }
    }

    fn trace_of(
        &self,
        mut synthesis: Synthesis,
        count: usize,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, Fault> {
        let slots = synthesis.slots_within(count, budget)?;
        let decode = self.receiver.interleaver.decoding_time(self.slot);
        let header = Header { decode: Some(decode), ..Header::default() };
        Ok(PhyTrace::with_header(slots.t.into(), slots.d.into(), self.lldu, header)?)
    }
}
