//! Which format a trace file has.
//!
//! Parquet is read and written by the Python package; here it is only a name.

use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

/// The formats of trace files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Format {
    /// Our own text, `.csv` or `.txt`.
    Text,
    /// Two bare columns.
    Columns,
    /// `.parquet`.
    Parquet,
    /// `.mahimahi`, or `.up` and `.down` as its traces are named.
    Mahimahi,
    /// Per-packet delay and loss with a header.
    Probes,
    /// A file of delays with one of loss flags.
    DelayLoss,
    /// 0/1 strings, `.loss`.
    LossString,
    /// ns-2 run lengths, `.runs`.
    Runs,
    /// netem-trace `.json`, written only.
    Netem,
}

/// Name of each format as users write it.
const FORMATS: [(&str, Format); 9] = [
    ("text", Format::Text),
    ("columns", Format::Columns),
    ("parquet", Format::Parquet),
    ("mahimahi", Format::Mahimahi),
    ("probes", Format::Probes),
    ("delay-loss", Format::DelayLoss),
    ("loss", Format::LossString),
    ("runs", Format::Runs),
    ("netem", Format::Netem),
];

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let known = FORMATS.iter().find(|(known, _)| *known == name);
        known.map(|&(_, format)| format).ok_or_else(|| UnknownFormat::Name(name.to_owned()))
    }
}

impl Format {
    /// The name as users write it.
    pub fn name(self) -> &'static str {
        let [first, ..] = FORMATS;
        FORMATS.iter().find(|(_, format)| *format == self).unwrap_or(&first).0
    }

    /// The format that a file's suffix stands for.
    ///
    /// ```
    /// use clift::trace::file::Format;
    /// use std::path::Path;
    /// assert_eq!(Format::of(Path::new("a/b.up")).unwrap(), Format::Mahimahi);
    /// assert!(Format::of(Path::new("b.dat")).unwrap_err().to_string().contains("give a format"));
    /// ```
    ///
    /// # Errors
    /// If the suffix is not known; the message lists the formats.
    pub fn of(path: &Path) -> Result<Self, UnknownFormat> {
        let suffix = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match suffix.as_str() {
            "csv" | "txt" => Ok(Self::Text),
            "parquet" => Ok(Self::Parquet),
            "mahimahi" | "up" | "down" => Ok(Self::Mahimahi),
            "loss" => Ok(Self::LossString),
            "runs" => Ok(Self::Runs),
            "json" => Ok(Self::Netem),
            "" => Err(UnknownFormat::Suffix(suffix)),
            _ => Err(UnknownFormat::Suffix(format!(".{suffix}"))),
        }
    }
}

/// A format that cannot be told.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum UnknownFormat {
    /// From a suffix.
    #[error("the suffix `{0}` does not say the format; give a format: {list}", list = list())]
    Suffix(String),
    /// From its name.
    #[error("`{0}` is no format; known are {list}", list = list())]
    Name(String),
}

fn list() -> String {
    FORMATS.map(|(name, _)| name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_has_one_name() {
        for (name, format) in FORMATS {
            assert_eq!(format.name(), name);
            assert_eq!(name.parse::<Format>().unwrap(), format);
        }
        let message = "dat".parse::<Format>().unwrap_err().to_string();
        assert!(message.starts_with("`dat` is no format; known are text, columns, parquet"));
    }
}
