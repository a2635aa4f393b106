//! Reads trace files.

use std::io::Read;
use std::num::NonZeroU32;
use std::path::Path;

use crate::budget::Budget;
use crate::trace::error::{Fault, FileError, ReadError};
use crate::trace::file::{Format, Input, TraceFile};
use crate::trace::files::{Files, Folder};
use crate::trace::format::{format_of, known_by_content};
use crate::trace::lines::Lines;
use crate::trace::{PhyTrace, irtt, ping, probes};

impl TraceFile {
    /// Checks the settings that do not need the file.
    ///
    /// # Errors
    /// The faulty field and its remedy.
    pub fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.file.as_os_str().is_empty() {
            return Err(("file", "is empty; name a trace file"));
        }
        if self.share == 0 {
            return Err(("share", "must be 1 or more"));
        }
        // The content may determine the format where the suffix does not.
        if let Some(format) = self.named_format().ok().filter(|format| format.is_read()) {
            self.check_columns(format)?;
        }
        if self.lldu.is_some_and(|lldu| lldu.0 == 0) {
            return Err(("lldu", "must be 1 B or more"));
        }
        Ok(())
    }

    /// Checks that delays and losses are given for a format that has them in columns.
    fn check_columns(&self, format: Format) -> Result<(), (&'static str, &'static str)> {
        let timed = format.is_table() && (format != Format::SERIES || self.time.is_some());
        let modem = self.esn0.is_some() || self.cn0.is_some() || self.modcod.is_some();
        let given = self.delay.is_some() || self.loss.is_some() || modem;
        if timed || !(given || self.rate_is.is_some() || self.max_hold.is_some()) {
            return Ok(());
        }
        Err(match modem {
            true => ("time", "levels and MODCODs belong to a series; give its column of times"),
            false => ("time", "delay and loss belong to a series; give its column of times"),
        })
    }

    /// Checks that every key applies to the format.
    fn check_keys(&self, format: Format) -> Result<(), (&'static str, &'static str)> {
        let usual = Self::new(&self.file);
        let [given, usual] = [self, &usual].map(|file| serde_json::to_value(file).ok());
        let is_given = |key: &&str| {
            let [given, usual] = [&given, &usual].map(|of| of.as_ref().and_then(|of| of.get(key)));
            given != usual
        };
        let mut of_others = Format::all()
            .flat_map(Format::keys)
            .filter(|key| !format.keys().any(|own| own == *key));
        match of_others.find(is_given) {
            Some(key) => Err((key, "does not apply to a file of this format; remove it")),
            None => Ok(()),
        }
    }

    /// Reads the trace from one of `files`.
    ///
    /// # Errors
    /// A [`FileError`] with the file, the fault and the remedy.
    pub fn read(&self, files: &dyn Files) -> Result<PhyTrace, FileError> {
        self.read_within(files, &Budget::unlimited())
    }

    /// As [`TraceFile::read`], within a budget; checks every 64 KiB whether to continue.
    ///
    /// # Errors
    /// As [`TraceFile::read`], and if the budget refuses.
    pub fn read_within(
        &self,
        files: &dyn Files,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, FileError> {
        self.excerpt_within(files, budget, None)
    }

    /// As [`TraceFile::read_within`]; a series without its pauses, and of more slots than `most` only
    /// parts that are spread over it.
    ///
    /// # Errors
    /// As [`TraceFile::read_within`].
    pub fn excerpt_within(
        &self,
        files: &dyn Files,
        budget: &Budget<'_>,
        most: Option<u64>,
    ) -> Result<PhyTrace, FileError> {
        let input = Input { files, budget, excerpt: most };
        let fault = |error: ReadError| input.fault(&self.file, error);
        let wrong = |(field, cure)| self.wrong(field, cure, &input);
        self.check().map_err(wrong)?;
        let format = self.known_format(files)?;
        self.check_columns(format).and_then(|()| self.check_keys(format)).map_err(wrong)?;
        let Some(read) = format.0.read else {
            return Err(fault(ReadError::of_file(format!(
                "clift writes the format {format} but does not read it; known by their content are {}",
                known_by_content()
            ))));
        };
        let whole = match read(self, &input) {
            Err(_) if budget.is_stopped() => {
                return Err(FileError::Stopped { place: files.place(&self.file) });
            }
            read => read?,
        };
        let measured = [&probes::FORMAT, &probes::PAIR, &ping::FORMAT, &irtt::FORMAT];
        let measured = measured.iter().any(|row| row.name == format.name());
        // A series restores the order while it creates its slots.
        let whole = if self.keep_order.unwrap_or(measured) && !format.is_table() {
            let column = 8 * whole.len() as u64;
            let taken = budget.take(column, format_args!("{} slots in order", whole.len()));
            taken.map_err(|refused| fault(refused.into()))?;
            whole.in_order()
        } else {
            whole
        };
        self.cut(whole).map_err(|error| fault(error.into()))
    }

    /// Applies `offset` and `share` to a trace.
    ///
    /// # Errors
    /// If no slot remains.
    pub fn cut(&self, whole: PhyTrace) -> Result<PhyTrace, Fault> {
        let late = whole.offset(self.offset)?;
        Ok(NonZeroU32::new(self.share).map_or_else(|| late.clone(), |share| late.share(share)))
    }

    /// The format: the given one, else by the suffix, else by the content, if it is a file of a
    /// known tool. The content also decides for `.txt` and `.csv`, which are used for many formats.
    ///
    /// # Errors
    /// If the format is not recognised, or the file cannot be opened to look.
    pub fn known_format(&self, files: &dyn Files) -> Result<Format, FileError> {
        let place = || files.place(&self.file);
        let named = self.named_format();
        let sure = |format: &Format| format.is_read() && *format != Format::TEXT;
        if self.format.is_none() && !named.as_ref().is_ok_and(sure) {
            let opened = files.open(&self.file);
            let mut file = opened.map_err(|error| FileError::Open { place: place(), error })?;
            // Bytes read from a pipe cannot be read again.
            if file.stream_position().is_ok() {
                let mut start = Vec::new();
                let read = file.take(Format::START).read_to_end(&mut start);
                read.map_err(|error| FileError::new(place(), error))?;
                let fault: Option<ReadError> = match &start[..] {
                    [] => Some(Fault::empty().into()),
                    // The byte-order marks of UTF-16.
                    [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(Fault::not_text().at(1)),
                    _ => None,
                };
                if let Some(error) = fault {
                    return Err(FileError::new(place(), error));
                }
                if let Some(format) = Format::of_content(&start) {
                    return Ok(format);
                }
            }
        }
        named.map_err(|error| FileError::new(place(), error))
    }

    /// The format by the description alone. A text file with a unit is "columns".
    fn named_format(&self) -> Result<Format, Fault> {
        match self.format {
            None if self.time.is_some() => return Ok(Format::SERIES),
            None if self.receiver.is_some() => return Ok(Format::CAPTURE),
            _ => {}
        }
        format_of(self.format, &self.file, self.unit)
    }
}

/// Passes each line of the text file `name`, without its line end, to `take`, within the budget.
///
/// # Errors
/// A [`FileError`] that names the file and the line that `take` rejects or that is not text.
pub fn read_lines(
    name: &Path,
    files: &dyn Files,
    budget: &Budget<'_>,
    mut take: impl FnMut(&str) -> Result<(), Fault>,
) -> Result<(), FileError> {
    let input = Input { files, budget, excerpt: None };
    let mut lines = Lines::new(input.reader(name)?);
    let mut all = || {
        while let Some((number, line)) = lines.next()? {
            let taken =
                std::str::from_utf8(line).map_err(|_| Fault::not_text()).and_then(&mut take);
            taken.map_err(|fault| fault.at(number))?;
        }
        Ok(())
    };
    all().map_err(|error: ReadError| input.fault(name, error))
}

/// Reads the file at `path`; the suffix determines the format.
///
/// # Errors
/// A [`FileError`] that names the file.
pub fn read(path: &Path) -> Result<PhyTrace, FileError> {
    TraceFile::new(path).read(&Folder::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TimeUnit;
    use crate::units::{Bytes, Duration};

    #[test]
    fn a_key_of_another_format_is_refused() {
        let mut files = crate::trace::InMemory::default();
        files.insert("x.csv", "0,5\n1,6\n");
        let (time, rate) = ("1:s".parse().ok(), "2:Mbit/s".parse().ok());
        let series = TraceFile { time, rate, ..TraceFile::new("x.csv") };
        assert!(series.read(&files).is_ok());
        let file = TraceFile { interval: Some(Duration::from_secs(1)), ..series };
        assert_eq!(
            file.read(&files).unwrap_err().to_string(),
            "x.csv: interval: does not apply to a file of this format; remove it"
        );
    }

    #[test]
    fn keys_that_no_format_names_apply_to_all() {
        let file = serde_json::to_value(TraceFile::new("x")).unwrap();
        let mut keys: Vec<&str> = file.as_object().unwrap().keys().map(String::as_str).collect();
        for of_some in Format::all().flat_map(Format::keys) {
            assert!(file.get(of_some).is_some(), "{of_some}");
            keys.retain(|key| *key != of_some);
        }
        keys.sort_unstable();
        assert_eq!(keys, ["file", "format", "keep_order", "lldu", "offset", "share"]);
    }

    #[test]
    fn every_refused_allocation_gives_one_line() {
        let plain = |name: &str| TraceFile::new(name);
        let slots = TraceFile {
            slot: Some(Duration::from_millis(1)),
            decoding: Some(Duration::from_millis(2)),
            ..plain("x.loss")
        };
        let series = TraceFile {
            time: Some("1:s".parse().unwrap()),
            rate: Some("2:Mbit/s".parse().unwrap()),
            loss: Some("3:%".parse().unwrap()),
            ..plain("series.csv")
        };
        let ping = "64 bytes from 1.1.1.1: icmp_seq=1 ttl=5 time=5 ms\n\
                    64 bytes from 1.1.1.1: icmp_seq=3 ttl=5 time=6 ms\n";
        let mut files = crate::trace::InMemory::default();
        #[cfg(feature = "parquet")]
        {
            crate::trace::parquet::enable();
            let mut file = Vec::new();
            let slots = vec![0, 10];
            let phy = PhyTrace::new(slots.clone().into(), slots.into(), Bytes(9)).unwrap();
            crate::trace::parquet::write(&phy, &mut file).unwrap();
            files.insert("x.parquet", file);
        }
        let cases = [
            (plain("x.csv"), "t_ns,d_ns,bytes\n0,5,9\n10,0,8\n"),
            (TraceFile { unit: Some(TimeUnit::Seconds), ..plain("x.txt") }, "0 0.1\n1 0\n"),
            (plain("x.up"), "1\n2\n2\n5\n"),
            (slots, "0110\n"),
            (series, "time,rate,loss\n0,2,5\n1,3,0\n2,2,9\n"),
            (plain("ping.txt"), ping),
            #[cfg(feature = "parquet")]
            (plain("x.parquet"), ""),
        ];
        for (file, text) in cases {
            if !text.is_empty() {
                files.insert(file.file.clone(), text);
            }
            let whole = file.read(&files).unwrap_or_else(|error| panic!("{error}"));
            for request in 1.. {
                let budget = Budget::refusing(request);
                match file.read_within(&files, &budget) {
                    Ok(read) if budget.is_short() => panic!("{:?}: read without memory", read),
                    Ok(read) => {
                        assert!(request > 1, "{}: asks for no memory", file.file.display());
                        assert_eq!((read.t(), read.d()), (whole.t(), whole.d()));
                        break;
                    }
                    Err(error) => {
                        let line = error.to_string();
                        assert!(line.contains("of memory in total, but the limit is"), "{line}");
                        assert!(!line.contains('\n') && !budget.is_stopped(), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_missing_file_and_a_folder_are_reported() {
        let missing = read(Path::new("/no/such.csv")).unwrap_err();
        assert!(missing.to_string().ends_with("cannot be opened: No such file or directory"));
        let file = TraceFile { format: Some(Format::TEXT), ..TraceFile::new(std::env::temp_dir()) };
        let folder = file.read(&Folder::default()).unwrap_err();
        assert!(folder.to_string().contains("is a directory"));
    }
}
