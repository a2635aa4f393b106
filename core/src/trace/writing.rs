//! Writes trace files, completely or not at all.

use std::io::Write;
use std::path::Path;

use crate::budget::{Budget, MemoryLimit};
use crate::trace::PhyTrace;
use crate::trace::atomic::{replace, writer};
use crate::trace::error::{FileError, ReadError, WriteError};
use crate::trace::file::WriteAs;
use crate::trace::format::{format_of, not_written};

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
            .map_err(|_| FileError::new(place(), not_written(path)))?;
        let Some(write) = format.0.write else {
            let cure = format!("clift cannot write the format {format}");
            return Err(FileError::new(place(), ReadError::of_file(cure)));
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
/// assert!(half.unwrap_err().to_string().ends_with("no more; nothing was changed"));
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::trace::file::{Format, TraceFile};
    use crate::trace::{Folder, read};
    use crate::units::Bytes;

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
}
