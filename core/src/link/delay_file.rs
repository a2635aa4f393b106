//! Delays over time from CSV files: columns `time_s` and `delay_ms`.

use std::path::Path;

use super::DelaySeries;
use crate::budget::Budget;
use crate::trace::{Fault, FileError, Files, Snippet, read_lines};
use crate::units::{Duration, Instant, counted};

/// A table of one-way delays.
///
/// ```
/// use std::path::Path;
/// use clift::link::DelayTable;
/// use clift::trace::InMemory;
/// let mut files = InMemory::default();
/// files.insert("x.csv", "# a pass\ntime_s,delay_ms\n0,80\n1.5,79.25\n");
/// let table = DelayTable::read(Path::new("x.csv"), &files)?;
/// assert_eq!(table.delay_ms, [80.0, 79.25]);
/// assert_eq!(table.series().unwrap().longest().as_nanos(), 80_000_000);
///
/// files.insert("y.csv", "time_s,delay_ms\n0,80\n1,nan\n");
/// let fault = DelayTable::read(Path::new("y.csv"), &files).unwrap_err();
/// assert_eq!(fault.to_string(), "y.csv: line 3: delay_ms = nan; give a number above 0");
/// # Ok::<(), clift::trace::FileError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelayTable {
    /// Start of each row's validity, in seconds; increasing.
    pub time_s: Vec<f64>,
    /// Delay of each row, in milliseconds, above 0.
    pub delay_ms: Vec<f64>,
    /// Further columns as in the file: name, and the text of each row.
    pub others: Vec<(String, Vec<String>)>,
}

const NAMES: [&str; 2] = ["time_s", "delay_ms"];
/// Maximum time, in ns: 73 years.
const LONGEST: f64 = (1u64 << 61) as f64;

impl DelayTable {
    /// Reads the file `name`: a header line, then one row per line; lines that start with `#` are
    /// remarks.
    ///
    /// # Errors
    /// A [`FileError`] with the file, the line and the fault.
    pub fn read(name: &Path, files: &dyn Files) -> Result<Self, FileError> {
        Self::read_within(name, files, &Budget::unlimited())
    }

    /// As [`Self::read`], within a budget; checks every 64 KiB whether to continue.
    ///
    /// # Errors
    /// As [`Self::read`], and if the budget refuses.
    pub fn read_within(
        name: &Path,
        files: &dyn Files,
        budget: &Budget<'_>,
    ) -> Result<Self, FileError> {
        let mut reader = Reader::default();
        read_lines(name, files, budget, |line| {
            let cells = 1 + line.bytes().filter(|&byte| byte == b',').count();
            reader.room(budget, cells, line.len())?;
            reader.line(line)
        })?;
        if reader.table.time_s.is_empty() {
            let what = "has no rows; give columns time_s and delay_ms and at least one row";
            return Err(FileError::new(files.place(name), Fault::new(what)));
        }
        Ok(reader.table)
    }

    /// Adds a row: from `time_s` on the delay is `delay_ms`, 0 or more.
    ///
    /// # Errors
    /// The fault in the row, in one line.
    pub fn push(&mut self, time_s: f64, delay_ms: f64) -> Result<(), String> {
        self.push_time(time_s, &time_s.to_string())?;
        self.push_delay(delay_ms, &delay_ms.to_string())
    }

    fn push_time(&mut self, time: f64, written: &str) -> Result<(), String> {
        let wrong = if !(0.0..f64::INFINITY).contains(&time) {
            "; give a number, 0 or more"
        } else if time * 1e9 > LONGEST {
            "; give a time below 73 years"
        } else if self.time_s.last().is_some_and(|&before| time <= before) {
            " does not increase; sort it"
        } else {
            self.time_s.push(time);
            return Ok(());
        };
        Err(format!("time_s = {written}{wrong}"))
    }

    fn push_delay(&mut self, delay: f64, written: &str) -> Result<(), String> {
        let wrong = if !(0.0..f64::INFINITY).contains(&delay) {
            "; give a number above 0"
        } else if delay * 1e6 > LONGEST {
            "; give a time below 73 years"
        } else {
            self.delay_ms.push(delay);
            return Ok(());
        };
        Err(format!("delay_ms = {written}{wrong}"))
    }

    /// The steps of the table, to the nanosecond.
    ///
    /// # Errors
    /// If two rows are less than a nanosecond apart.
    pub fn series(&self) -> Result<DelaySeries, Fault> {
        let steps = self.time_s.iter().zip(&self.delay_ms).map(|(time, delay)| {
            let nanos = |value: f64| Duration::from_nanos(value.round_ties_even() as u64);
            (Instant::ZERO + nanos(time * 1e9), nanos(delay * 1e6))
        });
        DelaySeries::new(steps.collect())
    }
}

/// Reads a table line by line.
#[derive(Default)]
struct Reader {
    names: Option<Vec<String>>,
    table: DelayTable,
}

impl Reader {
    /// Reserves the memory of a row with this number of cells and bytes: two numbers, the steps
    /// made of them, and the text of each further cell.
    fn room(&self, budget: &Budget<'_>, cells: usize, bytes: usize) -> Result<(), Fault> {
        let others = cells.saturating_sub(2) * size_of::<String>();
        let texts = if others > 0 { bytes } else { 0 };
        let rows = self.table.time_s.len() + 1;
        let bytes = (2 * size_of::<[f64; 4]>() + others + texts) as u64;
        Ok(budget.take(bytes, format_args!("{rows} or more rows"))?)
    }

    fn line(&mut self, line: &str) -> Result<(), Fault> {
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let cells: Vec<&str> = line.split(',').map(bare).collect();
        let Some(names) = &self.names else { return self.head(&cells) };
        if cells.len() != names.len() {
            let (found, expected) = (cells.len(), names.len());
            return Err(Fault::Text(format!(
                "{} in a table of {}",
                counted(found, "value", "values"),
                counted(expected, "column", "columns")
            )));
        }
        let mut other = 0;
        for (name, cell) in names.iter().zip(cells) {
            match name.as_str() {
                "time_s" => {
                    let time = number(name, cell)?;
                    self.table.push_time(time, cell).map_err(Fault::Text)?;
                }
                "delay_ms" => {
                    let delay = number(name, cell)?;
                    if delay <= 0.0 {
                        let what = format!("delay_ms = {cell}; give a number above 0");
                        return Err(Fault::Text(what));
                    }
                    self.table.push_delay(delay, cell).map_err(Fault::Text)?;
                }
                _ => {
                    let column = self.table.others.get_mut(other);
                    column.into_iter().for_each(|(_, column)| column.push(cell.to_owned()));
                    other += 1;
                }
            }
        }
        Ok(())
    }

    fn head(&mut self, cells: &[&str]) -> Result<(), Fault> {
        for name in NAMES {
            let times = cells.iter().filter(|cell| **cell == name).count();
            if times == 0 {
                let shown = Snippet::new(cells.join(", ").as_bytes());
                let what = format!("no column {name}; the header line has {shown}");
                return Err(Fault::Text(what));
            }
            if times > 1 {
                return Err(Fault::Text(format!("the column {name} occurs twice; keep one")));
            }
        }
        let others = cells.iter().filter(|cell| !NAMES.contains(cell));
        self.table.others = others.map(|name| ((*name).to_owned(), Vec::new())).collect();
        self.names = Some(cells.iter().map(|&name| name.to_owned()).collect());
        Ok(())
    }
}

/// A cell without surrounding white space and quotes.
fn bare(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

fn number(name: &str, cell: &str) -> Result<f64, Fault> {
    let fault =
        |_| Fault::Text(format!("{name} = {} is not a number", Snippet::new(cell.as_bytes())));
    cell.parse().map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::InMemory;

    fn table(text: &str) -> Result<DelayTable, String> {
        let mut files = InMemory::default();
        files.insert("x.csv", text);
        DelayTable::read(Path::new("x.csv"), &files).map_err(|fault| fault.to_string())
    }

    #[test]
    fn columns_may_be_in_any_order_with_others() {
        let text =
            "\u{feff}\"delay_ms\", route ,time_s\r\n80.5,3-4,0\r\n#\r\n\r\n79,\"3-5\",1e1\r\n";
        let table = table(text).unwrap();
        assert_eq!((&table.time_s[..], &table.delay_ms[..]), (&[0.0, 10.0][..], &[80.5, 79.0][..]));
        assert_eq!(table.others, [("route".to_owned(), vec!["3-4".to_owned(), "3-5".to_owned()])]);
    }

    #[test]
    fn faults_have_a_line_and_a_cure() {
        let cases = [
            ("", "x.csv: has no rows; give columns time_s and delay_ms and at least one row"),
            ("time_s,delay_ms\n", "x.csv: has no rows"),
            ("0,80\n", "x.csv: line 1: no column time_s; the header line has `0, 80`"),
            ("time_s,delay_ms,time_s\n", "x.csv: line 1: the column time_s occurs twice; keep one"),
            ("time_s,delay_ms\n0\n", "x.csv: line 2: 1 value in a table of 2 columns"),
            ("time_s,delay_ms\n0,x\n", "x.csv: line 2: delay_ms = `x` is not a number"),
            ("time_s,delay_ms\n0,0\n", "x.csv: line 2: delay_ms = 0; give a number above 0"),
            ("time_s,delay_ms\n-1,1\n", "x.csv: line 2: time_s = -1; give a number, 0 or more"),
            ("time_s,delay_ms\n1,1\n1,1\n", "x.csv: line 3: time_s = 1 does not increase; sort it"),
            ("time_s,delay_ms\n1,1e300\n", "x.csv: line 2: delay_ms = 1e300; give a time below 73"),
        ];
        for (text, expected) in cases {
            let fault = table(text).unwrap_err();
            assert!(fault.starts_with(expected), "{text:?}: {fault}");
        }
        let mut files = InMemory::default();
        files.insert("x.csv", b"time_s,delay_ms\n0,\xff\n");
        let fault = DelayTable::read(Path::new("x.csv"), &files).unwrap_err().to_string();
        assert_eq!(
            fault,
            "x.csv: line 2: not text; is the format right? UTF-16 is converted by `iconv -f UTF-16 -t UTF-8 FILE > NEW`"
        );
    }
}
