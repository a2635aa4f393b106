//! Sources of the files that descriptions name: a folder, memory, or another store of the host.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file opened for reading, at its start.
pub trait Source: Read + Seek + Send + 'static {}

impl<T: Read + Seek + Send + 'static> Source for T {}

/// Files by name.
///
/// ```
/// use std::path::Path;
/// use clift::trace::{Files, InMemory, TraceFile};
/// let mut files = InMemory::default();
/// files.insert("x.csv", "t_ns,d_ns\n0,5\n10,0\n");
/// assert_eq!(TraceFile::new("x.csv").read(&files)?.len(), 2);
/// assert!(files.open(Path::new("y.csv")).is_err());
/// # Ok::<(), clift::trace::FileError>(())
/// ```
pub trait Files: Send + Sync {
    /// Opens the file of this name.
    ///
    /// # Errors
    /// The error of the host if it cannot open the file.
    fn open(&self, name: &Path) -> io::Result<Box<dyn Source>>;

    /// Name of the file for messages.
    fn place(&self, name: &Path) -> String {
        name.display().to_string()
    }
}

/// The files of a folder; a name is a path relative to it, or an absolute path.
///
/// ```
/// use clift::trace::{Folder, TraceFile};
/// let fault = TraceFile::new("x.csv").read(&Folder::new("/nowhere")).unwrap_err();
/// assert!(fault.to_string().starts_with("/nowhere/x.csv: cannot be opened: "));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at `path`; an empty path is the working directory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
}

impl Files for Folder {
    fn open(&self, name: &Path) -> io::Result<Box<dyn Source>> {
        let file = File::open(self.0.join(name))?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Box::new(file))
    }

    fn place(&self, name: &Path) -> String {
        self.0.join(name).display().to_string()
    }
}

/// Files held in memory, for hosts without a file system.
#[derive(Clone, Debug, Default)]
pub struct InMemory(BTreeMap<PathBuf, Arc<[u8]>>);

impl InMemory {
    /// Adds a file, replacing one of the same name.
    pub fn insert(&mut self, name: impl Into<PathBuf>, content: impl AsRef<[u8]>) {
        self.0.insert(name.into(), content.as_ref().into());
    }
}

impl Files for InMemory {
    fn open(&self, name: &Path) -> io::Result<Box<dyn Source>> {
        let content = self.0.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Cursor::new(Arc::clone(content))))
    }
}
