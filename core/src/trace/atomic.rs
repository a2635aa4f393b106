//! Files that are replaced whole or not at all, and work on files that can be stopped half way.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::budget::Budget;

const BUFFER: usize = 1 << 16;

/// Lets `fill` write a file beside `path` and moves it there if all goes well. A device or a pipe is
/// written to directly, a link is followed, permissions are kept.
pub(super) fn replace<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(File) -> Result<(), E>,
) -> Result<(), E> {
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return fill(OpenOptions::new().write(true).open(path)?);
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
        fill(file)?;
        Ok(fs::rename(&partial, &target)?)
    })();
    if moved.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&partial);
    }
    moved
}

/// A buffered reader of `source` that asks before each part whether to go on.
pub(super) fn reader<'a, R: Read>(budget: &'a Budget<'a>, source: R) -> BufReader<Watched<'a, R>> {
    BufReader::with_capacity(BUFFER, Watched { inner: source, budget })
}

/// A buffered writer to `out` that asks before each part whether to go on.
pub(super) fn writer<'a, W: Write>(budget: &'a Budget<'a>, out: W) -> BufWriter<Watched<'a, W>> {
    BufWriter::with_capacity(BUFFER, Watched { inner: out, budget })
}

/// A file that is read or written under watch.
pub(super) struct Watched<'a, T> {
    inner: T,
    budget: &'a Budget<'a>,
}

impl<T: Read> Read for Watched<'_, T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.budget.ask()?;
        self.inner.read(buffer)
    }
}

impl<T: Write> Write for Watched<'_, T> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.budget.ask()?;
        self.inner.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
