//! Parameter sets of the standard models, by environment, elevation and carrier.

use super::csv::{self, Row};
use super::loo::Loo;
use super::named::named;
use super::options::Tables;
use super::shadowing::{Road, Segment, Shadowing, road_stream};
use super::three_state::{ChainState, ThreeState};
use super::trees::IsolatedTrees;
use super::two_state::{EventState, TwoState};
use super::within;
use crate::config::Fault;
use crate::seed::{Seed, Stream};

const P681: &str = include_str!("data/p681.csv");
const PEREZ_FONTAN: &str = include_str!("data/perez_fontan.csv");

named! {
    /// The states along a road, in the tables of P.681 or of Perez-Fontan.
    pub enum Environment {
        /// P.681.
        Urban = "urban",
        /// P.681 and Perez-Fontan.
        Suburban = "suburban",
        /// P.681.
        RuralWooded = "rural-wooded",
        /// P.681.
        Village = "village",
        /// P.681.
        Residential = "residential",
        /// Perez-Fontan.
        Open = "open",
        /// Perez-Fontan.
        IntermediateTreeShadowed = "intermediate-tree-shadowed",
        /// Perez-Fontan.
        HeavyTreeShadowed = "heavy-tree-shadowed",
    }
}

impl Environment {
    /// The tables that hold it; P.681 if both do.
    pub(super) fn tables(self) -> Tables {
        let p681 = csv::rows(P681).any(|row| row.text(2) == self.name());
        if p681 { Tables::P681 } else { Tables::PerezFontan }
    }
}

/// States along the road and the correlation length of shadowing within them.
#[derive(Clone, Debug, PartialEq)]
pub struct Propagation {
    /// The states.
    pub shadowing: Shadowing,
    /// Metres after which the correlation of shadowing has fallen to 1/e.
    pub correlation_m: f64,
}

impl Propagation {
    /// The two-state model of ITU-R P.681 (narrowband), parameters interpolated linearly between
    /// the elevations of its table.
    ///
    /// # Errors
    /// If the tables do not hold the environment, the elevation or the carrier.
    ///
    /// ```
    /// use clift::channel::lms::Propagation;
    /// assert!(Propagation::p681("rural-wooded", 40.0, 2.2).is_ok());
    /// let error = Propagation::p681("tundra", 40.0, 2.2).unwrap_err().to_string();
    /// assert!(error.contains("rural-wooded"));
    /// ```
    pub fn p681(environment: &str, elevation_deg: f64, carrier_ghz: f64) -> Result<Self, Fault> {
        const MODEL: &str = "P.681";
        let in_band: Vec<Row<'_>> = csv::rows(P681)
            .filter(|row| (row.number(0)..=row.number(1)).contains(&carrier_ghz))
            .collect();
        if in_band.is_empty() {
            return Err(carrier(MODEL, carrier_ghz, "1.5 to 3 and 3 to 5 GHz"));
        }
        let all = in_band.iter().map(|row| row.text(2));
        check_environment(MODEL, environment, all)?;
        // At 3 GHz both bands match: the lower one, which comes first, is taken.
        let band = in_band[0].number(0);
        let rows: Vec<_> = in_band
            .into_iter()
            .filter(|row| row.text(2) == environment && row.number(0) == band)
            .collect();
        let angles: Vec<f64> = rows.iter().map(|row| row.number(3)).collect();
        let (low, high, place) = bracket(MODEL, environment, elevation_deg, &angles)?;
        let value = |column: usize| {
            let (low, high) = (rows[low].number(column), rows[high].number(column));
            low + (high - low) * place
        };
        let state = |first: usize, level_tail: f64| EventState {
            mu: value(first),
            sigma: value(first + 1),
            shortest_m: value(first + 2),
            level_mean_db: value(first + 3),
            level_sd_db: value(first + 4),
            level_tail,
            multipath: [value(first + 5), value(first + 6)],
            psi: [value(first + 7), value(first + 8)],
        };
        let model = TwoState {
            states: [state(4, 0.05), state(13, 0.1)],
            transition_slope: value(23),
            transition_offset_m: value(24),
        };
        Ok(Self { shadowing: Shadowing::TwoState(model), correlation_m: value(22) })
    }

    /// The three-state model of Perez-Fontan in S band; interpolated linearly where the table
    /// holds several elevations (the open environment).
    ///
    /// # Errors
    /// If the tables do not hold the environment, the elevation or the carrier.
    pub fn perez_fontan(
        environment: &str,
        elevation_deg: f64,
        carrier_ghz: f64,
    ) -> Result<Self, Fault> {
        const MODEL: &str = "Perez-Fontan";
        if !(2.0..=4.0).contains(&carrier_ghz) {
            return Err(carrier(MODEL, carrier_ghz, "S band, 2 to 4 GHz"));
        }
        let all: Vec<_> = csv::rows(PEREZ_FONTAN).collect();
        check_environment(MODEL, environment, all.iter().map(|row| row.text(0)))?;
        let rows: Vec<_> = all.iter().filter(|row| row.text(0) == environment).collect();
        let mut angles: Vec<f64> = rows.iter().map(|row| row.number(1)).collect();
        angles.dedup();
        let count = rows.len() / angles.len();
        let (low, high, place) = bracket(MODEL, environment, elevation_deg, &angles)?;
        let value = |state: usize, column: usize| {
            let at = |angle: usize| rows[angle * count + state].number(column);
            at(low) + (at(high) - at(low)) * place
        };
        // The first of an environment with two states is state 2 of the model.
        let first = rows[0].number(2) as usize - 1;
        let states = (0..count).map(|state| ChainState {
            next: row_of(&value, state, first, count),
            loo: Loo {
                direct_db: value(state, 6),
                psi_db: value(state, 7),
                multipath_db: value(state, 8),
            },
            frame_m: value(state, 9),
        });
        let model = ThreeState { states: states.collect(), transition_m: value(0, 11) };
        Ok(Self { shadowing: Shadowing::ThreeState(model), correlation_m: value(0, 10) })
    }

    /// One Loo state everywhere.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn steady(loo: Loo, correlation_m: f64) -> Result<Self, Fault> {
        within("loo.direct", loo.direct_db, -100.0, 100.0, "a level in dB from -100 to 100")?;
        within("loo.psi", loo.psi_db, 0.0, 30.0, "a standard deviation in dB from 0 to 30")?;
        within("loo.multipath", loo.multipath_db, -200.0, 50.0, "a level in dB from -200 to 50")?;
        within(
            "loo.correlation",
            correlation_m,
            1e-3,
            1e6,
            "a length in metres from 0.001 to 1e6",
        )?;
        Ok(Self { shadowing: Shadowing::Steady(loo), correlation_m })
    }

    /// The road in stretches, from a random place on; `channel` tells channels of a seed apart.
    pub fn segments(&self, seed: Seed, channel: u32) -> impl Iterator<Item = Segment> + use<> {
        let mut road =
            Road::new(self.shadowing.clone(), road_stream(&seed.rng(Stream::Channel(channel))));
        std::iter::from_fn(move || Some(road.segment()))
    }

    /// A clear road past single trees.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn trees(trees: IsolatedTrees) -> Result<Self, Fault> {
        let length = "a length in metres from 0.01 to 1e6";
        within("trees.gap", trees.gap.0, 0.01, 1e6, length)?;
        within("trees.crossing", trees.crossing.0, 0.01, 1e6, length)?;
        within("trees.depth", trees.depth.0, 0.0, 100.0, "an attenuation in dB from 0 to 100")?;
        within("trees.spread", trees.spread.0, 0.0, 30.0, "a spread in dB from 0 to 30")?;
        within(
            "trees.multipath",
            trees.multipath.0,
            -200.0,
            50.0,
            "a level in dB from -200 to 50",
        )?;
        // No shadowing within a state, so no correlation of it: any length will do.
        Ok(Self { shadowing: Shadowing::Trees(trees), correlation_m: 1.0 })
    }
}

/// Transition probabilities of a state, scaled to add up to 1 (the table is rounded).
fn row_of(
    value: &impl Fn(usize, usize) -> f64,
    state: usize,
    first: usize,
    count: usize,
) -> Vec<f64> {
    let row: Vec<f64> = (0..count).map(|to| value(state, 3 + first + to)).collect();
    let sum: f64 = row.iter().sum();
    row.into_iter().map(|probability| probability / sum).collect()
}

fn carrier(model: &str, given_ghz: f64, known: &str) -> Fault {
    let cure =
        format!("a carrier of {given_ghz} GHz is outside the {model} tables, which hold {known}");
    Fault::new("carrier", cure)
}

fn check_environment<'a>(
    model: &'static str,
    environment: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), Fault> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if name == environment {
            return Ok(());
        }
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let known = known.join(", ");
    let cure = format!("the {model} tables hold no environment `{environment}`; they hold {known}");
    Err(Fault::new("environment", cure))
}

/// The rows on either side of an elevation, and where between them it is.
fn bracket(
    model: &'static str,
    environment: &str,
    elevation: f64,
    angles: &[f64],
) -> Result<(usize, usize, f64), Fault> {
    let (first, last) = (angles[0], angles[angles.len() - 1]);
    if !(first..=last).contains(&elevation) {
        let known = match angles {
            [only] => format!("{only} degrees only"),
            _ => format!("{first} to {last} degrees"),
        };
        let cure = format!(
            "elevation {elevation} degrees is outside the {model} table of {environment}, which holds {known}"
        );
        return Err(Fault::new("elevation", cure));
    }
    let high = angles.iter().position(|&angle| angle >= elevation).unwrap_or(0);
    let low = if angles[high] == elevation { high } else { high - 1 };
    let place =
        if low == high { 0.0 } else { (elevation - angles[low]) / (angles[high] - angles[low]) };
    Ok((low, high, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_both_tables_makes_a_channel() {
        for row in csv::rows(P681) {
            let carrier = 0.5 * (row.number(0) + row.number(1));
            let channel = Propagation::p681(row.text(2), row.number(3), carrier).unwrap();
            let Shadowing::TwoState(model) = &channel.shadowing else { panic!() };
            assert_eq!(model.states[0].mu, row.number(4));
            assert_eq!(model.states[1].psi[1], row.number(21));
            assert_eq!(
                (channel.correlation_m, model.transition_offset_m),
                (row.number(22), row.number(24))
            );
        }
        for row in csv::rows(PEREZ_FONTAN) {
            let channel = Propagation::perez_fontan(row.text(0), row.number(1), 2.2).unwrap();
            let Shadowing::ThreeState(model) = &channel.shadowing else { panic!() };
            let state = row.number(2) as usize - (4 - model.states.len());
            assert_eq!(model.states[state].loo.direct_db, row.number(6));
            let sum: f64 = model.states[state].next.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn elevations_between_rows_are_interpolated() {
        let at = |elevation: f64| {
            let channel = Propagation::p681("suburban", elevation, 2.0).unwrap();
            let Shadowing::TwoState(model) = channel.shadowing else { panic!() };
            (channel.correlation_m, model.states[1].level_mean_db)
        };
        let (low, middle, high) = (at(30.0), at(40.0), at(45.0));
        let expected = low.1 + (high.1 - low.1) * 10.0 / 15.0;
        assert!((middle.1 - expected).abs() < 1e-12);
        assert!((middle.0 - (low.0 + (high.0 - low.0) * 2.0 / 3.0)).abs() < 1e-12);
    }

    /// W of the tables: [0.3929, 0.3571, 0.25] for intermediate tree shadowing.
    #[test]
    fn the_chain_has_the_printed_state_probabilities() {
        let printed = [
            ("open", [0.5, 0.375, 0.125]),
            ("suburban", [0.4545, 0.4545, 0.091]),
            ("intermediate-tree-shadowed", [0.3929, 0.3571, 0.25]),
        ];
        for (environment, expected) in printed {
            let channel = Propagation::perez_fontan(environment, 40.0, 2.2).unwrap();
            let Shadowing::ThreeState(model) = &channel.shadowing else { panic!() };
            for (share, expected) in model.frame_shares().iter().zip(expected) {
                assert!((share - expected).abs() < 1e-3, "{environment} {share} {expected}");
            }
        }
    }

    #[test]
    fn what_is_not_in_a_table_is_refused_with_what_is() {
        let fault = |result: Result<Propagation, Fault>| result.unwrap_err().to_string();
        let message = fault(Propagation::p681("lunar", 45.0, 2.2));
        for name in ["urban", "suburban", "rural-wooded", "village", "residential"] {
            assert!(message.contains(name), "{message}");
        }
        assert!(fault(Propagation::p681("urban", 10.0, 2.2)).contains("20 to 70 degrees"));
        assert!(fault(Propagation::p681("urban", f64::NAN, 2.2)).contains("20 to 70 degrees"));
        assert!(fault(Propagation::p681("urban", 45.0, 12.0)).contains("3 to 5 GHz"));
        assert!(fault(Propagation::perez_fontan("urban", 40.0, 2.2)).contains("suburban"));
        let message = fault(Propagation::perez_fontan("suburban", 45.0, 2.2));
        assert!(message.contains("40 degrees only"), "{message}");
        assert!(fault(Propagation::perez_fontan("open", 40.0, 1.0)).contains("S band"));
    }
}
