//! Rate, delay and loss over time, the form of most logs of Starlink and cellular links.
//!
//! A row holds until the next one; the last row holds for the usual interval between rows. The rate
//! determines the number of slots: consecutive slots are one LLDU transmission time apart, also
//! across rows. The delay of a row is the `d` of its slots; packets stay in order unless
//! [`Series::keep_order`] is false. Losses are drawn. Without a rate, every row is a slot. The log
//! of a [`Modem`] has Es/N0 or MODCODs instead of rates, and its slots are frames.

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
pub use modem::Modem;
pub(super) use table::Table;

use crate::budget::Budget;
use crate::trace::error::{Fault, ReadError};
use crate::trace::file::{FileError, Input, Reader, TraceFile};
use crate::trace::format::FormatRow;
use crate::trace::{Notes, PhyTrace, TraceError};
use crate::units::{BitRate, Bytes, Duration, Probability};
use import::{SeriesImport, column};

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "series",
    suffixes: &[],
    doc: "Rate, delay and loss over time, in columns that are named.",
    keys: &[&["time"], KEYS],
    read: Some(|how, input| {
        let series = Series::of(how, input)?;
        let most = series.most();
        let phy = input.parsed(&how.file, |file| read_within(file, &series, most, input.budget))?;
        Ok(with_source(phy, how))
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

fn with_source(mut phy: PhyTrace, how: &TraceFile) -> PhyTrace {
    let name = how.file.file_name().map(|name| name.to_string_lossy().into_owned());
    phy.set_source(name);
    phy
}

/// Reads a file of another format as a series: `table` makes a table of it, whose columns `how`
/// names, and notes.
pub(super) fn read_made(
    how: &TraceFile,
    input: &Input<'_>,
    table: impl FnOnce(Reader<'_>, &Budget<'_>) -> Result<(String, Notes), ReadError>,
) -> Result<PhyTrace, FileError> {
    let mut made = Err(ReadError::Trace(TraceError::Empty));
    let phy = input.parsed(&how.file, |file| {
        made = Ok(table(file, input.budget)?);
        Err(ReadError::Trace(TraceError::Empty))
    });
    let Ok((table, notes)) = made else { return phy };
    let series = Series::of(how, input)?;
    let phy = read_noted((table.as_bytes(), Some(notes)), &series, series.most(), input.budget);
    // Lines of the table are not those of the file.
    let phy = phy.map_err(|error| match error {
        ReadError::Line { line: 1, fault } => ReadError::File(fault),
        ReadError::Line { line, fault } => {
            ReadError::File(Fault::Table(format!("sample {}: {fault}", line - 1)))
        }
        error => error,
    });
    let place = || input.files.place(&how.file);
    let phy = phy.map_err(|error| FileError::Read { place: place(), error })?;
    Ok(with_source(phy, how))
}

/// Largest number of slots that can be indexed.
const MOST: u64 = u32::MAX as u64;

/// Layout of a series file, and settings that the file does not contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The column of times.
    pub time: TimeColumn,
    /// The rate; `None`: one slot per row.
    pub rate: Option<Given<BitRate>>,
    /// Data that the rate counts; `None`: data sent, with a warning where much was lost.
    pub rate_is: Option<RateIs>,
    /// Longest time for which a row holds.
    pub max_hold: Option<Duration>,
    /// The delay.
    pub delay: Option<Given<Duration>>,
    /// Kind of the delay.
    pub delay_is: DelayIs,
    /// The losses.
    pub loss: Option<Given<Probability>>,
    /// Payload of a slot; default 1500 bytes.
    pub lldu: Option<Bytes>,
    /// Added to every delay from a column: the time by which the receiver's clock is behind.
    pub clock_offset: Option<Shift>,
    /// True if slots arrive in order.
    pub keep_order: bool,
    /// Marker of a missing value, in addition to empty fields, `-`, `NaN`, `NA` and `null`.
    pub missing: Option<String>,
    /// Seed of the losses.
    pub seed: u64,
    /// Leaves out pauses of the log, and of more slots than this all but parts that are spread over
    /// it; not for frames.
    pub excerpt: Option<u64>,
    /// Settings for the log of a modem, whose slots are frames.
    pub modem: Option<Modem>,
}

impl Series {
    /// A series with this column of times and default settings.
    pub fn new(time: TimeColumn) -> Self {
        Self {
            time,
            rate: None,
            rate_is: None,
            max_hold: None,
            delay: None,
            delay_is: DelayIs::OneWay,
            loss: None,
            lldu: None,
            clock_offset: None,
            keep_order: true,
            missing: None,
            seed: 1,
            excerpt: None,
            modem: None,
        }
    }

    /// Largest number of slots that rows may ask for.
    fn most(&self) -> u64 {
        if self.excerpt.is_some() { u64::MAX } else { MOST }
    }

    fn of(how: &TraceFile, input: &Input<'_>) -> Result<Self, FileError> {
        let why = "a series needs its column of times, e.g. \"1:s\"";
        let series = Self {
            time: how.needed(how.time.clone(), why, "time", input)?,
            rate: how.rate.clone(),
            rate_is: how.rate_is,
            max_hold: how.max_hold,
            delay: how.delay.clone(),
            delay_is: how.delay_is,
            loss: how.loss.clone(),
            lldu: how.lldu,
            clock_offset: how.clock_offset,
            keep_order: how.keep_order.unwrap_or(true),
            missing: how.missing.clone(),
            seed: how.seed.unwrap_or(1),
            excerpt: input.excerpt,
            modem: Modem::of(how, input)?,
        };
        if series.modem.is_some() {
            return Ok(series);
        }
        if series.rate.is_none() && series.delay.is_none() && series.loss.is_none() {
            let why = "a series needs more than times";
            return how.needed(None, why, "rate, delay or loss", input);
        }
        // The times of an excerpt say nothing alone; with `max_hold` they tell outages.
        let columns = [
            column(series.rate.as_ref()),
            column(series.delay.as_ref()),
            column(series.loss.as_ref()),
        ];
        let no_column = columns.iter().all(Option::is_none) && series.max_hold.is_none();
        if no_column && series.excerpt.is_some() {
            let why = "the log of a link needs a column besides its times";
            return how.needed(None, why, "rate, delay or loss as a column", input);
        }
        let counted = |loss: &Given<Probability>| matches!(loss, Given::Column(_, unit) if unit.name == ColumnUnit::COUNT);
        if series.rate_is == Some(RateIs::Received) && series.loss.as_ref().is_none_or(counted) {
            let cure = "a received rate needs losses as shares or in %; give loss";
            return Err(how.wrong("rate_is", cure, input));
        }
        if series.max_hold.is_some_and(|hold| hold.as_nanos() == 0) {
            return Err(how.wrong("max_hold", "must be longer than 0", input));
        }
        if series.delay_is == DelayIs::RoundTrip && series.clock_offset.is_some() {
            let cure = "round-trip times use a single clock; remove it";
            return Err(how.wrong("clock_offset", cure, input));
        }
        let measured =
            series.delay.as_ref().is_some_and(|delay| !matches!(delay, Given::Constant(_)));
        if series.clock_offset.is_some() && !measured {
            let cure = "no clock measured the delay; add the offset to `delay`, and remove it";
            return Err(how.wrong("clock_offset", cure, input));
        }
        Ok(series)
    }
}

/// Default payload of an LLDU: that of an Ethernet frame.
const PACKET: Bytes = Bytes(1500);

/// Reads a series. Files with more than `most` slots are refused.
///
/// ```
/// use clift::trace::series::{Series, read};
/// let csv = "time,down,rtt\n10.0,12,40\n10.5,0,-\n11.0,6,50\n";
/// let mut series = Series::new("time:s".parse()?);
/// series.rate = Some("down:kbit/s".parse()?);
/// series.delay = Some("3:ms".parse()?);
/// series.delay_is = clift::trace::series::DelayIs::RoundTrip;
/// series.lldu = Some(clift::units::Bytes(250));
/// let phy = read(csv.as_bytes(), &series, 100).unwrap();
/// // 2000 bits at 12 kbit/s take 167 ms: three start in the first half second, none in the outage.
/// assert_eq!(phy.t()[..], [0, 166_666_666, 333_333_333, 1_000_000_000, 1_333_333_333]);
/// assert_eq!(phy.d()[..], [20_000_000, 20_000_000, 20_000_000, 25_000_000, 25_000_000]);
/// # Ok::<(), clift::trace::series::GivenError>(())
/// ```
///
/// # Errors
/// A [`ReadError`] with the first faulty line.
pub fn read(reader: impl BufRead, series: &Series, most: u64) -> Result<PhyTrace, ReadError> {
    read_within(reader, series, most, &Budget::unlimited())
}

fn read_within(
    reader: impl BufRead,
    series: &Series,
    most: u64,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    read_noted((reader, None), series, most, budget)
}

/// Reads a table; `made`: the notes of the reader that made it from a file of another format.
fn read_noted(
    (reader, made): (impl BufRead, Option<Notes>),
    series: &Series,
    most: u64,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let mut table = Table::new(reader)?;
    let mut import = SeriesImport::new(series, (most, budget));
    import.between = table.between();
    import.decimals.allowed = !table.commas;
    import.made = made;
    while let Some(row) = table.next()? {
        import.row(row).map_err(|fault| fault.at(row.line))?;
    }
    import.finish()
}

#[cfg(test)]
mod tests;
