//! A preset with some of its values replaced: what the library, the command line and scenario files
//! take.

use std::num::NonZeroU32;
use std::str::FromStr;

use serde::Serialize;

use super::channel::{LandMobile, Motion, Reference};
use super::code::Code;
use super::error::LmsError;
use super::information::Modulation;
use super::loo::Loo;
use super::preset::Preset;
use super::tables::{Propagation, environments};
use super::trees::IsolatedTrees;
use crate::units::{Bytes, Duration};

/// A preset, and what takes the place of its own values; what is `None` stays as it is.
///
/// ```
/// use clift::channel::lms::{Options, Preset};
/// let wood = Options { environment: Some("rural-wooded".to_owned()), ..Options::of(Preset::Internet) };
/// assert!(wood.channel().is_ok());
/// let nowhere = Options { elevation_deg: Some(40.0), ..Options::of(Preset::Internet) };
/// assert!(nowhere.channel().unwrap_err().to_string().contains("environment"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Options {
    /// Where everything else comes from.
    pub preset: Preset,
    /// States along the road, by the name of the environment. Naming one drops the preset's
    /// calibration: no offset, even spreading.
    pub environment: Option<String>,
    /// The model whose tables hold the environment; P.681 if both do.
    pub model: Option<Model>,
    /// Elevation of the satellite in degrees; 40 unless given. Needs an environment.
    pub elevation_deg: Option<f64>,
    /// Carrier in GHz.
    pub carrier_ghz: Option<f64>,
    /// Instead of an environment: one Loo state, and the correlation length of shadowing in metres.
    pub loo: Option<(Loo, f64)>,
    /// Instead of an environment: a clear road past single trees.
    pub trees: Option<IsolatedTrees>,
    /// Speed of the terminal in km/h.
    pub speed_kmh: Option<f64>,
    /// The level for which Es/N0 is told.
    pub reference: Option<Reference>,
    /// Modulation of the symbols.
    pub modulation: Option<Modulation>,
    /// Depth of the interleaver.
    pub interleaving: Option<Duration>,
    /// Instants that a code word is spread to; 0: evenly.
    pub branches: Option<u32>,
    /// The code.
    pub code: Option<CodeChoice>,
    /// Added to Es/N0, in dB.
    pub offset_db: Option<f64>,
    /// From slot to slot.
    pub slot: Option<Duration>,
    /// Payload of a slot.
    pub lldu: Option<Bytes>,
}

/// A model of states along a road that comes with tables.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub enum Model {
    /// ITU-R P.681, two states.
    P681,
    /// Perez-Fontan, three states.
    PerezFontan,
}

/// A code in place of the preset's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum CodeChoice {
    /// One of [`Code::NAMES`].
    Named(String),
    /// Rows of (mutual information per coded bit, PER).
    Information(Vec<(f64, f64)>),
    /// Rows of (Es/N0 in dB over the Gaussian channel, PER).
    EsN0(Vec<(f64, f64)>),
    /// Decoded exactly from this mutual information per coded bit on.
    Threshold(f64),
}

impl Options {
    /// A preset as it is.
    pub fn of(preset: Preset) -> Self {
        Self {
            preset,
            environment: None,
            model: None,
            elevation_deg: None,
            carrier_ghz: None,
            loo: None,
            trees: None,
            speed_kmh: None,
            reference: None,
            modulation: None,
            interleaving: None,
            branches: None,
            code: None,
            offset_db: None,
            slot: None,
            lldu: None,
        }
    }

    /// The channel.
    ///
    /// # Errors
    /// If a parameter cannot be, or two of them contradict each other.
    pub fn channel(&self) -> Result<LandMobile, LmsError> {
        let mut channel = self.preset.channel();
        let carrier_ghz = self.carrier_ghz.unwrap_or(2.2);
        if let Some(propagation) = self.propagation(carrier_ghz)? {
            channel.propagation = propagation;
        }
        channel.motion = Motion::new(self.speed_kmh.unwrap_or(60.0), carrier_ghz)?;
        channel.reference = self.reference.unwrap_or(channel.reference);
        channel.slot = self.slot.unwrap_or(channel.slot);
        channel.lldu = self.lldu.unwrap_or(channel.lldu);
        let receiver = &mut channel.receiver;
        if self.environment.is_some() {
            // The calibration of a preset belongs to its own propagation.
            receiver.offset_db = 0.0;
            receiver.interleaver.branches = None;
        }
        receiver.offset_db = self.offset_db.unwrap_or(receiver.offset_db);
        receiver.interleaver.depth = self.interleaving.unwrap_or(receiver.interleaver.depth);
        if let Some(branches) = self.branches {
            receiver.interleaver.branches = NonZeroU32::new(branches);
        }
        receiver.modulation = self.modulation.unwrap_or(receiver.modulation);
        if let Some(choice) = &self.code {
            receiver.code = choice.code(receiver.modulation)?;
        }
        Ok(channel)
    }

    fn propagation(&self, carrier_ghz: f64) -> Result<Option<Propagation>, LmsError> {
        let given = [self.environment.is_some(), self.loo.is_some(), self.trees.is_some()];
        if given.into_iter().filter(|&given| given).count() > 1 {
            return Err(LmsError::Contradiction(
                "environment, loo and trees each say what the road is like; give one of them",
            ));
        }
        let Some(environment) = &self.environment else {
            if self.model.is_some() || self.elevation_deg.is_some() {
                return Err(LmsError::Contradiction(
                    "model and elevation belong to an environment; name one, e.g. rural-wooded",
                ));
            }
            if let Some((loo, correlation_m)) = self.loo {
                return Propagation::steady(loo, correlation_m).map(Some);
            }
            return self.trees.map(Propagation::trees).transpose();
        };
        let elevation_deg = self.elevation_deg.unwrap_or(40.0);
        let propagation = match self.model.map_or_else(|| holder(environment), Ok)? {
            Model::P681 => Propagation::p681(environment, elevation_deg, carrier_ghz),
            Model::PerezFontan => {
                Propagation::perez_fontan(environment, elevation_deg, carrier_ghz)
            }
        };
        propagation.map(Some)
    }
}

/// The model that has an environment; P.681 if both do.
fn holder(environment: &str) -> Result<Model, LmsError> {
    let (p681, perez_fontan) = environments();
    if p681.contains(&environment) {
        return Ok(Model::P681);
    }
    if perez_fontan.contains(&environment) {
        return Ok(Model::PerezFontan);
    }
    Err(LmsError::Unknown {
        what: "environment",
        given: environment.to_owned(),
        known: format!("{} (p681), {} (perez-fontan)", p681.join(", "), perez_fontan.join(", ")),
    })
}

impl CodeChoice {
    fn code(&self, modulation: Modulation) -> Result<Code, LmsError> {
        match self {
            Self::Named(name) => Code::named(name),
            Self::Information(rows) => Code::from_information(rows),
            Self::EsN0(rows) => Code::from_esn0(rows, modulation),
            Self::Threshold(information) => Code::threshold(*information),
        }
    }
}

impl FromStr for Model {
    type Err = LmsError;

    fn from_str(text: &str) -> Result<Self, LmsError> {
        match text {
            "p681" => Ok(Self::P681),
            "perez-fontan" => Ok(Self::PerezFontan),
            _ => Err(LmsError::Unknown {
                what: "model",
                given: text.to_owned(),
                known: "p681, perez-fontan".to_owned(),
            }),
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
        let wood = Options { environment: Some("rural-wooded".to_owned()), ..internet() };
        let channel = wood.channel().unwrap();
        assert_eq!(channel.receiver.offset_db, 0.0);
        assert_eq!(channel.receiver.interleaver.branches, None);
        let own = Options { offset_db: Some(-1.0), branches: Some(3), ..wood };
        let channel = own.channel().unwrap();
        assert_eq!(channel.receiver.offset_db, -1.0);
        assert_eq!(channel.receiver.interleaver.branches, NonZeroU32::new(3));
    }

    #[test]
    fn what_both_models_hold_is_p681_unless_said() {
        let suburb = Options { environment: Some("suburban".to_owned()), ..internet() };
        let is_p681 = |options: &Options| {
            let channel = options.channel().unwrap();
            channel.propagation == Propagation::p681("suburban", 40.0, 2.2).unwrap()
        };
        assert!(is_p681(&suburb));
        assert!(!is_p681(&Options { model: Some(Model::PerezFontan), ..suburb }));
    }

    #[test]
    fn contradictions_are_told() {
        let trees = IsolatedTrees {
            gap_m: 60.0,
            crossing_m: 5.0,
            depth_db: 5.0,
            depth_sd_db: 0.0,
            multipath_db: -20.0,
        };
        let fault = |options: Options| options.channel().unwrap_err().to_string();
        let both =
            Options { environment: Some("urban".to_owned()), trees: Some(trees), ..internet() };
        assert!(fault(both).contains("give one of them"));
        assert!(fault(Options { model: Some(Model::P681), ..internet() }).contains("name one"));
        let lunar = Options { environment: Some("lunar".to_owned()), ..internet() };
        assert!(fault(lunar).contains("heavy-tree-shadowed (perez-fontan)"));
    }
}
