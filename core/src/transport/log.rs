//! The log that a connection writes about itself.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A buffer into which a connection writes its log while it runs; another party reads it from time
/// to time. Clones share one buffer.
///
/// ```
/// use std::io::Write;
/// use clift::transport::Log;
/// let log = Log::default();
/// log.clone().write_all(b"a line\n").unwrap();
/// assert_eq!(log.take(), b"a line\n");
/// assert_eq!(log.take(), b"");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Returns and removes everything written since the last call.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
