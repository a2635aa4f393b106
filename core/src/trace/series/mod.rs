//! Rate, delay and loss over time, the form of most logs of Starlink and cellular links.
//!
//! A row holds until the next one; the last row holds for the usual interval between rows. The rate
//! determines the number of slots: consecutive slots are one LLDU transmission time apart, also
//! across rows. The delay of a row is the `d` of its slots; packets stay in order unless
//! `keep_order` is false. Losses are drawn. Without a rate, every row is a slot. The log
//! of a modem has Es/N0 or MODCODs instead of rates, and its slots are frames.

mod clock;
mod decibels;
mod excerpt;
mod frames;
mod given;
mod import;
mod modem;
mod notes;
mod slots;
mod table;

use std::io::BufRead;

pub use decibels::{DecibelHertz, Decibels, SymbolRate};
pub use excerpt::spread;
pub use given::{
    ColumnName, ColumnUnit, DelayIs, Given, GivenError, Measured, RateIs, Shift, TimeColumn,
};
pub(super) use table::Table;

use rand_chacha::ChaCha8Rng;

use crate::budget::Budget;
use crate::seed::{Seed, Stream};
use crate::trace::error::{Fault, ReadError};
use crate::trace::file::{FileError, Input, Reader, TraceFile};
use crate::trace::format::FormatRow;
use crate::trace::slots::MOST;
use crate::trace::{Notes, PhyTrace};
use crate::units::{Bytes, Probability};
use import::{SeriesImport, column};
use modem::Modem;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "series",
    suffixes: &[],
    doc: "Rate, delay and loss over time, in columns that are named.",
    keys: &[&["time"], KEYS],
    read: Some(|how, input| {
        let series = Series::of(how, input)?;
        input.parsed(&how.file, |file| series.read(file, None, input.budget))
    }),
    write: None,
};

/// Keys of a series, and of formats that become one.
pub(super) const KEYS: &[&str] = &[
    "rate",
    "rate_is",
    "max_hold",
    "delay",
    "delay_is",
    "loss",
    "clock_offset",
    "missing",
    "seed",
    "esn0",
    "cn0",
    "symbol_rate",
    "modcod",
    "modcod_table",
    "frame_symbols",
    "margin",
    "acm_delay",
];

/// Reads a file of another format as a series: `table` makes a table of it, whose columns `how`
/// names, and notes.
pub(super) fn read_made<'i>(
    how: &TraceFile,
    input: &'i Input<'_>,
    table: impl FnOnce(Reader<'i>, &Budget<'_>) -> Result<(String, Notes), ReadError>,
) -> Result<PhyTrace, FileError> {
    let wrong = |error| FileError::Read { place: input.files.place(&how.file), error };
    let (table, notes) = table(input.reader(&how.file)?, input.budget).map_err(wrong)?;
    let phy = Series::of(how, input)?.read(table.as_bytes(), Some(notes), input.budget);
    // Lines of the table are not those of the file.
    phy.map_err(|error| match error {
        ReadError::Line { line: 1, fault } => wrong(ReadError::File(fault)),
        ReadError::Line { line, fault } => {
            wrong(ReadError::File(Fault::Table(format!("sample {}: {fault}", line - 1))))
        }
        error => wrong(error),
    })
}

/// The description of a series, checked.
struct Series<'a> {
    how: &'a TraceFile,
    time: &'a TimeColumn,
    /// Leaves out pauses of the log, and of more slots than this all but parts that are spread over
    /// it; not for frames.
    excerpt: Option<u64>,
    /// Settings for the log of a modem, whose slots are frames.
    modem: Option<Modem>,
}

impl<'a> Series<'a> {
    /// Largest number of slots that rows may ask for.
    fn most(&self) -> u64 {
        if self.excerpt.is_some() { u64::MAX } else { MOST }
    }

    /// True if slots arrive in order.
    fn keeps_order(&self) -> bool {
        self.how.keep_order.unwrap_or(true)
    }

    /// The columns that are read: time, rate, delay, loss, level and MODCOD.
    fn columns(&self) -> [Option<&ColumnName>; 6] {
        let how = self.how;
        let (rate, delay) = (column(how.rate.as_ref()), column(how.delay.as_ref()));
        let [level, modcod] = self.modem.as_ref().map_or([None; 2], Modem::columns);
        [Some(&self.time.column), rate, delay, column(how.loss.as_ref()), level, modcod]
    }

    fn seed(&self) -> u64 {
        self.how.seed.unwrap_or(1)
    }

    fn losses(&self) -> ChaCha8Rng {
        Seed(self.seed()).rng(Stream::Import(0))
    }

    fn of(how: &'a TraceFile, input: &Input<'_>) -> Result<Self, FileError> {
        let why = "a series needs its column of times, e.g. \"1:s\"";
        let series = Self {
            how,
            time: how.needed(how.time.as_ref(), why, "time", input)?,
            excerpt: input.excerpt,
            modem: Modem::of(how, input)?,
        };
        if series.modem.is_some() {
            return Ok(series);
        }
        if how.rate.is_none() && how.delay.is_none() && how.loss.is_none() {
            let why = "a series needs more than times";
            return how.needed(None, why, "rate, delay or loss", input);
        }
        // The times of an excerpt say nothing alone; with `max_hold` they tell outages.
        let no_column = series.columns()[1..].iter().all(Option::is_none) && how.max_hold.is_none();
        if no_column && series.excerpt.is_some() {
            let why = "the log of a link needs a column besides its times";
            return how.needed(None, why, "rate, delay or loss as a column", input);
        }
        let counted = |loss: &Given<Probability>| matches!(loss, Given::Column(_, unit) if unit.name == ColumnUnit::COUNT);
        if how.rate_is == Some(RateIs::Received) && how.loss.as_ref().is_none_or(counted) {
            let cure = "a received rate needs losses as shares or in %; give loss";
            return Err(how.wrong("rate_is", cure, input));
        }
        if how.max_hold.is_some_and(|hold| hold.as_nanos() == 0) {
            return Err(how.wrong("max_hold", "must be longer than 0", input));
        }
        if how.delay_is == DelayIs::RoundTrip && how.clock_offset.is_some() {
            let cure = "round-trip times use a single clock; remove it";
            return Err(how.wrong("clock_offset", cure, input));
        }
        if how.clock_offset.is_some() && column(how.delay.as_ref()).is_none() {
            let cure = "no clock measured the delay; add the offset to `delay`, and remove it";
            return Err(how.wrong("clock_offset", cure, input));
        }
        Ok(series)
    }

    /// Reads a table; `made`: the notes of the reader that made it from a file of another format.
    fn read(
        &self,
        reader: impl BufRead,
        made: Option<Notes>,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, ReadError> {
        let mut table = Table::new(reader)?;
        let mut import = SeriesImport::new(self, budget);
        import.between = table.between();
        import.decimals.allowed = !table.commas;
        import.made = made;
        while let Some(row) = table.next()? {
            import.row(row).map_err(|fault| fault.at(row.line))?;
        }
        let mut phy = import.finish()?;
        let name = self.how.file.file_name().map(|name| name.to_string_lossy().into_owned());
        phy.set_source(name);
        Ok(phy)
    }
}

/// Default payload of an LLDU: that of an Ethernet frame.
const PACKET: Bytes = Bytes(1500);

#[cfg(test)]
mod tests;
