//! Description of a trace file: its path, its format, and what the file itself does not say; and of
//! the formats that it may have.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::trace::atomic::{Watched, reader};
use crate::trace::decibels::{DecibelHertz, Decibels, SymbolRate};
use crate::trace::error::{Fault, FileError, ReadError, WriteError};
use crate::trace::files::{Files, Source};
use crate::trace::given::{DelayIs, Given, RateIs, Shift, TimeColumn};
use crate::trace::loss_string::LostSymbol;
use crate::trace::{PhyTrace, TimeUnit};
use crate::units::{BitRate, Bytes, Duration, Probability};

/// A PHY trace from a file.
///
/// ```
/// use clift::trace::{InMemory, TimeUnit, TraceFile};
/// let mut files = InMemory::default();
/// files.insert("x.txt", "0 0.036\n0.001 0\n0.002 0.036\n");
/// let file = TraceFile { unit: Some(TimeUnit::Seconds), share: 2, ..TraceFile::new("x.txt") };
/// assert_eq!(file.read(&files)?.t()[..], [0, 2_000_000]);
/// # Ok::<(), clift::trace::FileError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Trace")]
pub struct TraceFile {
    /// The file, relative to the folder of the scenario file.
    pub file: PathBuf,
    /// Format of the file; unless given, its suffix or its content determines it.
    pub format: Option<Format>,
    /// Unit of the times in a bare two-column file.
    pub unit: Option<TimeUnit>,
    /// Payload of an LLDU, if the file does not give it.
    #[schemars(extend("not" = { "type": "string", "pattern": r"^\s*0+(\.0+)?([eE][+-]?[0-9]+)?\s*[A-Za-z]+\s*$" }))]
    pub lldu: Option<Bytes>,
    /// Direction of a two-way measurement ("probes", "irtt"): "up" or "down".
    pub direction: Option<Direction>,
    /// File of loss flags for "delay-loss", relative to the folder of the scenario file, or else to
    /// the current folder.
    pub losses: Option<PathBuf>,
    /// Time between the packets of "delay-loss", and of "ping" if its lines have no times.
    pub interval: Option<Duration>,
    /// Rate of the slots generated from "probes", "delay-loss", "ping", "capture" or a "series"; if
    /// omitted, one slot per packet or row. For a series, also a column with its unit: "2:Mbit/s".
    pub rate: Option<Given<BitRate>>,
    /// Data that the rate of a "series" counts: data "sent" (the default) or data "received",
    /// to which the lost part is added.
    pub rate_is: Option<RateIs>,
    /// Column of times of a "series", by number from 1 or by name, with its unit: "7:ms",
    /// "when:date" (ISO 8601), or "1:%Y-%m-%d %H:%M:%S". If given, the format is "series".
    pub time: Option<TimeColumn>,
    /// Delay of a "series": a column with its unit ("4:ms"), or a value ("20 ms").
    pub delay: Option<Given<Duration>>,
    /// Kind of delay in a "series": "one-way", or "rtt", of which half is used.
    #[serde(default)]
    pub delay_is: DelayIs,
    /// Losses of a "series": a column of shares ("6"), per cent ("6:%") or counts ("6:packets"),
    /// or a constant ("2 %"). CLIFT draws which slots are lost.
    pub loss: Option<Given<Probability>>,
    /// Longest time for which a row of a "series" holds, after which an outage follows until the
    /// next row; default: no limit.
    pub max_hold: Option<Duration>,
    /// Seed of the losses of a "series"; default 1.
    pub seed: Option<u64>,
    /// Added to the delays of a "series" or "capture": the time by which the receiver's clock is
    /// behind.
    pub clock_offset: Option<Shift>,
    /// Es/N0 of a modem log ("series"): a column ("4:dB") or a constant ("7.5 dB"). The slots are
    /// then the modem's frames, whose size follows from their MODCOD.
    pub esn0: Option<Given<Decibels>>,
    /// C/N0 instead of Es/N0: a column ("4:dBHz") or a constant ("72 dBHz").
    pub cn0: Option<Given<DecibelHertz>>,
    /// Symbol rate of a modem log: "5 MBd".
    pub symbol_rate: Option<SymbolRate>,
    /// MODCODs of a modem log: a column by number or name (variable coding; names such as "QPSK
    /// 3/4", or DVB-S2's numbers), or one MODCOD for all frames (constant coding). If omitted,
    /// coding is adaptive: the most efficient MODCOD whose threshold plus margin does not exceed
    /// the Es/N0.
    pub modcod: Option<String>,
    /// MODCODs and their thresholds: "dvb-s2", "dvb-s2x" (the default), "dvb-s2-short" (five with
    /// the frame error rates of a decoder), or a TOML or CSV file with name, efficiency (bit/symbol),
    /// threshold_db and optionally symbols (per frame) and, in TOML, curve (pairs of Es/N0 in dB and
    /// frame error rate), relative to the folder of the scenario file, or else to the current folder.
    pub modcod_table: Option<String>,
    /// Symbols per frame, if they differ from those of the table.
    pub frame_symbols: Option<u32>,
    /// Margin of adaptive coding: "1 dB"; default none.
    pub margin: Option<Decibels>,
    /// Age of the Es/N0 value that adaptive coding uses; default 0.
    pub acm_delay: Option<Duration>,
    /// Marker of a missing value in a "series", in addition to an empty field, "-", "NaN", "NA" and
    /// "null".
    pub missing: Option<String>,
    /// The receiver's capture that belongs to the sender's "capture", relative to the folder of the
    /// scenario file. If given, the format is "capture".
    pub receiver: Option<PathBuf>,
    /// True if addresses and ports change between the two ends of a "capture", as behind NAT; they
    /// are then not compared.
    #[serde(default)]
    pub nat: bool,
    /// Use only packets with this source address in the sender's "capture", e.g. "10.0.0.1", if it
    /// also contains other traffic.
    pub from: Option<String>,
    /// Time between the slots of "loss" and "runs".
    pub slot: Option<Duration>,
    /// Decoding time of the received slots of "loss" and "runs".
    pub decoding: Option<Duration>,
    /// Symbol of a lost slot in "loss": 0 (the default) or 1.
    pub lost: Option<LostSymbol>,
    /// Keep packets in order: `d` is raised where a slot would otherwise arrive before an earlier
    /// one. Default true for "probes", "delay-loss", "ping" and "series", false for other formats;
    /// a "capture" keeps the order that was measured.
    pub keep_order: Option<bool>,
    /// Keep every n-th slot: the share of one of n users of a fairly shared link.
    #[serde(default = "one")]
    pub share: u32,
    /// Trace time that becomes time 0; applied first.
    #[serde(default)]
    pub offset: Duration,
}

fn one() -> u32 {
    1
}

/// One direction of a two-way measurement.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Direction {
    /// From the terminal.
    Up,
    /// To the terminal.
    Down,
}

impl TraceFile {
    /// A file of this name with default settings.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self { file: file.into(), share: one(), ..Self::default() }
    }

    /// The rate, for formats that do not support a column of rates.
    pub(super) fn constant_rate(&self, input: &Input<'_>) -> Result<Option<BitRate>, FileError> {
        match &self.rate {
            None => Ok(None),
            Some(Given::Constant(rate)) => Ok(Some(*rate)),
            Some(Given::Column(..)) => {
                let cure = "only a series has a column of rates; give a rate, e.g. \"5 Mbit/s\"";
                Err(self.wrong("rate", cure, input))
            }
        }
    }

    /// The error for a field that conflicts with the others.
    pub(super) fn wrong(
        &self,
        field: &'static str,
        cure: &'static str,
        input: &Input<'_>,
    ) -> FileError {
        input.fault(&self.file, Fault::Text(format!("{field}: {cure}")))
    }

    /// Returns the value of a field that the format requires.
    pub(super) fn needed<T>(
        &self,
        value: Option<T>,
        why: &'static str,
        field: &'static str,
        input: &Input<'_>,
    ) -> Result<T, FileError> {
        value.ok_or_else(|| FileError::Missing { place: input.files.place(&self.file), why, field })
    }
}

/// How to write a file, beyond what its suffix and the trace determine.
///
/// ```
/// use std::path::Path;
/// use clift::trace::{PhyTrace, WriteAs};
/// use clift::units::Bytes;
/// let phy = PhyTrace::new(vec![0, 10].into(), vec![5, 0].into(), Bytes(33))?;
/// let fault = WriteAs::default().write(&phy, Path::new("x.dat")).unwrap_err();
/// assert!(fault.to_string().starts_with("x.dat: the suffix `.dat` does not determine the format"));
/// # Ok::<(), clift::trace::Fault>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteAs {
    /// The format; unless given, the suffix determines it.
    pub format: Option<Format>,
    /// Unit of "columns"; a text file with a unit is written as "columns".
    pub unit: Option<TimeUnit>,
    /// Bytes per opportunity of "mahimahi". Default: those of a trace read from mahimahi, else
    /// 1504.
    pub opportunity: Option<Bytes>,
    /// Properties that a "netem" file describes.
    pub model: Option<Model>,
}

/// What a "netem" file describes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Model {
    /// LLDU size over the gap to the next slot.
    Bandwidth,
    /// `d` + RTT/2 if the header has an RTT, else `d`; an erased slot keeps the previous delay.
    Delay,
    /// 1 during an erased slot, 0 otherwise.
    Loss,
}

impl FromStr for Model {
    type Err = String;

    /// `bandwidth`, `delay` or `loss`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "bandwidth" => Ok(Self::Bandwidth),
            "delay" => Ok(Self::Delay),
            "loss" => Ok(Self::Loss),
            _ => Err(format!("`{text}` is not a model; give bandwidth, delay or loss")),
        }
    }
}

/// A format of trace files.
///
/// ```
/// use clift::trace::Format;
/// use std::path::Path;
/// let mahimahi: Format = "mahimahi".parse()?;
/// assert_eq!(Format::of(Path::new("a/b.up"))?, mahimahi);
/// assert!(Format::of(Path::new("b.dat")).unwrap_err().to_string().contains("give a format"));
/// # Ok::<(), clift::trace::Fault>(())
/// ```
#[derive(Clone, Copy)]
pub struct Format(pub(super) &'static FormatRow);

/// Description of a format.
pub(super) struct FormatRow {
    /// Name of the format in scenarios and on the command line.
    pub(super) name: &'static str,
    /// File suffixes of the format, used unless a format is given.
    pub(super) suffixes: &'static [&'static str],
    /// One-line description for users.
    pub(super) doc: &'static str,
    /// Keys of a [`TraceFile`] that apply to some formats, among them this one.
    pub(super) keys: &'static [&'static [&'static str]],
    /// Reads a file; `None` if the format is write-only.
    pub(super) read: Option<Reads>,
    /// Writes a file; `None` if the format is read-only.
    pub(super) write: Option<Writes>,
    /// Whether a file that starts so, without a byte order mark, is of the format; `None` if the
    /// content does not tell.
    pub(super) content: Option<fn(&[u8]) -> bool>,
}

impl FormatRow {
    /// A format that only its name chooses.
    pub(super) const NAMED: Self = Self {
        name: "",
        suffixes: &[],
        doc: "",
        keys: &[],
        read: None,
        write: None,
        content: None,
    };
}

/// A function that reads a trace.
pub(super) type Reads = fn(&TraceFile, &Input<'_>) -> Result<PhyTrace, FileError>;

/// A function that writes a trace.
pub(super) type Writes = fn(&PhyTrace, &WriteAs, &mut (dyn Write + Send)) -> Result<(), WriteError>;

/// Opens the files of a description for the format readers.
pub(super) struct Input<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) budget: &'a Budget<'a>,
    /// Leaves out pauses of a series, and of more slots than this all but parts that are spread over
    /// it.
    pub(super) excerpt: Option<u64>,
}

impl Input<'_> {
    /// An error of the file `name`.
    pub(super) fn fault(&self, name: &Path, error: impl Into<ReadError>) -> FileError {
        FileError::new(self.files.place(name), error)
    }

    /// Parses the text file `name` with `parse`.
    pub(super) fn parsed(
        &self,
        name: &Path,
        parse: impl FnOnce(Reader<'_>) -> Result<PhyTrace, ReadError>,
    ) -> Result<PhyTrace, FileError> {
        let file = self.open(name)?;
        parse(reader(self.budget, file)).map_err(|error| self.fault(name, error))
    }

    /// A reader of the text file `name`.
    pub(super) fn reader(&self, name: &Path) -> Result<Reader<'_>, FileError> {
        Ok(reader(self.budget, self.open(name)?))
    }

    /// Parses the file `name` with random access; `parse` must check the budget itself.
    #[cfg(feature = "parquet")]
    pub(super) fn parsed_anywhere(
        &self,
        name: &Path,
        parse: impl FnOnce(Box<dyn Source>) -> Result<PhyTrace, ReadError>,
    ) -> Result<PhyTrace, FileError> {
        parse(self.open(name)?).map_err(|error| self.fault(name, error))
    }

    fn open(&self, name: &Path) -> Result<Box<dyn Source>, FileError> {
        let opened = self.files.open(name);
        opened.map_err(|error| FileError::Open { place: self.files.place(name), error })
    }
}

/// A buffered reader that checks the budget.
pub(super) type Reader<'a> = BufReader<Watched<'a, Box<dyn Source>>>;
