//! Notes of an import.

use serde::{Deserialize, Serialize};

/// How an import interpreted a foreign file, what it assumed, and its warnings.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::{Notes, text};
/// let file = "# assumed: delays are one way; LLDUs of 1500 bytes\nt_ns,d_ns\n0,5\n";
/// let phy = text::read(file.as_bytes(), None, &Budget::unlimited()).unwrap();
/// assert_eq!(phy.header().notes.assumed, ["delays are one way", "LLDUs of 1500 bytes"]);
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Notes {
    /// How the content of the file was interpreted.
    pub understood: Vec<String>,
    /// Assumptions made where the file and the user gave no value.
    pub assumed: Vec<String>,
    /// Limitations of the trace.
    pub warnings: Vec<String>,
}

impl Notes {
    /// Normalises the notes to what a file can hold: one line each, without the separator.
    pub(super) fn clean(self) -> Self {
        let clean = |notes: Vec<String>| joined(&notes).map_or_else(Vec::new, |line| split(&line));
        Self {
            understood: clean(self.understood),
            assumed: clean(self.assumed),
            warnings: clean(self.warnings),
        }
    }
}

/// Formats a time for readers: in s, ms or us with decimals.
pub(super) fn readable(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let (unit, scale) = units.into_iter().find(|unit| size >= unit.1).unwrap_or(("s", 1));
    let sign = if nanos < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:09}", size / scale, size % scale * (1_000_000_000 / scale));
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Separator of notes that share a line.
const BETWEEN: &str = "; ";

/// Joins the notes into one line.
pub(super) fn joined(notes: &[String]) -> Option<String> {
    let clean = notes.iter().filter_map(|note| one_line(&note.replace(BETWEEN, ", ")));
    let line = clean.collect::<Vec<_>>().join(BETWEEN);
    (!line.is_empty()).then_some(line)
}

/// Splits a line into notes.
pub(super) fn split(line: &str) -> Vec<String> {
    line.split(BETWEEN).filter_map(one_line).collect()
}

/// `text` without line ends and other control characters; `None` if the result is empty.
pub(crate) fn one_line(text: &str) -> Option<String> {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
