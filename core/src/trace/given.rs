//! Quantities of a series in text form: a column with its unit, or a constant.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::{Fault, TimeUnit};
use crate::units::{BitRate, Duration, Probability, number_with, quantity};

/// A quantity of a series: a constant, or a column.
///
/// ```
/// use clift::trace::series::Given;
/// use clift::units::BitRate;
/// let column: Given<BitRate> = "2:Mbit/s".parse()?;
/// assert_eq!(column.to_string(), "2:Mbit/s");
/// let constant: Given<BitRate> = "5 Mbit/s".parse()?;
/// assert_eq!(constant, Given::Constant("5 Mbit/s".parse().unwrap()));
/// let fault = "2".parse::<Given<BitRate>>().unwrap_err().to_string();
/// assert!(fault.starts_with("column `2` has no unit"));
/// # Ok::<(), clift::trace::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Given<Q> {
    /// A constant.
    Constant(Q),
    /// A column and its unit.
    Column(ColumnName, ColumnUnit),
}

/// A column of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ColumnName {
    /// By number, counted from 1.
    Number(usize),
    /// By its name in the header.
    Header(String),
}

/// A unit of a column.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ColumnUnit {
    pub(super) name: &'static str,
    /// Power of ten of the base unit,
    pub(super) digits: i32,
    /// multiplied by this factor.
    pub(super) factor: u64,
}

/// Quantities that a series can have in columns.
pub trait Measured: FromStr<Err: fmt::Display> + fmt::Display {
    /// Name of the quantity in messages.
    const WHAT: &'static str;
    /// A unit that messages suggest.
    const EXAMPLE: &'static str;
    /// Units of columns; one without a name is that of a column without a unit.
    const UNITS: &'static [ColumnUnit];
}

pub(super) const fn unit(name: &'static str, digits: i32, factor: u64) -> ColumnUnit {
    ColumnUnit { name, digits, factor }
}

/// In millionths of a bit per second, so that decimals of a rate are exact.
impl Measured for BitRate {
    const WHAT: &'static str = "rate";
    const EXAMPLE: &'static str = "Mbit/s";
    const UNITS: &'static [ColumnUnit] = &[
        unit("bit/s", 6, 1),
        unit("kbit/s", 9, 1),
        unit("Mbit/s", 12, 1),
        unit("Gbit/s", 15, 1),
        unit("B/s", 6, 8),
        unit("kB/s", 9, 8),
        unit("MB/s", 12, 8),
    ];
}

/// In nanoseconds.
impl Measured for Duration {
    const WHAT: &'static str = "delay";
    const EXAMPLE: &'static str = "ms";
    const UNITS: &'static [ColumnUnit] =
        &[unit("s", 9, 1), unit("ms", 6, 1), unit("us", 3, 1), unit("ns", 0, 1)];
}

/// As a share, or as a count.
impl Measured for Probability {
    const WHAT: &'static str = "loss";
    const EXAMPLE: &'static str = "%";
    const UNITS: &'static [ColumnUnit] =
        &[unit("", 0, 1), unit("%", -2, 1), unit(ColumnUnit::COUNT, 0, 1)];
}

impl ColumnUnit {
    /// The unit of counted losses.
    pub(super) const COUNT: &'static str = "packets";

    /// Name of the unit; empty for a share.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl<Q: Measured> FromStr for Given<Q> {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        let unit_of = |name: &str| Q::UNITS.iter().find(|unit| unit.name == name).copied();
        let names = || {
            let names = Q::UNITS.iter().map(|unit| unit.name).filter(|name| !name.is_empty());
            names.collect::<Vec<_>>().join(", ")
        };
        let what = Q::WHAT;
        if let Some((column, name)) = text.rsplit_once(':') {
            let (column, name) = (column.trim(), name.trim());
            match unit_of(name).filter(|_| !name.is_empty()) {
                Some(unit) => return Ok(Self::Column(column.parse()?, unit)),
                None if is_number(column) => {
                    return Err(Fault::Text(format!(
                        "`{name}` is not a unit of a {what}; known are {}",
                        names()
                    )));
                }
                None => {}
            }
        } else if !is_number(text)
            && text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit())
        {
            return text.parse().map(Self::Constant).map_err(|error: Q::Err| {
                Fault::Text(format!("{error}; a column is given by number or name, with `:unit`"))
            });
        }
        let column = text.parse()?;
        match (unit_of(""), text.rsplit_once(':')) {
            (Some(unit), _) => Ok(Self::Column(column, unit)),
            (None, Some((_, name))) => Err(Fault::Text(format!(
                "`{}` is not a unit of a {what}; known are {}; if the column is called `{column}`, \
                 write `{column}:{}`",
                name.trim(),
                names(),
                Q::EXAMPLE
            ))),
            (None, None) => Err(Fault::Text(format!(
                "column `{column}` has no unit; write `{column}:{}` (units of a {what}: {})",
                Q::EXAMPLE,
                names()
            ))),
        }
    }
}

impl<Q: Measured> fmt::Display for Given<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => {
                let text = value.to_string();
                f.write_str(&text)?;
                // A share of 0 or 1 must not read as a column number.
                if is_number(&text) { f.write_str(".0") } else { Ok(()) }
            }
            Self::Column(column, ColumnUnit { name: "", .. }) => column.fmt(f),
            Self::Column(column, unit) => write!(f, "{column}:{}", unit.name),
        }
    }
}

impl FromStr for ColumnName {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        if !is_number(text) {
            return match text {
                "" => Err(Fault::new("the column is missing; give its number or its name")),
                name => Ok(Self::Header(name.to_owned())),
            };
        }
        match text.parse() {
            Ok(number) if (1..=MOST_COLUMNS).contains(&number) => Ok(Self::Number(number)),
            _ => Err(Fault::Text(format!("`{text}` is not a column; columns count from 1"))),
        }
    }
}

/// Maximum number of columns in a line.
const MOST_COLUMNS: usize = 1 << 16;

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Header(name) => f.write_str(name),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The column of times and how they are written: `7:ms`, `time:date`, `1:%Y.%m.%d_%H.%M.%S`.
///
/// ```
/// use clift::trace::series::TimeColumn;
/// for text in ["7:ms", "when:date", "1:%Y-%m-%d %H:%M:%S"] {
///     assert_eq!(text.parse::<TimeColumn>()?.to_string(), text);
/// }
/// # Ok::<(), clift::trace::Fault>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimeColumn {
    pub(super) column: ColumnName,
    pub(super) format: TimeFormat,
}

/// Notation of times.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum TimeFormat {
    /// A number in this unit, from any origin.
    Unit(TimeUnit),
    /// A date and time in ISO 8601.
    Date,
    /// A date and time in a `strftime` pattern.
    Pattern(String),
}

impl FromStr for TimeColumn {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        let pattern = text.split_once(':').filter(|(_, rest)| rest.contains('%'));
        if let Some((column, pattern)) = pattern {
            let format = TimeFormat::Pattern(pattern.to_owned());
            return Ok(Self { column: column.parse()?, format });
        }
        let (column, unit) = text.rsplit_once(':').unwrap_or((text, ""));
        let format = match unit.trim() {
            "date" => TimeFormat::Date,
            unit => TimeFormat::Unit(unit.parse().map_err(|_| {
                Fault::Text(format!(
                    "`{text}` has no time format; write the column as \
                     `{column}:ms` (or s, us, ns), `{column}:date` for dates of ISO 8601, or with \
                     a pattern such as `{column}:%Y-%m-%d %H:%M:%S`"
                ))
            })?),
        };
        Ok(Self { column: column.parse()?, format })
    }
}

impl fmt::Display for TimeColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.column)?;
        match &self.format {
            TimeFormat::Unit(unit) => unit.fmt(f),
            TimeFormat::Date => f.write_str("date"),
            TimeFormat::Pattern(pattern) => f.write_str(pattern),
        }
    }
}

/// Kind of delay in a column.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, JsonSchema, Serialize)]
#[schemars(inline)]
pub enum DelayIs {
    /// From the sender to the receiver.
    #[default]
    #[serde(rename = "one-way")]
    OneWay,
    /// Round trip; half of it is used.
    #[serde(rename = "rtt")]
    RoundTrip,
}

/// Data that a rate counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum RateIs {
    /// Data sent, including lost data.
    Sent,
    /// Data received; the lost part is added.
    Received,
}

/// A time that may be negative: the correction added to measured delays.
///
/// ```
/// use clift::trace::series::Shift;
/// let shift: Shift = "-3.5 ms".parse()?;
/// assert_eq!((shift.as_nanos(), shift.to_string()), (-3_500_000, "-3.5 ms".to_owned()));
/// # Ok::<(), clift::units::QuantityError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Shift(i64);

impl Shift {
    /// The time in nanoseconds.
    pub fn as_nanos(self) -> i64 {
        self.0
    }
}

impl FromStr for Shift {
    type Err = crate::units::QuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let (sign, size) = match text.strip_prefix('-') {
            Some(size) => (-1, size),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        // Quantities stay below 2^63.
        size.parse::<Duration>().map(|size| Self(sign * size.as_nanos() as i64))
    }
}

impl fmt::Display for Shift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", Duration::from_nanos(self.0.unsigned_abs()))
    }
}

quantity!(
    Given<BitRate>,
    "RateOrColumn",
    r"\S",
    "a rate with its unit, e.g. \"5 Mbit/s\", or a column with its unit, e.g. \"2:Mbit/s\""
);
quantity!(
    Given<Duration>,
    "DelayOrColumn",
    r"\S",
    "a time with its unit, e.g. \"20 ms\", or a column with its unit, e.g. \"4:ms\""
);
quantity!(
    Given<Probability>,
    "LossOrColumn",
    r"\S",
    "a share, e.g. \"2 %\", or a column: \"6\" of shares, \"6:%\", \"6:packets\""
);
quantity!(TimeColumn, "TimeColumn", r":", "a column of times with its unit, e.g. \"7:ms\"");
quantity!(
    Shift,
    "Shift",
    number_with!("[-+]?", "ns|us|µs|ms|s|min|h"),
    "a time with its unit, which may be negative, e.g. \"-3 ms\""
);

/// The column of a value, if it has one.
pub(super) fn column<Q>(given: Option<&Given<Q>>) -> Option<&ColumnName> {
    match given? {
        Given::Constant(_) => None,
        Given::Column(column, _) => Some(column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault<Q: Measured + fmt::Debug>(text: &str) -> String {
        text.parse::<Given<Q>>().unwrap_err().to_string()
    }

    #[test]
    fn columns_and_values_are_distinguished() {
        let number = |n| ColumnName::Number(n);
        let ms = Duration::UNITS[1];
        assert_eq!("4:ms".parse(), Ok(Given::Column::<Duration>(number(4), ms)));
        let named = ColumnName::Header("a:b c".to_owned());
        assert_eq!("a:b c:ms".parse(), Ok(Given::Column::<Duration>(named, ms)));
        let constant = Given::Constant(Duration::from_millis(20));
        assert_eq!("20 ms".parse(), Ok(constant));
        let share = Probability::UNITS[0];
        assert_eq!("6".parse(), Ok(Given::Column::<Probability>(number(6), share)));
        let two = Given::Constant(Probability::new(0.02).unwrap());
        assert_eq!("2 %".parse(), Ok(two.clone()));
        assert_eq!("0.02".parse(), Ok(two));
    }

    #[test]
    fn errors_say_what_to_write_instead() {
        assert_eq!(
            fault::<Duration>("4"),
            "column `4` has no unit; write `4:ms` (units of a delay: s, ms, us, ns)"
        );
        assert!(fault::<BitRate>("rate").starts_with("column `rate` has no unit; write `rate:Mb"));
        assert!(fault::<BitRate>("rate:Mbps").starts_with("`Mbps` is not a unit of a rate; known"));
        assert!(
            fault::<BitRate>("2:Mbps").starts_with("`Mbps` is not a unit of a rate; known are")
        );
        assert!(fault::<BitRate>("2 Mbps").starts_with("unknown unit `Mbps`"));
        assert!(fault::<BitRate>("-2 Mbit/s").starts_with("`-2 Mbit/s` is"));
        assert!(fault::<Duration>("0:ms").starts_with("`0` is not a column; columns count from 1"));
        assert!(fault::<Probability>("").starts_with("the column is missing"));
        let time = |text: &str| text.parse::<TimeColumn>().unwrap_err().to_string();
        assert!(time("7").starts_with("`7` has no time format"));
        assert!(time("t:hours").contains("`t:hours` has no time format"));
    }

    proptest! {
        #[test]
        fn displayed_columns_and_values_parse_back(text in "[0-9]{0,3}[ -~]{0,8}(:(ms|Mbit/s|%|packets|s))?") {
            fn again<T: FromStr<Err = Fault> + fmt::Display + PartialEq + fmt::Debug>(text: &str) {
                if let Ok(given) = text.parse::<T>() {
                    assert_eq!(given.to_string().parse::<T>(), Ok(given), "{text:?}");
                }
            }
            again::<Given<Duration>>(&text);
            again::<Given<BitRate>>(&text);
            again::<Given<Probability>>(&text);
            again::<TimeColumn>(&text);
        }
    }
}
