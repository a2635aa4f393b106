//! Numbered lines of a reader, in a reused buffer.

use std::io::{BufRead, Read};

use crate::trace::error::{Fault, ReadError};

/// Maximum length of a line in a trace file.
const LONGEST: usize = 1 << 16;

/// Reads lines of at most 64 KiB; lines end in `\n` or `\r\n`, or in `\r` if the first one does, and
/// a byte-order mark is skipped.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    line: u64,
    end: u8,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), line: 0, end: b'\n' }
    }

    /// The next line without its end, and its number from 1; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, ReadError> {
        if self.line == 0 {
            // Decided at the first byte of the second line: a last `\r` may belong to `\r\n`.
            let ends = |byte: &u8| matches!(byte, b'\r' | b'\n');
            let start = self.reader.fill_buf()?;
            let rest = start.iter().position(ends).map_or(&[][..], |at| &start[at..]);
            let length = rest.iter().position(|byte| !ends(byte));
            if length.is_some_and(|length| !rest[..length].contains(&b'\n')) {
                self.end = b'\r';
            }
        }
        self.buffer.clear();
        let limit = LONGEST as u64 + 1;
        let read = (&mut self.reader).take(limit).read_until(self.end, &mut self.buffer)?;
        // An editor may have added a `\n` behind the last `\r`.
        if read == 0 || (self.end == b'\r' && self.buffer == b"\n") {
            return Ok(None);
        }
        self.line += 1;
        if read > LONGEST {
            return Err(Fault::long_line(LONGEST).at(self.line));
        }
        // UTF-16 has a zero byte in each character of ASCII.
        if self.line == 1 && self.buffer.contains(&0) {
            return Err(Fault::not_text().at(1));
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.strip_prefix(b"\n").unwrap_or(line);
        Ok(Some((self.line, if self.line == 1 { unmarked(line) } else { line })))
    }
}

/// True if `text` contains `mark`.
pub(super) fn has(text: &[u8], mark: &str) -> bool {
    text.windows(mark.len()).any(|part| part == mark.as_bytes())
}

/// A text without the byte order mark before it, which some programs write.
pub(super) fn unmarked(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}
