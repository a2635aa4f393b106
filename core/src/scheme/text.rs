//! Schemes as people write them: `FEC(10/12, interleave 8)`.

use std::fmt;
use std::str::FromStr;

use super::registry::{SchemeKind, pattern, texts};
use super::{BlockCode, Scheme};
use crate::config::{Arguments, Fault, called, number};
use crate::units::quantity;

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.forms(), f)
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
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let scheme = called::<SchemeKind>(text);
        let scheme = scheme.and_then(|(kind, arguments)| (kind.parse)(arguments));
        scheme.map_err(|reason| Fault::at(format!("{text}: {reason}; write {}", texts(""))))
    }
}

impl BlockCode {
    /// The next argument, a block code: "10/12".
    ///
    /// # Errors
    /// If no argument is left, or it is not a code.
    pub fn next(arguments: &mut Arguments<'_>) -> Result<Self, String> {
        let text = arguments.next("the code")?;
        let (data, total) =
            text.split_once('/').ok_or_else(|| format!("`{text}` is not data/total"))?;
        let code = Self::new(number(data)?, number(total)?);
        // Without the example, as every message on text ends in some.
        code.map_err(|error| error.to_string().split(';').next().unwrap_or_default().to_owned())
    }
}

quantity!(Scheme, "Scheme", pattern(), format!("a link-layer scheme: {}", texts("\"")));

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
            ("ARQ(max)", "`max` has no value"),
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
