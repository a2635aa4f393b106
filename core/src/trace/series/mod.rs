//! Rate, delay and loss over time, the form of most logs of Starlink and cellular links.
//!
//! A row holds until the next one; the last row holds for the usual interval between rows. The rate
//! determines the number of slots: consecutive slots are one LLDU transmission time apart, also
//! across rows. The delay of a row is the `d` of its slots; packets stay in order unless
//! [`Series::keep_order`] is false. Losses are drawn. Without a rate, every row is a slot. The log
//! of a [`Modem`] has Es/N0 or MODCODs instead of rates, and its slots are frames.

mod clock;
mod decibels;
mod frames;
mod given;
mod modem;
mod slots;
mod table;

use std::io::BufRead;

pub use decibels::{DecibelHertz, Decibels, SymbolRate};
pub use given::{
    ColumnName, ColumnUnit, DelayIs, Given, GivenError, Measured, RateIs, Shift, TimeColumn,
};
pub use modem::Modem;
pub(super) use table::Table;

use crate::budget::Budget;
use crate::seed::{Seed, Stream};
use crate::trace::decimal::parse_scaled;
use crate::trace::error::{Fault, ReadError, Snippet};
use crate::trace::file::{FileError, Input, Reader, TraceFile};
use crate::trace::format::FormatRow;
use crate::trace::notes::readable;
use crate::trace::{Header, LATEST, Loading, Notes, Packing, PhyTrace, TraceError};
use crate::units::{BitRate, Bytes, Duration, Probability, counted};
use frames::{Frames, Signal};
use given::TimeFormat;
use slots::{Loss, SlotGenerator, State};
use table::Row;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "series",
    suffixes: &[],
    doc: "Rate, delay and loss over time, in columns that are named.",
    keys: &[&["time"], KEYS],
    read: Some(|how, input| {
        let series = Series::of(how, input)?;
        let phy = input.parsed(&how.file, |file| read_within(file, &series, MOST, input.budget))?;
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
    let phy = read_noted((table.as_bytes(), Some(notes)), &series, MOST, input.budget);
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

/// SeriesLayout of a series file, and settings that the file does not contain.
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
            modem: None,
        }
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
            modem: Modem::of(how, input)?,
        };
        if series.modem.is_some() {
            return Ok(series);
        }
        if series.rate.is_none() && series.delay.is_none() && series.loss.is_none() {
            let why = "a series needs more than times";
            return how.needed(None, why, "rate, delay or loss", input);
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
    import.made = made;
    while let Some(row) = table.next()? {
        import.row(row).map_err(|fault| fault.at(row.line))?;
    }
    import.finish()
}

/// Columns of a file, counted from 0.
struct SeriesLayout {
    time: usize,
    rate: Option<usize>,
    delay: Option<usize>,
    loss: Option<usize>,
    /// Es/N0 or C/N0, and MODCOD, of a modem.
    modem: [Option<usize>; 2],
}

/// The row that holds until the next one.
struct CurrentRow {
    line: u64,
    t: i64,
    state: State,
    signal: Signal,
}

/// State of the import of a file.
struct SeriesImport<'a> {
    series: &'a Series,
    slots: SlotGenerator<'a>,
    frames: Option<Frames<'a>>,
    layout: Option<SeriesLayout>,
    /// The fields of the header line.
    header: Option<Vec<String>>,
    between: &'static str,
    /// Notes of the reader that made the table.
    made: Option<Notes>,
    columns: usize,
    origin: i64,
    held: Option<CurrentRow>,
    rows: u64,
    repeated: u64,
    outages: u64,
    outage: i64,
    intervals: Vec<i64>,
    /// Length of the longest interval, and the line before it.
    longest: (i64, u64),
    delays: StepDetector,
    /// Rates of the rows as written, in bit/s, and one-way delays, in ns; without outages.
    values: [Vec<u64>; 2],
    /// Sum of the shares lost, and the rows that have one.
    lost: (f64, u64),
    /// The notations of time zones that dates have; the first, and whether another occurs.
    zone: Option<(String, bool)>,
    /// Es/N0 of the rows that have one, in dB.
    levels: Vec<f64>,
    /// Rows with a delay of 0, which a slot cannot have.
    no_delay: u64,
    /// Number of rows with a loss of 1 per cent, and with a value other than 0 or 1.
    one_per_cent: (u64, u64),
}

impl<'a> SeriesImport<'a> {
    fn new(series: &'a Series, limits: (u64, &'a Budget<'a>)) -> Self {
        let losses = series.loss.as_ref().map(|_| Seed(series.seed).rng(Stream::Import(0)));
        let lldu = series.lldu.unwrap_or(PACKET);
        Self {
            series,
            slots: SlotGenerator::new(lldu, losses, series.keep_order, limits.0, limits.1),
            frames: series
                .modem
                .as_ref()
                .map(|modem| modem.frames(series.seed, series.keep_order, limits)),
            layout: None,
            header: None,
            between: "",
            made: None,
            columns: 0,
            origin: 0,
            held: None,
            rows: 0,
            repeated: 0,
            outages: 0,
            outage: 0,
            intervals: Vec::new(),
            longest: (0, 0),
            delays: StepDetector::default(),
            values: [Vec::new(), Vec::new()],
            lost: (0.0, 0),
            zone: None,
            levels: Vec::new(),
            no_delay: 0,
            one_per_cent: (0, 0),
        }
    }

    fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        if self.layout.is_none() {
            let names = self.header_of(row);
            let layout = self.layout_of(names.as_deref(), row)?;
            self.layout = Some(layout);
            self.columns = row.len();
            if names.is_some() {
                self.header = names;
                return Ok(());
            }
        }
        if self.rows == 0 {
            // A header may have fewer fields, but all rows have the same number.
            self.columns = row.len();
        } else if row.len() != self.columns {
            return Err(Fault::Columns { found: row.len(), expected: self.columns });
        }
        let Some(layout) = &self.layout else { return Ok(()) };
        let field = |index| {
            let fault = Fault::Columns { found: row.len(), expected: index + 1 };
            row.field(index).ok_or(fault)
        };
        let text = field(layout.time)?;
        let time = self.series.time.format.parse(text)?;
        let (rate, delay, loss) = (layout.rate, layout.delay, layout.loss);
        let [level, modcod] = layout.modem;
        self.zoned(text);
        let modem = [level.map(field).transpose()?, modcod.map(field).transpose()?];
        let mut state = State {
            rate: self.rate(rate.map(field).transpose()?)?,
            delay: self.delay(delay.map(field).transpose()?)?,
            loss: self.loss(loss.map(field).transpose()?)?,
        };
        self.count(&state);
        if self.series.rate_is == Some(RateIs::Received) {
            state = state.sent().ok_or_else(|| {
                Fault::Table("the rate with what was lost is over 1 Tbit/s".to_owned())
            })?;
        }
        let signal = match &self.series.modem {
            None => Signal::default(),
            Some(about) => {
                let loss = self.series.loss.as_ref().map(|_| state.loss);
                about.signal(modem, |field| self.is_missing(field), loss)?
            }
        };
        if self.rows == 0 {
            self.origin = time;
        }
        self.rows += 1;
        self.levels.extend(signal.esn0);
        let t = time.checked_sub(self.origin).filter(|t| *t < LATEST);
        let t = t.ok_or_else(|| Fault::TooLate(Snippet::new(text)))?;
        if self.series.rate.is_none() && self.frames.is_none() {
            if self.held.as_ref().is_some_and(|held| held.t >= t) {
                return Err(Fault::Unsorted(Snippet::new(text)));
            }
            self.slots.single(t, &state, text)?;
        }
        self.hold(CurrentRow { line: row.line, t, state, signal }, text)
    }

    /// Ends the current row and makes `next` the current one.
    fn hold(&mut self, next: CurrentRow, text: &[u8]) -> Result<(), Fault> {
        let Some(held) = self.held.take() else {
            self.held = Some(next);
            return Ok(());
        };
        let length = next.t - held.t;
        match length {
            ..0 => {
                return Err(Fault::Table(format!(
                    "time {} comes before that of the row before it; sort the file by time",
                    Snippet::new(text)
                )));
            }
            0 => self.repeated += 1,
            _ => {
                self.intervals.push(length);
                self.longest = self.longest.max((length, held.line));
            }
        }
        self.end(&held, next.t).map_err(|fault| match fault {
            // The fault belongs to the row that ends, not to the line that ends it.
            Fault::Table(text) => Fault::Table(format!("{text} (the row of line {})", held.line)),
            fault => fault,
        })?;
        self.held = Some(next);
        Ok(())
    }

    /// Counts a row for the notes.
    fn count(&mut self, state: &State) {
        if column(self.series.rate.as_ref()).is_some() && state.rate > 0 {
            self.values[0].push(state.rate / 1_000_000);
        }
        if let (Some(_), Some(delay)) = (column(self.series.delay.as_ref()), state.delay) {
            self.values[1].push(delay.unsigned_abs());
        }
        if let (Some(_), Loss::Share(share)) = (column(self.series.loss.as_ref()), state.loss) {
            self.lost = (self.lost.0 + share, self.lost.1 + 1);
        }
    }

    /// Remembers the notation of the time zone of a date.
    fn zoned(&mut self, text: &[u8]) {
        if self.series.time.format != TimeFormat::Date {
            return;
        }
        let zone = clock::zone(text);
        let (first, differ) = self.zone.get_or_insert_with(|| (zone.to_owned(), false));
        *differ |= first != zone;
    }

    fn end(&mut self, held: &CurrentRow, to: i64) -> Result<(), Fault> {
        let most = self.series.max_hold.map_or(i64::MAX, |hold| hold.as_nanos() as i64);
        let until = to.min(held.t.saturating_add(most));
        if until == to {
            return self.interval(held, to);
        }
        self.interval(held, until)?;
        let (line, signal) = (held.line, Signal::default());
        let state = State { rate: 0, delay: None, loss: held.state.loss };
        self.interval(&CurrentRow { line, t: until, state, signal }, to)
    }

    fn interval(&mut self, held: &CurrentRow, to: i64) -> Result<(), Fault> {
        if let Some(frames) = &mut self.frames {
            // A frame without a delay in the log is nevertheless received.
            let delay = held.state.delay.unwrap_or_default();
            return frames.interval(held.t, to, held.signal, delay);
        }
        if held.state.is_outage() && to > held.t {
            self.outages += 1;
            self.outage += to - held.t;
        }
        if self.series.rate.is_some() {
            self.slots.interval(held.t, to, &held.state)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<PhyTrace, ReadError> {
        let Some(held) = self.held.take() else { return Err(TraceError::Empty.into()) };
        let mut usual = 0;
        if !self.intervals.is_empty() {
            let middle = (self.intervals.len() - 1) / 2;
            usual = *self.intervals.select_nth_unstable(middle).1;
        } else if self.series.rate.is_some() || self.frames.is_some() {
            let fault = "the duration of a single row is unknown; give two or more rows";
            return Err(Fault::Table(fault.to_owned()).at(held.line));
        }
        let end = held.t.saturating_add(usual);
        self.end(&held, end).map_err(|fault| fault.at(held.line))?;
        if self.frames.as_ref().map_or(self.slots.len(), Frames::len) == 0 {
            let fault = "the series has no slots: the rate is 0 or a value is missing in every row";
            return Err(ReadError::File(Fault::Table(fault.to_owned())));
        }
        // The period must be longer than from the first slot to the last.
        let period = (usual > 0).then(|| Duration::from_nanos(end.unsigned_abs()));
        let rtt = self.series.delay.as_ref().map(|_| Duration::ZERO);
        self.slots.make()?;
        self.values.iter_mut().for_each(|values| values.sort_unstable());
        self.levels.sort_unstable_by(f64::total_cmp);
        let notes = self.notes(usual).clean();
        if let Some(frames) = self.frames {
            let (t, d, sizes) = frames.columns()?;
            // Base-band frames carry packets back to back.
            let loading = Loading { packing: Some(Packing::Bytes), ..Loading::default() };
            let header = Header { period, rtt, notes, loading, ..Header::default() };
            return Ok(PhyTrace::with_header(t.into(), d.into(), sizes, header)?);
        }
        self.slots.finish(Header { period, rtt, notes, ..Header::default() })
    }

    /// The names in the first row, if it is a header: if columns are given by name, or the row has
    /// no valid time and no valid value in any other column.
    fn header_of(&self, row: Row<'_>) -> Option<Vec<String>> {
        let series = self.series;
        let columns = [
            Some(&series.time.column),
            column(series.rate.as_ref()),
            column(series.delay.as_ref()),
            column(series.loss.as_ref()),
            series.modem.as_ref().and_then(|modem| modem.columns()[0]),
            series.modem.as_ref().and_then(|modem| modem.columns()[1]),
        ];
        let named = columns.iter().flatten().any(|name| matches!(name, ColumnName::Header(_)));
        let is_value = |name: &ColumnName| match name {
            ColumnName::Number(number) => row
                .field(number - 1)
                .is_some_and(|field| parse_scaled(field, 0).is_some() || self.is_missing(field)),
            ColumnName::Header(_) => false,
        };
        let is_time = || match &series.time.column {
            ColumnName::Number(number) => {
                row.field(number - 1).is_some_and(|field| series.time.format.parse(field).is_ok())
            }
            ColumnName::Header(_) => false,
        };
        let plain = || !is_time() && !columns.iter().flatten().any(|name| is_value(name));
        (named || plain()).then(|| {
            let name = |index| String::from_utf8_lossy(row.field(index).unwrap_or_default()).into();
            (0..row.len()).map(name).collect()
        })
    }

    fn layout_of(&self, names: Option<&[String]>, row: Row<'_>) -> Result<SeriesLayout, Fault> {
        let find = |column: &ColumnName| match column {
            ColumnName::Number(number) if names.is_some() || *number <= row.len() => Ok(number - 1),
            ColumnName::Number(number) => {
                Err(Fault::Columns { found: row.len(), expected: *number })
            }
            ColumnName::Header(name) => {
                let names = names.unwrap_or_default();
                let mut found = (0..names.len()).filter(|&index| names[index] == *name);
                match (found.next(), found.next()) {
                    (Some(index), None) => Ok(index),
                    (Some(_), Some(_)) => Err(Fault::Table(format!(
                        "column {} occurs twice; give its number, from 1",
                        Snippet::new(name.as_bytes())
                    ))),
                    (None, _) => {
                        let known = names.iter().take(30).map(|name| Snippet::new(name.as_bytes()));
                        let known = known.map(|name| name.to_string()).collect::<Vec<_>>();
                        Err(Fault::Table(format!(
                            "no column {}; the header has {}",
                            Snippet::new(name.as_bytes()),
                            known.join(", ")
                        )))
                    }
                }
            }
        };
        let series = self.series;
        Ok(SeriesLayout {
            time: find(&series.time.column)?,
            rate: column(series.rate.as_ref()).map(find).transpose()?,
            delay: column(series.delay.as_ref()).map(find).transpose()?,
            loss: column(series.loss.as_ref()).map(find).transpose()?,
            modem: match &series.modem {
                None => [None; 2],
                Some(modem) => {
                    let [level, modcod] = modem.columns();
                    [level.map(find).transpose()?, modcod.map(find).transpose()?]
                }
            },
        })
    }

    fn is_missing(&self, field: &[u8]) -> bool {
        const MISSING: [&[u8]; 7] = [b"", b"-", b"nan", b"na", b"n/a", b"null", b"none"];
        MISSING.iter().any(|name| field.eq_ignore_ascii_case(name))
            || self.series.missing.as_ref().is_some_and(|text| field == text.trim().as_bytes())
    }

    /// The rate in millionths of a bit per second.
    fn rate(&self, field: Option<&[u8]>) -> Result<u64, Fault> {
        const MOST: u64 = 1_000_000_000_000_000_000;
        let too_fast = |text: &[u8]| {
            Fault::Table(format!("rate {} is over 1 Tbit/s; check the unit", Snippet::new(text)))
        };
        let unit = match (&self.series.rate, field) {
            (None, _) => return Ok(MOST),
            (Some(Given::Constant(rate)), _) => {
                let rate = rate.bits_per_second();
                let rate = rate.checked_mul(1_000_000).filter(|&rate| rate <= MOST);
                return rate.ok_or_else(|| too_fast(b"given"));
            }
            (Some(Given::Column(..)), None) => return Ok(0),
            (Some(Given::Column(..)), Some(field)) if self.is_missing(field) => return Ok(0),
            (Some(Given::Column(_, unit)), Some(_)) => unit,
        };
        let field = field.unwrap_or_default();
        match parse_scaled(field, unit.digits) {
            None => Err(not_a_number("rate", field)),
            Some((true, _)) => Err(Fault::Table(format!(
                "rate {} is negative; if it marks an outage, give it as `missing`",
                Snippet::new(field)
            ))),
            Some((false, size)) => {
                let rate = size.and_then(|size| size.checked_mul(u128::from(unit.factor)));
                let rate = rate.filter(|&rate| rate <= u128::from(MOST));
                rate.map(|rate| rate as u64).ok_or_else(|| too_fast(field))
            }
        }
    }

    /// The one-way delay in nanoseconds.
    fn delay(&mut self, field: Option<&[u8]>) -> Result<Option<i64>, Fault> {
        let unit = match &self.series.delay {
            // The arrival time of a modem's frame already includes its own duration.
            None => return Ok(Some(i64::from(self.frames.is_none()))),
            Some(Given::Constant(delay)) => {
                let delay = i64::try_from(delay.as_nanos()).unwrap_or(LATEST);
                return Ok(Some(self.one_way(delay)));
            }
            Some(Given::Column(_, unit)) => *unit,
        };
        let Some(field) = field.filter(|field| !self.is_missing(field)) else { return Ok(None) };
        let Some((negative, size)) = parse_scaled(field, unit.digits) else {
            return Err(not_a_number("delay", field));
        };
        let size = size.and_then(|size| i64::try_from(size).ok()).filter(|&size| size < LATEST);
        let size = size.ok_or_else(|| Fault::TooLate(Snippet::new(field)))?;
        let measured = self.one_way(if negative { -size } else { size });
        self.delays.take(measured);
        let shift = self.series.clock_offset.map_or(0, Shift::as_nanos);
        match measured.saturating_add(shift) {
            ..0 => Err(Fault::Table(format!(
                "delay {} is negative{}: the clocks differ, so give clock_offset, or the marker of \
                 missing values as `missing`",
                Snippet::new(field),
                if shift == 0 { "" } else { " with the clock offset" }
            ))),
            delay => {
                self.no_delay += u64::from(delay == 0);
                Ok(Some(delay))
            }
        }
    }

    fn one_way(&self, delay: i64) -> i64 {
        match self.series.delay_is {
            DelayIs::OneWay => delay,
            DelayIs::RoundTrip => delay / 2 + delay % 2,
        }
    }

    fn loss(&mut self, field: Option<&[u8]>) -> Result<Loss, Fault> {
        let unit = match &self.series.loss {
            None => return Ok(Loss::default()),
            Some(Given::Constant(share)) => return Ok(Loss::Share(share.get())),
            Some(Given::Column(_, unit)) => *unit,
        };
        let field = field.unwrap_or_default();
        let snippet = || Snippet::new(field);
        if self.is_missing(field) {
            return Err(Fault::Table(format!(
                "the loss is missing ({}); write 0, or remove `loss`",
                snippet()
            )));
        }
        if unit.name == ColumnUnit::COUNT {
            let whole = match parse_scaled(field, 6) {
                Some((false, Some(millionths))) if millionths % 1_000_000 == 0 => {
                    u64::try_from(millionths / 1_000_000).ok()
                }
                _ => None,
            };
            let fault = || Fault::Table(format!("loss {} is not a number of packets", snippet()));
            return whole.map(Loss::Packets).ok_or_else(fault);
        }
        let text = std::str::from_utf8(field).ok().filter(|_| parse_scaled(field, 0).is_some());
        let number = text.and_then(|text| text.parse::<f64>().ok());
        let number = number.ok_or_else(|| not_a_number("loss", field))?;
        let share = if unit.digits < 0 { number / 100.0 } else { number };
        if unit.digits < 0 {
            self.one_per_cent.0 += u64::from(number == 1.0);
            self.one_per_cent.1 += u64::from(number != 1.0 && number != 0.0);
        }
        if (0.0..=1.0).contains(&share) {
            return Ok(Loss::Share(share));
        }
        Err(Fault::Table(match unit.name {
            "%" => format!("loss {} must be from 0 to 100 %", snippet()),
            _ => format!(
                "loss {} must be a share from 0 to 1; use `:%` for per cent, `:packets` for counts",
                snippet()
            ),
        }))
    }

    fn notes(&self, usual: i64) -> Notes {
        let series = self.series;
        let mut notes = self.made.clone().unwrap_or_default();
        let (understood, assumed) = (&mut notes.understood, &mut notes.assumed);
        if self.made.is_none() {
            let header = if self.header.is_some() { "a header" } else { "no header" };
            let rows = counted(self.rows, "row", "rows");
            understood.push(format!("{rows} of {} with {header}", self.between));
        }
        let time = match &series.time.format {
            TimeFormat::Unit(unit) => unit.to_string(),
            TimeFormat::Date => "dates".to_owned(),
            TimeFormat::Pattern(pattern) => format!("dates as {pattern}"),
        };
        if self.made.is_none() {
            understood.push(format!("time is {} in {time}", self.named(&series.time.column)));
        }
        let given = [
            ("rate", self.said(series.rate.as_ref())),
            (
                match series.delay_is {
                    DelayIs::OneWay => "one-way delay",
                    DelayIs::RoundTrip => "round-trip time",
                },
                self.said(series.delay.as_ref()),
            ),
            ("loss", self.said(series.loss.as_ref())),
        ];
        understood.extend(
            given.into_iter().filter_map(|(what, said)| Some(format!("{what} is {}", said?))),
        );
        let [rates, delays] = &self.values;
        if let [least, .., most] = rates[..] {
            let [least, middle, most] = [least, median(rates), most].map(fast);
            understood.push(format!("rates from {least} to {most}, the median {middle}"));
        }
        if let [least, .., most] = delays[..] {
            let [least, middle, most] =
                [least, median(delays), most].map(|delay| readable(delay as i64));
            understood.push(format!("one-way delays from {least} to {most}, the median {middle}"));
        }
        match (&series.rate, &series.loss, series.rate_is) {
            (Some(_), Some(_), Some(RateIs::Received)) => understood
                .push("the rate counts received data: the lost part is added to it".to_owned()),
            (Some(Given::Column(..)), Some(_), None) => {
                assumed.push("the rate is what was sent, with what was lost (rate_is)".to_owned())
            }
            _ => {}
        }
        if let Some(hold) = series.max_hold {
            understood.push(format!("a row holds for {hold} at most, then an outage begins"));
        }
        let span = |nanos: u64| readable(nanos as i64);
        if self.outages > 0 {
            understood.push(format!(
                "{} (no rate or no delay), {} in all",
                counted(self.outages, "row is an outage", "rows are outages"),
                span(self.outage.unsigned_abs())
            ));
        }
        if let Some(shift) = series.clock_offset {
            understood.push(format!("{shift} were added to every delay"));
        }
        if let TimeFormat::Date | TimeFormat::Pattern(_) = series.time.format {
            assumed.push("dates without an offset are in UTC".to_owned());
        }
        match series.rate {
            _ if series.modem.is_some() => assumed.push(format!(
                "a row holds until the next, the last one for {}",
                span(usual.unsigned_abs())
            )),
            Some(_) => assumed.push(format!(
                "a row holds until the next, the last one for {}",
                span(usual.unsigned_abs())
            )),
            None => assumed.push("no rate: one slot per row".to_owned()),
        }
        if series.lldu.is_none() && series.modem.is_none() {
            let rate = if series.rate.is_none() { ", which the rate is counted with" } else { "" };
            assumed.push(format!("LLDUs of {} bytes{rate}", PACKET.0));
        }
        match (&series.delay, series.delay_is) {
            (None, _) if series.modem.is_some() => assumed.push(
                "no delay: a frame is there once its last symbol is, and the round trip is not known"
                    .to_owned(),
            ),
            (None, _) => assumed.push("no delay: LLDUs arrive 1 ns after they are sent".to_owned()),
            (Some(_), DelayIs::OneWay) => assumed.push("the delay is one way".to_owned()),
            (Some(_), DelayIs::RoundTrip) => {
                assumed.push("half of the round-trip time is the way there".to_owned());
            }
        }
        if series.delay.is_some() {
            assumed.push(
                "the whole delay is in d, so that the link adds none (RTT 0); for the way back a \
                 run takes the median delay of the way there unless it gives one"
                    .to_owned(),
            );
        }
        match &series.loss {
            None if series.modem.is_some() => assumed.push(
                "a frame is lost if the Es/N0 of its row is below its MODCOD's threshold"
                    .to_owned(),
            ),
            None => assumed.push("no loss: no slot is erased".to_owned()),
            Some(_) if self.drawn() => assumed
                .push(format!("slots are lost independently, drawn with seed {}", series.seed)),
            Some(_) => {
                understood
                    .push("a row loses all of its slots or none: nothing is drawn".to_owned());
            }
        }
        if let (Some(modem), Some(frames)) = (&series.modem, &self.frames) {
            modem.notes(frames, &self.levels, understood, assumed);
        }
        if series.keep_order && self.slots.waited > 0 {
            assumed.push(format!(
                "order is kept: {} later than {} row says, behind an earlier one",
                counted(self.slots.waited, "slot arrives", "slots arrive"),
                if self.slots.waited == 1 { "its" } else { "their" }
            ));
        }
        self.warnings(usual, &mut notes.warnings);
        notes
    }

    /// True if random draws decided which slots were lost.
    fn drawn(&self) -> bool {
        self.frames.as_ref().map_or(self.slots.drawn, |frames| frames.drawn)
    }

    fn warnings(&self, usual: i64, warnings: &mut Vec<String>) {
        let span = readable;
        if let Some(modem) = &self.series.modem {
            warnings.extend(modem.too_good(&self.levels));
        }
        let (waited, made, unit) = match &self.frames {
            Some(frames) => (frames.waited, frames.len(), "frame"),
            None => (self.slots.waited, self.slots.len(), "slot"),
        };
        if waited > made as u64 / 2 {
            let does = if self.series.keep_order { "waits behind" } else { "arrives before" };
            warnings.push(format!(
                "most {unit}s ({waited} of {made}) have a delay with which each {does} an earlier \
                 one: check the unit of the time column, then that of the delay"
            ));
        }
        self.doubts(warnings);
        if self.repeated > 0 {
            warnings.push(format!(
                "{} for nothing",
                counted(
                    self.repeated,
                    "row has the time of the row after it and counts",
                    "rows have the time of the row after them and count"
                )
            ));
        }
        let delay_or_loss = column(self.series.delay.as_ref()).is_some()
            || column(self.series.loss.as_ref()).is_some();
        let (idle, unit, so) = match &self.frames {
            Some(frames) => (frames.idle, "frame", "no frame is judged by them"),
            None if delay_or_loss => {
                let so =
                    "rates count there, delays and losses do not (a smaller LLDU has more slots)";
                (self.slots.idle, "slot", so)
            }
            None => (self.slots.idle, "slot", "rates count there (a smaller LLDU has more slots)"),
        };
        if idle > 0 {
            let rows = counted(idle, "row ends", "rows end");
            warnings.push(format!("{rows} before the {unit} under way does: {so}"));
        }
        if self.no_delay > 0 && self.frames.is_none() {
            let rows = counted(self.no_delay, "row has", "rows have");
            warnings.push(format!("{rows} a delay of 0: 1 ns is taken"));
        }
        if let (rows @ 1.., 0) = self.one_per_cent {
            warnings.push(format!(
                "every loss is 0 or 1 %, {} 1: if these are flags, give them as shares, without :%",
                counted(rows, "row has", "rows have")
            ));
        }
        let gaps = self.intervals.iter().filter(|&&length| length / 5 >= usual.max(1)).count();
        if gaps > 0 {
            let holds =
                if self.series.rate.is_some() { ", and the row before holds on" } else { "" };
            warnings.push(format!(
                "{} of over 5 times the usual {} between rows, the longest {} behind \
                 line {}{holds}",
                counted(gaps, "gap", "gaps"),
                span(usual),
                span(self.longest.0),
                self.longest.1
            ));
        }
        let mean = self.intervals.iter().sum::<i64>() / self.intervals.len().max(1) as i64;
        if self.series.rate.is_some() && usual > 0 && mean / 10 >= usual {
            warnings.push(format!(
                "rows come in batches, {} apart within one and {} on average: their times may be \
                 those at which a buffer was written, not those of the measurement",
                span(usual),
                span(mean)
            ));
        }
        if let Some(step) = self.delays.step() {
            warnings.push(format!("a coarse clock: all delays are multiples of {}", span(step)));
        }
        let far = 60_000_000_000;
        if self.delays.most > far {
            warnings.push(format!(
                "delays of up to {}: check their unit, and whether the clocks agree",
                span(self.delays.most)
            ));
        }
    }

    /// Warns of what is probably another unit, another time zone or another kind of rate.
    fn doubts(&self, warnings: &mut Vec<String>) {
        let series = self.series;
        if let (Some(Given::Column(column, unit)), true) = (&series.rate, self.made.is_none()) {
            const HINTS: [(&str, &str); 8] = [
                ("gbps", "Gbit/s"),
                ("gbit", "Gbit/s"),
                ("mbps", "Mbit/s"),
                ("mbit", "Mbit/s"),
                ("kbps", "kbit/s"),
                ("kbit", "kbit/s"),
                ("_bps", "bit/s"),
                ("(bps", "bit/s"),
            ];
            warnings.extend(self.misnamed("rate", column, unit.name, &HINTS));
            let middle = median(&self.values[0]);
            if !self.values[0].is_empty() && !(1_000..=20_000_000_000).contains(&middle) {
                let middle = fast(middle);
                warnings.push(format!("the median rate is {middle}: check the unit of the rate"));
            }
        }
        if let Some(Given::Column(column, unit)) = &series.delay {
            const HINTS: [(&str, &str); 5] =
                [("_ms", "ms"), ("(ms", "ms"), ("_us", "us"), ("_ns", "ns"), ("(s)", "s")];
            warnings.extend(self.misnamed("delay", column, unit.name, &HINTS));
        }
        let mean = self.lost.0 / self.lost.1.max(1) as f64;
        if mean >= 0.2 {
            let cure = match (&series.rate, series.rate_is) {
                (Some(Given::Column(..)), None) => {
                    ": if the rate is what was received, give rate_is received (--rate-is \
                     received), or the loss counts twice"
                }
                _ => ": check that the column is what was lost",
            };
            warnings.push(format!("rows lose {:.3} % on average{cure}", 100.0 * mean));
        }
        if let Some((first, true)) = &self.zone {
            let first = if first.is_empty() { "no time zone" } else { first };
            warnings.push(format!(
                "dates differ in their time zones, the first has {first}: those without one are \
                 taken as UTC"
            ));
        }
    }

    /// Warns if the name of a column speaks of another unit.
    fn misnamed(
        &self,
        what: &str,
        column: &ColumnName,
        unit: &str,
        hints: &[(&str, &str)],
    ) -> Option<String> {
        let names = self.header.as_deref().unwrap_or_default();
        let name = match column {
            ColumnName::Header(name) => name,
            ColumnName::Number(number) => names.get(number - 1)?,
        };
        let lower = name.to_ascii_lowercase();
        let (_, hint) = hints.iter().find(|(mark, _)| lower.contains(mark))?;
        (*hint != unit).then(|| {
            format!("the {what}'s column `{name}` sounds like {hint}, but is read in {unit}")
        })
    }

    /// The name of a column in a note.
    fn named(&self, column: &ColumnName) -> String {
        let names = self.header.as_deref().unwrap_or_default();
        match column {
            ColumnName::Header(name) => match names.iter().position(|known| known == name) {
                Some(index) => format!("column {} `{name}`", index + 1),
                None => format!("column `{name}`"),
            },
            ColumnName::Number(number) => match names.get(number - 1) {
                Some(name) if !name.is_empty() => format!("column {number} `{name}`"),
                _ => format!("column {number}"),
            },
        }
    }

    fn said<Q: Measured>(&self, given: Option<&Given<Q>>) -> Option<String> {
        Some(match given? {
            Given::Constant(value) => format!("{value} throughout"),
            Given::Column(column, unit) => {
                let unit = match unit.name {
                    "" => "as a share",
                    "%" => "in %",
                    name => &format!("in {name}"),
                };
                format!("{} {unit}", self.named(column))
            }
        })
    }
}

/// The median of sorted numbers; 0 without any.
fn median(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Formats a rate in bit/s for readers, with up to four digits.
fn fast(rate: u64) -> String {
    let units = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)];
    let (unit, scale) = units.into_iter().find(|unit| rate as f64 >= unit.1).unwrap_or(units[3]);
    let size = rate as f64 / scale;
    let digits = [1000.0, 100.0, 10.0].iter().filter(|&&most| size < most).count();
    let text = format!("{size:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

fn column<Q>(given: Option<&Given<Q>>) -> Option<&ColumnName> {
    match given? {
        Given::Constant(_) => None,
        Given::Column(column, _) => Some(column),
    }
}

fn not_a_number(what: &str, field: &[u8]) -> Fault {
    Fault::Table(format!("{what} {} is not a number; write e.g. 1.5", Snippet::new(field)))
}

/// Detects a common step of numbers, as a coarse clock has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StepDetector {
    divisor: u64,
    first: Option<i64>,
    differ: bool,
    /// The largest number.
    most: i64,
}

impl StepDetector {
    /// Adds a number.
    pub(super) fn take(&mut self, number: i64) {
        let first = *self.first.get_or_insert(number);
        self.differ |= number != first;
        self.most = self.most.max(number);
        let (mut a, mut b) = (number.unsigned_abs(), self.divisor);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        self.divisor = a;
    }

    /// The step, if it is that of a coarse clock: half a millisecond or more.
    pub(super) fn step(self) -> Option<i64> {
        const COARSE: u64 = 500_000;
        let whole = self.divisor >= COARSE && self.divisor.is_multiple_of(COARSE);
        (self.differ && whole).then_some(self.divisor as i64)
    }
}

#[cfg(test)]
mod tests;
