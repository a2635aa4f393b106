//! Errors in traces and their files: position, fault and remedy.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::budget::Refusal;
use crate::config;
use crate::trace::column::MOST;
use crate::units::counted;

/// The reason why a trace could not be read. The message is one line and does not name the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A line that does not match the format.
    #[error("line {line}: {fault}")]
    Line {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The file ends too early, two files do not match, or well-formed text is not a valid trace.
    #[error(transparent)]
    File(#[from] Fault),
    /// The reader failed.
    #[error("cannot be read: {}", reason(.0))]
    Io(#[from] io::Error),
}

/// The reason why a trace, or a line of its file, is not valid, with the remedy. Slots count from 0.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// What is wrong and what to do.
    #[error("{0}")]
    Text(String),
    /// More slots than an index can count or the caller allows.
    #[error("more than {0} slots; split the file, or correct the unit of a rate")]
    TooMany(u64),
    /// The memory limit is exceeded, or the user interrupted the work.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl From<Fault> for config::Fault {
    fn from(fault: Fault) -> Self {
        Self::at(fault.to_string())
    }
}

pub(crate) const NEGATIVE: &str = "is negative; times start at 0";
pub(crate) const TOO_LATE: &str = "is over 2^61 ns (73 years); check the unit";

/// Faults that several readers find.
impl Fault {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A fault of a piece of a file, which `why` follows.
    pub(crate) fn of(text: &[u8], why: &str) -> Self {
        Self::Text(format!("{} {why}", Snippet::new(text)))
    }

    pub(crate) fn empty() -> Self {
        Self::new("the trace is empty; give at least one slot")
    }

    pub(crate) fn too_long(slots: usize) -> Self {
        let cure = "at most 4294967295 are supported, so split it";
        Self::Text(format!("the trace has {slots} slots; {cure}"))
    }

    pub(crate) fn overflow(slot: usize) -> Self {
        Self::Text(format!("slot {slot}: t + d {TOO_LATE}"))
    }

    pub(crate) fn zero_lldu() -> Self {
        Self::new("the LLDU size is 0 bytes; give lldu_bytes of at least 1")
    }

    pub(crate) fn decode() -> Self {
        Self::new("decode_ns must be from 1 to 2^61; remove it to derive it from the trace")
    }

    /// A column `name` whose length differs from that of `t`.
    pub(crate) fn length(t: usize, name: &str, values: usize, cure: &str) -> Self {
        Self::Text(format!(
            "t has {} and {name} has {values}; {cure}",
            counted(t, "value", "values")
        ))
    }

    /// A time not later than the one before it.
    pub(crate) fn unsorted(time: &[u8]) -> Self {
        let cure = "sort the file and drop repeated times";
        let time = Snippet::new(time);
        Self::Text(format!("time {time} does not come after the one before it; {cure}"))
    }

    pub(crate) fn columns(found: usize, expected: usize) -> Self {
        Self::Text(format!("{} instead of {expected}", counted(found, "column", "columns")))
    }

    /// A value that is not valid for its key.
    pub(crate) fn value(key: &str, value: &[u8], least: u64) -> Self {
        let value = Snippet::new(value);
        Self::Text(format!("{value} is not valid for {key}; write an integer of at least {least}"))
    }

    pub(crate) fn not_text() -> Self {
        Self::new(
            "not text; is the format right? UTF-16 is converted by \
             `iconv -f UTF-16 -t UTF-8 FILE > NEW`",
        )
    }

    pub(crate) fn long_line(longest: usize) -> Self {
        Self::Text(format!("longer than {longest} bytes; is this a text file?"))
    }

    pub(crate) fn blank() -> Self {
        Self::new("an empty line; remove it")
    }

    pub(crate) fn damaged(what: &str) -> Self {
        Self::Text(format!("damaged: {what}; copy the file again"))
    }

    /// The fault as an error in line `line`.
    pub(crate) fn at(self, line: u64) -> ReadError {
        ReadError::Line { line, fault: self }
    }
}

impl ReadError {
    /// A fault of a file as a whole.
    pub(super) fn of_file(text: impl Into<String>) -> Self {
        Self::File(Fault::new(text))
    }
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> Self {
        Self::File(refusal.into())
    }
}

/// The error for a file. The message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// A required field of the description is missing.
    #[error("{place}: {why}; give {field}")]
    Missing {
        /// The file.
        place: String,
        /// Why it is needed.
        why: &'static str,
        /// The field.
        field: &'static str,
    },
    /// The file cannot be opened.
    #[error("{place}: cannot be opened: {}", reason(error))]
    Open {
        /// The file.
        place: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file does not hold a trace, its format is unknown or not for this, or a field of its
    /// description is not valid.
    #[error("{place}: {error}")]
    Read {
        /// The file.
        place: String,
        /// The fault in the file.
        error: ReadError,
    },
    /// The caller interrupted the work.
    #[error("{place}: interrupted; nothing was changed")]
    Stopped {
        /// The file.
        place: String,
    },
    /// The file cannot be written.
    #[error("{place}: cannot be written: {error}; nothing was changed")]
    Write {
        /// The file.
        place: String,
        /// The cause.
        error: WriteError,
    },
}

impl FileError {
    pub(crate) fn new(place: String, error: impl Into<ReadError>) -> Self {
        Self::Read { place, error: error.into() }
    }
}

/// The reason why a trace could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// mahimahi repeats a file with its last timestamp, which must be above 0.
    #[error(
        "the trace carries no whole packet after its first millisecond, which a mahimahi file needs; write a longer trace"
    )]
    TooShort,
    /// More opportunities than a mahimahi file can be read with.
    #[error(
        "{0} opportunities in millisecond {1}: a mahimahi file may have 1000000 in one, and {MOST} in all; give larger opportunities"
    )]
    TooMany(u64, i64),
    /// Required information is missing.
    #[error("{why}; give {field}")]
    Missing {
        /// Why it is needed.
        why: &'static str,
        /// The field of [`WriteAs`](crate::trace::WriteAs).
        field: &'static str,
    },
    /// The writer failed.
    #[error("{}", reason(.0))]
    Io(#[from] io::Error),
}

/// The message of the operating system, without the error number.
pub(crate) fn reason(error: &io::Error) -> String {
    let message = error.to_string();
    message.split(" (os error").next().unwrap_or_default().to_owned()
}

/// A short, printable piece of a file, in backticks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Snippet(String);

impl Snippet {
    /// The first characters of `bytes`, made printable.
    pub fn new(bytes: &[u8]) -> Self {
        const SHOWN: usize = 40;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
        let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        if shown.len() < bytes.len() && text.chars().count() > SHOWN {
            shown.push_str("...");
        }
        Self(shown)
    }
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0)
    }
}
