//! Units of the ends of a range, so that a range can run from "100 kbit/s" to "10 Mbit/s".

use crate::units::{MEASURES, WHOLE_UNITS, split_number};

/// A unit of quantities in a scenario.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    /// The first unit of its kind. Units of one kind can be converted into one another.
    base: &'static str,
    /// Value of the unit in the first unit of its kind.
    pub(super) factor: f64,
    /// Whether a number in this unit must be an integer multiple of the first unit of its kind.
    pub(super) is_whole: bool,
}

/// The empty unit.
pub(super) const NONE: Unit = Unit { name: "", base: "", factor: 1.0, is_whole: false };

/// Units of texts that are no quantity, or several.
const OTHERS: [&[(&str, f64)]; 3] =
    [&[("", 1.0)], &[("%", 1.0)], &[("Bd", 1.0), ("kBd", 1e3), ("MBd", 1e6), ("GBd", 1e9)]];

/// Number and unit of a text such as "2.3 Mbit/s".
pub(super) fn measured(text: &str) -> Option<(f64, Unit)> {
    let (number, name) = split_number(text);
    let name = if name == "packet" { "packets" } else { name };
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some((number, Unit::named(name)?))
}

impl Unit {
    fn named(wanted: &str) -> Option<Self> {
        let packets: &[_] = &[("packets", 1)];
        let whole = WHOLE_UNITS.into_iter().chain([packets]).flat_map(|kind| {
            let unit = |&(name, factor)| (name, kind[0].0, factor as f64, true);
            kind.iter().map(unit)
        });
        let others = MEASURES.into_iter().chain(OTHERS).flat_map(|kind| {
            let unit = |&(name, factor)| (name, kind[0].0, factor, false);
            kind.iter().map(unit)
        });
        let found = whole.chain(others).find(|(name, ..)| *name == wanted);
        found.map(|(name, base, factor, is_whole)| Self { name, base, factor, is_whole })
    }

    /// Whether a number in this unit can be converted to the other.
    pub(super) fn fits(self, other: Self) -> bool {
        self.base == other.base
    }

    /// The first unit of this kind.
    pub(super) fn base(self) -> Self {
        Self { name: self.base, factor: 1.0, ..self }
    }
}
