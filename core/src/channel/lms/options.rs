//! The description of a channel: a preset with some of its values replaced.

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

/// A terminal that drives under a satellite: fading, interleaver and code. A preset, and what takes
/// the place of its own values; what is not given stays as it is.
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
    /// Where every number that is not given comes from, a channel of the papers.
    pub preset: Preset,
    /// Es/N0 of the level that `reference` names; the preset's unless set (internet 6 dB,
    /// distribution 14 dB, its 10 dB).
    pub esn0: Option<Decibels>,
    /// Depth of the interleaver, which is the decoding time; "0 ms" for none. The preset's unless
    /// set (36 ms; its 1 ms).
    pub interleaving: Option<Duration>,
    /// The interleaver spreads a code word to so many instants over its depth; 0 for evenly.
    pub branches: Option<u32>,
    /// The states along the road. Naming an environment drops the preset's calibration (no offset,
    /// even spreading).
    pub environment: Option<Environment>,
    /// The model of the environment; unless set the one that has it, P.681 if both do.
    pub propagation: Option<Tables>,
    /// Elevation of the satellite over the environment; 40 deg unless set.
    pub elevation: Option<Degrees>,
    /// Carrier; 2.2 GHz unless set.
    pub carrier: Option<Gigahertz>,
    /// Speed of the terminal; 60 km/h unless set.
    pub speed: Option<KilometresPerHour>,
    /// One Loo state instead of an environment.
    pub loo: Option<LooState>,
    /// A clear road past single trees instead of an environment.
    pub trees: Option<IsolatedTrees>,
    /// Es/N0 is that of the mean power over fading ("mean") or of the unshadowed line of sight
    /// ("los").
    pub reference: Option<Reference>,
    /// Modulation.
    #[serde(deserialize_with = "any_case")]
    pub modulation: Option<Modulation>,
    /// A code that comes with CLIFT: information bits and rate.
    pub code: Option<CodeName>,
    /// A code of your own, rows of [x, PER] with rising x.
    pub per_table: Option<Vec<(f64, f64)>>,
    /// What x is in `per_table`: "mi" (mutual information per coded bit) or "esn0" (Es/N0 in dB over
    /// the Gaussian channel); "mi" unless set.
    pub per_axis: Option<PerAxis>,
    /// A hard decision instead of a code: decoded from this mutual information per coded bit on.
    pub threshold: Option<f64>,
    /// Added to Es/N0.
    pub offset: Option<Decibels>,
}

/// A model of states along a road that comes with tables.
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
    /// Distance after which the correlation of shadowing has fallen to 1/e.
    pub correlation: Metres,
}

impl Options {
    /// A preset as it is.
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
    /// If a parameter is out of its range, or two of them contradict each other.
    pub fn channel(&self) -> Result<LandMobile, Fault> {
        let mut channel = self.preset.channel();
        let Gigahertz(carrier_ghz) = self.carrier.unwrap_or(Gigahertz(2.2));
        let KilometresPerHour(speed_kmh) = self.speed.unwrap_or(KilometresPerHour(60.0));
        if let Some(propagation) = self.road(carrier_ghz)? {
            channel.propagation = propagation;
        }
        channel.motion = Motion::new(speed_kmh, carrier_ghz)?;
        channel.reference = self.reference.unwrap_or(channel.reference);
        let receiver = &mut channel.receiver;
        if self.environment.is_some() {
            // The calibration of a preset belongs to its own propagation.
            receiver.offset_db = 0.0;
            receiver.interleaver.branches = None;
        }
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

    /// The road in the place of the preset's.
    fn road(&self, carrier_ghz: f64) -> Result<Option<Propagation>, Fault> {
        let given = [self.environment.is_some(), self.loo.is_some(), self.trees.is_some()];
        if given.into_iter().filter(|&given| given).count() > 1 {
            let cure =
                "environment, loo and trees each say what the road is like; give one of them";
            return Err(Fault::at(cure));
        }
        let Some(environment) = self.environment else {
            let given = self.propagation.map(|_| "propagation");
            if let Some(name) = given.or(self.elevation.map(|_| "elevation")) {
                let cure = "belongs to an environment; name one, e.g. environment = \"rural-wooded\", or leave it out";
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

    /// The code in the place of the preset's.
    fn own_code(&self, modulation: Modulation) -> Result<Option<Code>, Fault> {
        if self.per_axis.is_some() && self.per_table.is_none() {
            return Err(Fault::new("per_axis", "belongs to `per_table`; leave it out"));
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
    fn nothing_replaced_is_the_preset() {
        for (_, preset) in Preset::ALL {
            assert_eq!(Options::of(preset).channel(), Ok(preset.channel()));
        }
    }

    #[test]
    fn an_environment_drops_the_calibration_but_not_what_is_given() {
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
    fn what_both_models_hold_is_p681_unless_said() {
        let suburb = Options { environment: Some(Environment::Suburban), ..internet() };
        let is_p681 = |options: &Options| {
            let channel = options.channel().unwrap();
            channel.propagation == Propagation::p681("suburban", 40.0, 2.2).unwrap()
        };
        assert!(is_p681(&suburb));
        assert!(!is_p681(&Options { propagation: Some(Tables::PerezFontan), ..suburb }));
    }

    #[test]
    fn each_environment_has_a_row_in_the_tables_that_it_names() {
        for (_, environment) in Environment::ALL {
            let options = Options { environment: Some(environment), ..internet() };
            assert!(options.channel().is_ok(), "{environment}");
        }
    }

    #[test]
    fn contradictions_are_told() {
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
