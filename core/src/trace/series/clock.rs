//! Times of rows: numbers in a unit, or dates.

use jiff::civil::{DateTime, date as day};
use jiff::fmt::strtime;
use jiff::tz::Offset;
use jiff::{Error, Timestamp};

use crate::trace::LATEST;
use crate::trace::decimal::parse;
use crate::trace::error::{Fault, Snippet};
use crate::trace::given::TimeFormat;

impl TimeFormat {
    /// Nanoseconds from the origin of the times; dates without an offset are in UTC.
    pub(super) fn parse(&self, field: &[u8]) -> Result<i64, Fault> {
        match self {
            Self::Unit(unit) => Ok(parse(field, *unit)?.0),
            Self::Date => date(field, "write ISO 8601, e.g. 2024-09-10T12:00:00.5", |text| {
                match text.parse::<Timestamp>() {
                    Ok(time) => Ok(time),
                    Err(_) => Offset::UTC.to_timestamp(text.parse::<DateTime>()?),
                }
            }),
            Self::Pattern(pattern) => date(field, &format!("the pattern is `{pattern}`"), |text| {
                let parts = strtime::parse(pattern, text)?;
                match parts.offset() {
                    Some(_) => parts.to_timestamp(),
                    None if self.is_clock() => {
                        Offset::UTC.to_timestamp(day(1970, 1, 1).to_datetime(parts.to_time()?))
                    }
                    None => Offset::UTC.to_timestamp(parts.to_datetime()?),
                }
            }),
        }
    }

    /// True if the times are those of a day, without the day.
    pub(super) fn is_clock(&self) -> bool {
        const DAYS: [&str; 7] = ["%d", "%e", "%j", "%F", "%D", "%s", "%c"];
        matches!(self, Self::Pattern(pattern) if !DAYS.iter().any(|part| pattern.contains(part)))
    }
}

/// True if a date of ISO 8601 has a time zone.
pub(super) fn has_zone(date: &[u8]) -> bool {
    // The `-` of dates come before the time.
    date.iter().skip_while(|&&byte| byte != b':').any(|byte| b"Zz+-".contains(byte))
}

fn date(
    field: &[u8],
    cure: &str,
    parse: impl FnOnce(&str) -> Result<Timestamp, Error>,
) -> Result<i64, Fault> {
    let fault = || {
        let cure: String = cure.chars().flat_map(char::escape_debug).collect();
        Fault::Text(format!("{} is not a date; {cure}", Snippet::new(field)))
    };
    let text = std::str::from_utf8(field).map_err(|_| fault())?;
    let time = parse(text).map_err(|_| fault())?;
    let nanos = i64::try_from(time.as_nanosecond()).ok();
    nanos.filter(|nanos| nanos.abs() < LATEST).ok_or_else(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(format: &TimeFormat, text: &str) -> Result<i64, String> {
        format.parse(text.as_bytes()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn dates_are_parsed_with_and_without_an_offset() {
        let second = 1_725_969_600_000_000_000;
        for text in ["2024-09-10T12:00:00Z", "2024-09-10 14:00:00+02:00", "2024-09-10 12:00:00"] {
            assert_eq!(nanos(&TimeFormat::Date, text), Ok(second), "{text}");
        }
        assert_eq!(nanos(&TimeFormat::Date, "2024-09-10T12:00:00.000000001"), Ok(second + 1));
        let pattern = TimeFormat::Pattern("%Y.%m.%d_%H.%M.%S".to_owned());
        assert_eq!(nanos(&pattern, "2024.09.10_12.00.00"), Ok(second));
        let offset = TimeFormat::Pattern("%Y-%m-%d %H:%M:%S %z".to_owned());
        assert_eq!(nanos(&offset, "2024-09-10 14:00:00 +0200"), Ok(second));
        assert!(nanos(&pattern, "2024-09-10").unwrap_err().starts_with("`2024-09-10` is not a d"));
        assert!(nanos(&TimeFormat::Date, "2300-01-01").unwrap_err().contains("is not a date"));
        let clock = TimeFormat::Pattern("%H:%M:%S".to_owned());
        assert_eq!(nanos(&clock, "00:01:40"), Ok(100_000_000_000));
    }
}
