//! Atomic replacement of files, and file access that can be interrupted.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::budget::Budget;

const BUFFER: usize = 1 << 16;
/// A partial file not written to for this long is abandoned.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Calls of the operating system that change files, so that tests can make each of them fail.
trait Disk {
    /// An open file.
    type File: Write + Send;

    /// Creates a file that does not exist yet.
    fn create(&self, path: &Path) -> io::Result<Self::File>;
    fn permit(&self, file: &Self::File, permissions: Permissions) -> io::Result<()>;
    /// Waits until the content of a file is on the disk.
    fn sync(&self, file: &Self::File) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Waits until the names in the folder of `path` are on the disk.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// The file system of the machine.
struct System;

impl Disk for System {
    type File = File;

    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    fn permit(&self, file: &File, permissions: Permissions) -> io::Result<()> {
        file.set_permissions(permissions)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// Lets `fill` write a temporary file beside `path` and renames it on success. A device or a pipe
/// is written directly, a symbolic link is followed, permissions are kept. After a power failure
/// the file has its previous content or the new one.
pub(super) fn replace<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    replace_on(&System, path, fill)
}

fn replace_on<E: From<io::Error>>(
    disk: &impl Disk,
    path: &Path,
    fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return fill(&mut OpenOptions::new().write(true).open(path)?);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (mut file, partial) = create_partial(disk, &target)?;
    let moved = (|| {
        if let Some(before) = before {
            disk.permit(&file, before.permissions())?;
        }
        fill(&mut file)?;
        // Otherwise the new name may reach the disk before the content.
        disk.sync(&file)?;
        Ok(disk.rename(&partial, &target)?)
    })();
    match moved {
        // If it fails, the content is replaced all the same, and only may not outlast a power
        // failure. Some file systems have no such call.
        Ok(()) => drop(disk.sync_folder(&target)),
        // Report the first error, not that of the removal.
        Err(_) => drop(disk.remove(&partial)),
    }
    moved
}

/// Creates a temporary file beside `target`. If the name is taken, by a concurrent writer or a
/// killed one, the next free number is used; an abandoned file is removed.
fn create_partial<D: Disk>(disk: &D, target: &Path) -> io::Result<(D::File, PathBuf)> {
    let mut number = 0u32;
    loop {
        let mut name = OsString::from(".");
        name.push(target.file_name().unwrap_or_default());
        name.push(format!(".{number}.partial"));
        let partial = target.with_file_name(name);
        match disk.create(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return Ok((opened?, partial)),
        }
        let changed = fs::metadata(&partial).and_then(|about| about.modified());
        if changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED)) {
            disk.remove(&partial)?;
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
        self.budget.ask()?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};
    use std::time::SystemTime;

    use super::*;
    use crate::sync::lock;

    /// What happens at the call chosen to fail.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Failure {
        /// That call returns an error.
        Once,
        /// So do all calls after it, and what was not synced is lost.
        PowerLoss,
    }

    /// A disk in memory whose `fails`-th call fails.
    #[derive(Debug, Default)]
    struct Model {
        calls: usize,
        fails: usize,
        power_loss: bool,
        /// Content of each file, as written and as synced.
        files: Vec<[Vec<u8>; 2]>,
        /// Files by name, as seen and as synced.
        names: [BTreeMap<PathBuf, usize>; 2],
    }

    impl Model {
        fn call(&mut self) -> io::Result<()> {
            self.calls += 1;
            let broken = self.calls > self.fails && self.power_loss && self.fails > 0;
            let fails = self.calls == self.fails || broken;
            if fails { Err(io::Error::other("call fails")) } else { Ok(()) }
        }
    }

    /// Content of `path`, with names as seen or as synced, and content likewise.
    fn content(model: &Model, path: &Path, names: usize, files: usize) -> Option<String> {
        let file = *model.names[names].get(path)?;
        Some(String::from_utf8(model.files[file][files].clone()).unwrap())
    }

    struct FaultyDisk(Arc<Mutex<Model>>);
    struct OpenFile(Arc<Mutex<Model>>, usize);

    impl Write for OpenFile {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            let mut model = lock(&self.0);
            model.call()?;
            model.files[self.1][0].extend_from_slice(buffer);
            Ok(buffer.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Disk for FaultyDisk {
        type File = OpenFile;

        fn create(&self, path: &Path) -> io::Result<OpenFile> {
            let mut model = lock(&self.0);
            model.call()?;
            if model.names[0].contains_key(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let file = model.files.len();
            model.files.push([Vec::new(), Vec::new()]);
            model.names[0].insert(path.to_owned(), file);
            Ok(OpenFile(Arc::clone(&self.0), file))
        }

        fn permit(&self, _: &OpenFile, _: Permissions) -> io::Result<()> {
            lock(&self.0).call()
        }

        fn sync(&self, file: &OpenFile) -> io::Result<()> {
            let mut model = lock(&self.0);
            model.call()?;
            let [written, synced] = &mut model.files[file.1];
            synced.clone_from(written);
            Ok(())
        }

        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            let mut model = lock(&self.0);
            model.call()?;
            let file = model.names[0].remove(from).ok_or(io::ErrorKind::NotFound)?;
            model.names[0].insert(to.to_owned(), file);
            Ok(())
        }

        fn sync_folder(&self, _: &Path) -> io::Result<()> {
            let mut model = lock(&self.0);
            model.call()?;
            let [seen, synced] = &mut model.names;
            synced.clone_from(seen);
            Ok(())
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            let mut model = lock(&self.0);
            model.call()?;
            model.names[0].remove(path).map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
        }
    }

    #[test]
    fn a_file_is_old_or_new_whichever_call_fails() {
        let path = Path::new("/no such folder/x.csv");
        let replaced = |disk: &FaultyDisk, text: &str| {
            replace_on(disk, path, |file| text.bytes().try_for_each(|byte| file.write_all(&[byte])))
        };
        for failure in [Failure::Once, Failure::PowerLoss] {
            for fails in 1.. {
                let disk = FaultyDisk(Arc::default());
                replaced(&disk, "old").unwrap();
                let calls = {
                    let mut model = lock(&disk.0);
                    model.fails = model.calls + fails;
                    model.power_loss = failure == Failure::PowerLoss;
                    model.calls
                };
                let done: io::Result<()> = replaced(&disk, "newer");
                let model = lock(&disk.0);
                let seen = content(&model, path, 0, 0);
                let whole =
                    |text: &Option<String>| [Some("old"), Some("newer")].contains(&text.as_deref());
                // Names may reach the disk sooner than they are synced.
                for names in [0, 1] {
                    let kept = content(&model, path, names, 1);
                    assert!(whole(&kept), "{failure:?} of call {fails}: {kept:?}");
                }
                assert_eq!(done.is_ok(), seen.as_deref() == Some("newer"), "{failure:?} {fails}");
                if failure == Failure::Once {
                    assert_eq!(model.names[0].len(), 1, "a partial file is left by call {fails}");
                }
                if model.calls < model.fails {
                    assert_eq!(content(&model, path, 1, 1).as_deref(), Some("newer"));
                    // Creation, five bytes, two syncs and the new name.
                    assert_eq!(model.calls - calls, 9);
                    break;
                }
            }
        }
    }

    fn write(path: &Path, text: &str) -> io::Result<()> {
        replace(path, |file| file.write_all(text.as_bytes()))
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
        replace(&path, |outer| {
            write(&path, "inner")?;
            outer.write_all(b"outer")
        })?;
        assert_eq!(fs::read_to_string(&path)?, "outer");
        assert_eq!(names(&folder)?, ["x.csv"]);
        fs::remove_dir_all(folder)
    }
}
