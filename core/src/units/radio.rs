//! Radio channel quantities: levels, angles, lengths, speeds, carrier frequencies.

use std::fmt;
use std::str::FromStr;

use super::text::split_number;
use crate::units::{number_with, quantity};

/// Defines a quantity with several units, stored in the first of them.
macro_rules! measure {
    ($(#[$doc:meta])* $type:ident, $name:literal, $pattern:expr, $description:literal,
     $what:literal, $example:literal, $units:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $type(pub f64);

        impl $type {
            const UNITS: &'static [(&'static str, f64)] = &$units;
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                measured(text, $what, $example, Self::UNITS).map(Self)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, Self::UNITS[0].0)
            }
        }

        quantity!($type, $name, $pattern, $description);
    };
}

measure!(
    /// A level or a difference of levels in dB.
    Decibels,
    "Level",
    number_with!("[+-]?", "dB"),
    "a level, e.g. \"6 dB\"",
    "a level",
    "6 dB",
    [("dB", 1.0)]
);
measure!(
    /// An angle in degrees.
    Degrees,
    "Angle",
    number_with!("[+-]?", "deg"),
    "an angle, e.g. \"40 deg\"",
    "an angle",
    "40 deg",
    [("deg", 1.0)]
);
measure!(
    /// A length in metres.
    Metres,
    "Length",
    number_with!("[+-]?", "m|km"),
    "a length, e.g. \"1.7 m\"",
    "a length",
    "1.7 m",
    [("m", 1.0), ("km", 1e3)]
);
measure!(
    /// A speed in km/h.
    KilometresPerHour,
    "Speed",
    number_with!("[+-]?", "km/h|m/s"),
    "a speed, e.g. \"60 km/h\"",
    "a speed",
    "60 km/h",
    [("km/h", 1.0), ("m/s", 3.6)]
);
measure!(
    /// A frequency in GHz.
    Gigahertz,
    "Frequency",
    number_with!("[+-]?", "GHz|MHz"),
    "a frequency, e.g. \"2.2 GHz\"",
    "a frequency",
    "2.2 GHz",
    [("GHz", 1.0), ("MHz", 1e-3)]
);

/// The units of these quantities, each with its value in the first unit of its kind.
pub(crate) const MEASURES: [&[(&str, f64)]; 5] =
    [Decibels::UNITS, Degrees::UNITS, Metres::UNITS, KilometresPerHour::UNITS, Gigahertz::UNITS];

/// Parses a decimal number with its unit and converts it to the first unit of `units`.
fn measured(text: &str, what: &str, example: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let (number, unit) = split_number(text);
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    let value = number.parse::<f64>().ok().filter(|value| value.is_finite() && number.len() <= 36);
    let shown: String = text.chars().take(40).collect();
    let Some(value) = value else {
        return Err(format!(
            "`{shown}` is not {what}; write a number and its unit, e.g. \"{example}\""
        ));
    };
    if unit.is_empty() {
        let names = names.join(", ");
        return Err(format!(
            "`{shown}` has no unit; write {what} as e.g. \"{example}\" (units: {names})"
        ));
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("unknown unit in `{shown}`; {what} is in {}", names.join(", ")));
    };
    Ok(value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_parsed_and_displayed() {
        assert_eq!("6 dB".parse(), Ok(Decibels(6.0)));
        assert_eq!("-2.9dB".parse(), Ok(Decibels(-2.9)));
        assert_eq!("-2.9e1 dB".parse(), Ok(Decibels(-29.0)));
        assert_eq!("6e3 m".parse(), Ok(Metres(6000.0)));
        assert_eq!("10 m/s".parse(), Ok(KilometresPerHour(36.0)));
        assert_eq!("2200 MHz".parse(), Ok(Gigahertz(2200.0 * 1e-3)));
        for level in ["0 dB", "-11 dB", "5.28 dB"] {
            assert_eq!(level.parse::<Decibels>().unwrap().to_string(), level);
        }
    }

    #[test]
    fn a_text_that_is_not_a_level_explains_how_to_write_one() {
        let fault = |text: &str| text.parse::<Decibels>().unwrap_err();
        assert_eq!(fault("6"), "`6` has no unit; write a level as e.g. \"6 dB\" (units: dB)");
        assert_eq!(fault("6 dBm"), "unknown unit in `6 dBm`; a level is in dB");
        for text in ["", "dB", "nan dB", "inf dB", "1-2 dB", "1e400 dB", "+ dB", &"9".repeat(400)] {
            assert!(fault(text).contains("6 dB") || fault(text).contains("is in dB"), "{text}");
        }
    }
}
