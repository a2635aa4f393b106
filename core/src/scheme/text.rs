//! Schemes as people write them: `FEC(10/12, interleave 8)`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::{BlockCode, Persistency, Scheme, SchemeError};

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => f.write_str("none"),
            Self::Fec { code, interleave: NonZeroU32::MIN } => write!(f, "FEC({code})"),
            Self::Fec { code, interleave } => write!(f, "FEC({code}, interleave {interleave})"),
            Self::Arq { max_retx: Persistency::Unlimited } => f.write_str("ARQ"),
            Self::Arq { max_retx: Persistency::AtMost(limit) } => write!(f, "ARQ(max {limit})"),
            Self::Harq2 { code, extra, max_rounds } => {
                write!(f, "HARQ({code}")?;
                if extra > 0 {
                    write!(f, ", extra {extra}")?;
                }
                if let Persistency::AtMost(limit) = max_rounds {
                    write!(f, ", rounds {limit}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Reads what [`Scheme`]'s `Display` writes; upper and lower case and blanks do not matter.
///
/// ```
/// use clift::scheme::Scheme;
/// let scheme: Scheme = "harq(10/12, rounds 2)".parse().unwrap();
/// assert_eq!(scheme.to_string(), "HARQ(10/12, rounds 2)");
/// let error = "HARQ(12/10)".parse::<Scheme>().unwrap_err();
/// assert!(error.to_string().contains("sends fewer LLDUs than it carries"));
/// ```
impl FromStr for Scheme {
    type Err = SchemeError;

    fn from_str(text: &str) -> Result<Self, SchemeError> {
        let fault = |reason: String| SchemeError::Text { text: text.to_owned(), reason };
        let (name, arguments) = split(text).map_err(fault)?;
        match name.to_ascii_lowercase().as_str() {
            "none" => {
                options(&arguments, []).map_err(fault)?;
                Ok(Self::None)
            }
            "fec" => {
                let (code, rest) = block(&arguments).map_err(fault)?;
                let [interleave] = options(rest, ["interleave"]).map_err(fault)?;
                let interleave = NonZeroU32::new(interleave.unwrap_or(1));
                let interleave =
                    interleave.ok_or_else(|| fault(reason(&SchemeError::Interleave)))?;
                Ok(Self::Fec { code, interleave })
            }
            "arq" => {
                let [max] = options(&arguments, ["max"]).map_err(fault)?;
                Ok(Self::Arq { max_retx: max.into() })
            }
            "harq" => {
                let (code, rest) = block(&arguments).map_err(fault)?;
                let [extra, rounds] = options(rest, ["extra", "rounds"]).map_err(fault)?;
                Ok(Self::Harq2 { code, extra: extra.unwrap_or(0), max_rounds: rounds.into() })
            }
            _ => Err(fault("unknown scheme".to_owned())),
        }
    }
}

/// `NAME` or `NAME(argument, ...)`.
fn split(text: &str) -> Result<(&str, Vec<&str>), String> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once('(') else { return Ok((text, Vec::new())) };
    let inside = rest.strip_suffix(')').ok_or("the closing parenthesis is missing")?;
    Ok((name.trim_end(), inside.split(',').map(str::trim).collect()))
}

/// The code in the first argument, and the others.
fn block<'a>(arguments: &'a [&'a str]) -> Result<(BlockCode, &'a [&'a str]), String> {
    let (first, rest) = arguments.split_first().ok_or("the code is missing")?;
    let (data, total) =
        first.split_once('/').ok_or_else(|| format!("`{first}` is not data/total"))?;
    let code = BlockCode::new(number(data)?, number(total)?);
    Ok((code.map_err(|error| reason(&error))?, rest))
}

/// The values of the options that `names` allows, each at most once.
fn options<const N: usize>(
    arguments: &[&str],
    names: [&str; N],
) -> Result<[Option<u32>; N], String> {
    let mut values = [None; N];
    for argument in arguments {
        let (name, value) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
        let place = names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let place = place.ok_or_else(|| format!("`{argument}` means nothing here"))?;
        if values[place].replace(number(value)?).is_some() {
            return Err(format!("`{name}` is there twice"));
        }
    }
    Ok(values)
}

fn number(text: &str) -> Result<u32, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("`{text}` is not a whole number from 0 to {}", u32::MAX))
}

/// What is wrong with a code, without the example that every message on text ends in.
fn reason(error: &SchemeError) -> String {
    let text = error.to_string();
    text.split(';').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        for text in [
            "none",
            "FEC(10/12)",
            "FEC(10/12, interleave 8)",
            "ARQ",
            "ARQ(max 3)",
            "ARQ(max 0)",
            "HARQ(10/12)",
            "HARQ(1/1, extra 1)",
            "HARQ(10/12, rounds 2)",
            "HARQ(10/12, extra 1, rounds 2)",
        ] {
            assert_eq!(text.parse::<Scheme>().unwrap().to_string(), text);
        }
        assert_eq!(
            " harq ( 10 / 12,rounds  2 , EXTRA 1 ) ".parse::<Scheme>().unwrap().to_string(),
            "HARQ(10/12, extra 1, rounds 2)"
        );
        assert_eq!("FEC(2/3, interleave 1)".parse::<Scheme>().unwrap().to_string(), "FEC(2/3)");
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (text, reason) in [
            ("HARQ(12/10)", "HARQ(12/10): 12/10 sends fewer LLDUs than it carries; write none,"),
            ("FEC(0/3)", "a block of 3 LLDUs without data"),
            ("FEC(1/70000)", "a block of 70000 LLDUs is too long"),
            ("FEC", "the code is missing"),
            ("FEC(10)", "`10` is not data/total"),
            ("FEC(10/x)", "`x` is not a whole number"),
            ("FEC(10/-1)", "`-1` is not a whole number"),
            ("FEC(10/12", "the closing parenthesis is missing"),
            ("FEC(10/12, interleave 0)", "interleave 0 sends nothing"),
            ("FEC(10/12, rounds 2)", "`rounds 2` means nothing here"),
            ("ARQ(max 1, max 2)", "`max` is there twice"),
            ("ARQ(max)", "`` is not a whole number"),
            ("ARQ()", "`` means nothing here"),
            ("none(1)", "`1` means nothing here"),
            ("TCP", "unknown scheme"),
            ("", "unknown scheme"),
        ] {
            let error = text.parse::<Scheme>().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert!(
                !error.contains('\n') && error.contains("e.g.") || error.contains("write none")
            );
        }
    }
}
