//! Decimal text to whole nanoseconds, exactly, without floating point.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::column::LATEST;
use crate::trace::error::{Fault, NEGATIVE, TOO_LATE};

/// Unit of bare numbers in a trace file.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema, Serialize)]
pub enum TimeUnit {
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
}

impl TimeUnit {
    /// The units with their names, their names in messages, and the decimal digits between them and
    /// a nanosecond.
    const ALL: [(Self, &str, &str, i32); 4] = [
        (Self::Seconds, "s", "seconds", 9),
        (Self::Milliseconds, "ms", "milliseconds", 6),
        (Self::Microseconds, "us", "microseconds", 3),
        (Self::Nanoseconds, "ns", "nanoseconds", 0),
    ];

    const fn digits(self) -> i32 {
        Self::ALL[self as usize].3
    }
}

impl FromStr for TimeUnit {
    type Err = Fault;

    /// `s`, `ms`, `us` or `ns`.
    fn from_str(name: &str) -> Result<Self, Fault> {
        let known = Self::ALL.into_iter().find(|unit| unit.1 == name);
        let fault = || format!("`{name}` is not a unit of time; known are s, ms, us and ns");
        known.map(|unit| unit.0).ok_or_else(|| Fault::Text(fault()))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].1)
    }
}

/// Converts a decimal number (`12`, `0.036`, `1e-3`) in `unit` to nanoseconds, rounded half up.
/// Also returns whether the number is above zero, because it may round to 0.
pub(crate) fn parse(text: &[u8], unit: TimeUnit) -> Result<(i64, bool), Fault> {
    let unit_name = TimeUnit::ALL[unit as usize].2;
    let not = || format!("is not a time; write a decimal number in {unit_name}");
    let number = Number::parse(text).ok_or_else(|| Fault::of(text, &not()))?;
    if number.mantissa == 0 {
        return Ok((0, false));
    }
    if number.negative {
        return Err(Fault::of(text, NEGATIVE));
    }
    let nanos = number.scaled(unit.digits()).filter(|&nanos| nanos < LATEST as u128);
    match nanos {
        Some(nanos) => Ok((nanos as i64, true)),
        None => Err(Fault::of(text, TOO_LATE)),
    }
}

/// A decimal number in units of 10^-`digits`, rounded half up: whether it is negative, and its
/// magnitude (`None` beyond u128). `None` if the text is not a number.
pub(crate) fn parse_scaled(text: &[u8], digits: i32) -> Option<(bool, Option<u128>)> {
    let number = Number::parse(text)?;
    if number.mantissa == 0 {
        return Some((false, Some(0)));
    }
    Some((number.negative, number.scaled(digits)))
}

/// A number with a decimal comma (`4,00`), with a point in its place; `None` for other text.
pub(crate) fn with_point(text: &[u8]) -> Option<Vec<u8>> {
    let at = text.iter().position(|&byte| byte == b',')?;
    let mut pointed = text.to_vec();
    pointed[at] = b'.';
    Number::parse(&pointed).map(|_| pointed)
}

/// Parses an integer without sign, spaces or overflow.
pub(crate) fn parse_integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    })
}

/// Parses an integer of nanoseconds within the range of times.
pub(crate) fn parse_nanoseconds(text: &[u8]) -> Result<i64, Fault> {
    parse_below(text, LATEST, "is not a time; write integer nanoseconds")
}

/// Parses an integer below `end`; `why` is the fault of other text.
pub(crate) fn parse_below(text: &[u8], end: i64, why: &str) -> Result<i64, Fault> {
    if let Some(time) = parse_integer(text).filter(|&time| time < end as u64) {
        return Ok(time as i64);
    }
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let why = match digits.len() < text.len() {
        _ if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) => why,
        true => NEGATIVE,
        false => TOO_LATE,
    };
    Err(Fault::of(text, why))
}

/// `mantissa * 10^exponent`. Digits after the 30th are dropped. They cannot change the rounding at
/// the nanosecond: a truncated number is either far out of range, or the first digit after the
/// nanosecond decides its rounding.
struct Number {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

impl Number {
    fn parse(text: &[u8]) -> Option<Self> {
        let (negative, text) = split_sign(text);
        let (digits, power) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
            Some(at) => (&text[..at], parse_power(&text[at + 1..])?),
            None => (text, 0),
        };
        let mut number = Self { negative, mantissa: 0, exponent: power };
        let (mut seen, mut fraction) = (false, false);
        for &byte in digits {
            match byte {
                b'.' if !fraction => fraction = true,
                b'0'..=b'9' => {
                    seen = true;
                    number.push(byte - b'0', fraction);
                }
                _ => return None,
            }
        }
        seen.then_some(number)
    }

    fn push(&mut self, digit: u8, fraction: bool) {
        const FULL: u128 = 10u128.pow(30);
        if self.mantissa < FULL {
            self.mantissa = self.mantissa * 10 + u128::from(digit);
            self.exponent -= i32::from(fraction);
        } else {
            self.exponent += i32::from(!fraction);
        }
    }

    /// The number times `10^digits`, rounded half up; `None` beyond u128.
    fn scaled(&self, digits: i32) -> Option<u128> {
        let shift = self.exponent + digits;
        if shift >= 0 {
            let factor = 10u128.checked_pow(shift.unsigned_abs())?;
            return self.mantissa.checked_mul(factor);
        }
        match 10u128.checked_pow(shift.unsigned_abs()) {
            Some(divisor) => {
                let half_up = self.mantissa % divisor >= divisor / 2;
                Some(self.mantissa / divisor + u128::from(half_up))
            }
            None => Some(0),
        }
    }
}

/// Parses a power of ten, limited to what the line length and the range of times can distinguish.
fn parse_power(text: &[u8]) -> Option<i32> {
    const FAR: u64 = 1_000_000;
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let power = parse_integer(digits).unwrap_or(FAR).min(FAR) as i32;
    Some(if negative { -power } else { power })
}

/// Splits off a sign: whether it is negative, and the rest.
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// Appends `nanos` in `unit`, exactly and without trailing zeros.
pub(crate) fn append(out: &mut Vec<u8>, nanos: i64, unit: TimeUnit) {
    let scale = 10i64.pow(unit.digits().unsigned_abs());
    append_integer(out, nanos / scale);
    let mut fraction = nanos % scale;
    if fraction == 0 {
        return;
    }
    out.push(b'.');
    let mut place = scale / 10;
    while fraction > 0 {
        out.push(b'0' + (fraction / place) as u8);
        fraction %= place;
        place /= 10;
    }
}

/// Appends a non-negative number.
pub(crate) fn append_integer(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault<T: std::fmt::Debug>(found: Result<T, Fault>) -> String {
        found.unwrap_err().to_string()
    }

    fn seconds(text: &str) -> Result<(i64, bool), Fault> {
        parse(text.as_bytes(), TimeUnit::Seconds)
    }

    #[test]
    fn decimals_that_floats_get_wrong_are_exact() {
        assert_eq!(seconds("9007199.254740993").unwrap().0, 9_007_199_254_740_993);
        assert_eq!(seconds("0.1").unwrap().0, 100_000_000);
        assert_eq!(seconds("1e-3").unwrap().0, 1_000_000);
        assert_eq!(seconds("+.5").unwrap().0, 500_000_000);
        assert_eq!(seconds("5.").unwrap().0, 5_000_000_000);
        assert_eq!(seconds("0.0000000005").unwrap().0, 1);
        assert_eq!(seconds("0.00000000049999999999999999999999999999999999").unwrap(), (0, true));
        assert_eq!(seconds("1e-999999999999").unwrap(), (0, true));
        assert_eq!(seconds("-0.0").unwrap(), (0, false));
        assert_eq!(seconds("0e99").unwrap(), (0, false));
        let padded = format!("{}1.5{}", "0".repeat(60), "0".repeat(60));
        assert_eq!(seconds(&padded).unwrap().0, 1_500_000_000);
    }

    #[test]
    fn invalid_times_are_refused() {
        for text in ["NaN", "inf", "", ".", "1.2.3", "1e", "e5", "0x10", "1_000", "--1", "1 2"] {
            assert!(fault(seconds(text)).contains("is not a time"), "{text}");
        }
        assert!(fault(seconds("-1")).contains(NEGATIVE));
        for text in ["1e300", "2305843010", "1e1000000000000", &"9".repeat(80)] {
            assert!(fault(seconds(text)).contains(TOO_LATE), "{text}");
        }
        let nanos = |text: &str| fault(parse_nanoseconds(text.as_bytes()));
        assert!(nanos("-5").contains(NEGATIVE));
        assert!(nanos("NaN").contains("write integer nanoseconds"));
        assert!(nanos("99999999999999999999").contains(TOO_LATE));
    }

    proptest! {
        #[test]
        fn times_round_trip_in_every_unit(nanos in 0..LATEST) {
            use TimeUnit::*;
            for unit in [Seconds, Milliseconds, Microseconds, Nanoseconds] {
                let mut text = Vec::new();
                append(&mut text, nanos, unit);
                prop_assert_eq!(parse(&text, unit).unwrap(), (nanos, nanos > 0));
            }
        }

        #[test]
        fn rounding_considers_the_whole_decimal(whole in 0u64..1000, fraction in "[0-9]{1,60}") {
            let text = format!("{whole}.{fraction}");
            let kept: u64 = format!("{fraction:0<9}")[..9].parse().unwrap();
            let up = fraction.as_bytes().get(9).is_some_and(|&digit| digit >= b'5');
            let expected = whole * 1_000_000_000 + kept + u64::from(up);
            prop_assert_eq!(seconds(&text).unwrap().0 as u64, expected);
        }
    }
}
