//! `model = "lms"`: a land mobile satellite channel from the keys of `[channel]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::channel::{Channel, Model};
use crate::channel::lms::{
    CodeChoice, IsolatedTrees, LmsError, Loo, Options, Preset, environments,
};
use crate::config::Fault;
use crate::config::nearest;
use crate::units::Duration;
use crate::units::{Decibels, Degrees, Gigahertz, KilometresPerHour, Metres};

/// A land mobile satellite channel for as long as a run needs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LandMobileSpec {
    /// The preset, and what takes the place of its values.
    pub options: Options,
    /// Es/N0 in dB.
    pub esn0_db: f64,
    /// Length of the trace.
    pub duration: Duration,
}

/// One Loo state: a lognormal direct path plus Rayleigh multipath, relative to the unshadowed line
/// of sight.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
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

/// A clear road past single trees.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Trees {
    /// Mean distance between fades.
    pub gap: Metres,
    /// Length of a fade.
    pub crossing: Metres,
    /// Mean of the deepest attenuation of a fade.
    pub depth: Decibels,
    /// Standard deviation of that over fades.
    pub spread: Decibels,
    /// Mean power of the multipath.
    pub multipath: Decibels,
}

impl Channel {
    /// Keys of this model, and whether they are given.
    pub(super) fn land_mobile_keys(&self) -> [(&'static str, bool); 18] {
        [
            ("preset", self.preset.is_some()),
            ("esn0", self.esn0.is_some()),
            ("interleaving", self.interleaving.is_some()),
            ("branches", self.branches.is_some()),
            ("environment", self.environment.is_some()),
            ("propagation", self.propagation.is_some()),
            ("elevation", self.elevation.is_some()),
            ("carrier", self.carrier.is_some()),
            ("speed", self.speed.is_some()),
            ("loo", self.loo.is_some()),
            ("trees", self.trees.is_some()),
            ("reference", self.reference.is_some()),
            ("modulation", self.modulation.is_some()),
            ("code", self.code.is_some()),
            ("per_table", self.per_table.is_some()),
            ("per_axis", self.per_axis.is_some()),
            ("threshold", self.threshold.is_some()),
            ("offset", self.offset.is_some()),
        ]
    }

    /// The channel for runs of `duration`, checked.
    pub(super) fn land_mobile(
        &self,
        key: &str,
        duration: Duration,
    ) -> Result<LandMobileSpec, Fault> {
        self.check_land_mobile(key)?;
        let options = self.options(key)?;
        let channel = options.channel().map_err(|error| self.problem(key, error))?;
        let esn0_db = self.esn0.map_or(options.preset.esn0_db(), |Decibels(db)| db);
        channel.check(esn0_db).map_err(|error| self.problem(key, error))?;
        let length = self.length(key, duration, channel.slot)?;
        Ok(LandMobileSpec { options, esn0_db, duration: length })
    }

    /// The channel with its Es/N0 in dB where no slots are made of it.
    pub(super) fn land_mobile_options(&self, key: &str) -> Result<(Options, f64), Fault> {
        if self.model != Model::Lms {
            let cure = "adaptive HARQ lives on a land mobile channel; give model = \"lms\"";
            return Err(Fault::of(key, "model", cure));
        }
        self.check_land_mobile(key)?;
        let options = self.options(key)?;
        let channel = options.channel().map_err(|error| self.problem(key, error))?;
        let esn0_db = self.esn0.map_or(options.preset.esn0_db(), |Decibels(db)| db);
        channel.check(esn0_db).map_err(|error| self.problem(key, error))?;
        Ok((options, esn0_db))
    }

    /// Complains of keys that this model, or this road, has no use for.
    fn check_land_mobile(&self, key: &str) -> Result<(), Fault> {
        let given = [
            ("erasures", self.erasures.is_some()),
            ("burst", self.burst.is_some()),
            ("alpha", self.alpha.is_some()),
            ("beta", self.beta.is_some()),
            ("p_good", self.p_good.is_some()),
            ("p_bad", self.p_bad.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
            let cure = "belongs to another model: with \"lms\" erasures follow from `esn0`; leave it out or change the model";
            return Err(Fault::of(key, name, cure));
        }
        if self.environment.is_none() {
            let given = [
                ("propagation", self.propagation.is_some()),
                ("elevation", self.elevation.is_some()),
            ];
            if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
                let cure = "belongs to an environment; name one, e.g. environment = \"rural-wooded\", or leave it out";
                return Err(Fault::of(key, name, cure));
            }
        }
        if self.decoding.is_some() {
            let cure = "with \"lms\" it is the interleaver's depth; give `interleaving` instead";
            return Err(Fault::of(key, "decoding", cure));
        }
        Ok(())
    }

    fn options(&self, key: &str) -> Result<Options, Fault> {
        let fault = |error: LmsError| self.problem(key, error);
        let preset: Preset =
            self.preset.as_deref().map_or(Ok(Preset::Internet), str::parse).map_err(fault)?;
        let lldu = self.lldu.unwrap_or(preset.channel().lldu);
        Ok(Options {
            environment: self.environment.clone(),
            model: self.propagation.as_deref().map(str::parse).transpose().map_err(fault)?,
            elevation_deg: self.elevation.map(|Degrees(angle)| angle),
            carrier_ghz: self.carrier.map(|Gigahertz(carrier)| carrier),
            loo: self.loo.as_ref().map(LooState::parameters),
            trees: self.trees.as_ref().map(Trees::parameters),
            speed_kmh: self.speed.map(|KilometresPerHour(speed)| speed),
            reference: self.reference.as_deref().map(str::parse).transpose().map_err(fault)?,
            modulation: self.modulation.as_deref().map(str::parse).transpose().map_err(fault)?,
            interleaving: self.interleaving,
            branches: self.branches,
            code: self.code_choice(key)?,
            offset_db: self.offset.map(|Decibels(db)| db),
            slot: self.slot(key, lldu)?,
            lldu: self.lldu,
            ..Options::of(preset)
        })
    }

    fn code_choice(&self, key: &str) -> Result<Option<CodeChoice>, Fault> {
        let given = [
            ("code", self.code.is_some()),
            ("per_table", self.per_table.is_some()),
            ("threshold", self.threshold.is_some()),
        ];
        if given.iter().filter(|(_, given)| *given).count() > 1 {
            // The last one of them: two are given.
            let name = given.iter().rfind(|(_, given)| *given).map_or("code", |(name, _)| name);
            let cure = "give one of `code`, `per_table` and `threshold`";
            return Err(Fault::of(key, name, cure));
        }
        if let (Some(_), None) = (&self.per_axis, &self.per_table) {
            return Err(Fault::of(key, "per_axis", "belongs to `per_table`; leave it out"));
        }
        if let Some(rows) = &self.per_table {
            return match self.per_axis.as_deref() {
                None | Some("mi") => Ok(Some(CodeChoice::Information(rows.clone()))),
                Some("esn0") => Ok(Some(CodeChoice::EsN0(rows.clone()))),
                Some(other) => {
                    let message = format!("unknown value `{other}`, one of mi, esn0");
                    Err(Fault::of(key, "per_axis", message))
                }
            };
        }
        let named = self.code.clone().map(CodeChoice::Named);
        Ok(named.or(self.threshold.map(CodeChoice::Threshold)))
    }

    /// The words of a scenario file for what the channel says, with the nearest name that exists.
    fn problem(&self, key: &str, error: LmsError) -> Fault {
        let hint = |given: &str, known: &str| {
            let names = known.split(", ").map(|name| name.split(" (").next().unwrap_or(name));
            nearest(given, names).map(|near| format!(" (did you mean {near}?)")).unwrap_or_default()
        };
        match &error {
            LmsError::Unknown { what, given, known } => {
                let name = if *what == "model" { "propagation" } else { what };
                let hint = hint(given, known);
                Fault::of(key, name, format!("unknown value `{given}`, one of {known}{hint}"))
            }
            LmsError::Environment { environment, known, .. } => {
                let hint = hint(environment, known);
                Fault::of(key, "environment", format!("{error}{hint}"))
            }
            LmsError::Elevation { .. } => Fault::of(key, "elevation", error.to_string()),
            LmsError::Carrier { .. } => Fault::of(key, "carrier", error.to_string()),
            LmsError::Table(_) => Fault::of(key, "per_table", error.to_string()),
            LmsError::Range { name, value, wanted } => {
                let name = key_of(name, self.trees.is_some());
                let given = match self.interleaving {
                    Some(depth) if name == "interleaving" => depth.to_string(),
                    _ => value.to_string(),
                };
                Fault::of(key, name, format!("{given} is out of range; give {wanted}"))
            }
            _ => Fault::new(key, error.to_string()),
        }
    }
}

impl LooState {
    fn parameters(&self) -> (Loo, f64) {
        let loo =
            Loo { direct_db: self.direct.0, psi_db: self.psi.0, multipath_db: self.multipath.0 };
        (loo, self.correlation.0)
    }
}

impl Trees {
    fn parameters(&self) -> IsolatedTrees {
        IsolatedTrees {
            gap_m: self.gap.0,
            crossing_m: self.crossing.0,
            depth_db: self.depth.0,
            depth_sd_db: self.spread.0,
            multipath_db: self.multipath.0,
        }
    }
}

/// The environments of either model.
pub(super) fn all_environments() -> Vec<&'static str> {
    let (mut names, others) = environments();
    names.extend(others.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>());
    names
}

/// The key that gives a parameter of the channel.
fn key_of(parameter: &'static str, trees: bool) -> &'static str {
    match parameter {
        "multipath_db" if trees => "trees.multipath",
        "multipath_db" => "loo.multipath",
        "esn0_db" => "esn0",
        "interleaving_ms" => "interleaving",
        "offset_db" => "offset",
        "speed_kmh" => "speed",
        "carrier_ghz" => "carrier",
        "direct_db" => "loo.direct",
        "psi_db" => "loo.psi",
        "correlation_m" => "loo.correlation",
        "gap_m" => "trees.gap",
        "crossing_m" => "trees.crossing",
        "depth_db" => "trees.depth",
        "depth_sd_db" => "trees.spread",
        other => other,
    }
}
