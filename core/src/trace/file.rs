//! Trace files: which format a file has, and the only place that opens one.
//!
//! Parquet is read and written by the Python package; here it is only a name.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use crate::trace::error::reason;
use crate::trace::loss_string::{self, Pattern};
use crate::trace::netem::Model;
use crate::trace::probes::{Direction, Sampling};
use crate::trace::{PhyTrace, ReadError, TimeUnit, columns, mahimahi, netem, probes, text};
use crate::units::{Bytes, Duration};

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

/// How to read a file: a format and what it does not say itself.
#[derive(Clone, Debug)]
pub enum ReadAs {
    /// See [`text::read`].
    Text {
        /// Overrides the file's LLDU size.
        lldu: Option<Bytes>,
    },
    /// See [`columns::read`].
    Columns {
        /// Unit of both columns.
        unit: TimeUnit,
        /// Payload of a slot.
        lldu: Bytes,
    },
    /// See [`mahimahi::read`].
    Mahimahi {
        /// Bytes of an opportunity.
        size: Bytes,
    },
    /// See [`probes::read_csv`].
    Probes {
        /// Which way of the path.
        direction: Direction,
        /// How probes become slots.
        sampling: Sampling,
    },
    /// See [`probes::read_pair`].
    DelayLoss {
        /// The file of loss flags.
        losses: PathBuf,
        /// From one probe to the next.
        interval: Duration,
        /// How probes become slots.
        sampling: Sampling,
    },
    /// See [`loss_string::read`].
    LossString(Pattern),
    /// See [`loss_string::read_runs`].
    Runs(Pattern),
}

/// How to write a file.
#[derive(Clone, Copy, Debug)]
pub enum WriteAs {
    /// See [`text::write`].
    Text,
    /// See [`columns::write`].
    Columns(TimeUnit),
    /// See [`mahimahi::write`].
    Mahimahi(Bytes),
    /// See [`loss_string::write`].
    LossString,
    /// See [`loss_string::write_runs`].
    Runs,
    /// See [`netem::write`].
    Netem(Model),
}

/// What went wrong with which file. The message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be opened.
    #[error("{}: cannot be opened: {}", path.display(), reason(error))]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It is no trace.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ReadError,
    },
    /// It cannot be written.
    #[error("{}: cannot be written: {error}; what was there before is unchanged", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What is in the way.
        error: mahimahi::WriteError,
    },
}

/// More slots than this are not made from run lengths (16 GiB of columns).
const MOST_FROM_RUNS: u64 = 1 << 30;

/// Reads the trace in `path`.
///
/// # Errors
/// A [`FileError`] that names the file.
pub fn read(path: &Path, how: &ReadAs) -> Result<PhyTrace, FileError> {
    let reader = open(path)?;
    let trace = match how {
        ReadAs::Text { lldu } => text::read(reader, *lldu),
        ReadAs::Columns { unit, lldu } => columns::read(reader, *unit, *lldu),
        ReadAs::Mahimahi { size } => mahimahi::read(reader, *size),
        ReadAs::Probes { direction, sampling } => probes::read_csv(reader, *direction, *sampling),
        ReadAs::DelayLoss { losses, interval, sampling } => {
            probes::read_pair(reader, open(losses)?, *interval, *sampling)
        }
        ReadAs::LossString(pattern) => loss_string::read(reader, *pattern),
        ReadAs::Runs(pattern) => loss_string::read_runs(reader, *pattern, MOST_FROM_RUNS),
    };
    trace.map_err(|error| FileError::Read { path: path.to_owned(), error })
}

/// Writes the trace to `path`, whole or not at all.
///
/// # Errors
/// A [`FileError`] that names the file; what it held before is then unchanged.
pub fn write(phy: &PhyTrace, path: &Path, how: WriteAs) -> Result<(), FileError> {
    let written = replace(path, |out| match how {
        WriteAs::Text => Ok(text::write(phy, out)?),
        WriteAs::Columns(unit) => Ok(columns::write(phy, unit, out)?),
        WriteAs::Mahimahi(size) => mahimahi::write(phy, size, out),
        WriteAs::LossString => Ok(loss_string::write(phy, out)?),
        WriteAs::Runs => Ok(loss_string::write_runs(phy, out)?),
        WriteAs::Netem(model) => Ok(netem::write(phy, model, out)?),
    });
    written.map_err(|error| FileError::Write { path: path.to_owned(), error })
}

fn open(path: &Path) -> Result<BufReader<File>, FileError> {
    let opened = File::open(path).and_then(|file| {
        if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
    });
    let file = opened.map_err(|error| FileError::Open { path: path.to_owned(), error })?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// Lets `fill` write a file beside `path` and moves it there when it is whole. A device or a pipe
/// is written to directly, a link is followed.
fn replace(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), mahimahi::WriteError>,
) -> Result<(), mahimahi::WriteError> {
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        fill(&mut out)?;
        return Ok(out.flush()?);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = std::ffi::OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.partial", std::process::id()));
    let partial = target.with_file_name(name);
    let file = OpenOptions::new().write(true).create_new(true).open(&partial)?;
    let moved = (|| {
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        let mut out = BufWriter::with_capacity(1 << 16, file);
        fill(&mut out)?;
        out.flush()?;
        Ok(fs::rename(&partial, &target)?)
    })();
    if moved.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    }
    moved
}

#[cfg(test)]
mod tests {
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
        write(&trace(), &path, WriteAs::Text).unwrap();
        let back = read(&path, &ReadAs::Text { lldu: None }).unwrap();
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
        let fault = write(&short, &path, WriteAs::Mahimahi(Bytes(1500))).unwrap_err();
        assert!(fault.to_string().contains("x.up: cannot be written: the trace carries no whole"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_told_and_a_device_is_not_replaced() {
        let fault = write(&trace(), Path::new("/dev/full"), WriteAs::Text).unwrap_err();
        assert!(fault.to_string().starts_with("/dev/full: cannot be written: No space left"));
        assert!(!fs::metadata("/dev/full").unwrap().is_file());
    }

    #[test]
    fn a_file_that_is_none_is_told() {
        let missing = read(Path::new("/no/such"), &ReadAs::Text { lldu: None }).unwrap_err();
        assert!(missing.to_string().ends_with("cannot be opened: No such file or directory"));
        let folder = read(&std::env::temp_dir(), &ReadAs::Text { lldu: None }).unwrap_err();
        assert!(folder.to_string().contains("is a directory"));
    }

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
