//! What an import says of itself.

use serde::{Deserialize, Serialize};

use crate::trace::keys::one_line;

/// How a foreign file was understood, what was assumed where it says nothing, what to beware of.
///
/// ```
/// use clift::trace::{Notes, text};
/// let file = "# assumed: delays are one way; LLDUs of 1500 bytes\nt_ns,d_ns\n0,5\n";
/// let phy = text::read(file.as_bytes(), None).unwrap();
/// assert_eq!(phy.header().notes.assumed, ["delays are one way", "LLDUs of 1500 bytes"]);
/// ```
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Notes {
    /// What was read from where.
    pub understood: Vec<String>,
    /// What was taken because nothing else was said.
    pub assumed: Vec<String>,
    /// What may make the trace mean less than it seems to.
    pub warnings: Vec<String>,
}

impl Notes {
    /// The same as files can hold them: one line each, apart from each other.
    pub(super) fn clean(self) -> Self {
        let clean = |notes: Vec<String>| joined(&notes).map_or_else(Vec::new, |line| split(&line));
        Self {
            understood: clean(self.understood),
            assumed: clean(self.assumed),
            warnings: clean(self.warnings),
        }
    }
}

/// A time as people say it: in s, ms or us with decimals, not in whole nanoseconds.
pub(super) fn spoken(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let (unit, scale) = units.into_iter().find(|unit| size >= unit.1).unwrap_or(("s", 1));
    let sign = if nanos < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:09}", size / scale, size % scale * (1_000_000_000 / scale));
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Stands between notes where one line holds several.
const BETWEEN: &str = "; ";

/// The notes in one line.
pub(super) fn joined(notes: &[String]) -> Option<String> {
    let clean = notes.iter().filter_map(|note| one_line(&note.replace(BETWEEN, ", ")));
    let line = clean.collect::<Vec<_>>().join(BETWEEN);
    (!line.is_empty()).then_some(line)
}

/// The notes that a line holds.
pub(super) fn split(line: &str) -> Vec<String> {
    line.split(BETWEEN).filter_map(one_line).collect()
}
