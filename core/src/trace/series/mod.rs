//! Rate, delay and loss over time, the form of most logs of Starlink and cellular links.
//!
//! A row holds until the next one; the last row holds for the usual interval between rows. The rate
//! determines the number of slots: consecutive slots are one LLDU transmission time apart, also
//! across rows. The delay of a row is the `d` of its slots; packets stay in order unless
//! `keep_order` is false. Losses are drawn. Without a rate, every row is a slot. The log
//! of a modem has Es/N0 or MODCODs instead of rates, and its slots are frames.

mod clock;
mod description;
mod excerpt;
mod frames;
mod import;
mod modem;
mod notes;
mod slots;

pub use crate::trace::decibels::{DecibelHertz, Decibels, SymbolRate};
pub use crate::trace::given::{
    ColumnName, ColumnUnit, DelayIs, Given, Measured, RateIs, Shift, TimeColumn,
};
pub use excerpt::spread;

use crate::budget::Budget;
use crate::trace::error::{FileError, ReadError};
use crate::trace::file::{FormatRow, Input, Reader, TraceFile};
use crate::trace::{Notes, PhyTrace};
use description::Series;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "series",
    doc: "Rate, delay and loss over time, in columns that are named.",
    keys: &[&["time"], KEYS],
    read: Some(|how, input| {
        let series = Series::of(how, input)?;
        input.parsed(&how.file, |file| series.read(file, None, input.budget))
    }),
    ..FormatRow::NAMED
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
    let wrong = |error: ReadError| input.fault(&how.file, error);
    let (table, notes) = table(input.reader(&how.file)?, input.budget).map_err(wrong)?;
    let phy = Series::of(how, input)?.read(table.as_bytes(), Some(notes), input.budget);
    // Lines of the table are not those of the file.
    phy.map_err(|error| match error {
        ReadError::Line { line: 1, fault } => wrong(ReadError::File(fault)),
        ReadError::Line { line, fault } => {
            wrong(ReadError::of_file(format!("sample {}: {fault}", line - 1)))
        }
        error => wrong(error),
    })
}

#[cfg(test)]
mod tests;
