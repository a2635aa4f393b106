//! Quantities as people write them: `"500 ms"`, `"2.3 Mbit/s"`, `"100 kB"`, `"2 %"`.
//!
//! Decimals are converted exactly, without floating point: `"1.003802 ms"` is 1,003,802 ns, and
//! `"0.5 ns"` is an error. Every displayed quantity parses back to the same value.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{BitRate, Bytes, Duration, Probability};

/// The error for text that is not a valid quantity.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{0}")]
pub struct QuantityError(String);

/// A number of bytes of any size: a file, a buffer.
///
/// ```
/// use clift::units::Size;
/// let page: Size = "100 kB".parse().unwrap();
/// assert_eq!(page, Size(100_000));
/// assert_eq!(page.to_string(), "100 kB");
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Size(pub u64);

/// The units of one kind of quantity, and the words for its error messages.
struct QuantityKind {
    article_name: &'static str,
    example: &'static str,
    /// Names and values in the base unit, the largest last; where two names have the same value,
    /// the later one is displayed.
    units: &'static [(&'static str, u64)],
    base: &'static str,
}

const TIME: QuantityKind = QuantityKind {
    article_name: "a time",
    example: "500 ms",
    units: &[
        ("ns", 1),
        ("µs", 1_000),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("min", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ],
    base: "ns",
};

const RATE: QuantityKind = QuantityKind {
    article_name: "a rate",
    example: "2.3 Mbit/s",
    units: &[("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)],
    base: "bit/s",
};

const SIZE: QuantityKind = QuantityKind {
    article_name: "a size",
    example: "100 kB",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
    ],
    base: "B",
};

/// The units of times, rates and sizes, each with its value in the first unit of its kind.
pub(crate) const WHOLE_UNITS: [&[(&str, u64)]; 3] = [TIME.units, RATE.units, SIZE.units];

impl FromStr for Duration {
    type Err = QuantityError;

    /// ```
    /// use clift::units::Duration;
    /// assert_eq!("1.003802 ms".parse(), Ok(Duration::from_nanos(1_003_802)));
    /// assert!("500".parse::<Duration>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        TIME.parse(text).map(Duration::from_nanos)
    }
}

impl fmt::Display for Duration {
    /// ```
    /// use clift::units::Duration;
    /// let shown = |nanos| Duration::from_nanos(nanos).to_string();
    /// assert_eq!([shown(272_200_000), shown(34_066_464), shown(114_783), shown(264_000)],
    ///     ["272.2 ms", "34.066464 ms", "0.114783 ms", "264 us"]);
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.as_nanos();
        // Sub-millisecond times in whole microseconds stay in them.
        let is_whole = |unit: u64| nanos.is_multiple_of(unit);
        let in_ms =
            !is_whole(1_000_000) && (nanos > 1_000_000 || nanos > 1_000 && !is_whole(1_000));
        if in_ms {
            let decimals = format!("{:06}", nanos % 1_000_000);
            return write!(f, "{}.{} ms", nanos / 1_000_000, decimals.trim_end_matches('0'));
        }
        // Minutes and hours are accepted but not written: the field writes 400 s.
        f.write_str(&write(
            self.as_nanos(),
            &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)],
            "ns",
        ))
    }
}

impl FromStr for BitRate {
    type Err = QuantityError;

    /// ```
    /// use clift::units::BitRate;
    /// let rate: BitRate = "2.3 Mbit/s".parse().unwrap();
    /// assert_eq!(rate.bits_per_second(), 2_300_000);
    /// assert_eq!(rate.to_string(), "2300 kbit/s");
    /// ```
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let bits = RATE.parse(text)?;
        BitRate::from_bits_per_second(bits)
            .ok_or_else(|| QuantityError(format!("`{text}` is not a rate; give one above zero")))
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write(
            self.bits_per_second(),
            &[("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000)],
            "bit/s",
        ))
    }
}

impl FromStr for Size {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        SIZE.parse(text).map(Size)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write(self.0, &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)], "B"))
    }
}

impl FromStr for Bytes {
    type Err = QuantityError;

    /// ```
    /// use clift::units::Bytes;
    /// assert_eq!("33 B".parse(), Ok(Bytes(33)));
    /// ```
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let Size(bytes) = text.parse()?;
        u32::try_from(bytes)
            .map(Bytes)
            .map_err(|_| QuantityError(format!("`{text}` is over 4 GiB; give a smaller size")))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Size(u64::from(self.0)).fmt(f)
    }
}

impl FromStr for Probability {
    type Err = QuantityError;

    /// ```
    /// use clift::units::Probability;
    /// assert_eq!("2 %".parse::<Probability>(), "0.02".parse());
    /// assert!("200 %".parse::<Probability>().is_err());
    /// ```
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        let value = match trimmed.strip_suffix('%') {
            // "2 %" must equal 0.02 exactly, so it is parsed as the decimal 2e-2.
            Some(percent) => Decimal::parse(percent.trim())
                .and_then(|number| format!("{}e{}", number.digits, number.power - 2).parse().ok()),
            None => trimmed.parse::<f64>().ok(),
        };
        let value = value.ok_or_else(|| {
            QuantityError(format!("`{text}` is not a probability; write e.g. 0.02 or \"2 %\""))
        })?;
        Probability::new(value).map_err(|_| {
            let cure = "give a number from 0 to 1, or e.g. \"2 %\"";
            QuantityError(format!("`{text}` is not a probability; {cure}"))
        })
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

impl QuantityKind {
    /// Converts `text` to the base unit, exactly.
    fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let (number, unit) = split_number(text);
        let Some(number) = Decimal::parse(number) else {
            if number.strip_prefix('-').and_then(Decimal::parse).is_some() {
                return Err(QuantityError(format!(
                    "`{}` is negative; write {} as e.g. \"{}\"",
                    shortened(text),
                    self.article_name,
                    self.example
                )));
            }
            return Err(QuantityError(format!(
                "`{}` is not {}; write a number and its unit, e.g. \"{}\"",
                shortened(text),
                self.article_name,
                self.example
            )));
        };
        if unit.is_empty() {
            return Err(QuantityError(format!(
                "`{text}` has no unit; write {} as e.g. \"{}\" (units: {})",
                self.article_name,
                self.example,
                self.unit_names()
            )));
        }
        let Some(&(_, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(QuantityError(format!(
                "unknown unit `{}`; {} is in {}",
                shortened(unit),
                self.article_name,
                self.unit_names()
            )));
        };
        number.times(scale).map_err(|fault| {
            QuantityError(match fault {
                NotWhole::Fraction => {
                    format!("`{text}` must be a whole number of {}; round it", self.base)
                }
                NotWhole::TooLarge => format!("`{text}` is too large; check the unit"),
            })
        })
    }

    fn unit_names(&self) -> String {
        let names: Vec<_> =
            self.units.iter().map(|unit| unit.0).filter(|name| name.is_ascii()).collect();
        names.join(", ")
    }
}

/// Splits `text` behind its number, which may have a sign and an exponent.
pub(crate) fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = |from: usize, is_part: fn(char) -> bool| {
        text[from..].find(|c| !is_part(c)).map_or(text.len(), |length| from + length)
    };
    let mut split = end(0, |c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    if text[split..].starts_with(['e', 'E']) {
        let digits = split + 1 + usize::from(text[split + 1..].starts_with(['-', '+']));
        let behind = end(digits, |c| c.is_ascii_digit());
        if behind > digits {
            split = behind;
        }
    }
    (&text[..split], text[split..].trim_start())
}

/// An unsigned decimal number: `digits * 10^power`.
pub(super) struct Decimal {
    digits: u128,
    power: i32,
}

/// Why a number is not a count.
pub(super) enum NotWhole {
    Fraction,
    TooLarge,
}

impl Decimal {
    /// The number, if it is written as `12`, `1.2` or `1.2e3`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (number, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let sensible = !whole.is_empty() && all_digits(whole) && all_digits(fraction);
        // The length limit keeps the digits within u128.
        if !sensible || text.len() > 36 || (number.contains('.') && fraction.is_empty()) {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        // No quantity has this many zeros.
        let power = power.parse::<i64>().ok()?.clamp(-1000, 1000) as i32;
        Some(Self { digits, power: power - fraction.len() as i32 })
    }

    /// The number times `scale`.
    pub(super) fn times(&self, scale: u64) -> Result<u64, NotWhole> {
        if self.digits == 0 {
            return Ok(0);
        }
        let scaled = self.digits.checked_mul(u128::from(scale)).ok_or(NotWhole::TooLarge)?;
        let factor = 10u128.checked_pow(self.power.unsigned_abs());
        let whole = match factor {
            Some(factor) if self.power >= 0 => scaled.checked_mul(factor),
            None if self.power >= 0 => None,
            Some(factor) if scaled % factor == 0 => Some(scaled / factor),
            _ => return Err(NotWhole::Fraction),
        };
        // Half of the range, so that the sum of two never overflows.
        let whole = whole.and_then(|whole| u64::try_from(whole).ok());
        whole.filter(|&whole| whole <= i64::MAX as u64).ok_or(NotWhole::TooLarge)
    }
}

/// Writes the value in the largest unit that gives a whole number.
fn write(value: u64, units: &[(&str, u64)], base: &str) -> String {
    for &(name, scale) in units {
        if value >= scale && value.is_multiple_of(scale) {
            return format!("{} {name}", value / scale);
        }
    }
    format!("{value} {base}")
}

/// At most 40 characters of what the user wrote, for an error message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Packets;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!("1.003802 ms".parse(), Ok(Duration::from_nanos(1_003_802)));
        assert_eq!("0.1 s".parse(), Ok(Duration::from_millis(100)));
        assert_eq!("112821ns".parse(), Ok(Duration::from_nanos(112_821)));
        assert_eq!("100 kB".parse(), Ok(Size(100_000)));
        assert_eq!("64 KiB".parse(), Ok(Size(65_536)));
        assert_eq!("2 %".parse::<Probability>().unwrap().get(), 0.02);
        assert_eq!("0.06 %".parse::<Probability>().unwrap().get(), 0.0006);
    }

    #[test]
    fn a_number_may_have_an_exponent() {
        assert_eq!("1e3 s".parse(), Ok(Duration::from_secs(1000)));
        assert_eq!("1.5E-3s".parse(), Ok(Duration::from_micros(1500)));
        assert_eq!("0e99 s".parse(), Ok(Duration::ZERO));
        assert_eq!("2e+6 bit/s".parse(), Ok(BitRate::from_bits_per_second(2_000_000).unwrap()));
        assert_eq!("1e-1 kB".parse(), Ok(Bytes(100)));
        assert_eq!("5e-1 %".parse::<Probability>().unwrap().get(), 0.005);
        assert_eq!("5e-3".parse::<Probability>().unwrap().get(), 0.005);
        assert_eq!("1e3 packets".parse(), Ok(Packets::new(1000).unwrap()));
    }

    #[test]
    fn errors_say_what_to_write_instead() {
        let time = |text: &str| text.parse::<Duration>().unwrap_err().to_string();
        assert_eq!(
            time("500"),
            "`500` has no unit; write a time as e.g. \"500 ms\" (units: ns, us, ms, s, min, h)"
        );
        assert_eq!(time("5 parsec"), "unknown unit `parsec`; a time is in ns, us, ms, s, min, h");
        assert_eq!(time("0.5 ns"), "`0.5 ns` must be a whole number of ns; round it");
        assert_eq!(time("99999999999 h"), "`99999999999 h` is too large; check the unit");
        assert_eq!(time("-1 ms"), "`-1 ms` is negative; write a time as e.g. \"500 ms\"");
        assert!(time("--1 ms").contains("is not a time"));
        let share = |text: &str| text.parse::<Probability>().unwrap_err().to_string();
        assert!(share("200 %").starts_with("`200 %` is not a probability; give a number from 0"));
        assert_eq!(time("1e s"), "unknown unit `e s`; a time is in ns, us, ms, s, min, h");
        assert_eq!(
            time("1e3"),
            "`1e3` has no unit; write a time as e.g. \"500 ms\" (units: ns, us, ms, s, min, h)"
        );
        assert_eq!(time("1e-1 ns"), "`1e-1 ns` must be a whole number of ns; round it");
        assert_eq!(
            time("1e-99999999999 s"),
            "`1e-99999999999 s` must be a whole number of ns; round it"
        );
        assert_eq!(time("1e99999999999 s"), "`1e99999999999 s` is too large; check the unit");
        assert_eq!(time("1e10 s"), "`1e10 s` is too large; check the unit");
        assert!(time("").contains("is not a time"));
        assert!(time("1. s").contains("is not a time"));
        assert!("0 bit/s".parse::<BitRate>().is_err());
        assert!("5 GB".parse::<Bytes>().is_err());
        assert!("nan".parse::<Probability>().is_err());
    }

    proptest! {
        #[test]
        fn displayed_quantities_parse_back(value in 0..i64::MAX as u64, p in 0.0..=1.0) {
            let time = Duration::from_nanos(value);
            prop_assert_eq!(time.to_string().parse(), Ok(time));
            prop_assert_eq!(Size(value).to_string().parse(), Ok(Size(value)));
            let rate = BitRate::from_bits_per_second(value + 1).unwrap();
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            let p = Probability::new(p).unwrap();
            prop_assert_eq!(p.to_string().parse(), Ok(p));
        }

        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = text.parse::<Duration>();
            let _ = text.parse::<Probability>();
        }
    }
}
