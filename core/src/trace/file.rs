//! A trace file: which one, in which format, and what the file does not say itself.

use std::io::{self, BufReader, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::budget::{Budget, Most};
use crate::trace::atomic::{Watched, reader, replace, writer};
use crate::trace::error::reason;
use crate::trace::files::{Files, Folder, Source};
use crate::trace::format::{Format, UnknownFormat};
use crate::trace::lines::Lines;
use crate::trace::netem::Model;
use crate::trace::series::{DecibelHertz, Decibels, DelayIs, Given, Shift, SymbolRate, TimeColumn};
use crate::trace::{Fault, PhyTrace, ReadError, TimeUnit, TraceError};
use crate::trace::{ping, probes};
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
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Trace")]
pub struct TraceFile {
    /// The file, relative to the folder of the scenario file.
    pub file: PathBuf,
    /// Its format, where the suffix does not tell.
    #[serde(default)]
    pub format: Option<Format>,
    /// Unit of the times in a bare two-column file.
    #[serde(default)]
    pub unit: Option<TimeUnit>,
    /// Payload of an LLDU, where the file does not say.
    #[serde(default)]
    #[schemars(extend("not" = { "type": "string", "pattern": r"^\s*0+(\.0+)?\s*[A-Za-z]+\s*$" }))]
    pub lldu: Option<Bytes>,
    /// Which direction of a two-way measurement ("probes"): "up" or "down".
    #[serde(default)]
    pub direction: Option<Direction>,
    /// The file of loss flags that belongs to "delay-loss", relative to the same folder.
    #[serde(default)]
    pub losses: Option<PathBuf>,
    /// Time between the packets of "delay-loss", and of "ping" where its lines have no times.
    #[serde(default)]
    pub interval: Option<Duration>,
    /// Rate of the slots made from "probes", "delay-loss", "ping", "capture" or a "series"; without
    /// it, a slot a packet or a row. Of a series it may be a column with its unit: "2:Mbit/s".
    #[serde(default)]
    pub rate: Option<Given<BitRate>>,
    /// Column of times of a "series", by number from 1 or by name, with its unit: "7:ms",
    /// "when:date" (ISO 8601), or "1:%Y-%m-%d %H:%M:%S". Makes any file such a series.
    #[serde(default)]
    pub time: Option<TimeColumn>,
    /// Delay of a "series": a column with its unit ("4:ms"), or a value ("20 ms").
    #[serde(default)]
    pub delay: Option<Given<Duration>>,
    /// What the delay of a "series" is: "one-way" or "rtt", of which half is taken.
    #[serde(default)]
    pub delay_is: DelayIs,
    /// Losses of a "series": a column of shares ("6"), per cent ("6:%") or counts ("6:packets"),
    /// or a value ("2 %"). They are drawn.
    #[serde(default)]
    pub loss: Option<Given<Probability>>,
    /// Seed of the losses of a "series"; 1 unless set.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Added to the delays of a "series" or "capture": by how much the receiver's clock is behind.
    #[serde(default)]
    pub clock_offset: Option<Shift>,
    /// Es/N0 of a modem's log, a "series": a column ("4:dB"), or a value ("7.5 dB"). Slots are then the
    /// modem's frames, whose bytes follow from their MODCOD.
    #[serde(default)]
    pub esn0: Option<Given<Decibels>>,
    /// C/N0 in the place of Es/N0: a column ("4:dBHz"), or a value ("72 dBHz").
    #[serde(default)]
    pub cn0: Option<Given<DecibelHertz>>,
    /// Symbols a second of a modem's log: "5 MBd".
    #[serde(default)]
    pub symbol_rate: Option<SymbolRate>,
    /// MODCODs of a modem's log: a column by number or name (variable coding; names such as "QPSK 3/4",
    /// or DVB-S2's numbers), or a MODCOD for all frames (constant coding). Left out, coding is adaptive:
    /// the most efficient MODCOD whose threshold and margin the Es/N0 reaches.
    #[serde(default)]
    pub modcod: Option<String>,
    /// MODCODs and their thresholds: "dvb-s2", "dvb-s2x" (which is taken unless set), or a file of TOML or
    /// CSV with name, efficiency (bit/symbol), threshold_db and perhaps symbols (of a frame), relative to
    /// the same folder.
    #[serde(default)]
    pub modcod_table: Option<String>,
    /// Symbols of a frame, where they are not those of the table.
    #[serde(default)]
    pub frame_symbols: Option<u32>,
    /// Margin of adaptive coding: "1 dB"; none unless set.
    #[serde(default)]
    pub margin: Option<Decibels>,
    /// How old the Es/N0 is that adaptive coding knows; 0 unless set.
    #[serde(default)]
    pub acm_delay: Option<Duration>,
    /// What stands for a missing value in a "series", beside nothing, "-", "NaN", "NA" and "null".
    #[serde(default)]
    pub missing: Option<String>,
    /// The capture at the receiver that belongs to a "capture" at the sender, relative to the same
    /// folder. Makes any file such a capture.
    #[serde(default)]
    pub receiver: Option<PathBuf>,
    /// Whether addresses and ports change on the way of a "capture", as behind NAT: they are not
    /// compared.
    #[serde(default)]
    pub nat: bool,
    /// Only packets that the sender's "capture" has from this address, e.g. "10.0.0.1": where other
    /// traffic is mixed in.
    #[serde(default)]
    pub from: Option<String>,
    /// Time between the slots of "loss" and "runs".
    #[serde(default)]
    pub slot: Option<Duration>,
    /// Decoding time of the slots of "loss" and "runs" that were received.
    #[serde(default)]
    pub decoding: Option<Duration>,
    /// Whether what was sent earlier never arrives later: `d` is raised where a delay falls faster than
    /// time goes by. Unless set it is so for "probes", "delay-loss", "ping" and "series" and not for other
    /// formats; a "capture" has the order that was measured.
    #[serde(default)]
    pub keep_order: Option<bool>,
    /// Keep one slot in so many: a link shared fairly by so many users.
    #[serde(default = "one")]
    pub share: u32,
    /// Trace time that becomes time 0, before anything else.
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

impl FromStr for Direction {
    type Err = String;

    /// `up` or `down`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "up" => Ok(Self::Up),
            "down" => Ok(Self::Down),
            _ => Err(format!("`{text}` is not a direction; give up or down")),
        }
    }
}

impl TraceFile {
    /// The file of this name, about which nothing else is said.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            format: None,
            unit: None,
            lldu: None,
            direction: None,
            losses: None,
            interval: None,
            rate: None,
            time: None,
            delay: None,
            delay_is: DelayIs::OneWay,
            loss: None,
            seed: None,
            clock_offset: None,
            esn0: None,
            cn0: None,
            symbol_rate: None,
            modcod: None,
            modcod_table: None,
            frame_symbols: None,
            margin: None,
            acm_delay: None,
            missing: None,
            receiver: None,
            nat: false,
            from: None,
            slot: None,
            decoding: None,
            keep_order: None,
            share: 1,
            offset: Duration::ZERO,
        }
    }

    /// Checks what can be checked without the file.
    ///
    /// # Errors
    /// The field in the way, and what to do about it.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.file.as_os_str().is_empty() {
            return Err(("file", "is empty; name a trace file"));
        }
        if self.share == 0 {
            return Err(("share", "keeps no slot at all; give 1 or more"));
        }
        let series = self.format.is_none_or(|format| format == Format::SERIES);
        if (self.delay.is_some() || self.loss.is_some()) && (self.time.is_none() || !series) {
            return Err(("time", "delay and loss are those of a series; give its column of times"));
        }
        if self.lldu.is_some_and(|lldu| lldu.0 == 0) {
            return Err(("lldu", "an LLDU of 0 bytes carries nothing; give 1 B or more"));
        }
        Ok(())
    }

    /// Reads the trace from one of `files`.
    ///
    /// # Errors
    /// A [`FileError`] that names the file, says what is wrong and what to do.
    pub fn read(&self, files: &dyn Files) -> Result<PhyTrace, FileError> {
        self.read_within(files, &Budget::unlimited())
    }

    /// The same within a budget, which is asked every 64 KiB whether to go on.
    ///
    /// # Errors
    /// As [`TraceFile::read`], and what the budget refuses.
    pub fn read_within(
        &self,
        files: &dyn Files,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, FileError> {
        let input = Input { files, budget };
        let place = || input.files.place(&self.file);
        if let Err((field, cure)) = self.check() {
            return Err(FileError::Field { place: place(), field, cure });
        }
        let format =
            self.known_format().map_err(|error| FileError::Format { place: place(), error })?;
        let Some(read) = format.row().read else {
            return Err(FileError::NotRead { place: place(), format: format.name() });
        };
        let whole = match read(self, &input) {
            Err(_) if budget.is_stopped() => return Err(FileError::Stopped { place: place() }),
            read => read?,
        };
        let measured = [&probes::FORMAT, &probes::PAIR, &ping::FORMAT];
        let measured = measured.iter().any(|row| row.name == format.name());
        let fault = |error: ReadError| FileError::Read { place: place(), error };
        // A series keeps order as its slots are made.
        let whole = if self.keep_order.unwrap_or(measured) && format != Format::SERIES {
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

    /// What `offset` and `share` leave of a trace.
    ///
    /// # Errors
    /// If nothing is left.
    pub fn cut(&self, whole: PhyTrace) -> Result<PhyTrace, TraceError> {
        let late = whole.offset(self.offset)?;
        Ok(NonZeroU32::new(self.share).map_or_else(|| late.clone(), |share| late.share(share)))
    }

    /// The format: as given, else as the suffix says. Text in a unit is two bare columns.
    fn known_format(&self) -> Result<Format, UnknownFormat> {
        match self.format {
            None if self.time.is_some() => return Ok(Format::SERIES),
            None if self.receiver.is_some() => return Ok(Format::CAPTURE),
            _ => {}
        }
        format_of(self.format, &self.file, self.unit)
    }

    /// The rate, where columns have none.
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

    /// That a field does not go with the others.
    pub(super) fn wrong(
        &self,
        field: &'static str,
        cure: &'static str,
        input: &Input<'_>,
    ) -> FileError {
        FileError::Field { place: input.files.place(&self.file), field, cure }
    }

    /// A field that the format cannot do without.
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

/// How to write a file, where the suffix and the trace do not tell.
///
/// ```
/// use std::path::Path;
/// use clift::trace::{PhyTrace, WriteAs};
/// use clift::units::Bytes;
/// let phy = PhyTrace::new(vec![0, 10].into(), vec![5, 0].into(), Bytes(33))?;
/// let fault = WriteAs::default().write(&phy, Path::new("x.dat")).unwrap_err();
/// assert!(fault.to_string().starts_with("x.dat: the suffix `.dat` does not say the format"));
/// # Ok::<(), clift::trace::TraceError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteAs {
    /// The format, where the suffix does not tell.
    pub format: Option<Format>,
    /// Unit of "columns"; makes a text file such a one.
    pub unit: Option<TimeUnit>,
    /// Bytes of an opportunity of "mahimahi": those of a trace read from there, else 1504, unless set.
    pub opportunity: Option<Bytes>,
    /// What a "netem" file describes.
    pub model: Option<Model>,
}

impl WriteAs {
    /// Writes the trace to `path`, whole or not at all.
    ///
    /// # Errors
    /// A [`FileError`] that names the file; what it held before is then unchanged.
    pub fn write(&self, phy: &PhyTrace, path: &Path) -> Result<(), FileError> {
        self.write_while(phy, path, &|| true)
    }

    /// The same as long as `go_on` says so; it is asked every 64 KiB.
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

/// Lets `fill` write the file at `path`, whole or not at all, as long as `go_on` says so; it is asked
/// every 64 KiB. A device or a pipe is written to directly, a link is followed, permissions are kept.
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
/// assert!(half.unwrap_err().to_string().ends_with("no more; what was there before is unchanged"));
/// assert_eq!(std::fs::read(&path)?, b"whole");
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// A [`FileError`] that names the file; what it held before is then unchanged.
pub fn write_file(
    path: &Path,
    go_on: &(dyn Fn() -> bool + Sync),
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), WriteError>,
) -> Result<(), FileError> {
    let place = || path.display().to_string();
    let budget = Budget::new(Most::Unlimited, Some(go_on));
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

/// The files that a description names, opened as formats ask for them.
pub(super) struct Input<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) budget: &'a Budget<'a>,
}

impl Input<'_> {
    /// What `parse` makes of the text in the file `name`.
    pub(super) fn parsed(
        &self,
        name: &Path,
        parse: impl FnOnce(Reader<'_>) -> Result<PhyTrace, ReadError>,
    ) -> Result<PhyTrace, FileError> {
        let file = self.open(name)?;
        parse(reader(self.budget, file))
            .map_err(|error| FileError::Read { place: self.files.place(name), error })
    }

    /// The text of the file `name`.
    pub(super) fn reader(&self, name: &Path) -> Result<Reader<'_>, FileError> {
        Ok(reader(self.budget, self.open(name)?))
    }

    /// What `parse` makes of the file `name`, read here and there; it is to ask the budget.
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

/// A buffered reader that can be stopped.
pub(super) type Reader<'a> = BufReader<Watched<'a, Box<dyn Source>>>;

/// What went wrong with which file. The message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The format is not known.
    #[error("{place}: {error}")]
    Format {
        /// The file.
        place: String,
        /// What is not known.
        error: UnknownFormat,
    },
    /// Files of the format are only written.
    #[error("{place}: clift cannot read the format {format}")]
    NotRead {
        /// The file.
        place: String,
        /// Name of the format.
        format: &'static str,
    },
    /// Files of the format are only read.
    #[error("{place}: clift cannot write the format {format}")]
    NotWritten {
        /// The file.
        place: String,
        /// Name of the format.
        format: &'static str,
    },
    /// A field of the description is missing that the format cannot do without.
    #[error("{place}: {why}; give {field}")]
    Missing {
        /// The file.
        place: String,
        /// Why it is needed.
        why: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A field of the description is wrong.
    #[error("{place}: {field}: {cure}")]
    Field {
        /// The file.
        place: String,
        /// The field.
        field: &'static str,
        /// What is wrong with it, and the cure.
        cure: &'static str,
    },
    /// The file cannot be opened.
    #[error("{place}: cannot be opened: {}", reason(error))]
    Open {
        /// The file.
        place: String,
        /// What the system says.
        error: io::Error,
    },
    /// The file does not hold a trace.
    #[error("{place}: {error}")]
    Read {
        /// The file.
        place: String,
        /// What is wrong with it.
        error: ReadError,
    },
    /// The caller did not want to go on.
    #[error("{place}: interrupted; nothing was changed")]
    Stopped {
        /// The file.
        place: String,
    },
    /// The file cannot be written.
    #[error("{place}: cannot be written: {error}; what was there before is unchanged")]
    Write {
        /// The file.
        place: String,
        /// What is in the way.
        error: WriteError,
    },
}

/// Why a trace could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// mahimahi repeats a file with its last timestamp, which must be above 0.
    #[error(
        "the trace carries no whole packet after its first millisecond, which a mahimahi file needs; write a longer trace"
    )]
    TooShort,
    /// Something is not said that the format cannot do without.
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

/// Hands the lines of the text file `name` to `take`, one by one and without their ends, as long as
/// the budget says so.
///
/// # Errors
/// A [`FileError`] that names the file, and the line that `take` refuses or that is not text.
pub fn read_lines(
    name: &Path,
    files: &dyn Files,
    budget: &Budget<'_>,
    mut take: impl FnMut(&str) -> Result<(), Fault>,
) -> Result<(), FileError> {
    let input = Input { files, budget };
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

/// Reads the file at `path`, whose suffix says the format.
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
    fn a_file_is_replaced_whole_and_leaves_nothing_beside() {
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
    fn a_full_disk_is_told_and_a_device_is_not_replaced() {
        let text = WriteAs { format: Some(Format::TEXT), ..WriteAs::default() };
        let fault = text.write(&trace(), Path::new("/dev/full")).unwrap_err();
        assert!(fault.to_string().starts_with("/dev/full: cannot be written: No space left"));
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
    }

    #[test]
    fn who_stops_half_way_changes_nothing() {
        let folder = folder("stopped");
        let path = folder.join("x.csv");
        WriteAs::default().write(&trace(), &path).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(before.len() > 3 << 16);
        let asked = AtomicU32::new(0);
        let twice = || asked.fetch_add(1, Ordering::Relaxed) < 2;
        let budget = Budget::new(Most::Unlimited, Some(&twice));
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
    fn a_file_that_is_none_is_told() {
        let missing = read(Path::new("/no/such.csv")).unwrap_err();
        assert!(missing.to_string().ends_with("cannot be opened: No such file or directory"));
        let file = TraceFile { format: Some(Format::TEXT), ..TraceFile::new(std::env::temp_dir()) };
        let folder = file.read(&Folder::default()).unwrap_err();
        assert!(folder.to_string().contains("is a directory"));
    }
}
