//! Configuration of a land mobile channel: a preset with some values replaced.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::{LandMobile, Motion, Reference};
use super::code::{Code, CodeName};
use super::information::{Modulation, any_case};
use super::loo::Loo;
use super::preset::Preset;
use super::tables::{Environment, Propagation};
use super::trees::IsolatedTrees;
use crate::config::Fault;
use crate::units::{Decibels, Degrees, Duration, Gigahertz, KilometresPerHour, Metres};

/// A vehicle terminal with a land mobile satellite channel: fading, interleaver and code. A preset,
/// with the values given here in place of the preset's.
///
/// ```
/// use clift::channel::lms::{Environment, Options, Preset};
/// use clift::units::Degrees;
/// let internet = Options::of(Preset::Internet);
/// let wood = Options { environment: Some(Environment::RuralWooded), ..internet.clone() };
/// assert!(wood.channel().is_ok());
/// let nowhere = Options { elevation: Some(Degrees(40.0)), ..internet };
/// assert!(nowhere.channel().unwrap_err().to_string().contains("environment"));
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Options {
    /// The channel of a paper that provides all values not given here.
    pub preset: Preset,
    /// Es/N0 of the level selected by `reference`. Default: that of the preset (internet 6 dB,
    /// distribution 14 dB, its 10 dB, aeronautical 6 dB).
    pub esn0: Option<Decibels>,
    /// Depth of the interleaver, which is also the decoding time; "0 ms" for none. Default: that of
    /// the preset (36 ms; its 1 ms).
    pub interleaving: Option<Duration>,
    /// Number of instants over which the interleaver spreads a code word, up to 1000; 0 for evenly.
    pub branches: Option<u32>,
    /// The states along the road. They replace the calibration of the preset (no offset, even
    /// spreading), as `loo` and `trees` do.
    pub environment: Option<Environment>,
    /// The model of the environment. Default: the one that has it, P.681 if both do.
    pub propagation: Option<Tables>,
    /// Elevation of the satellite in the environment; default 40 deg.
    pub elevation: Option<Degrees>,
    /// Carrier frequency. Default: that of the preset (2.2 GHz; aeronautical 1.545 GHz).
    pub carrier: Option<Gigahertz>,
    /// Speed of the terminal. Default: that of the preset (60 km/h; aeronautical 35 km/h, a fading
    /// with Doppler shifts of up to 50 Hz).
    pub speed: Option<KilometresPerHour>,
    /// One Loo state, instead of an environment.
    pub loo: Option<LooState>,
    /// A clear road with single trees, instead of an environment.
    pub trees: Option<IsolatedTrees>,
    /// Es/N0 refers to the mean power over fading ("mean") or to the unshadowed line of sight
    /// ("los").
    pub reference: Option<Reference>,
    /// Modulation.
    #[serde(deserialize_with = "any_case")]
    pub modulation: Option<Modulation>,
    /// A built-in code: information bits and rate.
    pub code: Option<CodeName>,
    /// A user-defined code, as rows of [x, PER] with increasing x.
    pub per_table: Option<Vec<(f64, f64)>>,
    /// Meaning of x in `per_table`: "mi" (mutual information per coded bit, the default) or "esn0"
    /// (Es/N0 in dB over the Gaussian channel).
    pub per_axis: Option<PerAxis>,
    /// A hard decision instead of a code: decoded if the mutual information per coded bit is at
    /// least this.
    pub threshold: Option<f64>,
    /// Added to Es/N0.
    pub offset: Option<Decibels>,
}

/// A model of states along a road with built-in parameter tables.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tables {
    /// ITU-R P.681, two states.
    P681,
    /// Perez-Fontan, three states.
    PerezFontan,
}

/// The first column of a table of packet error rates.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum PerAxis {
    /// Mutual information per coded bit.
    #[serde(rename = "mi")]
    Information,
    /// Es/N0 in dB over the Gaussian channel.
    #[serde(rename = "esn0")]
    EsN0,
}

/// One Loo state: a lognormal direct path plus Rayleigh multipath, relative to the unshadowed line
/// of sight.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LooState {
    /// Mean level of the direct path.
    pub direct: Decibels,
    /// Standard deviation of that level.
    pub psi: Decibels,
    /// Mean power of the multipath.
    pub multipath: Decibels,
    /// Distance at which the correlation of shadowing has dropped to 1/e.
    pub correlation: Metres,
}

impl Options {
    /// A preset without changes.
    pub fn of(preset: Preset) -> Self {
        Self { preset, ..Self::default() }
    }

    /// Es/N0 in dB.
    pub fn esn0_db(&self) -> f64 {
        self.esn0.map_or(self.preset.esn0_db(), |Decibels(db)| db)
    }

    /// The channel.
    ///
    /// # Errors
    /// If a parameter is out of range, or parameters contradict each other.
    pub fn channel(&self) -> Result<LandMobile, Fault> {
        let mut channel = self.preset.channel();
        let (speed_kmh, carrier_ghz) = self.preset.speed_and_carrier();
        let carrier_ghz = self.carrier.map_or(carrier_ghz, |Gigahertz(ghz)| ghz);
        let speed_kmh = self.speed.map_or(speed_kmh, |KilometresPerHour(kmh)| kmh);
        if let Some(propagation) = self.road(carrier_ghz)? {
            channel.propagation = propagation;
            // The calibration of a preset applies to its own propagation only.
            channel.receiver.offset_db = 0.0;
            channel.receiver.interleaver.branches = None;
        }
        channel.motion = Motion::new(speed_kmh, carrier_ghz)?;
        channel.reference = self.reference.unwrap_or(channel.reference);
        let receiver = &mut channel.receiver;
        receiver.offset_db = self.offset.map_or(receiver.offset_db, |Decibels(db)| db);
        receiver.interleaver.depth = self.interleaving.unwrap_or(receiver.interleaver.depth);
        if let Some(branches) = self.branches {
            receiver.interleaver.branches = NonZeroU32::new(branches);
        }
        receiver.modulation = self.modulation.unwrap_or(receiver.modulation);
        if let Some(code) = self.own_code(receiver.modulation)? {
            receiver.code = code;
        }
        channel.check(self.esn0_db())?;
        Ok(channel)
    }

    /// The road that replaces that of the preset, if given.
    fn road(&self, carrier_ghz: f64) -> Result<Option<Propagation>, Fault> {
        let given = [self.environment.is_some(), self.loo.is_some(), self.trees.is_some()];
        if given.into_iter().filter(|&given| given).count() > 1 {
            let cure = "environment, loo and trees are alternatives; give one of them";
            return Err(Fault::at(cure));
        }
        let Some(environment) = self.environment else {
            let given = self.propagation.map(|_| "propagation");
            if let Some(name) = given.or(self.elevation.map(|_| "elevation")) {
                let cure = "needs an environment; name one, e.g. environment = \"rural-wooded\", or remove it";
                return Err(Fault::new(name, cure));
            }
            if let Some(state) = self.loo {
                let [direct_db, psi_db, multipath_db] =
                    [state.direct.0, state.psi.0, state.multipath.0];
                let loo = Loo { direct_db, psi_db, multipath_db };
                return Propagation::steady(loo, state.correlation.0).map(Some);
            }
            return self.trees.map(Propagation::trees).transpose();
        };
        let Degrees(elevation_deg) = self.elevation.unwrap_or(Degrees(40.0));
        let made = match self.propagation.unwrap_or_else(|| environment.tables()) {
            Tables::P681 => Propagation::p681(environment.name(), elevation_deg, carrier_ghz),
            Tables::PerezFontan => {
                Propagation::perez_fontan(environment.name(), elevation_deg, carrier_ghz)
            }
        };
        made.map(Some)
    }

    /// The code that replaces that of the preset, if given.
    fn own_code(&self, modulation: Modulation) -> Result<Option<Code>, Fault> {
        if self.per_axis.is_some() && self.per_table.is_none() {
            return Err(Fault::new("per_axis", "needs `per_table`; give one, or remove it"));
        }
        match (self.code, &self.per_table, self.threshold) {
            (code, None, None) => Ok(code.map(Code::named)),
            (None, None, Some(information)) => Code::threshold(information).map(Some),
            (None, Some(rows), None) => match self.per_axis {
                Some(PerAxis::EsN0) => Code::from_esn0(rows, modulation).map(Some),
                _ => Code::from_information(rows).map(Some),
            },
            (_, _, threshold) => {
                let name = threshold.map_or("per_table", |_| "threshold");
                Err(Fault::new(name, "give one of `code`, `per_table` and `threshold`"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn internet() -> Options {
        Options::of(Preset::Internet)
    }

    #[test]
    fn options_without_values_give_the_preset() {
        for (_, preset) in Preset::ALL {
            assert_eq!(Options::of(preset).channel(), Ok(preset.channel()));
        }
    }

    #[test]
    fn an_environment_replaces_the_calibration_but_not_given_values() {
        let wood = Options { environment: Some(Environment::RuralWooded), ..internet() };
        let channel = wood.channel().unwrap();
        assert_eq!(channel.receiver.offset_db, 0.0);
        assert_eq!(channel.receiver.interleaver.branches, None);
        let own = Options { offset: Some(Decibels(-1.0)), branches: Some(3), ..wood };
        let channel = own.channel().unwrap();
        assert_eq!(channel.receiver.offset_db, -1.0);
        assert_eq!(channel.receiver.interleaver.branches, NonZeroU32::new(3));
    }

    #[test]
    fn p681_is_the_default_for_environments_of_both_models() {
        let suburb = Options { environment: Some(Environment::Suburban), ..internet() };
        let is_p681 = |options: &Options| {
            let channel = options.channel().unwrap();
            channel.propagation == Propagation::p681("suburban", 40.0, 2.2).unwrap()
        };
        assert!(is_p681(&suburb));
        assert!(!is_p681(&Options { propagation: Some(Tables::PerezFontan), ..suburb }));
    }

    #[test]
    fn each_environment_is_in_the_tables_of_its_model() {
        for (_, environment) in Environment::ALL {
            let options = Options { environment: Some(environment), ..internet() };
            assert!(options.channel().is_ok(), "{environment}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let trees = IsolatedTrees {
            gap: Metres(60.0),
            crossing: Metres(5.0),
            depth: Decibels(5.0),
            spread: Decibels(0.0),
            multipath: Decibels(-20.0),
        };
        let fault = |options: Options| options.channel().unwrap_err().to_string();
        let both =
            Options { environment: Some(Environment::Urban), trees: Some(trees), ..internet() };
        assert!(fault(both).contains("give one of them"));
        let nowhere = Options { propagation: Some(Tables::P681), ..internet() };
        assert!(fault(nowhere).contains("name one"));
        let two = Options { per_table: Some(Vec::new()), threshold: Some(0.5), ..internet() };
        assert!(fault(two).starts_with("threshold: give one of"));
    }
}
