//! Trace files: the only place that opens them.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::trace::error::reason;
pub use crate::trace::format::{Format, UnknownFormat};
use crate::trace::loss_string::{self, Pattern};
use crate::trace::netem::Model;
use crate::trace::probes::{Direction, Sampling};
use crate::trace::{PhyTrace, ReadError, TimeUnit, columns, mahimahi, netem, probes, text};
use crate::units::{Bytes, Duration};

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
    /// The caller did not want to go on.
    #[error("{}: interrupted; nothing was changed", path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
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
    read_while(path, how, &|| true)
}

/// The same as long as `go_on` says so; it is asked every 64 KiB.
///
/// # Errors
/// As [`read`], and [`FileError::Stopped`].
pub fn read_while(
    path: &Path,
    how: &ReadAs,
    go_on: &dyn Fn() -> bool,
) -> Result<PhyTrace, FileError> {
    let watch = Watch::new(go_on);
    let reader = open(path, &watch)?;
    let trace = match how {
        ReadAs::Text { lldu } => text::read(reader, *lldu),
        ReadAs::Columns { unit, lldu } => columns::read(reader, *unit, *lldu),
        ReadAs::Mahimahi { size } => mahimahi::read(reader, *size),
        ReadAs::Probes { direction, sampling } => probes::read_csv(reader, *direction, *sampling),
        ReadAs::DelayLoss { losses, interval, sampling } => {
            probes::read_pair(reader, open(losses, &watch)?, *interval, *sampling)
        }
        ReadAs::LossString(pattern) => loss_string::read(reader, *pattern),
        ReadAs::Runs(pattern) => loss_string::read_runs(reader, *pattern, MOST_FROM_RUNS),
    };
    let path = || path.to_owned();
    match trace {
        Err(_) if watch.stopped() => Err(FileError::Stopped { path: path() }),
        trace => trace.map_err(|error| FileError::Read { path: path(), error }),
    }
}

/// Writes the trace to `path`, whole or not at all.
///
/// # Errors
/// A [`FileError`] that names the file; what it held before is then unchanged.
pub fn write(phy: &PhyTrace, path: &Path, how: WriteAs) -> Result<(), FileError> {
    write_while(phy, path, how, &|| true)
}

/// The same as long as `go_on` says so; it is asked every 64 KiB.
///
/// # Errors
/// As [`write()`], and [`FileError::Stopped`].
pub fn write_while(
    phy: &PhyTrace,
    path: &Path,
    how: WriteAs,
    go_on: &dyn Fn() -> bool,
) -> Result<(), FileError> {
    let watch = Watch::new(go_on);
    let written = replace(path, &watch, |out| match how {
        WriteAs::Text => Ok(text::write(phy, out)?),
        WriteAs::Columns(unit) => Ok(columns::write(phy, unit, out)?),
        WriteAs::Mahimahi(size) => mahimahi::write(phy, size, out),
        WriteAs::LossString => Ok(loss_string::write(phy, out)?),
        WriteAs::Runs => Ok(loss_string::write_runs(phy, out)?),
        WriteAs::Netem(model) => Ok(netem::write(phy, model, out)?),
    });
    let path = || path.to_owned();
    match written {
        Err(_) if watch.stopped() => Err(FileError::Stopped { path: path() }),
        written => written.map_err(|error| FileError::Write { path: path(), error }),
    }
}

/// Asks whether to go on, and remembers a no.
struct Watch<'a> {
    go_on: &'a dyn Fn() -> bool,
    stopped: Cell<bool>,
}

impl<'a> Watch<'a> {
    fn new(go_on: &'a dyn Fn() -> bool) -> Self {
        Self { go_on, stopped: Cell::new(false) }
    }

    fn stopped(&self) -> bool {
        self.stopped.get()
    }

    fn ask(&self) -> io::Result<()> {
        if (self.go_on)() {
            return Ok(());
        }
        self.stopped.set(true);
        Err(io::Error::other("interrupted"))
    }
}

/// A file that is read or written under watch.
struct Watched<'a> {
    file: File,
    watch: &'a Watch<'a>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.ask()?;
        self.file.read(buffer)
    }
}

impl Write for Watched<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.watch.ask()?;
        self.file.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

const BUFFER: usize = 1 << 16;

fn open<'a>(path: &Path, watch: &'a Watch<'a>) -> Result<BufReader<Watched<'a>>, FileError> {
    let opened = File::open(path).and_then(|file| {
        if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
    });
    let file = opened.map_err(|error| FileError::Open { path: path.to_owned(), error })?;
    Ok(BufReader::with_capacity(BUFFER, Watched { file, watch }))
}

/// Lets `fill` write a file beside `path` and moves it there when it is whole. A device or a pipe
/// is written to directly, a link is followed.
fn replace<'a>(
    path: &Path,
    watch: &'a Watch<'a>,
    fill: impl FnOnce(&mut BufWriter<Watched<'a>>) -> Result<(), mahimahi::WriteError>,
) -> Result<(), mahimahi::WriteError> {
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        let file = OpenOptions::new().write(true).open(path)?;
        let mut out = BufWriter::with_capacity(BUFFER, Watched { file, watch });
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
        let mut out = BufWriter::with_capacity(BUFFER, Watched { file, watch });
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
    fn who_stops_half_way_changes_nothing() {
        let folder = folder("stopped");
        let path = folder.join("x.csv");
        write(&trace(), &path, WriteAs::Text).unwrap();
        let before = fs::read(&path).unwrap();
        assert!(before.len() > 3 * BUFFER);
        let asked = Cell::new(0);
        let twice = || {
            asked.set(asked.get() + 1);
            asked.get() <= 2
        };
        let stopped = read_while(&path, &ReadAs::Text { lldu: None }, &twice).unwrap_err();
        assert!(matches!(stopped, FileError::Stopped { .. }), "{stopped}");
        asked.set(0);
        let stopped = write_while(&trace(), &path, WriteAs::Text, &twice).unwrap_err();
        assert!(matches!(stopped, FileError::Stopped { .. }), "{stopped}");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_none_is_told() {
        let missing = read(Path::new("/no/such"), &ReadAs::Text { lldu: None }).unwrap_err();
        assert!(missing.to_string().ends_with("cannot be opened: No such file or directory"));
        let folder = read(&std::env::temp_dir(), &ReadAs::Text { lldu: None }).unwrap_err();
        assert!(folder.to_string().contains("is a directory"));
    }
}
