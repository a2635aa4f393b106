//! Description of a trace file: its path, its format, and what the file itself does not say.

use std::io::{self, BufReader, Read, Seek, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::budget::{Budget, MemoryLimit};
use crate::trace::atomic::{Watched, reader, replace, writer};
use crate::trace::error::reason;
use crate::trace::files::{Files, Folder, Source};
use crate::trace::format::{Format, UnknownFormat};
use crate::trace::lines::Lines;
use crate::trace::netem::Model;
use crate::trace::series::{
    DecibelHertz, Decibels, DelayIs, Given, RateIs, Shift, SymbolRate, TimeColumn,
};
use crate::trace::slots::MOST;
use crate::trace::{Fault, PhyTrace, ReadError, TimeUnit, TraceError};
use crate::trace::{irtt, ping, probes};
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
    /// Format of the file; unless given, the suffix determines it.
    pub format: Option<Format>,
    /// Unit of the times in a bare two-column file.
    pub unit: Option<TimeUnit>,
    /// Payload of an LLDU, if the file does not give it.
    #[schemars(extend("not" = { "type": "string", "pattern": r"^\s*0+(\.0+)?\s*[A-Za-z]+\s*$" }))]
    pub lldu: Option<Bytes>,
    /// Direction of a two-way measurement ("probes", "irtt"): "up" or "down".
    pub direction: Option<Direction>,
    /// File of loss flags for "delay-loss", relative to the same folder.
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
    /// frame error rate), relative to the same folder.
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
    /// The receiver's capture that belongs to the sender's "capture", relative to the same folder.
    /// If given, the format is "capture".
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

    /// Checks the settings that do not need the file.
    ///
    /// # Errors
    /// The faulty field and its remedy.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.file.as_os_str().is_empty() {
            return Err(("file", "is empty; name a trace file"));
        }
        if self.share == 0 {
            return Err(("share", "must be 1 or more"));
        }
        // The content may determine the format where the suffix does not.
        if let Some(format) = self.named_format().ok().filter(|format| format.is_read()) {
            self.check_columns(format)?;
        }
        if self.lldu.is_some_and(|lldu| lldu.0 == 0) {
            return Err(("lldu", "must be 1 B or more"));
        }
        Ok(())
    }

    /// Checks that delays and losses are given for a format that has them in columns.
    fn check_columns(&self, format: Format) -> Result<(), (&'static str, &'static str)> {
        let timed = format.is_table() && (format != Format::SERIES || self.time.is_some());
        let modem = self.esn0.is_some() || self.cn0.is_some() || self.modcod.is_some();
        let given = self.delay.is_some() || self.loss.is_some() || modem;
        if timed || !(given || self.rate_is.is_some() || self.max_hold.is_some()) {
            return Ok(());
        }
        Err(match modem {
            true => ("time", "levels and MODCODs belong to a series; give its column of times"),
            false => ("time", "delay and loss belong to a series; give its column of times"),
        })
    }

    /// Checks that every key applies to the format.
    fn check_keys(&self, format: Format) -> Result<(), (&'static str, &'static str)> {
        let usual = Self::new(&self.file);
        let [given, usual] = [self, &usual].map(|file| serde_json::to_value(file).ok());
        let is_given = |key: &&str| {
            let [given, usual] = [&given, &usual].map(|of| of.as_ref().and_then(|of| of.get(key)));
            given != usual
        };
        let mut of_others = Format::all()
            .flat_map(Format::keys)
            .filter(|key| !format.keys().any(|own| own == *key));
        match of_others.find(is_given) {
            Some(key) => Err((key, "does not apply to a file of this format; remove it")),
            None => Ok(()),
        }
    }

    /// Reads the trace from one of `files`.
    ///
    /// # Errors
    /// A [`FileError`] with the file, the fault and the remedy.
    pub fn read(&self, files: &dyn Files) -> Result<PhyTrace, FileError> {
        self.read_within(files, &Budget::unlimited())
    }

    /// As [`TraceFile::read`], within a budget; checks every 64 KiB whether to continue.
    ///
    /// # Errors
    /// As [`TraceFile::read`], and if the budget refuses.
    pub fn read_within(
        &self,
        files: &dyn Files,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, FileError> {
        self.excerpt_within(files, budget, None)
    }

    /// As [`TraceFile::read_within`]; a series without its pauses, and of more slots than `most` only
    /// parts that are spread over it.
    ///
    /// # Errors
    /// As [`TraceFile::read_within`].
    pub fn excerpt_within(
        &self,
        files: &dyn Files,
        budget: &Budget<'_>,
        most: Option<u64>,
    ) -> Result<PhyTrace, FileError> {
        let input = Input { files, budget, excerpt: most };
        let place = || input.files.place(&self.file);
        let wrong = |(field, cure)| FileError::Field { place: place(), field, cure };
        self.check().map_err(wrong)?;
        let format = self.known_format(files)?;
        self.check_columns(format).and_then(|()| self.check_keys(format)).map_err(wrong)?;
        let Some(read) = format.row().read else {
            return Err(FileError::NotRead { place: place(), format: format.name() });
        };
        let whole = match read(self, &input) {
            Err(_) if budget.is_stopped() => return Err(FileError::Stopped { place: place() }),
            read => read?,
        };
        let measured = [&probes::FORMAT, &probes::PAIR, &ping::FORMAT, &irtt::FORMAT];
        let measured = measured.iter().any(|row| row.name == format.name());
        let fault = |error: ReadError| FileError::Read { place: place(), error };
        // A series restores the order while it creates its slots.
        let whole = if self.keep_order.unwrap_or(measured) && !format.is_table() {
            let column = 8 * whole.len() as u64;
            let taken = budget.take(column, format_args!("{} slots in order", whole.len()));
            taken.map_err(|refused| fault(refused.into()))?;
            whole.in_order()
        } else {
            whole
        };
        let fault = |error: TraceError| fault(error.into());
        self.cut(whole).map_err(fault)
    }

    /// Applies `offset` and `share` to a trace.
    ///
    /// # Errors
    /// If no slot remains.
    pub fn cut(&self, whole: PhyTrace) -> Result<PhyTrace, TraceError> {
        let late = whole.offset(self.offset)?;
        Ok(NonZeroU32::new(self.share).map_or_else(|| late.clone(), |share| late.share(share)))
    }

    /// The format: the given one, else by the suffix, else by the content, if it is a file of a
    /// known tool. The content also decides for `.txt` and `.csv`, which are used for many formats.
    ///
    /// # Errors
    /// If the format is not recognised, or the file cannot be opened to look.
    pub fn known_format(&self, files: &dyn Files) -> Result<Format, FileError> {
        let place = || files.place(&self.file);
        let named = self.named_format();
        let sure = |format: &Format| format.is_read() && *format != Format::TEXT;
        if self.format.is_none() && !named.as_ref().is_ok_and(sure) {
            let opened = files.open(&self.file);
            let mut file = opened.map_err(|error| FileError::Open { place: place(), error })?;
            // Bytes read from a pipe cannot be read again.
            if file.stream_position().is_ok() {
                let mut start = Vec::new();
                let read = file.take(Format::START).read_to_end(&mut start);
                read.map_err(|error| FileError::Read { place: place(), error: error.into() })?;
                let fault = match &start[..] {
                    [] => Some(TraceError::Empty.into()),
                    // The byte-order marks of UTF-16.
                    [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(Fault::NotText.at(1)),
                    _ => None,
                };
                if let Some(error) = fault {
                    return Err(FileError::Read { place: place(), error });
                }
                if let Some(format) = Format::of_content(&start) {
                    return Ok(format);
                }
            }
        }
        named.map_err(|error| FileError::Format { place: place(), error })
    }

    /// The format by the description alone. A text file with a unit is "columns".
    fn named_format(&self) -> Result<Format, UnknownFormat> {
        match self.format {
            None if self.time.is_some() => return Ok(Format::SERIES),
            None if self.receiver.is_some() => return Ok(Format::CAPTURE),
            _ => {}
        }
        format_of(self.format, &self.file, self.unit)
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
        FileError::Field { place: input.files.place(&self.file), field, cure }
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

fn format_of(
    given: Option<Format>,
    path: &Path,
    unit: Option<TimeUnit>,
) -> Result<Format, UnknownFormat> {
    match given {
        Some(format) => Ok(format),
        None => Format::of(path).map(|format| match unit {
            Some(_) if format == Format::TEXT => Format::COLUMNS,
            _ => format,
        }),
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
/// # Ok::<(), clift::trace::TraceError>(())
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

impl WriteAs {
    /// Writes the trace to `path`, completely or not at all.
    ///
    /// # Errors
    /// A [`FileError`] that names the file; its previous content is then unchanged.
    pub fn write(&self, phy: &PhyTrace, path: &Path) -> Result<(), FileError> {
        self.write_while(phy, path, &|| true)
    }

    /// As [`WriteAs::write`], as long as `go_on` returns true; it is called every 64 KiB.
    ///
    /// # Errors
    /// As [`WriteAs::write`], and [`FileError::Stopped`].
    pub fn write_while(
        &self,
        phy: &PhyTrace,
        path: &Path,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), FileError> {
        let place = || path.display().to_string();
        let format = format_of(self.format, path, self.unit)
            .map_err(|error| FileError::Format { place: place(), error: error.written() })?;
        let Some(write) = format.row().write else {
            return Err(FileError::NotWritten { place: place(), format: format.name() });
        };
        write_file(path, go_on, |out| write(phy, self, out))
    }
}

/// Lets `fill` write the file at `path`, completely or not at all. `go_on` is called every 64 KiB;
/// if it returns false, writing stops. A device or a pipe is written directly, a symbolic link is
/// followed, permissions are kept.
///
/// ```
/// use std::io::{Error, Write};
/// use clift::trace::write_file;
/// # let folder = std::env::temp_dir().join(format!("clift-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("x.txt");
/// write_file(&path, &|| true, |out| Ok(out.write_all(b"whole")?)).unwrap();
/// let half = write_file(&path, &|| true, |out| {
///     out.write_all(b"ha")?;
///     Err(Error::other("no more").into())
/// });
/// assert!(half.unwrap_err().to_string().ends_with("no more; the previous file is unchanged"));
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// A [`FileError`] that names the file; its previous content is then unchanged.
pub fn write_file(
    path: &Path,
    go_on: &(dyn Fn() -> bool + Sync),
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
) -> Result<(), FileError> {
    let place = || path.display().to_string();
    let budget = Budget::new(MemoryLimit::Unlimited, Some(go_on));
    let written = replace(path, |file| {
        let mut out = writer(&budget, file);
        fill(&mut out)?;
        Ok(out.flush()?)
    });
    match written {
        Err(_) if budget.is_stopped() => Err(FileError::Stopped { place: place() }),
        Err(WriteError::Missing { why, field }) => {
            Err(FileError::Missing { place: place(), why, field })
        }
        written => written.map_err(|error| FileError::Write { place: place(), error }),
    }
}

/// Opens the files of a description for the format readers.
pub(super) struct Input<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) budget: &'a Budget<'a>,
    /// As [`super::series::Series::excerpt`].
    pub(super) excerpt: Option<u64>,
}

impl Input<'_> {
    /// Parses the text file `name` with `parse`.
    pub(super) fn parsed(
        &self,
        name: &Path,
        parse: impl FnOnce(Reader<'_>) -> Result<PhyTrace, ReadError>,
    ) -> Result<PhyTrace, FileError> {
        let file = self.open(name)?;
        parse(reader(self.budget, file))
            .map_err(|error| FileError::Read { place: self.files.place(name), error })
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
        parse(self.open(name)?)
            .map_err(|error| FileError::Read { place: self.files.place(name), error })
    }

    fn open(&self, name: &Path) -> Result<Box<dyn Source>, FileError> {
        let opened = self.files.open(name);
        opened.map_err(|error| FileError::Open { place: self.files.place(name), error })
    }
}

/// A buffered reader that checks the budget.
pub(super) type Reader<'a> = BufReader<Watched<'a, Box<dyn Source>>>;

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
        "{place}: clift writes the format {format} but does not read it; known by their content are files of ping, irtt, iperf3, Starlink's get_history and RINEX"
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
        /// The field of [`WriteAs`].
        field: &'static str,
    },
    /// The writer failed.
    #[error("{}", reason(.0))]
    Io(#[from] io::Error),
}

/// Passes each line of the text file `name`, without its line end, to `take`, within the budget.
///
/// # Errors
/// A [`FileError`] that names the file and the line that `take` rejects or that is not text.
pub fn read_lines(
    name: &Path,
    files: &dyn Files,
    budget: &Budget<'_>,
    mut take: impl FnMut(&str) -> Result<(), Fault>,
) -> Result<(), FileError> {
    let input = Input { files, budget, excerpt: None };
    let mut lines = Lines::new(input.reader(name)?);
    let mut all = || {
        while let Some((number, line)) = lines.next()? {
            let taken = std::str::from_utf8(line).map_err(|_| Fault::NotText).and_then(&mut take);
            taken.map_err(|fault| fault.at(number))?;
        }
        Ok(())
    };
    all().map_err(|error| FileError::Read { place: files.place(name), error })
}

/// Reads the file at `path`; the suffix determines the format.
///
/// # Errors
/// A [`FileError`] that names the file.
pub fn read(path: &Path) -> Result<PhyTrace, FileError> {
    TraceFile::new(path).read(&Folder::default())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn trace() -> PhyTrace {
        let t: Vec<i64> = (0..20_000).map(|slot| slot * 1_000_000).collect();
        PhyTrace::new(t.into(), vec![5; 20_000].into(), Bytes(1500)).unwrap()
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("clift-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_key_of_another_format_is_refused() {
        let mut files = crate::trace::InMemory::default();
        files.insert("x.csv", "0,5\n1,6\n");
        let (time, rate) = ("1:s".parse().ok(), "2:Mbit/s".parse().ok());
        let series = TraceFile { time, rate, ..TraceFile::new("x.csv") };
        assert!(series.read(&files).is_ok());
        let file = TraceFile { interval: Some(Duration::from_secs(1)), ..series };
        assert_eq!(
            file.read(&files).unwrap_err().to_string(),
            "x.csv: interval: does not apply to a file of this format; remove it"
        );
    }

    #[test]
    fn keys_that_no_format_names_apply_to_all() {
        let file = serde_json::to_value(TraceFile::new("x")).unwrap();
        let mut keys: Vec<&str> = file.as_object().unwrap().keys().map(String::as_str).collect();
        for of_some in Format::all().flat_map(Format::keys) {
            assert!(file.get(of_some).is_some(), "{of_some}");
            keys.retain(|key| *key != of_some);
        }
        keys.sort_unstable();
        assert_eq!(keys, ["file", "format", "keep_order", "lldu", "offset", "share"]);
    }

    #[test]
    fn a_replaced_file_leaves_no_temporary_file() {
        let folder = folder("whole");
        let path = folder.join("x.csv");
        fs::write(&path, "old").unwrap();
        WriteAs::default().write(&trace(), &path).unwrap();
        let back = read(&path).unwrap();
        assert_eq!((back.t(), back.d()), (trace().t(), trace().d()));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = folder("failed");
        let path = folder.join("x.up");
        fs::write(&path, "old").unwrap();
        let short = PhyTrace::new(vec![0].into(), vec![5].into(), Bytes(1500)).unwrap();
        let fault = WriteAs::default().write(&short, &path).unwrap_err();
        assert!(fault.to_string().contains("x.up: cannot be written: the trace carries no whole"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported_and_a_device_is_not_replaced() {
        let text = WriteAs { format: Some(Format::TEXT), ..WriteAs::default() };
        let fault = text.write(&trace(), Path::new("/dev/full")).unwrap_err();
        assert!(fault.to_string().starts_with("/dev/full: cannot be written: No space left"));
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
    }

    #[test]
    fn an_interrupted_write_changes_nothing() {
        let folder = folder("stopped");
        let path = folder.join("x.csv");
        WriteAs::default().write(&trace(), &path).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(before.len() > 3 << 16);
        let asked = AtomicU32::new(0);
        let twice = || asked.fetch_add(1, Ordering::Relaxed) < 2;
        let budget = Budget::new(MemoryLimit::Unlimited, Some(&twice));
        let stopped = TraceFile::new(&path).read_within(&Folder::default(), &budget).unwrap_err();
        assert!(matches!(stopped, FileError::Stopped { .. }), "{stopped}");
        asked.store(0, Ordering::Relaxed);
        let stopped = WriteAs::default().write_while(&trace(), &path, &twice).unwrap_err();
        assert!(matches!(stopped, FileError::Stopped { .. }), "{stopped}");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn every_refused_allocation_gives_one_line() {
        let plain = |name: &str| TraceFile::new(name);
        let slots = TraceFile {
            slot: Some(Duration::from_millis(1)),
            decoding: Some(Duration::from_millis(2)),
            ..plain("x.loss")
        };
        let series = TraceFile {
            time: Some("1:s".parse().unwrap()),
            rate: Some("2:Mbit/s".parse().unwrap()),
            loss: Some("3:%".parse().unwrap()),
            ..plain("series.csv")
        };
        let ping = "64 bytes from 1.1.1.1: icmp_seq=1 ttl=5 time=5 ms\n\
                    64 bytes from 1.1.1.1: icmp_seq=3 ttl=5 time=6 ms\n";
        let mut files = crate::trace::InMemory::default();
        #[cfg(feature = "parquet")]
        {
            crate::trace::parquet::enable();
            let mut file = Vec::new();
            crate::trace::parquet::write(&trace(), &mut file).unwrap();
            files.insert("x.parquet", file);
        }
        let cases = [
            (plain("x.csv"), "t_ns,d_ns,bytes\n0,5,9\n10,0,8\n"),
            (TraceFile { unit: Some(TimeUnit::Seconds), ..plain("x.txt") }, "0 0.1\n1 0\n"),
            (plain("x.up"), "1\n2\n2\n5\n"),
            (slots, "0110\n"),
            (series, "time,rate,loss\n0,2,5\n1,3,0\n2,2,9\n"),
            (plain("ping.txt"), ping),
            #[cfg(feature = "parquet")]
            (plain("x.parquet"), ""),
        ];
        for (file, text) in cases {
            if !text.is_empty() {
                files.insert(file.file.clone(), text);
            }
            let whole = file.read(&files).unwrap_or_else(|error| panic!("{error}"));
            for request in 1.. {
                let budget = Budget::refusing(request);
                match file.read_within(&files, &budget) {
                    Ok(read) if budget.is_short() => panic!("{:?}: read without memory", read),
                    Ok(read) => {
                        assert!(request > 1, "{}: asks for no memory", file.file.display());
                        assert_eq!((read.t(), read.d()), (whole.t(), whole.d()));
                        break;
                    }
                    Err(error) => {
                        let line = error.to_string();
                        assert!(line.contains("of memory in total, but the limit is"), "{line}");
                        assert!(!line.contains('\n') && !budget.is_stopped(), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_missing_file_and_a_folder_are_reported() {
        let missing = read(Path::new("/no/such.csv")).unwrap_err();
        assert!(missing.to_string().ends_with("cannot be opened: No such file or directory"));
        let file = TraceFile { format: Some(Format::TEXT), ..TraceFile::new(std::env::temp_dir()) };
        let folder = file.read(&Folder::default()).unwrap_err();
        assert!(folder.to_string().contains("is a directory"));
    }
}
