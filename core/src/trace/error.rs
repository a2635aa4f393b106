//! Errors in traces and their files: position, fault and remedy.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::budget::Refusal;
use crate::config;
use crate::trace::column::MOST;
use crate::trace::format::known_by_content;
use crate::units::{Duration, counted};

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

/// The reason why a trace is not valid. `slot` counts from 0.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum TraceError {
    /// The trace has no slots.
    #[error("the trace is empty; give at least one slot")]
    Empty,
    /// The two columns differ in length.
    #[error("t has {} and d has {d}; give one d for each t", counted(*.t, "value", "values"))]
    Lengths {
        /// Values in `t`.
        t: usize,
        /// Values in `d`.
        d: usize,
    },
    /// `t` does not increase.
    #[error(
        "slot {slot}: t = {t} ns does not come after the slot before it; sort the trace and drop repeated times"
    )]
    Unsorted {
        /// The offending slot.
        slot: usize,
        /// Its time.
        t: i64,
    },
    /// A negative time.
    #[error(
        "slot {slot}: {column} = {value} ns is negative; times start at 0, and 0 in d means erased"
    )]
    Negative {
        /// The offending slot.
        slot: usize,
        /// `t` or `d`.
        column: &'static str,
        /// The value.
        value: i64,
    },
    /// `t + d` leaves the range of times.
    #[error("slot {slot}: t + d is over 2^61 ns (73 years); check the unit")]
    Overflow {
        /// The offending slot.
        slot: usize,
    },
    /// More slots than a `u32` can number.
    #[error("the trace has {slots} slots; at most 4294967295 are supported, so split it")]
    TooLong {
        /// Slots offered.
        slots: usize,
    },
    /// No slot is left after the offset.
    #[error(
        "an offset of {:.9} s leaves no slot: the last is at {:.9} s; start earlier",
        start.as_secs_f64(), last.as_secs_f64()
    )]
    Offset {
        /// The offset.
        start: Duration,
        /// `t` of its last slot.
        last: Duration,
    },
    /// A mutual information outside [0, 1].
    #[error("slot {slot}: the mutual information per coded bit must be from 0 to 1")]
    Information {
        /// The offending slot.
        slot: usize,
    },
    /// An LLDU size of 0.
    #[error("the LLDU size is 0 bytes; give lldu_bytes of at least 1")]
    ZeroLldu,
    /// A slot with 0 bytes, or with more than 2^32 - 1.
    #[error("slot {slot}: an LLDU of {bytes} bytes; give 1 to 4294967295")]
    Size {
        /// The offending slot.
        slot: usize,
        /// The size given.
        bytes: i64,
    },
    /// The number of sizes differs from the number of slots.
    #[error(
        "t has {} and bytes has {bytes}; give one size for each t, or one for all",
        counted(*.t, "value", "values")
    )]
    SizeCount {
        /// Values in `t`.
        t: usize,
        /// Sizes.
        bytes: usize,
    },
    /// A column whose length differs from that of `t`.
    #[error("t has {} and {column} has {values}; give one for each t", counted(*.t, "value", "values"))]
    ColumnLength {
        /// The column.
        column: &'static str,
        /// Values in `t`.
        t: usize,
        /// Values in the column.
        values: usize,
    },
    /// An invalid data LLDU.
    #[error("LLDU {slot}: {reason}")]
    Unit {
        /// Its number.
        slot: usize,
        /// The fault.
        reason: &'static str,
    },
    /// Fewer slots than data LLDUs.
    #[error(
        "{slots} slots for {lldus} data LLDUs; each needs its own slot, so give {lldus} or more"
    )]
    FewSlots {
        /// Slots given.
        slots: u64,
        /// Data LLDUs.
        lldus: usize,
    },
    /// An invalid nominal decoding time.
    #[error("decode_ns must be from 1 to 2^61; remove it to derive it from the trace")]
    Decode,
    /// A period shorter than the trace.
    #[error(
        "period_ns must be above {span}, the time from the first slot to the last, and at most 2^61"
    )]
    Period {
        /// Time from the first slot to the last, ns.
        span: i64,
    },
    /// A round-trip time out of range.
    #[error("rtt_ns must be at most 2^61 (73 years); check the unit")]
    Rtt,
    /// An invalid clock tick.
    #[error(
        "tick_ns must be at most 2^61, and tick_phase_ns below it; remove both if arrivals are not tied to a clock"
    )]
    Tick,
}

impl From<TraceError> for config::Fault {
    fn from(error: TraceError) -> Self {
        Self::at(error.to_string())
    }
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
        "{0} instead of the header `t_ns,d_ns`; for a bare two-column file give the unit (s, ms, us, ns), for another kind of file its format (0 and 1: loss); logs of rates, delays or a modem are read by `clift trace import`"
    )]
    NoHeader(Snippet),
    /// A header of probes in a file that is read as CLIFT's own text.
    #[error("{0} is a header of probes; give the format probes and a direction, up or down")]
    Probes(Snippet),
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

impl ReadError {
    /// A fault of a file as a whole.
    pub(super) fn of_file(text: impl Into<String>) -> Self {
        Self::File(Fault::Table(text.into()))
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
    /// The format is unknown.
    #[error("{place}: {error}")]
    Format {
        /// The file.
        place: String,
        /// The cause.
        error: UnknownFormat,
    },
    /// The format is write-only.
    #[error(
        "{place}: clift writes the format {format} but does not read it; known by their content are {}",
        known_by_content()
    )]
    NotRead {
        /// The file.
        place: String,
        /// Name of the format.
        format: &'static str,
    },
    /// The format is read-only.
    #[error("{place}: clift cannot write the format {format}")]
    NotWritten {
        /// The file.
        place: String,
        /// Name of the format.
        format: &'static str,
    },
    /// Parquet is not enabled in this program (`clift::trace::parquet::enable`).
    #[error(
        "{place}: this program does not read Parquet; convert the trace: clift trace convert {place} trace.csv"
    )]
    NoParquet {
        /// The file.
        place: String,
    },
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
    /// A field of the description is not valid.
    #[error("{place}: {field}: {cure}")]
    Field {
        /// The file.
        place: String,
        /// The field.
        field: &'static str,
        /// The fault and the remedy.
        cure: &'static str,
    },
    /// The file cannot be opened.
    #[error("{place}: cannot be opened: {}", reason(error))]
    Open {
        /// The file.
        place: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file does not hold a trace.
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
    #[error("{place}: cannot be written: {error}; the previous file is unchanged")]
    Write {
        /// The file.
        place: String,
        /// The cause.
        error: WriteError,
    },
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

/// The error for an unknown suffix or name, with the names of the formats that are known.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum UnknownFormat {
    /// An unknown suffix.
    #[error("the suffix `{0}` does not determine the format; give a format: {1}")]
    Suffix(String, String),
    /// An unknown format name.
    #[error("`{0}` is not a format; known are {1}")]
    Name(String, String),
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
