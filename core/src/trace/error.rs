//! Errors in trace files: position, fault and remedy.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::budget::Refusal;
use crate::config;
use crate::trace::TraceError;
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
    /// Well-formed text that is not a valid trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The file ends too early, or two files do not match.
    #[error(transparent)]
    File(Fault),
    /// The reader failed.
    #[error("cannot be read: {}", reason(.0))]
    Io(#[from] io::Error),
}

/// The fault in a line, with the remedy.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// A time in nanoseconds is not an integer.
    #[error("{0} is not a time; write integer nanoseconds")]
    NotNanoseconds(Snippet),
    /// A time in another unit is not a number.
    #[error("{0} is not a time; write a decimal number in {1}")]
    NotTime(Snippet, &'static str),
    /// A time in milliseconds is not an integer.
    #[error("{0} is not a time; write one integer of milliseconds a line")]
    NotMilliseconds(Snippet),
    /// A negative time.
    #[error("{0} is negative; times start at 0")]
    Negative(Snippet),
    /// A time out of range.
    #[error("{0} is over 2^61 ns (73 years); check the unit")]
    TooLate(Snippet),
    /// A time not later than the one before it.
    #[error(
        "time {0} does not come after the one before it; sort the file and drop repeated times"
    )]
    Unsorted(Snippet),
    /// Too few or too many columns.
    #[error("{} instead of {expected}", counted(*.found, "column", "columns"))]
    Columns {
        /// Columns in the line.
        found: usize,
        /// Columns in the format.
        expected: usize,
    },
    /// The header `t_ns,d_ns` is missing before the numbers.
    #[error(
        "{0} instead of the header `t_ns,d_ns`; for a bare two-column file give the unit (s, ms, us, ns), for another kind of file its format; logs of rates, delays or a modem are read by `clift trace import`"
    )]
    NoHeader(Snippet),
    /// An unknown key.
    #[error(
        "unknown key {0}; known are clift-trace, lldu_bytes, decode_ns, period_ns, rtt_ns, packing, packet_header_bytes, tick_ns, tick_phase_ns, description, source, understood, assumed, warnings and checksum"
    )]
    Key(Snippet),
    /// A repeated key.
    #[error("the key {0} occurs twice; keep one")]
    RepeatedKey(Snippet),
    /// A value that is not valid for its key.
    #[error("{1} is not valid for {0}; write an integer of at least {2}")]
    Value(String, Snippet, u64),
    /// An unknown packing.
    #[error("unknown packing {0}; write packet or bytes")]
    Packing(Snippet),
    /// A file of a newer format version.
    #[error("format version {0} is not known; this version of clift reads version 1")]
    Version(Snippet),
    /// Not UTF-8.
    #[error(
        "not text; is the format right? UTF-16 is converted by `iconv -f UTF-16 -t UTF-8 FILE > NEW`"
    )]
    NotText,
    /// A line too long for a text file.
    #[error("longer than {0} bytes; is this a text file?")]
    LongLine(usize),
    /// An empty line where the format does not allow one.
    #[error("an empty line; remove it")]
    Blank,
    /// More opportunities in one millisecond than nanoseconds to separate them.
    #[error("more than 1000000 opportunities in one millisecond; check the unit")]
    Crowded,
    /// The last timestamp of a mahimahi file is 0, so that it cannot repeat.
    #[error("the last timestamp is 0 ms, and the file repeats with it; it must be above 0")]
    NoPeriod,
    /// A symbol other than 0 and 1.
    #[error("{0} is neither 0 (lost) nor 1 (received)")]
    NotFate(Snippet),
    /// A loss flag other than 0 and 1.
    #[error("{0} is neither 0 (received) nor 1 (lost)")]
    NotLossFlag(Snippet),
    /// An invalid run length.
    #[error(
        "{0} is not a run length; write two integers a line: packets received, then packets lost"
    )]
    NotRun(Snippet),
    /// More slots than an index can count or the caller allows.
    #[error("more than {0} slots; split the file, or correct the unit of a rate")]
    TooMany(u64),
    /// The header of a probe file does not have this column.
    #[error("no column `{0}` in the header {1}")]
    NoColumn(String, Snippet),
    /// The header does not match any known kind of probe file.
    #[error(
        "{0} is not the header of a probe file; known are `timestamp,rtt,uplink,downlink` and `send_time_s,up_delay_ms,up_lost,down_delay_ms,down_lost` in any order; other logs are read by `clift trace import`"
    )]
    NotProbes(Snippet),
    /// A Parquet file does not have this column.
    #[error("no column `{0}`; a trace has t_ns and d_ns, this has {1}")]
    NoTraceColumn(&'static str, Snippet),
    /// A column of a Parquet file that does not hold integers.
    #[error("column `{0}` holds {1}; give whole nanoseconds as int64")]
    NotWhole(&'static str, String),
    /// A missing value in a Parquet file.
    #[error("row {1}: `{0}` is null; give 0 for erased, and no gaps")]
    Null(&'static str, u64),
    /// An unsigned value out of range in a Parquet file.
    #[error("row {1}: `{0}` = {2} is over 2^61 ns (73 years); check the unit")]
    Beyond(&'static str, u64, u64),
    /// A Parquet file with a compression whose unpacked size is not bounded.
    #[error("compressed with {0}; write the file with snappy, zstd or lz4")]
    Codec(String),
    /// Not a Parquet file.
    #[error("not a Parquet file, or its end is missing; copy it again or give another format")]
    NotParquet,
    /// An inconsistent Parquet file.
    #[error("damaged: {0}; copy the file again")]
    Damaged(String),
    /// A file of [`LinkTrace::write`](crate::trace::LinkTrace::write).
    #[error("a link trace, to which a scheme was applied; give the PHY trace that it was made of")]
    LinkTrace,
    /// Content that does not fit the checksums of the file.
    #[error(
        "damaged: {0} does not fit its `checksum`; copy the file again, or remove that key if the file was changed on purpose"
    )]
    Checksum(&'static str),
    /// An invalid row of a table.
    #[error("{0}")]
    Table(String),
    /// The memory limit is exceeded, or the user interrupted the work.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Fault {
    /// The fault as an error in line `line`.
    pub(crate) fn at(self, line: u64) -> ReadError {
        ReadError::Line { line, fault: self }
    }
}

impl From<Refusal> for ReadError {
    fn from(refusal: Refusal) -> Self {
        Self::File(refusal.into())
    }
}

impl From<TraceError> for config::Fault {
    fn from(error: TraceError) -> Self {
        Self::at(error.to_string())
    }
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
