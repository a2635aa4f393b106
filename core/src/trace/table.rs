//! Rows of a foreign table, with commas, semicolons, tabs or white space as separators.

use std::io::BufRead;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use crate::trace::decimal::with_point;
use crate::trace::error::{Fault, ReadError};
use crate::trace::lines::{Lines, unmarked};

/// Maximum length of all lines of a row together; a quoted field may contain line ends.
const LONGEST: usize = 1 << 16;

/// White space as a separator, in words.
pub(super) const WHITE_SPACE: &str = "white space";

/// Reads rows. Empty lines and lines that start with `#` are skipped.
pub(in crate::trace) struct Table<R> {
    lines: Lines<R>,
    /// `None`: separated by white space.
    csv: Option<Reader>,
    /// True if commas separate the columns.
    pub(in crate::trace) commas: bool,
    /// Concatenated fields of the row, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub(in crate::trace) struct Row<'a> {
    /// Line number, counted from 1; the last line of a row with several.
    pub(in crate::trace) line: u64,
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl<R: BufRead> Table<R> {
    /// A table whose separator is detected from its first lines.
    pub(in crate::trace) fn new(mut reader: R) -> Result<Self, ReadError> {
        let delimiter = delimiter(reader.fill_buf()?);
        let csv = delimiter.map(|byte| {
            // Line ends are removed beforehand, so that lines can be counted and limited.
            ReaderBuilder::new().delimiter(byte).terminator(Terminator::Any(b'\n')).build()
        });
        let (bytes, ends) = (vec![0; LONGEST], vec![0; LONGEST + 1]);
        let commas = delimiter == Some(b',');
        Ok(Self { lines: Lines::new(reader), csv, commas, bytes, ends })
    }

    /// The separator, in words.
    pub(in crate::trace) fn between(&self) -> &'static str {
        if self.csv.is_some() { "CSV" } else { WHITE_SPACE }
    }

    /// The next row; `None` after the last.
    pub(in crate::trace) fn next(&mut self) -> Result<Option<Row<'_>>, ReadError> {
        let (mut written, mut count, mut open) = (0, 0, false);
        loop {
            let Some((number, line)) = self.lines.next()? else {
                if open {
                    return Err(ReadError::of_file(
                        "a quoted field does not end; close its quotes".to_owned(),
                    ));
                }
                return Ok(None);
            };
            if !open && (line.trim_ascii().is_empty() || line.starts_with(b"#")) {
                continue;
            }
            if line.contains(&0) {
                return Err(Fault::not_text().at(number));
            }
            let Some(csv) = &mut self.csv else {
                for word in line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
                    self.bytes[written..written + word.len()].copy_from_slice(word);
                    written += word.len();
                    self.ends[count] = written;
                    count += 1;
                }
                return Ok(Some(Row {
                    line: number,
                    bytes: &self.bytes[..written],
                    ends: &self.ends[..count],
                }));
            };
            for part in [line, b"\n"] {
                let mut rest = part;
                while !rest.is_empty() {
                    let (result, read, wrote, ended) =
                        csv.read_record(rest, &mut self.bytes[written..], &mut self.ends[count..]);
                    rest = &rest[read..];
                    written += wrote;
                    count += ended;
                    match result {
                        ReadRecordResult::Record => {
                            return Ok(Some(Row {
                                line: number,
                                bytes: &self.bytes[..written],
                                ends: &self.ends[..count],
                            }));
                        }
                        ReadRecordResult::InputEmpty => {}
                        _ => return Err(Fault::long_line(LONGEST).at(number)),
                    }
                }
            }
            open = true;
        }
    }
}

impl<'a> Row<'a> {
    /// Number of fields.
    pub(in crate::trace) fn len(self) -> usize {
        self.ends.len()
    }

    /// Number of fields up to the last that is not empty.
    pub(in crate::trace) fn filled(self) -> usize {
        let has_text = |&index: &usize| self.field(index).is_some_and(|field| !field.is_empty());
        (0..self.len()).rev().find(has_text).map_or(0, |index| index + 1)
    }

    /// A field, counted from 0, without surrounding white space.
    pub(in crate::trace) fn field(self, index: usize) -> Option<&'a [u8]> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(self.bytes[start..end].trim_ascii())
    }
}

/// The separator in the first line that is not a remark: the most frequent of tab, semicolon and
/// comma that is not a decimal comma; `None` without any of them.
fn delimiter(start: &[u8]) -> Option<u8> {
    let start = unmarked(start);
    let mut lines = start.split(|byte| matches!(byte, b'\n' | b'\r'));
    let line = lines.find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"))?;
    let mut counts = [(b',', 0u32), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for byte in line {
        quoted ^= *byte == b'"';
        for (candidate, count) in &mut counts {
            *count += u32::from(!quoted && byte == candidate);
        }
    }
    // As in `0,5;4,00;1,5`, which has more commas than semicolons.
    let mut fields = line.split(|byte| matches!(byte, b';' | b'\t'));
    let decimal = |field: &[u8]| !field.contains(&b',') || with_point(field.trim_ascii()).is_some();
    if counts[1].1 + counts[2].1 > 0 && fields.all(decimal) {
        counts[0].1 = 0;
    }
    // Of equally frequent separators, the last one.
    counts.into_iter().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 0).map(|c| c.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<(u64, Vec<String>)>, String> {
        let mut table = Table::new(text.as_bytes()).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        while let Some(row) = table.next().map_err(|error| error.to_string())? {
            let field = |index| String::from_utf8_lossy(row.field(index).unwrap()).into_owned();
            rows.push((row.line, (0..row.len()).map(field).collect()));
        }
        Ok(rows)
    }

    #[test]
    fn rows_are_split_into_fields_and_remarks_are_skipped() {
        let expected = |rows: &[(u64, &[&str])]| {
            let own = |&(line, fields): &(u64, &[&str])| {
                (line, fields.iter().map(|&field| field.to_owned()).collect::<Vec<_>>())
            };
            Ok(rows.iter().map(own).collect::<Vec<_>>())
        };
        let csv = "\u{feff}# remark; with ; semicolons\r\n\r\na,\"b, c\" ,d\r\n1,,\" 3\"\"\"";
        assert_eq!(rows(csv), expected(&[(3, &["a", "b, c", "d"]), (4, &["1", "", "3\""])]));
        let semicolons = "a;b,c;d\n1;2,5;3\n";
        assert_eq!(rows(semicolons), expected(&[(1, &["a", "b,c", "d"]), (2, &["1", "2,5", "3"])]));
        assert_eq!(rows("a\tb\n\t2\n"), expected(&[(1, &["a", "b"]), (2, &["", "2"])]));
        assert_eq!(rows(" 1  2 \n3 4 5\n"), expected(&[(1, &["1", "2"]), (2, &["3", "4", "5"])]));
        let folded = "a,b\n1,\"x\ny\"\n2,z\n";
        assert_eq!(
            rows(folded),
            expected(&[(1, &["a", "b"]), (3, &["1", "x\ny"]), (4, &["2", "z"])])
        );
        assert_eq!(
            rows("a,b\n1,\"x\n"),
            Err("a quoted field does not end; close its quotes".into())
        );
        assert_eq!(rows("a,b\n1,\0\n"), Err(Fault::not_text().at(2).to_string()));
    }
}
