//! What can be wrong with a trace file: where, what, and the cure.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::budget::Refusal;
use crate::config;
use crate::trace::TraceError;
use crate::units::counted;

/// Why a trace could not be read. The message is one line and does not name the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A line (counted from 1) that does not belong in the format.
    #[error("line {line}: {fault}")]
    Line {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// Well-formed text that makes no trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The file ends too early, or two files do not belong together.
    #[error(transparent)]
    File(Fault),
    /// The reader failed.
    #[error("cannot be read: {}", reason(.0))]
    Io(#[from] io::Error),
}

/// What is wrong with a line, and what to write instead.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// Not an integer where a time in nanoseconds is due.
    #[error("{0} is not a time; write integer nanoseconds")]
    NotNanoseconds(Snippet),
    /// Not a number where a time in some unit is due.
    #[error("{0} is not a time; write a decimal number in {1}")]
    NotTime(Snippet, &'static str),
    /// Not an integer of milliseconds.
    #[error("{0} is not a time; write one integer of milliseconds a line")]
    NotMilliseconds(Snippet),
    /// A time below zero.
    #[error("{0} is negative; times start at 0")]
    Negative(Snippet),
    /// A time out of range.
    #[error("{0} is over 2^61 ns (73 years); check the unit")]
    TooLate(Snippet),
    /// A time not after the one before.
    #[error(
        "time {0} does not come after the one before it; sort the file and drop repeated times"
    )]
    Unsorted(Snippet),
    /// A millisecond before the one before.
    #[error("{stamp} ms comes before the {before} ms of the line before it; sort the file")]
    Decreasing {
        /// The millisecond.
        stamp: u64,
        /// The one before.
        before: u64,
    },
    /// The same in the last line, which copying may have cut off.
    #[error(
        "the last line, {stamp} ms, comes before the {before} ms of the line before it: it looks cut off; remove it, or copy the file again"
    )]
    CutOff {
        /// The millisecond.
        stamp: u64,
        /// The one before.
        before: u64,
    },
    /// Too few or too many columns.
    #[error("{} instead of {expected}", counted(*.found, "column", "columns"))]
    Columns {
        /// What the line has.
        found: usize,
        /// What the format has.
        expected: usize,
    },
    /// No `t_ns,d_ns` before the numbers.
    #[error(
        "{0} instead of the header `t_ns,d_ns`; for a bare two-column file give the unit (s, ms, us, ns), for another kind of file its format; logs of rates, delays or a modem are read by `clift trace import`"
    )]
    NoHeader(Snippet),
    /// An unknown key.
    #[error(
        "unknown key {0}; known are clift-trace, lldu_bytes, decode_ns, period_ns, rtt_ns, packing, packet_header_bytes, tick_ns, tick_phase_ns, description, source, understood, assumed and warnings"
    )]
    Key(Snippet),
    /// A key that was there before.
    #[error("the key {0} comes twice; keep one")]
    RepeatedKey(Snippet),
    /// A value that does not fit its key.
    #[error("{1} is no value for {0}; write an integer of at least {2}")]
    Value(&'static str, Snippet, u64),
    /// A packing that is none.
    #[error("{0} is no value for packing; write packet or bytes")]
    Packing(Snippet),
    /// A newer file.
    #[error("format version {0} is not known; this version of clift reads version 1")]
    Version(Snippet),
    /// Not UTF-8.
    #[error("not text; is the format right?")]
    NotText,
    /// A line that no text file has.
    #[error("longer than {0} bytes; is this a text file?")]
    LongLine(usize),
    /// An empty line where none may be.
    #[error("an empty line; remove it")]
    Blank,
    /// More opportunities than nanoseconds to tell them apart by.
    #[error("more than 1000000 opportunities in one millisecond; check the unit")]
    Crowded,
    /// A mahimahi file cannot repeat with period 0.
    #[error("the last timestamp is 0 ms, and the file repeats with it; it must be above 0")]
    NoPeriod,
    /// A symbol that is neither 0 nor 1.
    #[error("{0} is neither 0 (lost) nor 1 (received)")]
    NotFate(Snippet),
    /// A loss flag that is neither 0 nor 1.
    #[error("{0} is neither 0 (received) nor 1 (lost)")]
    NotLossFlag(Snippet),
    /// A run length that is none.
    #[error(
        "{0} is not a run length; write two integers a line: packets received, then packets lost"
    )]
    NotRun(Snippet),
    /// More slots than an index can count or a caller allows.
    #[error("more than {0} slots; split the file, or correct the unit of a rate")]
    TooMany(u64),
    /// No such column in the header of a probe file.
    #[error("no column `{0}` in the header {1}")]
    NoColumn(String, Snippet),
    /// A header that is of no known kind of probe file.
    #[error(
        "{0} is not the header of a probe file; known are `timestamp,rtt,uplink,downlink` and `send_time_s,up_delay_ms,up_lost,down_delay_ms,down_lost` in any order; other logs are read by `clift trace import`"
    )]
    NotProbes(Snippet),
    /// No such column in a Parquet file.
    #[error("no column `{0}`; a trace has t_ns and d_ns, this has {1}")]
    NoTraceColumn(&'static str, Snippet),
    /// A column of a Parquet file that does not hold integers.
    #[error("column `{0}` holds {1}; give whole nanoseconds as int64")]
    NotWhole(&'static str, String),
    /// A value of a Parquet file that is missing.
    #[error("row {1}: `{0}` is null; give 0 for erased, and no gaps")]
    Null(&'static str, u64),
    /// An unsigned value of a Parquet file out of range.
    #[error("row {1}: `{0}` = {2} is over 2^61 ns (73 years); check the unit")]
    Beyond(&'static str, u64, u64),
    /// A Parquet file in a compression that nothing bounds.
    #[error("compressed with {0}; write the file with snappy, zstd or lz4")]
    Codec(String),
    /// Not a Parquet file.
    #[error("not a Parquet file, or its end is missing; copy it again or give another format")]
    NotParquet,
    /// A Parquet file that contradicts itself.
    #[error("damaged: {0}; copy the file again")]
    Damaged(String),
    /// A row of a table that does not belong there.
    #[error("{0}")]
    Table(String),
    /// More memory than may be taken, or interrupted.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Delay and loss files that differ in length.
    #[error(
        "{} but {}; give one of each a packet",
        counted(*.delays, "delay", "delays"),
        counted(*.losses, "loss flag", "loss flags")
    )]
    Pair {
        /// Lines of the delay file.
        delays: u64,
        /// Lines of the loss file.
        losses: u64,
    },
}

impl Fault {
    /// The fault in its place.
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

/// What the system says, without its number.
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
