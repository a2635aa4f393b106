//! Atomic replacement of files, and file access that can be interrupted.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::budget::Budget;

const BUFFER: usize = 1 << 16;
/// A partial file not written to for this long is abandoned.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Lets `fill` write a temporary file beside `path` and renames it on success. A device or a pipe
/// is written directly, a symbolic link is followed, permissions are kept.
pub(super) fn replace<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(File) -> Result<(), E>,
) -> Result<(), E> {
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return fill(OpenOptions::new().write(true).open(path)?);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (file, partial) = create_partial(&target)?;
    let moved = (|| {
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        fill(file)?;
        Ok(fs::rename(&partial, &target)?)
    })();
    if moved.is_err() {
        // Report the first error, not that of the removal.
        let _ = fs::remove_file(&partial);
    }
    moved
}

/// Creates a temporary file beside `target`. If the name is taken, by a concurrent writer or a
/// killed one, the next free number is used; an abandoned file is removed.
fn create_partial(target: &Path) -> io::Result<(File, PathBuf)> {
    let mut number = 0u32;
    loop {
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(format!(".{number}.partial"));
        let partial = target.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((opened?, partial)),
        }
        let changed = fs::metadata(&partial).and_then(|about| about.modified());
        if changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED)) {
            fs::remove_file(&partial)?;
        } else {
            number += 1;
        }
    }
}

/// A buffered reader of `source` that checks the budget before each part.
pub(super) fn reader<'a, R: Read>(budget: &'a Budget<'a>, source: R) -> BufReader<Watched<'a, R>> {
    BufReader::with_capacity(BUFFER, Watched { inner: source, budget })
}

/// A buffered writer to `out` that checks the budget before each part.
pub(super) fn writer<'a, W: Write>(budget: &'a Budget<'a>, out: W) -> BufWriter<Watched<'a, W>> {
    BufWriter::with_capacity(BUFFER, Watched { inner: out, budget })
}

/// A file whose reads and writes check the budget.
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

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        replace(path, |mut file| file.write_all(text.as_bytes()))
    }

    fn names(folder: &Path) -> io::Result<Vec<OsString>> {
        let mut names: Vec<_> = fs::read_dir(folder)?
            .map(|it| it.map(|it| it.file_name()))
            .collect::<Result<_, _>>()?;
        names.sort();
        Ok(names)
    }

    #[test]
    #[allow(clippy::disallowed_methods)] // the age of a file is that of the machine's clock
    fn a_partial_file_of_a_killed_writer_is_removed_once_it_is_old() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("clift-atomic-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let (path, left) = (folder.join("x.csv"), folder.join(".x.csv.0.partial"));
        fs::write(&left, "half")?;
        write(&path, "one")?;
        assert_eq!(fs::read_to_string(&path)?, "one");
        assert_eq!(
            names(&folder)?,
            [".x.csv.0.partial", "x.csv"],
            "another writer may still use it"
        );

        File::options().write(true).open(&left)?.set_modified(SystemTime::now() - 2 * ABANDONED)?;
        write(&path, "two")?;
        assert_eq!(fs::read_to_string(&path)?, "two");
        assert_eq!(names(&folder)?, ["x.csv"]);
        fs::remove_dir_all(folder)
    }

    #[test]
    fn two_writers_of_one_file_do_not_interfere() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("clift-atomic-two-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let path = folder.join("x.csv");
        replace(&path, |mut outer| {
            write(&path, "inner")?;
            outer.write_all(b"outer")
        })?;
        assert_eq!(fs::read_to_string(&path)?, "outer");
        assert_eq!(names(&folder)?, ["x.csv"]);
        fs::remove_dir_all(folder)
    }
}
