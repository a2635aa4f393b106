//! Quantities of modems in text form: dB, dBHz, symbols per second.

use std::fmt;
use std::str::FromStr;

use super::given::{ColumnUnit, Given, Measured, unit};
use crate::trace::decimal::parse_scaled;
use crate::units::{number_with, quantity};

/// Defines a level in decibels with its own unit.
macro_rules! level {
    ($(#[$about:meta])* $name:ident, $unit:literal, $what:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(pub f64);

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let number = text.trim().strip_suffix($unit).and_then(|text| decibels(text.trim()));
                number.map(Self).ok_or_else(|| {
                    format!(concat!("`{}` is not a valid ", $what, "; write e.g. \"7.5 ", $unit, "\""), text)
                })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $unit), self.0)
            }
        }

        impl Measured for $name {
            const WHAT: &'static str = $what;
            const EXAMPLE: &'static str = $unit;
            const UNITS: &'static [ColumnUnit] = &[unit($unit, 0, 1)];
        }
    };
}

level!(
    /// Es/N0, or a margin of it, in dB.
    Decibels, "dB", "Es/N0"
);
level!(
    /// C/N0 in dBHz.
    DecibelHertz, "dBHz", "C/N0"
);

/// Parses a number of decibels.
pub(super) fn decibels(text: &str) -> Option<f64> {
    // Rejects forms such as `inf` and `nan`, which Rust would parse.
    parse_scaled(text.as_bytes(), 0)?;
    text.parse().ok().filter(|level: &f64| level.abs() <= 400.0)
}

/// Symbols per second.
///
/// ```
/// use clift::trace::series::SymbolRate;
/// let rate: SymbolRate = "2.5 MBd".parse().unwrap();
/// assert_eq!((rate.per_second(), rate.to_string()), (2_500_000, "2500 kBd".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SymbolRate(u64);

impl SymbolRate {
    /// Symbols per second, at least 1.
    pub fn per_second(self) -> u64 {
        self.0
    }
}

const UNITS: [(&str, i32); 4] = [("GBd", 9), ("MBd", 6), ("kBd", 3), ("Bd", 0)];

impl FromStr for SymbolRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = UNITS.iter().find_map(|(name, digits)| {
            let number = text.trim().strip_suffix(name)?.trim();
            match parse_scaled(number.as_bytes(), *digits)? {
                (false, Some(rate @ 1..=1_000_000_000_000)) => Some(Self(rate as u64)),
                _ => None,
            }
        });
        parsed.ok_or_else(|| {
            format!("`{text}` is not a symbol rate; write e.g. \"5 MBd\" (Bd, kBd, MBd, GBd)")
        })
    }
}

impl fmt::Display for SymbolRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |digits: i32| self.0.is_multiple_of(10u64.pow(digits.unsigned_abs()));
        let (name, digits) = UNITS.iter().find(|(_, digits)| whole(*digits)).unwrap_or(&UNITS[3]);
        write!(f, "{} {name}", self.0 / 10u64.pow(digits.unsigned_abs()))
    }
}

quantity!(
    Given<Decibels>,
    "EsN0OrColumn",
    r"\S",
    "an Es/N0 in dB, e.g. \"7.5 dB\", or a column, \"4:dB\""
);
quantity!(
    Given<DecibelHertz>,
    "CN0OrColumn",
    r"\S",
    "a C/N0 in dBHz, e.g. \"72 dBHz\", or a column, \"4:dBHz\""
);
quantity!(Decibels, "Decibels", number_with!("-?", "dB"), "decibels, e.g. \"1 dB\"");
quantity!(
    SymbolRate,
    "SymbolRate",
    number_with!("Bd|kBd|MBd|GBd"),
    "symbols per second, e.g. \"5 MBd\""
);
